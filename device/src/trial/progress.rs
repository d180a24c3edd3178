//! Whether device work goes on, for a harness that wonders whether a long trial is slow or hangs.
//!
//! Signs of it are blocks that end, stores of the program, and device memory that changes; of a launch that ends the harness
//! hears anyway. A kernel that spins shows none of them, whatever it executes: it loads, or tries atomics in vain. What
//! it takes for work, and is not: a kernel that hangs and stores all the time. What it misses: a kernel that computes for
//! seconds without a store by any of its threads.
//!
//! The clock decides when something is said, and nothing else.

use std::time::Instant;

use bugaroo_simulator::Counts;

/// What was seen of device work last.
#[derive(Debug)]
pub struct Pulse {
    /// When something was said, or could have been.
    pub(crate) at: Instant,
    /// Work was done since.
    pub(crate) worked: bool,
    /// A digest of memory, and until when no other is taken.
    pub(crate) memory: Option<(u64, Instant)>,
}

impl Default for Pulse {
    fn default() -> Self {
        Pulse { at: Instant::now(), worked: false, memory: None }
    }
}

/// What of a launch's counts shows work.
pub fn work(counts: &Counts) -> u64 {
    counts.blocks + counts.shared_stores + counts.global_stores
}
