//! Memory that is moved holds what it held, and nothing beside it changes.

use std::ptr::null_mut;

use super::copy;
use crate::trial::fork_server::heap::HUGE_PAGE;

/// Four huge pages' worth of memory, each word with its own address.
fn memory() -> usize {
    let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a mapping of its own, which is never taken away, and is written within.
    unsafe {
        let mapped = libc::mmap(null_mut(), 5 * HUGE_PAGE, protection, flags, -1, 0);
        assert_ne!(mapped, libc::MAP_FAILED);
        let start = (mapped as usize).next_multiple_of(HUGE_PAGE);
        for word in (start..start + 4 * HUGE_PAGE).step_by(8) {
            *(word as *mut usize) = word;
        }
        start
    }
}

/// Whether each word holds its address and this.
fn holds(start: usize, more: usize) -> bool {
    // SAFETY: memory of the function above.
    (start..start + 4 * HUGE_PAGE).step_by(8).all(|word| unsafe { *(word as *const usize) } == word + more)
}

#[test]
fn contents_and_addresses_stay() {
    let start = memory();
    // SAFETY: memory that nobody else knows of.
    unsafe { copy(&[(start, start + HUGE_PAGE), (start + 2 * HUGE_PAGE, start + 4 * HUGE_PAGE)]) };
    assert!(holds(start, 0));
    for word in (start..start + 4 * HUGE_PAGE).step_by(8) {
        // SAFETY: as above.
        unsafe { *(word as *mut usize) += 7 };
    }
    assert!(holds(start, 7));
    // SAFETY: as above.
    unsafe { copy(&[(start, start + 4 * HUGE_PAGE)]) };
    assert!(holds(start, 7));
}

/// A range around what the code itself writes meanwhile is left as it is.
#[test]
fn the_stack_is_left_alone() {
    let local = 0_u8;
    let stack = (&raw const local) as usize / HUGE_PAGE * HUGE_PAGE;
    // SAFETY: nothing is done.
    unsafe { copy(&[(stack, stack + HUGE_PAGE)]) };
    assert_eq!(local, 0);
}
