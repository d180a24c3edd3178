//! Tells that device work goes on ([`crate::trial::progress`]).
//!
//! The clock decides when something is said, and nothing else.

use std::time::{Duration, Instant};

use bugaroo_protocol::Message;

use crate::objects::queue::Flight;
use crate::state::Gpu;
use crate::trial::progress::work;

/// Least time between two messages.
const PERIOD: Duration = Duration::from_millis(100);
/// Memory is looked at for no more than this part of the time.
const SHARE: u32 = 50;

impl Gpu {
    /// A kernel has run for some turns, and goes on.
    pub fn pulse(&mut self, flight: &mut Flight) {
        let done = work(&flight.grid.counts());
        self.trial.pulse.worked |= done != flight.worked;
        flight.worked = done;
        let now = Instant::now();
        if now.duration_since(self.trial.pulse.at) < PERIOD || !self.trial.report.wanted() {
            return;
        }
        self.trial.pulse.at = now;
        if std::mem::take(&mut self.trial.pulse.worked) || self.memory_has_changed(now) {
            self.trial.report.send(&Message::Progress);
        }
    }

    /// Whether memory holds something else than at the last look, if it is time for one.
    fn memory_has_changed(&mut self, now: Instant) -> bool {
        if self.trial.pulse.memory.is_some_and(|(_, next)| now < next) {
            return false;
        }
        // Handlers' launch state is no work.
        self.leave();
        let digest = self.memory.digest();
        let next = Instant::now() + now.elapsed() * SHARE;
        let before = self.trial.pulse.memory.replace((digest, next));
        before.is_some_and(|(before, _)| before != digest)
    }
}
