//! The thread of ours that looks on while the program is silent, as far as others have to know of it.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Calls of the API by the program that took the driver's lock.
pub static CALLS: AtomicU64 = AtomicU64::new(0);
/// The thread is there.
pub static THERE: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// This is the thread.
    pub static OURS: Cell<bool> = const { Cell::new(false) };
}

/// Whether the calling thread is the one that looks on.
pub fn is_ours() -> bool {
    OURS.try_with(Cell::get).unwrap_or(false)
}

/// Somebody uses the driver.
pub fn called() {
    if !is_ours() {
        CALLS.fetch_add(1, Ordering::Relaxed);
    }
}

/// Threads of the process that are not the program's.
pub fn threads() -> usize {
    usize::from(THERE.load(Ordering::Acquire))
}
