//! Tells the address sanitizer which bytes of our own mappings belong to nobody.
//!
//! The sanitizer knows what the allocator gave out, and nothing of memory that is mapped: device memory, the shared and
//! local memory of blocks, frames. With the feature `asan`, which only builds with `-Zsanitizer=address` have, these say
//! so byte by byte, and a stray access in them is reported like one of the heap. Without it both functions are nothing.
//!
//! What stays unseen: device memory beyond [`LIMIT`] bytes from its start where nothing was ever allocated, a
//! stray access that lands inside another live allocation or another live row of the same frame, and what system
//! calls and code without instrumentation touch.

/// Bytes of a mapping that are poisoned from its start: marking terabytes of addresses would take long.
pub(crate) const LIMIT: usize = 1 << 22;

/// From now on nobody may touch these bytes.
#[inline(always)]
pub(crate) fn poison(start: *const u8, bytes: usize) {
    #[cfg(feature = "asan")]
    // SAFETY: marks bytes of our own mapping in the sanitizer's shadow.
    unsafe {
        __asan_poison_memory_region(start, bytes);
    }
    #[cfg(not(feature = "asan"))]
    let _ = (start, bytes);
}

/// From now on they may be used.
#[inline(always)]
pub(crate) fn unpoison(start: *const u8, bytes: usize) {
    #[cfg(feature = "asan")]
    // SAFETY: as above.
    unsafe {
        __asan_unpoison_memory_region(start, bytes);
    }
    #[cfg(not(feature = "asan"))]
    let _ = (start, bytes);
}

/// Of every `stride` bytes of a mapping only the first `used` belong to somebody.
pub(crate) fn part(start: *const u8, bytes: usize, used: usize, stride: usize) {
    if cfg!(feature = "asan") {
        for number in 0..bytes.checked_div(stride).unwrap_or(0) {
            poison(start.wrapping_add(number * stride + used), stride - used);
        }
    }
}

#[cfg(feature = "asan")]
unsafe extern "C" {
    fn __asan_poison_memory_region(start: *const u8, bytes: usize);
    fn __asan_unpoison_memory_region(start: *const u8, bytes: usize);
}
