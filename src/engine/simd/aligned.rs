//! Arrays of floats in memory that is aligned for SIMD loads.

use crate::memory;
use std::ops::{Deref, DerefMut};

/// An array of `N` floats that begins at a multiple of 32 bytes.
#[repr(C, align(32))]
#[derive(Clone, Copy, Debug)]
struct Aligned<const N: usize>([f32; N]);

/// Growable array of `[f32; N]`, where `N` is a multiple of eight, in aligned memory. Every group of eight floats lies
/// within one cache line, because a load from two cache lines takes twice as long.
#[derive(Clone, Debug, Default)]
pub struct AlignedArrays<const N: usize>(Vec<Aligned<N>>);

impl<const N: usize> AlignedArrays<N> {
    /// Asserts that [`Aligned`] has no padding.
    const PACKED: () = assert!(size_of::<Aligned<N>>() == size_of::<[f32; N]>(), "N is a multiple of eight");

    /// Changes the number of arrays to `count`: removes the last arrays, or appends arrays of zeros.
    pub fn resize(&mut self, count: usize) {
        memory::resize(&mut self.0, count, Aligned([0.0; N]));
    }
}

impl<const N: usize> Deref for AlignedArrays<N> {
    type Target = [[f32; N]];

    #[inline(always)]
    fn deref(&self) -> &[[f32; N]] {
        let () = Self::PACKED;
        // SAFETY: `Aligned<N>` has the same size as the array `[f32; N]` that it contains, and begins with this array
        unsafe { std::slice::from_raw_parts(self.0.as_ptr().cast(), self.0.len()) }
    }
}

impl<const N: usize> DerefMut for AlignedArrays<N> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [[f32; N]] {
        let () = Self::PACKED;
        // SAFETY: `Aligned<N>` has the same layout as the array `[f32; N]`, as in `deref`; any floats are valid
        // elements
        unsafe { std::slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), self.0.len()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_keep_their_values_and_their_boundaries() {
        let mut arrays = AlignedArrays::<24>::default();
        arrays.resize(3);
        for (k, array) in arrays.iter_mut().enumerate() {
            assert_eq!(array.as_ptr() as usize % 32, 0);
            array.fill(1.0 + k as f32);
        }
        arrays.resize(5);
        assert_eq!(arrays.iter().map(|array| array[23]).collect::<Vec<f32>>(), [1.0, 2.0, 3.0, 0.0, 0.0]);
    }
}
