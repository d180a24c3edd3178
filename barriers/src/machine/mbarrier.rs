//! An mbarrier object: its phase, pending arrivals, pending bytes.

use super::known::Known;
use super::part::Part;

/// An mbarrier object.
#[derive(Debug, Default)]
pub(super) struct Mbarrier {
    /// Its `mbarrier.init`; `None` while there is none.
    pub(super) init: Option<Part>,
    pub(super) component: u32,
    /// The phase that is under way, from 0.
    pub(super) phase: u32,
    pub(super) counts: Counts,
    pub(super) present: Present,
    pub(super) before: Before,
    pub(super) waits: Waits,
    pub(super) users: Users,
}

/// What the object itself holds.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) expected: i64,
    pub(super) pending: i64,
    pub(super) bytes: i64,
}

/// What has come to the phase that is under way.
#[derive(Debug, Default)]
pub(super) struct Present {
    /// Arrivals and copies, and who must have come before one of them.
    pub(super) parts: Vec<Part>,
    pub(super) before_arrival: Vec<Part>,
    /// What came before relaxed arrivals in time; empty where there are none.
    pub(super) before_relaxed: Vec<u32>,
    /// What all of them knew and did.
    pub(super) known: Known,
}

/// What is kept of phases that are over.
#[derive(Debug, Default)]
pub(super) struct Before {
    /// Of the phase before, and of the one before that.
    pub(super) parts: [Vec<Part>; 2],
    /// Of the phase before.
    pub(super) known: Known,
}

/// Who waits for phases of it.
#[derive(Debug, Default)]
pub(super) struct Waits {
    /// Chains that wait now, and for the phase of which parity.
    pub(super) waiting: Vec<(u32, Part, u32)>,
    /// Waits that saw the phase before complete: the present one must not complete without them.
    pub(super) saw_last: Vec<Part>,
    /// Somebody has waited for one of its phases.
    pub(super) ever: bool,
}

/// Who has used it: a second `init` has to come after them.
#[derive(Debug, Default)]
pub(super) struct Users {
    /// Everyone since `init`.
    pub(super) used: Vec<Part>,
    /// Those of whom one has invalidated it.
    pub(super) ended: Vec<Part>,
}

impl Mbarrier {
    /// Arrivals at that phase.
    pub(super) fn arrivals(&self) -> impl Iterator<Item = &Part> {
        self.present.parts.iter().filter(|part| part.orders && self.init.is_some())
    }

    /// Phases of it are over, and nobody waits for any.
    pub(super) fn is_never_waited(&self) -> bool {
        !self.waits.ever && !self.before.parts[0].is_empty()
    }

    /// Bytes expected by somebody who need not have done so before the last arrival.
    pub(super) fn late(&self) -> Option<Part> {
        let present = &self.present;
        let known = |part: &&Part| {
            let by_relaxed = present.before_relaxed.get(part.chain as usize);
            present.known.clock[part.chain as usize] >= part.stamp
                || by_relaxed.is_some_and(|stamp| *stamp >= part.stamp)
        };
        present.before_arrival.iter().find(|p| !known(p)).copied()
    }

    /// Everyone who has used it.
    pub(super) fn all_users(&self) -> impl Iterator<Item = &Part> {
        let Mbarrier { present, waits, users, .. } = self;
        [&users.used, &users.ended, &present.parts, &present.before_arrival, &waits.saw_last]
            .into_iter()
            .flatten()
    }

    /// The present phase is over, and the next one begins. Answers who waited.
    pub(super) fn end_phase(&mut self) -> Vec<(u32, Part, u32)> {
        let Mbarrier { counts, present, before, waits, users, .. } = self;
        let parts = std::mem::take(&mut present.parts);
        users.used.truncate(1);
        users.used.extend_from_slice(&parts);
        users.used.append(&mut waits.saw_last);
        let earlier = std::mem::replace(&mut before.parts[0], parts);
        before.parts[1] = earlier;
        before.known = present.known.take();
        present.before_arrival.clear();
        present.before_relaxed.clear();
        (counts.pending, counts.bytes) = (counts.expected, 0);
        self.phase += 1;
        std::mem::take(&mut waits.waiting)
    }
}
