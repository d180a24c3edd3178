//! An mbarrier object: its phase, pending arrivals, pending bytes.

use super::part::Part;

/// An mbarrier object.
#[derive(Debug, Default)]
pub(super) struct Mbarrier {
    /// Its `mbarrier.init`; `None` while there is none.
    pub(super) init: Option<Part>,
    pub(super) component: u32,
    /// The phase that is under way, from 0.
    pub(super) phase: u32,
    pub(super) expected: i64,
    pub(super) pending: i64,
    pub(super) bytes: i64,
    /// Arrivals and copies of the present phase, and who must have come before one of them.
    pub(super) parts: Vec<Part>,
    pub(super) before_arrival: Vec<Part>,
    /// What came before relaxed arrivals of the present phase in time; empty where there are none.
    pub(super) before_relaxed: Vec<u32>,
    pub(super) clock: Vec<u32>,
    pub(super) fenced: Vec<u32>,
    /// Of the phase before, and of the one before that.
    pub(super) last_parts: [Vec<Part>; 2],
    pub(super) last_clock: Vec<u32>,
    pub(super) last_fenced: Vec<u32>,
    pub(super) waiting: Vec<(u32, Part, u32)>,
    /// Waits that saw the phase before complete: the present one must not complete without them.
    pub(super) saw_last: Vec<Part>,
    /// Somebody has waited for one of its phases.
    pub(super) waited: bool,
    /// Everyone who used it since `init`, for a second `init`.
    pub(super) used: Vec<Part>,
    /// Those of whom one has invalidated it.
    pub(super) ended: Vec<Part>,
}

impl Mbarrier {
    /// Arrivals at that phase.
    pub(super) fn arrivals(&self) -> impl Iterator<Item = &Part> {
        self.parts.iter().filter(|part| part.orders && self.init.is_some())
    }

    /// Phases of it are over, and nobody waits for any.
    pub(super) fn is_never_waited(&self) -> bool {
        !self.waited && !self.last_parts[0].is_empty()
    }

    /// Bytes expected by somebody who need not have done so before the last arrival.
    pub(super) fn late(&self) -> Option<Part> {
        let known = |part: &&Part| {
            let by_relaxed = self.before_relaxed.get(part.chain as usize);
            self.clock[part.chain as usize] >= part.stamp
                || by_relaxed.is_some_and(|stamp| *stamp >= part.stamp)
        };
        self.before_arrival.iter().find(|p| !known(p)).copied()
    }
}
