//! Threads that may have returned early: `if (i >= n) return;` before barriers.
//!
//! Where one arm of an open branch returns at once, its lanes are followed as if they went on, and what they do from there on happens or
//! not. That is all right at barriers that wait for all threads of the CTA that have not exited: nobody waits there for who has returned, and
//! those who have not are ordered by the barrier itself, whoever else comes. Anything else that others could wait for is refused.
//! Who returns takes part in no barrier after that, so that what it did since its last one is ordered with nothing that others do
//! later: these accesses are told a second time, as the last that the thread does ([`crate::program::Condition::last`]).
//!
//! Every pair of accesses of two threads is covered: whether a thread returns changes only its own accesses behind that point and the
//! order of those before it, which are both among the commands, and the order of two other threads' accesses depends on
//! barriers that both take part in. Deadlocks and misuse are looked for with everybody going on, which no input need bring about: they
//! are not reported as such.

use bugaroo_simulator::decoded::{Kind, NO_GUARD};

use super::held::frame::ROOT;
use super::machine::Machine;
use super::refusal::Refusal;
use super::registers::{Why, lanes};
use crate::program::{
    AccessCondition, Command, CommandAction, Completion, Count, Opcode, SharedAccess, SharedAccessKind,
    SharedAddresses, SharedStrength, WrittenValues,
};

/// Instructions of an arm that returns at once, at most.
const LONGEST: u32 = 32;

/// An access as it is told again.
struct Told {
    lanes: u32,
    origin: u32,
    kind: SharedAccessKind,
    size: u32,
    strength: SharedStrength,
    at: [u32; 32],
}

impl Machine<'_> {
    /// If one arm of the branch at `pc` returns at once: where the other one begins.
    pub fn early_return(&self, w: usize, frame: u32, pc: u32, leaving: u32) -> Option<u32> {
        // A loop that ends the kernel goes round for nobody knows how long.
        let leavers = &self.warps[w].leavers;
        let here = |lane: usize| {
            let first = (leavers.lanes >> lane & 1 != 0).then_some(leavers.conditions[lane]);
            let conditions = self.out.conditions();
            let mut around = std::iter::successors(first, |at| conditions[*at as usize].outer);
            around.any(|at| conditions[at as usize].origin == pc)
        };
        if lanes(leaving).any(here) {
            return None;
        }
        let inst = &self.set.code.image.code[pc as usize];
        if self.calls.frames[frame as usize].parent != ROOT
            || inst.kind != Kind::Branch
            || self.ways.doubt.depth > 0
        {
            return None;
        }
        match (self.returns(inst.extra), self.returns(pc + 1)) {
            (true, false) => Some(pc + 1),
            (false, true) => Some(inst.extra),
            _ => None,
        }
    }

    fn returns(&self, pc: u32) -> bool {
        matches!(self.comes_to(pc), Some(Kind::Ret | Kind::Exit))
    }

    /// If one arm of the branch at `pc` stops the kernel at once, which nobody is taken to run into: where the other one begins.
    pub fn stops_otherwise(&self, pc: u32) -> Option<u32> {
        let inst = &self.set.code.image.code[pc as usize];
        let stops = |at| matches!(self.comes_to(at), Some(Kind::Trap));
        match inst.kind {
            Kind::Branch => match (stops(inst.extra), stops(pc + 1)) {
                (true, false) => Some(pc + 1),
                (false, true) => Some(inst.extra),
                _ => None,
            },
            _ => None,
        }
    }

    /// What way leads to an end that touches nothing but registers: what sort of end, if it comes soon.
    fn comes_to(&self, mut pc: u32) -> Option<Kind> {
        for _ in 0..LONGEST {
            let inst = &self.set.code.image.code[pc as usize];
            if inst.guard != NO_GUARD {
                return None;
            }
            match inst.kind {
                Kind::Ret | Kind::Exit | Kind::Trap => return Some(inst.kind),
                Kind::Branch => pc = inst.extra,
                Kind::Alu | Kind::Nop | Kind::Special | Kind::Pack | Kind::Unpack => pc += 1,
                _ => return None,
            }
        }
        None
    }

    /// Lanes may have returned at `pc`.
    pub fn may_leave(&mut self, w: usize, pc: u32, leaving: u32, why: Why) -> Result<(), Refusal> {
        let outer = self.warps[w].leavers;
        let last = AccessCondition { origin: pc, literal: None, outer: None, last: true };
        let last = self.out.condition(last);
        for told in self.since_last_barrier(w, leaving) {
            let access = SharedAccess {
                kind: told.kind,
                size: told.size,
                strength: told.strength,
                addresses: SharedAddresses::Each(&told.at),
                values: WrittenValues::Unknown,
                completion: Completion::Now,
            };
            let action = CommandAction::Access(access);
            let command = Command { lanes: told.lanes, origin: told.origin, action };
            if let Err(error) = self.out.warp_mut(w as u32).push_possible(&command, last) {
                return Err(self.illegal(w, pc, leaving.trailing_zeros() as usize, error.to_string()));
            }
        }
        for lane in lanes(leaving) {
            let around = (outer.lanes >> lane & 1 != 0).then_some(outer.conditions[lane]);
            let condition = AccessCondition { origin: pc, literal: None, outer: around, last: false };
            self.warps[w].leavers.conditions[lane] = self.out.condition(condition);
        }
        self.warps[w].leavers.lanes |= leaving;
        self.warps[w].leavers.why = why;
        Ok(())
    }

    /// What lanes have accessed since each of them waited at a barrier for all threads.
    fn since_last_barrier(&self, w: usize, mut leaving: u32) -> Vec<Told> {
        let warp = &self.out.warps()[w];
        let mut all = Vec::new();
        for packed in warp.packed().iter().rev() {
            match packed.opcode() {
                Opcode::Sync => leaving &= !packed.lanes,
                Opcode::Access if packed.lanes & leaving != 0 && packed.completion() == Completion::Now => {
                    let addresses = warp.addresses_of(packed);
                    all.push(Told {
                        lanes: packed.lanes & leaving,
                        origin: packed.origin,
                        kind: packed.kind(),
                        size: packed.size(),
                        strength: packed.strength(),
                        at: std::array::from_fn(|lane| addresses.lane(lane as u32)),
                    });
                }
                _ => {}
            }
            if leaving == 0 {
                break;
            }
        }
        all
    }

    /// A command of lanes of which some may have returned: parted by conditions, or refused.
    #[cold]
    pub fn emit_of_leavers(
        &mut self,
        w: usize,
        mut rest: u32,
        pc: u32,
        action: CommandAction<'_>,
    ) -> Result<(), Refusal> {
        let leavers = self.warps[w].leavers;
        match action {
            CommandAction::Access(SharedAccess { completion: Completion::Now, .. }) => {
                while rest != 0 {
                    let first = rest.trailing_zeros() as usize;
                    let of = |lane: usize| {
                        let own = (leavers.lanes >> lane & 1 != 0).then_some(leavers.conditions[lane]);
                        self.ways.doubt.condition.or(own)
                    };
                    let condition = of(first);
                    let group = lanes(rest).filter(|lane| of(*lane) == condition).fold(0, |g, l| g | 1 << l);
                    rest &= !group;
                    self.push(w, group, pc, action, condition)?;
                }
                Ok(())
            }
            CommandAction::Sync { count: Count::All, .. } | CommandAction::Exit => {
                self.push(w, rest, pc, action, None)
            }
            _ => Err(self.left(w, pc, rest)),
        }
    }

    /// Refuses because lanes may have returned.
    pub fn left(&self, w: usize, pc: u32, mask: u32) -> Refusal {
        let leavers = self.warps[w].leavers;
        let lane = (mask & leavers.lanes).trailing_zeros() as usize;
        self.unknown(w, pc, lane, "whether the thread is still there", leavers.why)
    }
}
