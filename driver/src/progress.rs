//! Whether device work goes on, for a harness that wonders whether a long trial is slow or hangs.
//!
//! Signs of it are blocks that end, stores of the program, and device memory that changes; of a launch that ends the harness
//! hears anyway. A kernel that spins shows none of them, whatever it executes: it loads, or tries atomics in vain. What
//! it takes for work, and is not: a kernel that hangs and stores all the time. What it misses: a kernel that computes for
//! seconds without a store by any of its threads.
//!
//! The clock decides when something is said, and nothing else.

use std::time::{Duration, Instant};

use bugaroo_protocol::Message;
use bugaroo_simulator::Counts;

use crate::execute::Flight;
use crate::state::Driver;

/// Least time between two messages.
const PERIOD: Duration = Duration::from_millis(100);
/// Memory is looked at for no more than this part of the time.
const SHARE: u32 = 50;

/// What was seen of device work last.
#[derive(Debug)]
pub struct Pulse {
    /// When something was said, or could have been.
    at: Instant,
    /// Work was done since.
    worked: bool,
    /// A digest of memory, and until when no other is taken.
    memory: Option<(u64, Instant)>,
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

impl Driver {
    /// A kernel has run for some turns, and goes on.
    pub fn pulse(&mut self, flight: &mut Flight) {
        let done = work(&flight.grid.counts());
        self.pulse.worked |= done != flight.worked;
        flight.worked = done;
        let now = Instant::now();
        if now.duration_since(self.pulse.at) < PERIOD || !self.report.wanted() {
            return;
        }
        self.pulse.at = now;
        if std::mem::take(&mut self.pulse.worked) || self.memory_has_changed(now) {
            self.report.send(&Message::Progress);
        }
    }

    /// Whether memory holds something else than at the last look, if it is time for one.
    fn memory_has_changed(&mut self, now: Instant) -> bool {
        if self.pulse.memory.is_some_and(|(_, next)| now < next) {
            return false;
        }
        // Handlers' launch state is no work.
        self.leave();
        let digest = self.memory.digest();
        let next = Instant::now() + now.elapsed() * SHARE;
        let before = self.pulse.memory.replace((digest, next));
        before.is_some_and(|(before, _)| before != digest)
    }
}
