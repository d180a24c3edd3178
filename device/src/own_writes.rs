//! How many bytes the driver itself has written to anywhere but standard output and standard error, so
//! that what the program wrote can be told from the kernel's account of the whole process.

use std::sync::atomic::{AtomicU64, Ordering};

static BYTES: AtomicU64 = AtomicU64::new(0);

/// So many bytes were written.
pub fn add(bytes: usize) {
    BYTES.fetch_add(bytes as u64, Ordering::Relaxed);
}

/// All of them.
pub fn total() -> u64 {
    BYTES.load(Ordering::Relaxed)
}
