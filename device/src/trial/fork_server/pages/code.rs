//! The device's own code, in huge pages.
//!
//! A fork copies nothing of where the pages of files lie: each trial finds that out again, by a fault for some pages at a time, and gives
//! it up at its end. A short trial executes much of the device once: forty faults of a microsecond or two, where the system takes many
//! pages at a time. Of memory without a file a fork does copy it, by one entry for each huge page. So the server puts a copy of its code in
//! the place of the code: of the whole huge pages among it. What is executed stays the same, byte for byte, and where it is.
//!
//! **Limits.** What asks the system for the file that memory is of, as a profiler does, is told of none. The system has to be able to
//! collapse memory into huge pages (Linux 6.1), and to let memory be executed that was written.

use std::ptr::null_mut;

use libc::c_void;

use super::chunks;
use crate::trial::fork_server::heap::HUGE_PAGE;

/// Where it lies: whole huge pages of it. None where there are none.
pub fn of_the_device() -> Option<(usize, usize)> {
    chunks::code_at(of_the_device as *const () as usize)
}

/// Replaces code by a copy of it in huge pages. Where that cannot be done, it stays what it is. Allocates nothing: what is free is
/// for trials.
///
/// # Safety
/// It is code in whole huge pages, private, of a file, and as nobody has changed it by himself. The process has one thread.
pub unsafe fn collapse(start: usize, end: usize) {
    let bytes = end - start;
    let (writable, flags) =
        (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE);
    // SAFETY: a mapping of its own, with room for the code once it begins at a huge page. It takes the code's place as a whole, with the
    // same contents, while the only thread is in the system.
    unsafe {
        let room = libc::mmap(null_mut(), bytes + HUGE_PAGE, writable, flags, -1, 0);
        if room == libc::MAP_FAILED {
            return;
        }
        let target = (room as usize).next_multiple_of(HUGE_PAGE) as *mut c_void;
        libc::madvise(target, bytes, libc::MADV_HUGEPAGE);
        target.cast::<u8>().copy_from_nonoverlapping(start as *const u8, bytes);
        // In small pages it would only make forks slower.
        let is_ready = libc::madvise(target, bytes, libc::MADV_COLLAPSE) == 0
            && libc::mprotect(target, bytes, libc::PROT_READ | libc::PROT_EXEC) == 0;
        if is_ready {
            // A core dump need not have what the file has.
            libc::madvise(target, bytes, libc::MADV_DONTDUMP);
            libc::mremap(target, bytes, bytes, libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED, start);
        }
        // The rest of the room, or all of it.
        libc::munmap(room, bytes + HUGE_PAGE);
    }
}

#[cfg(test)]
mod tests;
