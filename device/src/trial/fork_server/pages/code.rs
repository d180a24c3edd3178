//! The device's own code, in huge pages.
//!
//! A fork copies nothing of where the pages of files lie: each trial finds that out again, by a fault for some pages at a time, and gives
//! it up at its end. A short trial executes much of the device once: forty faults of a microsecond or two, where the system takes many
//! pages at a time. Of memory without a file a fork does copy it, by one entry for each huge page. So the server puts a copy of its code in
//! the place of the code: of the whole huge pages among it. What is executed stays the same, byte for byte, and where it is.
//!
//! **Limits.** What asks the system for the file that memory is of, as a profiler does, is told of none. The system has to be able to
//! collapse memory into huge pages (Linux 6.1), and to let memory be executed that was written.

use libc::c_void;

use super::chunks::Account;
use super::copying;

/// Where it lies: whole huge pages of it. None where there are none.
pub fn of_the_device(account: &Account) -> Option<(usize, usize)> {
    account.code_at(of_the_device as *const () as usize)
}

/// Replaces code by a copy of it in huge pages. Where that cannot be done, it stays what it is. Allocates nothing: what is free is
/// for trials.
///
/// # Safety
/// It is code in whole huge pages, private, of a file, and as nobody has changed it by himself. The process has one thread.
pub unsafe fn collapse(start: usize, end: usize) {
    let bytes = end - start;
    let ready = |copy: *mut c_void| {
        // SAFETY: the copy's own memory. A core dump need not have what the file has. In small pages it would only make forks slower.
        unsafe {
            libc::madvise(copy, bytes, libc::MADV_DONTDUMP);
            libc::madvise(copy, bytes, libc::MADV_COLLAPSE) == 0
                && libc::mprotect(copy, bytes, libc::PROT_READ | libc::PROT_EXEC) == 0
        }
    };
    // SAFETY: the caller's promise; code is not written.
    unsafe { copying::replace(start, end, ready) };
}

#[cfg(test)]
mod tests;
