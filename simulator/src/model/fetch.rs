//! Memory of the host that is about to be needed.

/// Bytes of a line of its cache.
pub(super) const LINE: usize = 64;

/// Asks the processor for what lies at an address: it is about to be needed.
#[inline(always)]
pub(super) fn fetch<T>(at: *const T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: prefetching is a hint; it never faults, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}
