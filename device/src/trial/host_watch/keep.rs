//! When pages are kept from the host, and what is told of what was seen.

use std::collections::BTreeMap;

use super::{sys, window};
use crate::trial::host_pages;
use crate::trial::host_watch::sys::{PAGE, Pages};

/// Bytes before and behind where a thread's own data begins that the system may look at.
const OWN_DATA: (usize, usize) = (1 << 12, 1 << 13);
/// What the driver has for it.
#[derive(Debug, Default)]
pub struct Keeper {
    pub(crate) ranges: Vec<Pages>,
    /// Which state of the memory these are of.
    pub(crate) version: u64,
    /// What was not looked at, by why.
    refused: BTreeMap<&'static str, u64>,
}

impl Keeper {
    pub(crate) fn refuse(&mut self, why: &'static str, count: u64) {
        *self.refused.entry(why).or_default() += count;
    }

    /// What was not looked at since this was asked last, and how often.
    pub fn take_refused(&mut self) -> BTreeMap<&'static str, u64> {
        std::mem::take(&mut self.refused)
    }
}

/// Runs a body without signals, as what handlers use demands.
pub(crate) fn quietly<T>(body: impl FnOnce() -> T) -> T {
    let before = sys::block(u64::MAX);
    let done = body();
    sys::unblock(before);
    done
}

/// Lets the system see the pages as they are without us, until the driver is left.
pub fn lift() {
    quietly(window::lift);
}

/// The pages that a range touches.
pub(crate) fn pages(address: u64, bytes: u64) -> Pages {
    let (start, end) = (address as usize, (address + bytes) as usize);
    (start & !(PAGE - 1), end.next_multiple_of(PAGE))
}

/// The thread's own data begins here.
fn thread_pointer() -> usize {
    let pointer: usize;
    // SAFETY: the first word there is its own address (System V ABI, "Thread-Local Storage").
    unsafe { std::arch::asm!("mov {}, fs:0", out(reg) pointer, options(nostack, readonly)) };
    pointer
}

/// Whether the system itself may have to look at pages at any moment.
pub(crate) fn is_own_data(range: &Pages) -> bool {
    let local = 0_u8;
    let stack = (&raw const local) as usize;
    let thread = thread_pointer();
    let overlaps = |start: usize, end: usize| range.0 < end && start < range.1;
    // Where the C library has the record that the system writes when it moves the thread (rseq), if it says so.
    // SAFETY: a C string; what is found is a number that does not change.
    let record = unsafe {
        let place = libc::dlsym(libc::RTLD_DEFAULT, c"__rseq_offset".as_ptr()).cast::<isize>();
        if place.is_null() { thread } else { thread.wrapping_add_signed(*place) }
    };
    let mut signals = libc::stack_t { ss_sp: std::ptr::null_mut(), ss_flags: 0, ss_size: 0 };
    // SAFETY: a place for the answer.
    unsafe { libc::sigaltstack(std::ptr::null(), &raw mut signals) };
    let signals = (signals.ss_sp as usize, signals.ss_size);
    overlaps(thread.saturating_sub(OWN_DATA.0), thread + OWN_DATA.1)
        || overlaps(record, record + PAGE)
        || overlaps(signals.0, signals.0 + signals.1)
        || host_pages::holds(range.0, range.1, stack)
}
