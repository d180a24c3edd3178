//! Device time, as events measure it: counted, not measured.
//!
//! A program that tunes itself by elapsed times must take the same path in every replay of a trial, so
//! device time is a function of what was executed: a warp instruction takes a nanosecond of one SM,
//! all SMs count as busy, copies and fills run at 1 TB/s, and each operation costs a microsecond.

use std::time::Duration;

/// Nanoseconds that any operation takes at least.
const OVERHEAD_NS: u64 = 1000;
/// Bytes moved per nanosecond.
const BYTES_PER_NS: u64 = 1000;

/// The device's clock.
#[derive(Debug, Default)]
pub struct Clock {
    nanoseconds: u64,
}

impl Clock {
    /// Time since the driver was initialised.
    pub fn now(&self) -> Duration {
        Duration::from_nanos(self.nanoseconds)
    }

    /// A copy or fill of so many bytes was done.
    pub fn moved(&mut self, bytes: u64) {
        self.pass(bytes / BYTES_PER_NS);
    }

    /// An event was reached: no two of them at the same time.
    pub fn recorded(&mut self) {
        self.pass(0);
    }

    /// A launch was done that took so many warp instructions, on so many SMs.
    pub fn launched(&mut self, warp_instructions: u64, sm_count: u32) {
        self.pass(warp_instructions / u64::from(sm_count.max(1)));
    }

    fn pass(&mut self, nanoseconds: u64) {
        self.nanoseconds = self.nanoseconds.saturating_add(OVERHEAD_NS).saturating_add(nanoseconds);
    }
}
