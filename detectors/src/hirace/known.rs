//! What an access is made with, and the word behind it.

use bugaroo_semantics::event::{Access, SiteNumber};
use bugaroo_semantics::history::table::{HistoryMachine, STATE_BITS};

use super::report::{Conflict, Reports};
use super::word::{WordLayout, state, step, with_state};
use crate::hirace::report;

/// What is known of a grid all along.
#[derive(Debug)]
pub(super) struct Known {
    /// The words' fields.
    pub layout: WordLayout,
    /// The same to the machine, to which threads of a warp may be one.
    pub stepping: WordLayout,
    pub lockstep: bool,
    pub machine: &'static HistoryMachine,
    /// By state: see [`WordLayout::who_matters`].
    pub same: [u64; 1 << STATE_BITS],
    pub first_site: SiteNumber,
}

/// Words of one access, and who they are told to.
pub(super) struct Step<'a, 'b> {
    pub access: &'a Access<'a>,
    pub known: &'a Known,
    pub reports: &'b mut Reports,
    /// The instruction, counted from the program's first one: that of the access, then of those that go by it.
    pub site: SiteNumber,
}

impl Step<'_, '_> {
    /// The word behind an access. Says so where it is the one that races.
    #[inline(always)]
    pub fn next(&mut self, old: u64, new: u64, address: u64) -> u64 {
        let next = step(self.known.machine, self.known.stepping, old, new);
        if next == self.known.machine.race() && state(old) != next {
            self.conflict(old, new, address);
        }
        with_state(new, next)
    }

    #[cold]
    #[inline(never)]
    pub fn conflict(&mut self, old: u64, new: u64, address: u64) {
        let conflict = Conflict {
            access: &Access { site: self.known.first_site.wrapping_add(self.site), ..*self.access },
            layout: self.known.layout,
            machine: self.known.machine,
            first_site: self.known.first_site,
            lockstep: self.known.lockstep,
            count: 1,
        };
        report::race(self.reports, &conflict, old, new, address);
    }
}
