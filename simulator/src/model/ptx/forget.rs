//! When the history of a location ends.
//!
//! A history is what somebody can still read. It ends when all threads that live know its last write and none is
//! to come: a grid that meets at a barrier of its own gets there. That of a block's shared memory ends when the whole
//! block has met, or ended. Nothing else does, however much a launch writes: memory grows with what can be read.
//!
//! That has a bound ([`Budget`]). Where it bites, the oldest messages are forgotten: what they were written over
//! cannot be read any more. That only forbids, but hides what the tester is after, so it is counted, and the
//! count goes into the report. Release entries are kept, since whoever acquires may count on them.

use std::rc::Rc;

use super::chains::Chains;
use super::kept::{Kept, Several};
use super::runs::Runs;
use super::{PlainMemory, PtxMachine};
use bugaroo_semantics::clocks::View;
use bugaroo_semantics::clocks::shared_map;
use bugaroo_semantics::scope::ThreadKey;

/// Bytes below which nobody looks for histories that have ended.
const SMALL: u64 = 32 << 20;
/// Messages between two looks at how much memory is taken.
const OFTEN: u32 = 1 << 10;

/// What may be kept.
#[derive(Debug)]
pub(super) struct Budget {
    bytes: u64,
    /// Messages until the next look.
    countdown: u32,
    /// Bytes at which histories that have ended are looked for.
    look: u64,
    /// Up to what time messages have been forgotten.
    cut: u64,
    forgotten: u64,
}

impl Budget {
    /// Messages come that need no memory, and no look: so many. False where the last of them would have a look, and none is counted.
    pub fn count(&mut self, messages: u32) -> bool {
        let counts = messages < self.countdown;
        self.countdown -= if counts { messages } else { 0 };
        counts
    }

    /// Up to so many bytes.
    pub fn new(bytes: u64) -> Budget {
        Budget { bytes, countdown: OFTEN, look: SMALL.min(bytes), cut: 0, forgotten: 0 }
    }

    pub fn forgotten(&self) -> u64 {
        self.forgotten
    }
}

impl PtxMachine {
    /// Bytes that are kept.
    pub(super) fn bytes(&self) -> usize {
        self.histories.bytes() + shared_map::held()
    }

    /// A message has been made: now and then, what nobody can read any more goes.
    #[inline]
    pub(super) fn bound(&mut self, memory: &mut impl PlainMemory) {
        self.budget.countdown -= 1;
        if self.budget.countdown == 0 {
            self.budget.countdown = OFTEN;
            let bytes = self.bytes() as u64;
            if bytes >= self.budget.look {
                self.look(memory);
            }
        }
    }

    #[cold]
    fn look(&mut self, memory: &mut impl PlainMemory) {
        if !self.launch.more_to_come {
            self.end_known(memory);
        }
        if self.bytes() as u64 > self.budget.bytes {
            self.forget(memory);
        }
        let bytes = self.bytes() as u64;
        // At the bound in any case, and, where little could go, not at once again.
        self.budget.look = (bytes * 2).max(SMALL).min(self.budget.bytes).max(bytes + bytes / 8);
    }

    /// Ends the histories whose last writes all threads know.
    fn end_known(&mut self, memory: &mut impl PlainMemory) {
        let Some(known) = self.known_to_all() else { return };
        self.resolve_all_passed(memory, None);
        let floor = self.clock.floor;
        let is_known = |thread: ThreadKey, time: u64| {
            let at = known.binary_search_by_key(&thread.cta(), |entry| entry.0);
            time <= floor || at.is_ok_and(|at| time <= known[at].1)
        };
        self.histories.retain(|chains, runs, kept| match kept {
            Kept::Single(single) => !is_known(single.thread, single.time.get()),
            Kept::Several(Several::Run(run)) => !is_known(run.thread, runs.last_time(run)),
            Kept::Several(Several::Chain(chain)) => {
                let last = chains.message(chain.last);
                last.entries.is_some() || last.state.base || !is_known(last.by.thread, last.time)
            }
        });
    }

    /// By CTA, sorted: up to what time all threads that live know what its threads have written.
    fn known_to_all(&self) -> Option<Vec<(u32, u64)>> {
        let mut known: Option<Vec<(u32, u64)>> = None;
        let mut last: Option<&Rc<View>> = None;
        for thread in self.threads.iter().filter(|thread| thread.lives) {
            // Threads that have met at a barrier share a view.
            if last.is_some_and(|last| Rc::ptr_eq(last, &thread.view)) {
                continue;
            }
            last = Some(&thread.view);
            match &mut known {
                None => known = Some(thread.view.whole_ctas().collect()),
                Some(known) => known.retain_mut(|entry| {
                    entry.1 = entry.1.min(thread.view.of_cta(entry.0));
                    entry.1 != 0
                }),
            }
            if known.as_ref().is_some_and(Vec::is_empty) && self.clock.floor == 0 {
                return None;
            }
        }
        known
    }

    /// Forgets the older half of what is kept, again and again, until there is room.
    fn forget(&mut self, memory: &mut impl PlainMemory) {
        self.resolve_all_passed(memory, None);
        let enough = self.budget.bytes - self.budget.bytes / 4;
        while self.bytes() as u64 > enough && self.budget.cut < self.clock.now {
            self.budget.cut += (self.clock.now - self.budget.cut).div_ceil(2);
            self.forget_up_to(self.budget.cut);
        }
        if self.bytes() as u64 > enough {
            self.forget_views();
        }
        self.told.names.forget();
    }

    /// Forgets what was written over by this time.
    fn forget_up_to(&mut self, cut: u64) {
        let mut forgotten = 0;
        let mut collapse = |chains: &mut Chains, runs: &Runs, kept: &mut Kept| match kept {
            Kept::Single(single) => {
                let goes = single.time.get() <= cut;
                forgotten += u64::from(goes);
                !goes
            }
            Kept::Several(Several::Run(run)) => {
                let goes = runs.last_time(run) <= cut;
                forgotten += if goes { u64::from(runs.length(run)) } else { 0 };
                !goes
            }
            Kept::Several(Several::Chain(chain)) => {
                if chains.message(chain.last).time > cut {
                    return true;
                }
                forgotten += u64::from(chain.length);
                chains.collapse(chain);
                chains.message(chain.last).entries.is_some()
            }
        };
        self.histories.retain(&mut collapse);
        self.budget.forgotten += forgotten;
    }

    /// Where what threads know takes the room: everything so far is known to all.
    fn forget_views(&mut self) {
        self.forget_up_to(self.clock.now);
        self.budget.forgotten += 1;
        self.all_known();
        self.sc.device = Rc::default();
        self.sc.by_cta.clear();
        for thread in &mut self.threads {
            thread.view = Rc::default();
            thread.hands.fences = None;
            thread.hands.bank.clear();
            thread.hands.released_at.clear();
        }
        self.histories.retain(|_, _, _| false);
    }
}
