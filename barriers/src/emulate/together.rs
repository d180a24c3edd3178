//! Arms that all lanes of a branch run together: which of the arms is not known, but that it is the same one for all of them. So the
//! lanes meet in it as they do outside, and can exchange values. Loops of a warp that looks back at other blocks are of this kind
//! (`while (__any_sync(…))`).
//!
//! That lanes go together follows from an expression that all of them have ([`super::symbol`]), or from a vote just before the
//! branch. In arms, values have no names: one name would stand for those of all rounds.
//!
//! Lanes that do not go together may have agreed who of them does: they take part with a member mask that they have computed, and that is not known here
//! (`mask = __ballot_sync(mask, …)` in a loop that lanes leave one by one). Such an exchange is taken to be among lanes that all come to
//! it, which is said with the verdict ([`super::Emulation::taken_to_meet`]). Nothing is known of what it gives.
//!
//! # What it can miss
//! A guard that is computed from a vote in another block of instructions is not seen to be the same for all. `bar.warp.sync` and matrices
//! stay refused: they order memory, or read it.

use bugaroo_ptx::op::VoteMode;
use bugaroo_simulator::alu::Width;
use bugaroo_simulator::decoded::{Kind, NO_GUARD, Together};

use super::collective::Part;
use super::machine::Machine;
use super::registers::{Why, lanes};

impl Machine<'_> {
    /// Whether these lanes go the same way at the open branch at `pc`, and at all around it.
    pub fn goes_together(&self, frame: u32, pc: u32, mask: u32) -> bool {
        self.ways.doubt.joins
            && self.ways.doubt.together
            && (self.common_condition(frame, pc, mask).is_some() || self.is_voted(frame, pc))
    }

    /// Whether the branch at `pc` goes by a vote in its block. An arm's exchanges are among all lanes of it, so that the vote is one for all of them.
    fn is_voted(&self, frame: u32, pc: u32) -> bool {
        let (image, flow) =
            (&self.set.code.image, &self.set.code.flows[self.calls.frames[frame as usize].function as usize]);
        let inst = &image.code[pc as usize];
        if self.ways.doubt.depth == 0 || inst.kind != Kind::Branch || inst.guard == NO_GUARD {
            return false;
        }
        let guard = inst.guard;
        let leaves_guard = |at: &u32| {
            let inst = &image.code[*at as usize];
            match inst.kind {
                Kind::Alu => inst.ops.dst != guard && inst.ops.dst2 != guard,
                Kind::Nop | Kind::Fence => true,
                _ => false,
            }
        };
        flow.block_before(pc).rev().find(|at| !leaves_guard(at)).is_some_and(|at| {
            let inst = &image.code[at as usize];
            // Lanes with a mask that is not known may have voted in several groups.
            inst.kind == Kind::Collective && inst.guard == NO_GUARD && !self.ways.doubt.met.contains(&at) && {
                let vote = &image.collectives[inst.extra as usize];
                let one_for_all = matches!(vote.what, Together::Vote(mode) if mode != VoteMode::Ballot);
                one_for_all && vote.dst == Some(guard)
            }
        })
    }

    /// Whether an instruction exchanges values of registers, and does nothing else.
    pub fn is_exchange(&self, index: u32) -> bool {
        !matches!(self.set.code.image.collectives[index as usize].what, Together::Sync | Together::Matrix(_))
    }

    /// All lanes of an arm come to such an instruction: does it, if they are the ones that take part. Answers whether it could.
    pub fn exchange_in_arm(&mut self, w: usize, frame: u32, pc: u32, mask: u32) -> bool {
        let index = self.set.code.image.code[pc as usize].extra;
        let warp = &self.warps[w];
        if !self.ways.doubt.joins || !self.is_exchange(index) || warp.leavers.lanes & warp.alive != 0 {
            return false;
        }
        let members = self.set.code.image.collectives[index as usize].mask;
        if members.is_some_and(|slot| mask & self.calls.frames[frame as usize].registers.known(slot) == 0) {
            self.exchange_among_some(frame, pc, index, mask);
            return true;
        }
        if !self.ways.doubt.together {
            return false;
        }
        let everybody = match members {
            None => warp.alive,
            Some(slot) => {
                let registers = &self.calls.frames[frame as usize].registers;
                let named = |lane| registers.read(slot, Width::W32, lane) as u32;
                let first = named(mask.trailing_zeros() as usize);
                if mask & !registers.known(slot) != 0 || lanes(mask).any(|lane| named(lane) != first) {
                    return false;
                }
                first & warp.alive
            }
        };
        if everybody != mask {
            return false;
        }
        self.exchange(w, &[Part { lanes: mask, frame, index, pc }], mask);
        self.ways.doubt.joined = true;
        true
    }

    /// Lanes exchange values among those that a member mask names which is not known.
    fn exchange_among_some(&mut self, frame: u32, pc: u32, index: u32, mask: u32) {
        let collective = self.set.code.image.collectives[index as usize];
        let registers = &mut self.calls.frames[frame as usize].registers;
        let why = Why::at(pc).tainted(registers.why(collective.src[0]).is_tainted());
        for row in collective.dst.into_iter().chain(collective.dst_pred) {
            registers.mark(row, mask, 0, why);
        }
        self.ways.doubt.met.insert(pc);
        self.ways.doubt.joined = true;
    }
}
