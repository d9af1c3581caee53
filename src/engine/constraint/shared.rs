//! Vectors that several threads write concurrently. Each thread writes only the vectors of the atoms of its blocks.

use std::marker::PhantomData;
use std::ops::Range;

use crate::vec3::Vec3;

/// A mutable slice of vectors whose elements are accessed by index, without borrowing the whole slice.
///
/// Reading and writing are `unsafe`: the caller must guarantee that the index is in range and that no other thread
/// accesses the element at the same time. [`super::ConstraintPlan`] guarantees exclusive access, since the blocks of a
/// plan share no atom.
///
/// The type is not `Clone`, so that an exclusive borrow of the handle gives exclusive access to its elements.
///
/// ```compile_fail
/// fn copied<T: Clone>(_: &T) {}
/// copied(&md_engine::constraint::SharedVectors::new(&mut []));
/// ```
#[derive(Debug)]
pub struct SharedVectors<'a> {
    start: *mut Vec3,
    length: usize,
    borrow: PhantomData<&'a mut [Vec3]>,
}

// SAFETY: elements are plain data, and every access is an `unsafe` call whose caller guarantees exclusive use of the
// element.
unsafe impl Send for SharedVectors<'_> {}
// SAFETY: the reason is the same as for `Send`.
unsafe impl Sync for SharedVectors<'_> {}

impl<'a> SharedVectors<'a> {
    /// Makes a handle to the elements of `vectors`, which stay borrowed during the lifetime of the handle.
    pub fn new(vectors: &'a mut [Vec3]) -> Self {
        Self { start: vectors.as_mut_ptr(), length: vectors.len(), borrow: PhantomData }
    }

    /// Number of vectors in the slice.
    pub fn len(&self) -> usize {
        self.length
    }

    /// True if there are no vectors.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Returns element `index`.
    ///
    /// # Safety
    /// `index` is less than `len()`, and no other thread writes this element at the same time.
    #[inline(always)]
    pub unsafe fn get(&self, index: u32) -> Vec3 {
        debug_assert!((index as usize) < self.length);
        // SAFETY: the caller guarantees that the accessed elements are in range and not aliased
        unsafe { *self.start.add(index as usize) }
    }

    /// Returns the elements of `range`.
    ///
    /// # Safety
    /// The range is within `len()`, and no other thread reads or writes these elements during the slice's lifetime.
    #[inline(always)]
    #[allow(clippy::mut_from_ref, reason = "the caller guarantees exclusive access, as for `UnsafeCell`")]
    pub unsafe fn slice(&self, range: Range<usize>) -> &mut [Vec3] {
        debug_assert!(range.start <= range.end && range.end <= self.length);
        // SAFETY: the caller guarantees that the accessed elements are in range and not aliased
        unsafe { std::slice::from_raw_parts_mut(self.start.add(range.start), range.len()) }
    }

    /// Returns the elements of `range` for reading only.
    ///
    /// # Safety
    /// The range is within `len()`, and nothing writes these elements during the slice's lifetime.
    #[inline(always)]
    pub unsafe fn read_slice(&self, range: Range<usize>) -> &[Vec3] {
        debug_assert!(range.start <= range.end && range.end <= self.length);
        // SAFETY: the caller guarantees that the elements are in range and not written
        unsafe { std::slice::from_raw_parts(self.start.add(range.start), range.len()) }
    }

    /// Adds `change` to element `index`.
    ///
    /// # Safety
    /// `index` is less than `len()`, and no other thread reads or writes this element at the same time.
    #[inline(always)]
    pub unsafe fn add(&self, index: u32, change: Vec3) {
        debug_assert!((index as usize) < self.length);
        // SAFETY: the caller guarantees that the accessed elements are in range and not aliased
        unsafe { *self.start.add(index as usize) += change }
    }
}
