//! How many virtual GPUs there are.

use std::ffi::c_int;
use std::sync::atomic::{AtomicI32, Ordering};

/// Written once, before the program can ask.
static COUNT: AtomicI32 = AtomicI32::new(1);

/// How many there are.
pub fn count() -> c_int {
    COUNT.load(Ordering::Relaxed)
}

/// Says how many there are: before any of them is used.
pub fn set_count(count: u32) {
    COUNT.store(c_int::try_from(count).unwrap_or(1), Ordering::Relaxed);
}
