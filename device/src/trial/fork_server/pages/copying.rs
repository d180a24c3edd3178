//! Puts memory of a trial into huge pages of its own.

use std::ptr::null_mut;

use libc::c_void;

use crate::trial::fork_server::heap::HUGE_PAGE;

/// Bytes on each side of what this code itself writes while it copies: nothing of that is moved.
const OWN: usize = 64 << 10;

/// Puts memory into huge pages of its own, with the same contents, at the same addresses. Where that cannot be done, it stays what it is.
///
/// # Safety
/// The ranges are of whole huge pages, private and without a file, and can be read and written. The process has one thread.
pub unsafe fn copy(ranges: &[(usize, usize)]) {
    // SAFETY: plain data, for which zeroes are a value, and valid places for the sets. A handler could write to what is being copied.
    unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        let mut before: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&raw mut all);
        libc::sigprocmask(libc::SIG_BLOCK, &raw const all, &raw mut before);
        for (start, end) in ranges {
            copy_one(*start, *end);
        }
        libc::sigprocmask(libc::SIG_SETMASK, &raw const before, null_mut());
    }
}

/// # Safety
/// As above, and no signal is handled meanwhile.
unsafe fn copy_one(start: usize, end: usize) {
    let on_the_stack = (&raw const start) as usize;
    // SAFETY: asks where this thread's own variables are.
    let own_variables = unsafe { libc::pthread_self() } as usize;
    if [on_the_stack, own_variables].iter().any(|own| own + OWN > start && *own < end + OWN) {
        return;
    }
    // SAFETY: the caller's promise; between the copy and the exchange nothing is written but on the stack, which lies elsewhere.
    unsafe { replace(start, end, |_| true) };
}

/// Puts a copy in huge pages in the place of memory: of its contents, at its address, to read and write until `ready` makes it what it is
/// to be. Where `ready` answers that it cannot be, or the system has no room, all stays as it is. Allocates nothing.
///
/// # Safety
/// The range is of whole huge pages, private, and can be read; nobody writes to it meanwhile. The process has one thread.
pub(super) unsafe fn replace(start: usize, end: usize, ready: impl FnOnce(*mut c_void) -> bool) {
    let bytes = end - start;
    let (protection, flags) =
        (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE);
    // SAFETY: a mapping of its own, with room for the copy once it begins at a huge page. It takes the memory's place as a whole, by the
    // caller's promise.
    unsafe {
        let room = libc::mmap(null_mut(), bytes + HUGE_PAGE, protection, flags, -1, 0);
        if room == libc::MAP_FAILED {
            return;
        }
        let target = (room as usize).next_multiple_of(HUGE_PAGE) as *mut c_void;
        libc::madvise(target, bytes, libc::MADV_HUGEPAGE);
        target.cast::<u8>().copy_from_nonoverlapping(start as *const u8, bytes);
        if ready(target) {
            libc::mremap(target, bytes, bytes, libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED, start);
        }
        // The rest of the room, or all of it.
        libc::munmap(room, bytes + HUGE_PAGE);
    }
}

#[cfg(test)]
mod tests;
