//! Arrays made element by element in code that must inline.
//!
//! The methods of the standard library need not be inlined: the compiler may leave a call to `<[T; N]>::map` in a loop, and
//! where it does, the closure inside is compiled without the instruction set of its caller. These functions always merge
//! into it.

use std::mem::MaybeUninit;

/// The array of f(0), f(1), …, f(N − 1), as [`std::array::from_fn`] makes it.
#[inline(always)]
pub fn from_fn<T, const N: usize>(mut f: impl FnMut(usize) -> T) -> [T; N] {
    let mut array = [const { MaybeUninit::uninit() }; N];
    for k in 0..N {
        array[k] = MaybeUninit::new(f(k));
    }
    // SAFETY: an array of `MaybeUninit` has the layout of the array of its elements, and all of these have been written
    unsafe { array.as_ptr().cast::<[T; N]>().read() }
}

/// The array of f of each element, as the method `map` of arrays makes it.
#[inline(always)]
pub fn map<T: Copy, U, const N: usize>(array: [T; N], mut f: impl FnMut(T) -> U) -> [U; N] {
    // not by `from_fn`: of two closures, one in the other, the compiler may leave the inner one as a call
    let mut mapped = [const { MaybeUninit::uninit() }; N];
    for k in 0..N {
        mapped[k] = MaybeUninit::new(f(array[k]));
    }
    // SAFETY: as in `from_fn`
    unsafe { mapped.as_ptr().cast::<[U; N]>().read() }
}
