//! Memory of large arrays: huge pages, parallel first touch, prefetch.
//!
//! Above some 100,000 atoms the arrays of a step cover more pages of 4 KiB than the TLB holds, and a TLB miss costs as
//! much as a cache miss. Huge pages of 2 MiB avoid TLB misses. Linux provides huge pages on request (`madvise(2)`, the
//! default of transparent huge pages on most systems). Huge pages affect only the speed.
//!
//! The kernel allocates and clears memory at first touch, which takes longer than the write itself. The first write to
//! an array over all atoms is therefore distributed over all threads. The functions [`resize`] and [`copy`] write with
//! all threads by calls of rayon's `collect_into_vec`. Other code may call `collect_into_vec` directly.

use bytemuck::Zeroable;
use rayon::prelude::*;
use std::alloc::{GlobalAlloc, Layout, System};

/// Size of a huge page of x86-64, bytes. On systems without huge pages, or with huge pages of another size, a request
/// for huge pages does no harm.
const PAGE: usize = 2 << 20;
/// Minimum size (bytes) of arrays that are mapped and aligned to a huge page.
const LARGE: usize = PAGE;
/// A multiple of the sizes of ordinary pages, which are 4, 16 or 64 KiB, bytes.
#[cfg(target_os = "linux")]
const SMALL_PAGE: usize = 64 << 10;

/// Allocator that maps large arrays into memory by itself, with huge pages, and calls the system's allocator for small
/// arrays. The memory of a large array is zero, takes no space before its first touch, and is returned when the array
/// is freed. The system's allocator keeps freed arrays of up to 32 MiB.
pub struct LargePages;

/// Whether an array of this layout is mapped.
fn is_large(layout: Layout) -> bool {
    cfg!(target_os = "linux") && layout.size() >= LARGE && layout.align() <= PAGE
}

/// Maps `size` bytes of memory, which are zero and begin at a multiple of [`PAGE`]. Returns a null pointer if there is
/// not enough memory.
#[cfg(target_os = "linux")]
fn map(size: usize) -> *mut u8 {
    let Some(length) = size.checked_next_multiple_of(SMALL_PAGE) else { return std::ptr::null_mut() };
    let Some(all) = length.checked_add(PAGE) else { return std::ptr::null_mut() };
    let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a new anonymous mapping at an address that the kernel chooses touches no other memory
    let start = unsafe { libc::mmap(std::ptr::null_mut(), all, protection, flags, -1, 0) };
    if start == libc::MAP_FAILED {
        return std::ptr::null_mut();
    }
    let start: *mut u8 = start.cast();
    let before = start.align_offset(PAGE);
    // SAFETY: `before` is less than PAGE, so that the `length` bytes and the bytes before and behind them, which are
    // returned, are parts of the new mapping. The advice changes no content, and its failure does no harm
    unsafe {
        let (aligned, behind) = (start.add(before), PAGE - before);
        if before > 0 {
            libc::munmap(start.cast(), before);
        }
        libc::munmap(aligned.add(length).cast(), behind);
        libc::madvise(aligned.cast(), length, libc::MADV_HUGEPAGE);
        aligned
    }
}

/// Returns memory of `size` bytes from [`map`].
///
/// # Safety
/// `start` is a pointer that `map(size)` returned, and nothing uses the memory any more.
#[cfg(target_os = "linux")]
unsafe fn unmap(start: *mut u8, size: usize) {
    // SAFETY: guaranteed by the caller; `map` succeeded with the same size, so that rounding up does not overflow
    unsafe { libc::munmap(start.cast(), size.next_multiple_of(SMALL_PAGE)) };
}

// only Linux maps large arrays, see `is_large`
#[cfg(not(target_os = "linux"))]
fn map(_: usize) -> *mut u8 {
    unreachable!()
}
#[cfg(not(target_os = "linux"))]
unsafe fn unmap(_: *mut u8, _: usize) {
    unreachable!()
}

// SAFETY: a block is mapped if and only if `is_large` holds for its layout, which is the same when it is allocated and
// when it is freed. All other calls are forwarded to the system's allocator.
unsafe impl GlobalAlloc for LargePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if is_large(layout) {
            return map(layout.size());
        }
        // SAFETY: guaranteed by the caller
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if is_large(layout) {
            return map(layout.size());
        }
        // SAFETY: guaranteed by the caller
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        // SAFETY: guaranteed by the caller; the block is from `map` if and only if its layout is large
        unsafe { if is_large(layout) { unmap(start, layout.size()) } else { System.dealloc(start, layout) } }
    }

    unsafe fn realloc(&self, start: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: guaranteed by the caller
        unsafe {
            let new = Layout::from_size_align_unchecked(size, layout.align());
            if !is_large(layout) && !is_large(new) {
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

/// Returns a vector of `length` zeros. A large vector takes memory only where it is written.
pub fn zeros<T: Zeroable>(length: usize) -> Vec<T> {
    bytemuck::zeroed_vec(length)
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
    fn allocated_arrays_are_zero_aligned_and_keep_their_content() {
        let layout = |size| Layout::from_size_align(size, 64).expect("a layout");
        for (size, other) in [(LARGE, LARGE + 5), (3 * LARGE + 1, 1000), (1000, 2 * LARGE), (LARGE - 1, 2000)] {
            let (kept, before, after) = (size.min(other), layout(size), layout(other));
            // SAFETY: every block is used within its size, and freed with the layout of its last allocation
            unsafe {
                let start = LargePages.alloc_zeroed(before);
                assert!(!start.is_null() && start.addr().is_multiple_of(if size < LARGE { 64 } else { PAGE }));
                let bytes = std::slice::from_raw_parts_mut(start, size);
                assert!(bytes.iter().all(|byte| *byte == 0));
                bytes.iter_mut().enumerate().for_each(|(index, byte)| *byte = (index % 251) as u8);
                let start = LargePages.realloc(start, before, other);
                let bytes = std::slice::from_raw_parts(start, kept);
                assert!(bytes.iter().enumerate().all(|(index, byte)| *byte == (index % 251) as u8));
                LargePages.dealloc(start, after);
            }
        }
        // no machine has this much memory
        assert!(map(usize::MAX).is_null() && map(1 << 60).is_null());
    }

    #[test]
    fn large_arrays_hold_what_small_ones_do() {
        let large = 2 * share::<u64>() + 1;
        for length in [0, 3, large] {
            let mut items = filled(7u64, length);
            assert!(items == vec![7; length] && zeros::<u64>(length) == vec![0; length]);
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
