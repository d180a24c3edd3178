//! Warps and the fragments that their lanes fall into.
//!
//! A fragment is a set of lanes at one instruction of one frame. A warp starts as one fragment, splits where
//! a branch, a call or a wait treats its lanes differently, and regroups when fragments of the same frame
//! stand at the same instruction. Of several fragments the deepest call goes first, then the lowest
//! instruction: compilers lay code out so that this mostly lets stragglers catch up. As that alone would let lanes
//! spin for ever on a sibling, every so often (one turn in eight, by the scheduler's random bits) a turn is
//! given to a random ready lane's fragment. And as nothing promises that lanes which could run together do
//! run together, one turn in 64 of a converged warp is given to a random part of its lanes alone; afterwards
//! the rest goes first until it has caught up (in a loop the lowest instruction would not be the straggler's).
//! Of lanes that spin on a sibling neither is enough: those that spin stand lower than the one they wait for, and one turn in
//! eight for a lane of 32 is little. So after some operations of a diverged warp another fragment than the usual one gets some
//! ([`Warp::pass_on`]); the sooner, the more often that was so since the warp's lanes were last together.
//! A program that leans on convergence without asking for it (`__syncwarp`) is thereby
//! found out. In lockstep mode neither happens, and blocks go by an order in which stragglers always catch up
//! ([`Turns`]).

use super::frames::Frames;
use crate::turns::Turns;

/// What a fragment is up to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// It can run.
    Ready,
    /// It waits at the CTA barrier of this number for the rest of its own warp.
    Gathering(u32),
    /// It waits at the CTA barrier of this number, at which its warp has arrived.
    Barrier(u32),
    /// It waits for the lanes of this member mask.
    Mask(u32),
    /// It waits for a phase of an mbarrier.
    Mbarrier,
    /// It waits for its cluster.
    Cluster,
}

/// Lanes at one instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fragment {
    /// First byte of its frame's rows.
    pub rows: *mut u8,
    pub mask: u32,
    /// The next instruction; of one that waits, the instruction that it waits at.
    pub pc: u32,
    pub frame: u32,
    pub state: State,
}

/// Fragments that a warp has room for in place.
const NEAR: usize = 4;

/// The fragments of a warp: 32 at most, one per lane. Few are kept in place, so that switching to a warp reads what
/// lies there, and a launch's warps take little memory; a warp that once had more keeps them apart.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Fragments {
    len: usize,
    /// All of them, once they were too many.
    more: Option<Box<[Fragment; 32]>>,
    items: [Fragment; NEAR],
}

impl Fragments {
    pub fn new() -> Fragments {
        let rows = std::ptr::null_mut();
        let nobody = Fragment { rows, mask: 0, pc: 0, frame: 0, state: State::Ready };
        Fragments { len: 0, items: [nobody; NEAR], more: None }
    }

    pub fn push(&mut self, fragment: Fragment) {
        if self.len == NEAR && self.more.is_none() {
            self.move_apart();
        }
        self.len += 1;
        let last = self.len - 1;
        self[last] = fragment;
    }

    #[cold]
    fn move_apart(&mut self) {
        let mut more = Box::new([self.items[0]; 32]);
        more[..NEAR].copy_from_slice(&self.items);
        self.more = Some(more);
    }

    pub fn swap_remove(&mut self, index: usize) {
        let last = self.len - 1;
        self[index] = self[last];
        self.len = last;
    }

    pub fn clear(&mut self) {
        self.len = 0;
    }
}

impl std::ops::Deref for Fragments {
    type Target = [Fragment];

    #[inline(always)]
    fn deref(&self) -> &[Fragment] {
        match &self.more {
            None => &self.items[..self.len],
            Some(more) => &more[..self.len],
        }
    }
}

impl std::ops::DerefMut for Fragments {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [Fragment] {
        match &mut self.more {
            None => &mut self.items[..self.len],
            Some(more) => &mut more[..self.len],
        }
    }
}

/// A warp's lanes. What each turn needs of one that is together comes first, in one line of the cache: turns go to other warps, whose
/// lines have gone meanwhile.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Warp {
    /// Whether a part of its lanes has been sent ahead.
    pub parting: Parting,
    /// The lane whose fragment has been given this turn.
    pub favoured: u32,
    pub fragments: Fragments,
    /// Lanes that have not exited.
    pub alive: u32,
    /// Slot of the CTA.
    pub cta: u32,
    /// Number within the CTA.
    pub index: u32,
    /// Where it is among the runnable warps, if it is one.
    pub queued: Option<u32>,
    /// First byte of lane 0's local memory.
    pub local: *mut u8,
    /// How long the same part of it has gone first.
    pub passing: Passing,
}

/// Whose turn it is among the fragments of a diverged warp.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passing {
    /// Operations that the usual fragment may still do before another has its turn.
    left: u32,
    /// How many those are at first.
    patience: u32,
    /// The fragment that has its turn instead, and for how many operations.
    leader: u32,
    lead: u32,
}

/// Most operations of the usual fragment in a row, and least.
const PATIENCE: (u32, u32) = (128, 4);
/// Operations of the other fragment.
const LEAD: u32 = 24;

impl Default for Passing {
    fn default() -> Passing {
        Passing { left: PATIENCE.0, patience: PATIENCE.0, leader: 0, lead: 0 }
    }
}

/// A converged warp that fell into two parts because one was sent ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parting {
    /// Nothing of the kind.
    None,
    /// The part with this lane has done so many more visible operations than the other, or as many and stands where the other
    /// comes to next.
    Apart { lane: u32, lead: u32 },
}

/// No lane is favoured.
pub(super) const NOBODY: u32 = 32;

/// A fragment to run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Selected {
    pub index: usize,
    /// Instruction at which it meets another fragment, or may have to wait for one, and has to stop; `u32::MAX` for none.
    pub stop: u32,
    pub diverged: bool,
}

impl Warp {
    /// Lanes that could run.
    pub fn ready(&self) -> u32 {
        self.fragments.iter().filter(|f| f.state == State::Ready).fold(0, |lanes, f| lanes | f.mask)
    }

    /// Gives the turn to some lanes of a converged warp, the rest being left where it is.
    pub fn part(&mut self, bits: u64) {
        let mask = self.fragments[0].mask;
        let lanes = mask & bits as u32;
        if self.fragments[0].state == State::Ready && lanes != 0 && lanes != mask {
            self.split(0, lanes);
            self.favoured = lanes.trailing_zeros();
            self.parting = Parting::Apart { lane: self.favoured, lead: 0 };
        }
    }

    /// Lets another fragment than the one that would be selected go first for a while, when that one has had so many
    /// operations in a row. Answers for how many of the operations granted.
    #[inline(never)]
    pub fn pass_on(&mut self, frames: &Frames, turns: &Turns, operations: u32, bits: u64) -> u32 {
        let leads = |f: &Fragment, leader: u32| f.state == State::Ready && f.mask == leader;
        if self.passing.lead > 0 {
            if self.fragments.iter().any(|f| leads(f, self.passing.leader)) {
                self.favoured = self.passing.leader.trailing_zeros();
                let operations = operations.min(self.passing.lead);
                self.passing.lead -= operations;
                return operations;
            }
            // It waits, or has met others.
            self.passing.lead = 0;
        }
        if self.passing.left > 0 {
            let operations = operations.min(self.passing.left);
            self.passing.left -= operations;
            return operations;
        }
        self.passing.patience = (self.passing.patience / 2).max(PATIENCE.1);
        self.passing.left = self.passing.patience;
        let usual = self.usual(frames, turns);
        let others = || {
            let all = self.fragments.iter().enumerate();
            all.filter(|(at, f)| f.state == State::Ready && Some(*at) != usual).map(|(_, f)| f.mask)
        };
        let nth = ((bits >> 32) * others().count() as u64) >> 32;
        let Some(leader) = others().nth(nth as usize) else { return operations };
        self.favoured = leader.trailing_zeros();
        let operations = operations.min(LEAD);
        (self.passing.leader, self.passing.lead) = (leader, LEAD - operations);
        operations
    }

    /// The fragment that goes first where nothing else is said: that of the deepest call, and of its instructions the first.
    fn usual(&self, frames: &Frames, turns: &Turns) -> Option<usize> {
        let ready = self.fragments.iter().enumerate().filter(|(_, f)| f.state == State::Ready);
        ready.min_by_key(|(_, f)| (u32::MAX - frames.get(f.frame).depth, turns.turn(f.pc))).map(|(at, _)| at)
    }

    /// A turn is over, in which so many visible operations were done.
    pub fn turn_over(&mut self, operations: u32) {
        let Parting::Apart { lane, lead } = self.parting else { return };
        let [a, b] = self.fragments[..] else {
            self.parting = Parting::None;
            return;
        };
        let ahead = if a.mask >> lane & 1 != 0 { a.mask } else { b.mask };
        self.parting = match self.favoured {
            favoured if favoured < 32 && ahead >> favoured & 1 != 0 => {
                Parting::Apart { lane, lead: lead + operations }
            }
            // They were to meet in this turn.
            NOBODY if lead == 0 => Parting::None,
            _ if operations <= lead => Parting::Apart { lane, lead: lead - operations },
            _ => {
                let behind = (a.mask | b.mask) & !ahead;
                Parting::Apart { lane: behind.trailing_zeros(), lead: operations - lead }
            }
        };
    }

    /// The fragment to run next; None when none is ready.
    #[inline(always)]
    pub fn select(&mut self, frames: &Frames, turns: &Turns) -> Option<Selected> {
        if let [only] = &self.fragments[..] {
            return (only.state == State::Ready).then_some(Selected {
                index: 0,
                stop: u32::MAX,
                diverged: false,
            });
        }
        self.select_diverged(frames, turns)
    }

    #[inline(never)]
    fn select_diverged(&mut self, frames: &Frames, turns: &Turns) -> Option<Selected> {
        // Parts that stand at the same instruction can be a turn of a loop apart: they are joined when the
        // one behind has done as many operations as the one ahead.
        match self.parting {
            Parting::None => self.regroup(),
            Parting::Apart { .. } if self.favoured != NOBODY => {}
            Parting::Apart { lane, lead } => match self.behind(lane, lead) {
                Some(selected) => return Some(selected),
                None => {
                    self.parting = Parting::None;
                    self.regroup();
                }
            },
        }
        let favourite = self
            .fragments
            .iter()
            .position(|f| f.state == State::Ready && self.favoured < 32 && f.mask >> self.favoured & 1 != 0);
        let ready = || self.fragments.iter().enumerate().filter(|(_, f)| f.state == State::Ready);
        let index = favourite.or_else(|| self.usual(frames, turns))?;
        let chosen = self.fragments[index];
        let ahead = ready().filter(|(_, f)| f.frame == chosen.frame && f.pc > chosen.pc).map(|(_, f)| f.pc);
        let stop = ahead.min().unwrap_or(u32::MAX).min(turns.end(chosen.pc));
        Some(Selected { index, stop, diverged: self.fragments.len() > 1 })
    }

    /// The part that was left behind by the one with this lane, while there are these two, it can run, and they have not met.
    fn behind(&self, lane: u32, lead: u32) -> Option<Selected> {
        let [a, b] = self.fragments[..] else { return None };
        let index = usize::from(a.mask >> lane & 1 != 0);
        let (ahead, behind) = if index == 1 { (a, b) } else { (b, a) };
        let met = lead == 0 && ahead.pc == behind.pc && ahead.frame == behind.frame;
        let stop = if lead == 0 && ahead.frame == behind.frame { ahead.pc } else { u32::MAX };
        (behind.state == State::Ready && !met).then_some(Selected { index, stop, diverged: true })
    }

    /// Joins fragments that stand at the same instruction of the same frame.
    fn regroup(&mut self) {
        let fragments = &mut self.fragments;
        let mut i = 0;
        while i < fragments.len() {
            let mut j = i + 1;
            while j < fragments.len() {
                let (a, b) = (fragments[i], fragments[j]);
                if a.state == State::Ready && b.state == State::Ready && a.pc == b.pc && a.frame == b.frame {
                    fragments[i].mask |= b.mask;
                    fragments.swap_remove(j);
                } else {
                    j += 1;
                }
            }
            i += 1;
        }
    }

    /// Takes `lanes`, some but not all of a fragment's, out of it into a fragment of their own, and answers
    /// its index.
    pub fn split(&mut self, from: usize, lanes: u32) -> usize {
        let mut part = self.fragments[from];
        debug_assert!(part.mask & lanes == lanes && part.mask != lanes && lanes != 0);
        self.fragments[from].mask &= !lanes;
        part.mask = lanes;
        self.fragments.push(part);
        self.fragments.len() - 1
    }
}

// The first fragment ends where the line does.
const _: () = assert!(
    std::mem::offset_of!(Warp, fragments) + std::mem::offset_of!(Fragments, items) + size_of::<Fragment>()
        == 64
);
