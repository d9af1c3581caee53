//! Memory of large arrays: huge pages, parallel first touch, prefetch.
//!
//! Above some 100,000 atoms the arrays of a step cover more pages of 4 KiB than the TLB holds, and a TLB miss costs as
//! much as a cache miss. Huge pages of 2 MiB avoid TLB misses. Linux provides huge pages on request (`madvise(2)`, the
//! default of transparent huge pages on most systems). Huge pages affect only the speed.
//!
//! The kernel allocates and clears memory at first touch, which takes longer than the write itself. The first write to
//! an array over all atoms is therefore distributed over all threads. The functions [`resize`] and [`copy`] write with
//! all threads by calls of rayon's `collect_into_vec`. Other code may call `collect_into_vec` directly.

use rayon::prelude::*;
use std::alloc::{GlobalAlloc, Layout, System};

/// Size of a huge page of x86-64, bytes. On systems without huge pages, or with huge pages of another size, a request
/// for huge pages does no harm.
const PAGE: usize = 2 << 20;
/// Minimum size (bytes) of arrays that are aligned to a huge page.
const LARGE: usize = PAGE;

/// Allocator that calls the system's allocator and requests huge pages for large arrays.
pub struct LargePages;

/// Returns the layout with which a large array is allocated; `None` for small arrays.
fn large(layout: Layout) -> Option<Layout> {
    if layout.size() < LARGE { None } else { layout.align_to(PAGE).ok() }
}

/// Requests huge pages for a range of memory. A failure of the request is ignored.
fn advise(start: *mut u8, size: usize) {
    #[cfg(target_os = "linux")]
    if !start.is_null() {
        // SAFETY: the range was just allocated, and the advice changes no content
        unsafe { libc::madvise(start.cast(), size, libc::MADV_HUGEPAGE) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (start, size);
}

// SAFETY: all calls are forwarded to the system's allocator. A block has the same layout when it is allocated and
// when it is freed, since `large` depends on the layout alone.
unsafe impl GlobalAlloc for LargePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let Some(layout) = large(layout) else {
            // SAFETY: guaranteed by the caller
            return unsafe { System.alloc(layout) };
        };
        // SAFETY: guaranteed by the caller; the layout with the larger alignment is also valid
        let start = unsafe { System.alloc(layout) };
        advise(start, layout.size());
        start
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let Some(layout) = large(layout) else {
            // SAFETY: guaranteed by the caller
            return unsafe { System.alloc_zeroed(layout) };
        };
        // SAFETY: as in `alloc`; huge pages are requested before the first touch of the memory, because the first
        // touch decides the page size
        unsafe {
            let start = System.alloc(layout);
            advise(start, layout.size());
            if !start.is_null() {
                start.write_bytes(0, layout.size());
            }
            start
        }
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        // SAFETY: guaranteed by the caller; the layout is that of `alloc`
        unsafe { System.dealloc(start, large(layout).unwrap_or(layout)) }
    }

    unsafe fn realloc(&self, start: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: guaranteed by the caller
        unsafe {
            let new = Layout::from_size_align_unchecked(size, layout.align());
            if large(layout).is_none() && large(new).is_none() {
                return System.realloc(start, layout, size);
            }
            let moved = self.alloc(new);
            if !moved.is_null() {
                moved.copy_from_nonoverlapping(start, layout.size().min(size));
                self.dealloc(start, layout);
            }
            moved
        }
    }
}

/// Returns the minimum number of items that a task of a parallel write processes: the number that fills one huge page.
fn share<T>() -> usize {
    PAGE / size_of::<T>().max(1)
}

/// Resizes a vector like [`Vec::resize`]. If the vector is empty, all threads write its new items.
pub fn resize<T: Clone + Send + Sync>(items: &mut Vec<T>, length: usize, value: T) {
    if items.is_empty() && length > share::<T>() {
        rayon::iter::repeat_n(value, length).with_min_len(share::<T>()).collect_into_vec(items);
    } else {
        items.resize(length, value);
    }
}

/// Returns a vector of `length` copies of a value, written by all threads.
pub fn filled<T: Clone + Send + Sync>(value: T, length: usize) -> Vec<T> {
    let mut items = Vec::new();
    resize(&mut items, length, value);
    items
}

/// Makes `to` a copy of `from`, written by all threads.
pub fn copy<T: Copy + Send + Sync>(from: &[T], to: &mut Vec<T>) {
    from.par_iter().copied().with_min_len(share::<T>()).collect_into_vec(to);
}

/// Prefetches the cache line of `items[index]`; does nothing if the index is out of range.
#[inline(always)]
pub fn prefetch<T>(items: &[T], index: usize) {
    if let Some(item) = items.get(index) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: prefetching has no effect visible to the program, and SSE is part of x86-64
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(item).cast());
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = item;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_arrays_hold_what_small_ones_do() {
        let large = 2 * share::<u64>() + 1;
        for length in [0, 3, large] {
            let mut items = filled(7u64, length);
            assert!(items == vec![7; length]);
            resize(&mut items, length + 2, 8);
            assert!(items[..length] == vec![7; length] && items[length..] == [8, 8]);
            let mut copied = vec![0; 5];
            copy(&items, &mut copied);
            assert!(copied == items);
            resize(&mut items, 1, 9);
            assert_eq!(items.len(), 1);
        }
    }
}
