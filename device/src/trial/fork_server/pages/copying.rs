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
    let bytes = end - start;
    let on_the_stack = (&raw const bytes) as usize;
    // SAFETY: asks where this thread's own variables are.
    let own_variables = unsafe { libc::pthread_self() } as usize;
    if [on_the_stack, own_variables].iter().any(|own| own + OWN > start && *own < end + OWN) {
        return;
    }
    // SAFETY: a mapping of its own, with room for the memory once it begins at a huge page. It takes the memory's place as a whole, by
    // the caller's promise; between the copy and that nothing is written but on the stack, which lies elsewhere.
    unsafe {
        let (protection, flags) = (
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
        );
        let room = libc::mmap(null_mut(), bytes + HUGE_PAGE, protection, flags, -1, 0);
        if room == libc::MAP_FAILED {
            return;
        }
        let target = (room as usize).next_multiple_of(HUGE_PAGE);
        let before = target - room as usize;
        libc::madvise(target as *mut c_void, bytes, libc::MADV_HUGEPAGE);
        (target as *mut u8).copy_from_nonoverlapping(start as *const u8, bytes);
        let flags = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
        if libc::mremap(target as *mut c_void, bytes, bytes, flags, start) == libc::MAP_FAILED {
            libc::munmap(room, bytes + HUGE_PAGE);
            return;
        }
        if before > 0 {
            libc::munmap(room, before);
        }
        libc::munmap((target + bytes) as *mut c_void, HUGE_PAGE - before);
    }
}

#[cfg(test)]
mod tests;
