//! Construction and mapping of fixed-size arrays, for hot loops in functions that are always inlined.
//!
//! The compiler may leave a call to the standard library's `<[T; N]>::map` in a loop instead of inlining it. The
//! closure of a `map` that is not inlined is compiled without the instruction set of the calling function. The
//! functions [`from_fn`] and [`map`] are always inlined into their caller.

use std::mem::MaybeUninit;

/// Returns the array `[f(0), f(1), …, f(N − 1)]`, as [`std::array::from_fn`] does.
#[inline(always)]
pub fn from_fn<T, const N: usize>(mut f: impl FnMut(usize) -> T) -> [T; N] {
    let mut array = [const { MaybeUninit::uninit() }; N];
    for k in 0..N {
        array[k] = MaybeUninit::new(f(k));
    }
    // SAFETY: an array of `MaybeUninit` has the layout of the array of its elements, and the loop has written every
    // element
    unsafe { array.as_ptr().cast::<[T; N]>().read() }
}

/// Returns the array `[f(0), f(1), …, f(N − 1)]`, or the first error that `f` returns.
#[inline]
pub fn try_from_fn<T: Copy + Default, E, const N: usize>(
    mut f: impl FnMut(usize) -> Result<T, E>,
) -> Result<[T; N], E> {
    let mut array = [T::default(); N];
    for (k, value) in array.iter_mut().enumerate() {
        *value = f(k)?;
    }
    Ok(array)
}

/// Returns the array of the results of `f` for each element of `array`, as the method `map` of arrays does.
#[inline(always)]
pub fn map<T: Copy, U, const N: usize>(array: [T; N], mut f: impl FnMut(T) -> U) -> [U; N] {
    // `from_fn` is not called here, because the compiler might not inline a closure inside another closure
    let mut mapped = [const { MaybeUninit::uninit() }; N];
    for k in 0..N {
        mapped[k] = MaybeUninit::new(f(array[k]));
    }
    // SAFETY: an array of `MaybeUninit` has the layout of the array of its elements, and the loop has written every
    // element
    unsafe { mapped.as_ptr().cast::<[U; N]>().read() }
}
