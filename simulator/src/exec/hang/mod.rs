//! Hangs: launches that go on for ever and get nowhere, found while they run.
//!
//! Threads that wait at barriers leave the scheduler, so a deadlock of theirs shows when nobody can run. Threads that wait
//! by polling memory run for ever. Here such a launch is found by its state. Now and then the machine takes a *look*:
//! for a while a [`watch::Watch`] sees every access, and after each turn the registers of the warp that ran are compared with what
//! they were. When memory does not change, what a thread does is determined by its registers alone; so a thread whose
//! registers (call stack and local memory included) come back to what they were goes round for ever, whoever runs when. When
//! all threads do, or wait at a barrier for one that does, the launch never ends: a deadlock. Registers are compared in
//! full, not by a hash.
//!
//! # What breaks a look
//! - Memory changes: a store, an atomic or a delayed store that drains gives it another value than it had. Writing the
//!   same value again, and a compare-and-swap that fails, changes nothing. Whatever the watch does not look into
//!   (`mbarrier` arrivals, asynchronous copies, calls of the device's own functions) counts as a change.
//! - A thread ends.
//! - Others may write ([`Others`]): other launches, or the host.
//!
//! # What keeps it from being proven
//! - Clocks, `activemask` and the deprecated votes and shuffles depend on more than registers and memory, and so do a
//!   barrier's reductions as far as is looked at here.
//! - Values that lanes pass each other (`shfl.sync`, `vote.sync`, …): then all lanes of the warp have to come back at once.
//! - A model that holds something back which comes out by itself ([`crate::MemoryModel::is_restless`]), or a load that
//!   read something older than memory holds.
//! - A thread that counts the rounds: its registers never come back. What it does in the end nobody knows before.
//!
//! Looks are rare and short: the first comes after some thousand turns, each next one after twice as many, and one at a
//! launch that changes memory is over after a few turns. Between looks this costs nothing.
//!
//! Launches that cannot be proven to hang end by their budget, or, with [`crate::DeviceConfig::patience`], when so many
//! instructions long every look saw nothing but threads that read the same places again and again. Then, too, what they
//! read is told.

mod lanes;
mod report;
mod watch;
pub(super) mod written;

use std::cell::RefCell;
use std::rc::Rc;

use super::data::lanes as lanes_of;
use super::resolve::Resolved;
use super::warp::State;
use super::{Machine, Pause};
use crate::decoded::DecodedAccess;
use crate::fault::LaunchDiagnosis;
use crate::launch::End;
use crate::model::Accessed;
use crate::schedule::SchedulerStrategy;
use lanes::LaneStates;
use watch::{Watch, Watched};

/// Who else may write the memory that a launch uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Others {
    /// Somebody may: no look proves anything.
    MayWrite,
    /// Nobody did since this number was first given, as far as is known without asking: what is found is a suspicion
    /// ([`crate::Grid::suspects`]).
    Suspected(u64),
    /// Nobody did since this number was first given, and nobody can before the launch ends.
    Nobody(u64),
}

/// Turns before the first look.
const FIRST: u64 = 1 << 10;
/// The turns of a launch before a look are so many times those that the look takes: it makes them several times as slow.
const APART: u64 = 8;
/// Turns of a look for each warp that is alive: each has to have some.
const TURNS_PER_WARP: u64 = 40;
/// Turns of the look at the end of a budget, and instructions that they may take.
const CLOSING: (u64, u64) = (1 << 12, 1 << 22);

/// When looks are taken, and the one that is.
pub(super) struct Search<'a> {
    /// The turn at which there is something to do.
    pub due: u64,
    others: Others,
    /// It has run while others might write.
    accompanied: bool,
    look: Option<Look<'a>>,
    /// Turns that the next look may take, as a multiple of what it usually takes.
    times: u64,
    /// Instructions executed when something was last seen to change, or could have.
    progress: u64,
    /// The launch would be a deadlock if nobody else writes.
    pub suspects: bool,
}

/// A look.
struct Look<'a> {
    watched: Rc<RefCell<Watched<'a>>>,
    /// The turn at which it ends.
    until: u64,
    warps: Vec<Lasting>,
    scratch: LaneStates,
    /// The budget is used up: it only collects what is to be told.
    closing: bool,
    /// A turn did something else than to read what it had read before.
    lively: bool,
}

/// What a look knows of a warp.
#[derive(Default)]
struct Lasting {
    anchor: LaneStates,
    anchored: bool,
    /// Times that it was compared with the anchor, and how many until it is replaced: as in R. Brent, "An improved Monte
    /// Carlo factorization algorithm", BIT 20, 1980.
    compared: u32,
    patience: u32,
    /// Lanes that go round for ever.
    round: u32,
    /// Lanes that have waited all the time.
    waiting: u32,
}

/// Whether lanes in this state go on only when others have come.
fn waits(state: State) -> bool {
    matches!(state, State::Barrier(_) | State::Gathering(_) | State::Mask(_) | State::Cluster)
}

impl Search<'_> {
    pub fn new(others: Others) -> Self {
        let due = if others == Others::MayWrite { u64::MAX } else { FIRST };
        Search { due, others, accompanied: false, look: None, times: 1, progress: 0, suspects: false }
    }
}

impl<'a> Machine<'a> {
    /// Says who else may write memory from now on.
    pub fn set_others(&mut self, others: Others) {
        let before = std::mem::replace(&mut self.hang.search.others, others);
        if before == others {
            return;
        }
        self.hang.search.suspects = false;
        self.hang.search.accompanied |= before == Others::MayWrite && self.progress.counts.turns > 0;
        self.end_look();
        if (before == Others::MayWrite) != (others == Others::MayWrite) {
            // Loads that were no visible operations are, or the other way round.
            self.forget_regions();
        }
        self.hang.search.progress = self.hang.search.progress.max(match (before, others) {
            // Only more is known than before.
            (Others::Suspected(a), Others::Nobody(b)) if a == b => 0,
            _ => self.progress.counts.warp_instructions,
        });
        self.hang.search.due = match others {
            Others::MayWrite => u64::MAX,
            _ => (self.progress.counts.turns + 1).max(FIRST),
        };
    }

    /// Whether nobody else has written the device's own memory since the launch began, and nobody does without a call of
    /// which [`Self::set_others`] says more.
    pub(super) fn has_been_alone(&self) -> bool {
        self.hang.search.others != Others::MayWrite && !self.hang.search.accompanied
    }

    /// The launch would be a deadlock if nobody else writes: see [`Others::Suspected`].
    pub fn suspects(&self) -> bool {
        self.hang.search.suspects
    }

    /// A turn at which there is something to do has come. `warp` ran last.
    #[cold]
    pub(super) fn look(&mut self, warp: u32) -> Option<End> {
        if self.hang.search.look.is_none() {
            let early = APART * self.usual_length();
            if self.progress.counts.turns < early {
                self.hang.search.due = early;
            } else {
                self.begin_look(false);
            }
            return None;
        }
        self.after_turn(warp)
    }

    /// The budget is used up.
    #[cold]
    pub(super) fn out_of_budget(&mut self) -> Option<End> {
        match &mut self.hang.search.look {
            Some(look) if look.closing => {
                let diagnosis = self.diagnose_hang(false);
                self.end_look();
                Some(End::StepBudget(diagnosis))
            }
            Some(_) | None => {
                self.end_look();
                self.begin_look(true);
                self.given.budget = self.given.budget.saturating_add(CLOSING.1);
                None
            }
        }
    }

    fn usual_length(&self) -> u64 {
        let alive = self.residents.warps.iter().filter(|warp| warp.alive != 0).count() as u64;
        256 + TURNS_PER_WARP * alive
    }

    fn begin_look(&mut self, closing: bool) {
        let under = self.hooks.model.take();
        let watched =
            Rc::new(RefCell::new(Watched::new(self.given.program, under, self.residents.warps.len())));
        self.hooks.model = Some(Box::new(Watch::new(Rc::clone(&watched))));
        let length = if closing { CLOSING.0 } else { self.hang.search.times * self.usual_length() };
        let warps = self.residents.warps.iter().map(|warp| {
            let waiting = warp.fragments.iter().filter(|f| waits(f.state)).fold(0, |lanes, f| lanes | f.mask);
            Lasting { waiting, ..Lasting::default() }
        });
        let look = Look {
            watched,
            until: self.progress.counts.turns + length,
            warps: warps.collect(),
            scratch: LaneStates::default(),
            closing,
            lively: false,
        };
        self.hang.unseen.set(!self.asynchrony.is_settled());
        self.hang.unproven.set(false);
        self.hang.watching = true;
        self.hang.search.look = Some(look);
        self.hang.search.due = self.progress.counts.turns + 1;
    }

    /// Ends the look, if one is taken.
    pub(super) fn end_look(&mut self) {
        if let Some(look) = self.hang.search.look.take() {
            self.hooks.model = look.watched.borrow_mut().under.take();
            self.hang.watching = false;
        }
    }

    /// The look is over and has proven nothing: the next one comes after as long again.
    fn give_up(&mut self) {
        self.end_look();
        self.hang.search.due = self.progress.counts.turns.saturating_mul(2).max(FIRST);
    }

    fn after_turn(&mut self, warp: u32) -> Option<End> {
        let w = warp as usize;
        self.hang.search.due = self.progress.counts.turns + 1;
        let over = self.sample(w);
        let look = self.hang.search.look.as_ref()?;
        let closing = look.closing;
        let broken = self.hang.unseen.get() || look.watched.borrow().changed;
        if broken {
            self.hang.search.progress = self.progress.counts.warp_instructions;
            self.hang.search.times = 1;
            if !closing {
                self.give_up();
                return None;
            }
            // What has been read so far need not be what it spins on.
            let until = look.until;
            self.end_look();
            self.begin_look(true);
            if let Some(look) = &mut self.hang.search.look {
                look.until = until;
            }
        } else if over && self.goes_round() {
            return match self.hang.search.others {
                Others::Nobody(_) => {
                    let diagnosis = self.diagnose_hang(true);
                    self.end_look();
                    Some(End::Deadlock(diagnosis))
                }
                Others::Suspected(_) if !closing => {
                    self.end_look();
                    self.hang.search.suspects = true;
                    // Whoever runs this says more, or does not.
                    self.hang.search.due = self.progress.counts.turns + self.usual_length();
                    None
                }
                _ => None,
            };
        }
        let look = self.hang.search.look.as_ref()?;
        if self.progress.counts.turns < look.until {
            return None;
        }
        if closing {
            let diagnosis = self.diagnose_hang(false);
            self.end_look();
            return Some(End::StepBudget(diagnosis));
        }
        if look.lively || look.watched.borrow().wandering {
            self.hang.search.progress = self.progress.counts.warp_instructions;
        }
        if self.is_out_of_patience() {
            let diagnosis = self.diagnose_hang(false);
            self.end_look();
            return Some(End::StepBudget(diagnosis));
        }
        self.hang.search.times = (self.hang.search.times * 2).min(64);
        self.give_up();
        None
    }

    fn is_out_of_patience(&self) -> bool {
        let Some(patience) = self.given.config.patience else { return false };
        let slow = self.hang.search.look.as_ref().is_some_and(|look| look.watched.borrow().under.is_some())
            && !self.hooks.sequential;
        // A model takes so much longer for each instruction.
        let patience = if slow { patience / 16 } else { patience };
        self.progress.counts.warp_instructions - self.hang.search.progress >= patience
    }

    /// Compares the warp that has run with its anchor; answers whether the launch is worth a closer look.
    fn sample(&mut self, w: usize) -> bool {
        let Some(mut look) = self.hang.search.look.take() else { return false };
        let warp = &self.residents.warps[w];
        let of = &mut look.warps[w];
        let notes = Rc::clone(&look.watched);
        let watched = &mut *notes.borrow_mut();
        let mut ran = std::mem::take(&mut watched.lanes.ran[w]);
        // What only computes calls no hook; where there is but one fragment, it has run.
        if let [only] = &warp.fragments[..] {
            look.lively |= ran == 0;
            ran |= only.mask;
        } else {
            look.lively |= ran == 0;
        }
        of.waiting &= !watched.lanes.let_go[w];
        watched.lanes.since[w] |= ran;
        if watched.exchange.joint[w] && !watched.exchange.was_joint[w] {
            watched.exchange.was_joint[w] = true;
            of.round = 0;
        }
        let alive = warp.alive;
        if alive & !of.round != 0 {
            look.scratch.take(self, w);
            if !of.anchored || std::mem::take(&mut watched.lanes.tainted[w]) != 0 {
                std::mem::swap(&mut of.anchor, &mut look.scratch);
                (of.anchored, of.compared, of.patience) = (true, 0, 2);
                (watched.lanes.since[w], watched.lanes.tainted[w]) = (0, 0);
            } else {
                let same = of.anchor.same(&look.scratch, alive);
                let since = watched.lanes.since[w];
                if self.given.config.lockstep || watched.exchange.joint[w] {
                    // In lockstep, lanes that are not let run now never will be.
                    let behind = if self.given.config.lockstep { 0 } else { warp.ready() & !since };
                    if same == alive && behind == 0 && since != 0 {
                        of.round = alive;
                    }
                } else {
                    of.round |= same & since;
                }
                of.compared += 1;
                if of.compared == of.patience {
                    std::mem::swap(&mut of.anchor, &mut look.scratch);
                    (of.compared, of.patience) = (0, of.patience.saturating_mul(2));
                    watched.lanes.since[w] = 0;
                }
            }
        }
        let over = alive & !(of.round | of.waiting) == 0;
        self.hang.search.look = Some(look);
        over
    }

    /// Whether no thread can ever do anything but what it has done already.
    fn goes_round(&self) -> bool {
        let Some(look) = &self.hang.search.look else { return false };
        if self.hang.unproven.get() || !self.asynchrony.is_settled() {
            return false;
        }
        let watched = look.watched.borrow();
        let restless = watched.under.as_ref().is_some_and(|model| model.is_restless());
        if watched.unproven || restless {
            return false;
        }
        self.residents.warps.iter().zip(&look.warps).enumerate().all(|(w, (warp, of))| {
            let waiting = warp.fragments.iter().filter(|f| waits(f.state)).fold(0, |l, f| l | f.mask);
            warp.alive & !(of.round | of.waiting & waiting & !watched.lanes.let_go[w]) == 0
        })
    }

    /// Who is where, and what those who run read.
    fn diagnose_hang(&self, proven: bool) -> LaunchDiagnosis {
        let mut diagnosis = self.diagnose();
        if let Some(look) = &self.hang.search.look {
            diagnosis.spins = self.spins(&look.watched.borrow());
        }
        diagnosis.spinning = proven;
        diagnosis
    }

    /// A store that no hook sees is about to be done: to the tester's own memory, or to local memory, which is part of what is
    /// compared.
    #[inline]
    pub(super) fn unseen_store(
        &self,
        w: usize,
        rows: (*mut u8, *const u8),
        access: &DecodedAccess,
        found: &Resolved,
        active: u32,
    ) {
        if !self.hang.watching {
            return;
        }
        let accessed = Accessed::moved(access, rows, (*found, &self.paths.pointers));
        let (local, bytes) =
            (self.residents.warps[w].local as u64, 32 * self.given.layout.local_stride as u64);
        let changes = lanes_of(active).any(|lane| {
            let to = found.lane(&self.paths.pointers, lane, accessed.bytes()) as u64;
            let mut elements = 0..accessed.elements;
            to.wrapping_sub(local) >= bytes
                && elements.any(|element| accessed.value(lane, element) != accessed.read(lane, element))
        });
        if changes {
            self.hang.unseen.set(true);
        }
    }

    /// Runs to the turn `last` or the end, taking looks.
    pub(super) fn turns(&mut self, scheduler: &mut dyn SchedulerStrategy, last: u64) -> Option<End> {
        loop {
            let stop = last.min(self.hang.search.due);
            let end = match self.run(scheduler, stop) {
                Pause::End(end) => Some(end),
                Pause::Budget => self.out_of_budget(),
                Pause::Turns(warp) if self.progress.counts.turns >= self.hang.search.due => self.look(warp),
                Pause::Turns(_) => None,
            };
            if end.is_some() {
                self.end_look();
                return end;
            }
            if self.progress.counts.turns >= last || self.hang.search.suspects {
                return None;
            }
        }
    }
}
