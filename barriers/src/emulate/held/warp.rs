//! Warps and the fragments that their lanes fall into: lanes at one instruction of one frame.
//!
//! Threads are independent, so which fragment goes first means nothing; that those of one frame at one instruction are joined
//! only saves time. The deepest call goes first, then the lowest instruction, which lets stragglers catch up.

use super::leavers::Leavers;
use super::multiplying::Multiplying;
use super::polls::Polls;
use crate::emulate::local::Local;

/// What a fragment is up to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::emulate) enum State {
    /// It can run.
    Ready,
    /// It waits at the named barrier of this number for the rest of its own warp.
    Gathering(u32),
    /// It waits at the named barrier of this number, at which its warp has arrived.
    Barrier(u32),
    /// It waits for the lanes of this member mask.
    Mask(u32),
    /// It waits for the phase of this parity of an mbarrier, and gets its answer into a predicate row. It goes
    /// on at `behind`.
    Phase { address: u32, parity: u32, answer: Option<u32>, behind: u32 },
    /// It waits for its cluster.
    Cluster,
    /// It waits for all lanes of its warp to come to the instruction.
    Converging,
    /// It is about to begin a round of a loop, and waits until nobody else can go on ([`crate::emulate::rounds`]).
    Pausing,
}

/// Lanes at one instruction.
#[derive(Clone, Copy, Debug)]
pub(in crate::emulate) struct Fragment {
    pub mask: u32,
    /// The next instruction; of one that waits, the instruction that it waits at.
    pub pc: u32,
    pub frame: u32,
    pub depth: u32,
    pub state: State,
}

/// How an instruction left the fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::emulate) enum Flow {
    /// It goes on behind the instruction.
    Next,
    /// Fragments have changed; the next one is to be selected.
    Select,
}

/// A warp's lanes.
pub(in crate::emulate) struct Warp {
    pub fragments: Vec<Fragment>,
    /// Lanes that have not exited.
    pub alive: u32,
    pub own: Which,
    pub local: Local,
    pub leavers: Leavers,
    /// Lanes that may begin a round.
    pub passing: u32,
    /// Lanes that came to a fence last which releases what they did, and how many commands the warp's program had then.
    pub released: (u32, usize),
    pub multiplying: Multiplying,
    pub polls: Polls,
    /// The step at which all its lanes met last.
    pub met: u64,
}

/// Which warp it is.
pub(in crate::emulate) struct Which {
    /// Number within its CTA, and the CTA.
    pub index: u32,
    pub cta: u32,
}

impl Warp {
    /// A warp of a CTA, all of whose lanes stand at the beginning.
    pub fn new(index: u32, cta: u32, alive: u32) -> Warp {
        Warp {
            fragments: Vec::new(),
            alive,
            own: Which { index, cta },
            local: Local::default(),
            leavers: Leavers::default(),
            passing: 0,
            released: (0, 0),
            met: 0,
            multiplying: Multiplying::default(),
            polls: Polls::default(),
        }
    }

    /// The fragment to run next, and the instruction at which it meets another one and has to stop.
    pub fn select(&mut self, lockstep: bool) -> Option<(usize, u32)> {
        if let [only] = &self.fragments[..] {
            return (only.state == State::Ready).then_some((0, u32::MAX));
        }
        // In lockstep, the warp waits as a whole.
        if lockstep && self.fragments.iter().any(|f| matches!(f.state, State::Barrier(_) | State::Cluster)) {
            return None;
        }
        self.regroup();
        let ready = || self.fragments.iter().enumerate().filter(|(_, f)| f.state == State::Ready);
        let (index, chosen) =
            ready().min_by_key(|(_, f)| (u32::MAX - f.depth, f.pc)).map(|(i, f)| (i, *f))?;
        let ahead = ready().filter(|(_, f)| f.frame == chosen.frame && f.pc > chosen.pc).map(|(_, f)| f.pc);
        Some((index, ahead.min().unwrap_or(u32::MAX)))
    }

    fn regroup(&mut self) {
        let mut i = 0;
        while i < self.fragments.len() {
            let mut j = i + 1;
            while j < self.fragments.len() {
                let (a, b) = (self.fragments[i], self.fragments[j]);
                if a.state == State::Ready && b.state == State::Ready && a.pc == b.pc && a.frame == b.frame {
                    self.fragments[i].mask |= b.mask;
                    self.fragments.swap_remove(j);
                } else {
                    j += 1;
                }
            }
            i += 1;
        }
    }

    /// Takes `lanes`, some but not all of a fragment's, out of it into a fragment of their own, and answers its index.
    pub fn split(&mut self, from: usize, lanes: u32) -> usize {
        let mut part = self.fragments[from];
        debug_assert!(part.mask & lanes == lanes && part.mask != lanes && lanes != 0);
        self.fragments[from].mask &= !lanes;
        part.mask = lanes;
        self.fragments.push(part);
        self.fragments.len() - 1
    }

    /// Leaves `group` (some of the `active` lanes of a fragment) alone in a fragment and answers its index. Lanes that are not
    /// active go on behind the instruction; active ones outside the group stay at it.
    pub fn isolate(&mut self, fragment: usize, group: u32, active: u32) -> usize {
        let passive = self.fragments[fragment].mask & !active;
        if passive != 0 {
            let passive = self.split(fragment, passive);
            self.fragments[passive].pc += 1;
        }
        if group == active { fragment } else { self.split(fragment, group) }
    }
}
