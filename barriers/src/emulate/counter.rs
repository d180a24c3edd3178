//! Counters in shared memory: what atomic additions leave there, and who is the last to take part.
//!
//! Additions can be exchanged for each other, so that their sum is the same in all orders. Whoever reads it without being ordered behind
//! all of them races with them, or reads what is open: both are the checker's to find ([`super`]). The sum shows in memory when the next
//! barrier completes: who reads it before that waits for others as a rule, in a loop that has no end in this one order of execution.
//!
//! What an addition returns depends on the order of threads, but for one question: where all take away their shares of a known number,
//! none of which is nought, exactly the last one finds its own share left. Which one that is, is open. If all that the last one does is to
//! invalidate mbarriers (libraries do so when the last thread leaves a pipeline), it does not matter: it must come behind all uses of these
//! mbarriers, which is so where each warp that uses them has taken its share away later. That is a matter of time, and is judged here, in
//! this order of execution: what a warp does it does one after the other, and its lanes have met between their uses and the counter.
//! Anything else that the last one does is refused.

use bugaroo_ptx::op::{AtomOp, MbarrierOp};
use bugaroo_ptx::types::Type;
use bugaroo_simulator::alu::Width;
use bugaroo_simulator::decoded::{Asynchronous, Atomic, Kind, NO_GUARD};
use rustc_hash::FxHashSet;

use super::held::counters::Decided;
use super::machine::Machine;
use super::refusal::Refusal;
use super::registers::{Why, lanes};
use super::symbol::Order;
use super::text::Form;
use crate::program::CommandAction;

/// Instructions between the counter and the comparison, from there to the branch, and of the way of the last one.
const NEAR: u32 = 8;
const LONGEST: u32 = 64;

/// Where the result of a counter is compared, and the way of who is the last.
struct Question {
    compare: u32,
    /// The slot that it is compared with.
    with: i32,
    negate: bool,
    way: FxHashSet<u32>,
}

impl Machine<'_> {
    /// What an addition leaves in shared memory, where that is known.
    pub fn sum(
        &self,
        w: usize,
        frame: u32,
        pc: u32,
        lane: usize,
        atomic: &Atomic,
        (rank, at): (u32, u64),
    ) -> Option<[u32; 2]> {
        let plain = atomic.op == AtomOp::Add && matches!(atomic.ty, Type::U32 | Type::S32);
        let certain = self.ways.doubt.depth == 0 && self.warps[w].leavers.lanes >> lane & 1 == 0;
        if !plain || !certain || self.set.code.open.contains(&pc) {
            return None;
        }
        let registers = &self.calls.frames[frame as usize].registers;
        let slot = atomic.src[0];
        if registers.known(slot) >> lane & 1 == 0 {
            return None;
        }
        let old = match self.ctas[rank as usize].shared.read(at as usize, 4) {
            Ok(old) => old as u32,
            Err(why) => {
                let (sum, by) = self.known.counters.sums.get(&(rank, at as u32))?;
                (why == Why::at(*by)).then_some(*sum)?
            }
        };
        Some([old, registers.read(slot, Width::W32, lane) as u32])
    }

    /// A lane has added to shared memory: keeps the sum until the next barrier.
    pub fn summed(&mut self, pc: u32, (rank, at): (u32, u32), [old, added]: [u32; 2]) {
        self.forget_shared(rank, at as usize, 4, Why::at(pc));
        self.known.counters.sums.insert((rank, at), (old.wrapping_add(added), pc));
    }

    /// A barrier completes: sums show that nobody has written over.
    pub fn show_sums(&mut self) {
        if self.known.counters.sums.is_empty() || self.ways.doubt.depth > 0 {
            return;
        }
        for ((rank, at), (sum, by)) in std::mem::take(&mut self.known.counters.sums) {
            let shared = &mut self.ctas[rank as usize].shared;
            if shared.read(at as usize, 4) == Err(Why::at(by)) {
                shared.write(at as usize, 4, Ok(u64::from(sum)));
            }
        }
    }

    /// A lane has added to a counter: decides whether it is the last to take its share away, if that is what is asked.
    pub fn counted_down(
        &mut self,
        w: usize,
        frame: u32,
        pc: u32,
        lane: usize,
        dst: u32,
        (counter, [old, added]): ((u32, u32), [u32; 2]),
    ) {
        let share = added.wrapping_neg();
        let Some(question) = self.question(pc, dst) else { return };
        let registers = &self.calls.frames[frame as usize].registers;
        let known = registers.known(question.with) >> lane & 1 != 0;
        let asks = known && registers.read(question.with, Width::W32, lane) as u32 == share;
        if !asks || share == 0 || share > i32::MAX as u32 || old < share {
            return;
        }
        let met = self.warps[w].met;
        self.known.counters.shares.entry(counter).or_default().insert(w, (1 << lane, met));
        let last = old == share;
        self.known.counters.decided = Some(Decided {
            pc: question.compare,
            frame,
            lanes: 1 << lane,
            last: u32::from(last) << lane,
            negate: question.negate,
        });
        if last {
            self.known.counters.last = Some((w, question.way, counter));
        }
    }

    /// Whether the result of the addition at `pc` is compared for equality, and who is the last only invalidates mbarriers.
    fn question(&self, pc: u32, dst: u32) -> Option<Question> {
        let code = self.set.code.image.code;
        let arithmetic = |at: u32| &self.set.code.extras[at as usize].arithmetic;
        let alu = |at: &u32| code[*at as usize].kind == Kind::Alu && code[*at as usize].guard == NO_GUARD;
        let compare = (pc + 1..pc + 1 + NEAR).take_while(alu).find(|at| {
            let inst = &code[*at as usize];
            inst.ops.src[..usize::from(arithmetic(*at).sources)].contains(&(dst as i32))
        })?;
        let inst = &code[compare as usize];
        let Form::Compare { order: Order::Equal, bytes: 4, negate, .. } = arithmetic(compare).form else {
            return None;
        };
        let with = inst.ops.src[usize::from(inst.ops.src[0] == dst as i32)];
        let branch = (compare + 1..compare + 1 + NEAR).find(|at| !alu(at))?;
        let taken = &code[branch as usize];
        if taken.kind != Kind::Branch || taken.guard as i32 != inst.ops.dst as i32 {
            return None;
        }
        // Whether the branch is taken by those whose result is equal.
        let by_last = !negate ^ (taken.guard_flip != 0);
        let (mut at, other) = if by_last { (taken.extra, branch + 1) } else { (branch + 1, taken.extra) };
        let mut way = FxHashSet::default();
        while at != other && way.len() < LONGEST as usize {
            let inst = &code[at as usize];
            let next = match inst.kind {
                Kind::Ret | Kind::Exit if inst.guard == NO_GUARD => {
                    return Some(Question { compare, with, negate, way });
                }
                Kind::Branch if inst.guard == NO_GUARD => inst.extra,
                Kind::Alu | Kind::Nop | Kind::Special | Kind::Fence => at + 1,
                Kind::Asynchronous if inst.guard == NO_GUARD => {
                    match &self.set.code.image.asyncs[inst.extra as usize] {
                        Asynchronous::Mbarrier { op: MbarrierOp::Inval, .. } => at + 1,
                        _ => return None,
                    }
                }
                _ => return None,
            };
            way.insert(at);
            at = next;
        }
        (at == other).then_some(Question { compare, with, negate, way })
    }

    /// Writes a decided predicate behind its comparison.
    #[cold]
    pub fn decide(&mut self) {
        let Some(decided) = self.known.counters.decided.take() else { return };
        let row = self.set.code.image.code[decided.pc as usize].ops.dst;
        let registers = &mut self.calls.frames[decided.frame as usize].registers;
        for lane in lanes(decided.lanes) {
            let holds = (decided.last >> lane & 1 != 0) ^ decided.negate;
            registers.write(row, Width::Pred, lane, u64::from(holds));
        }
        registers.mark(row, decided.lanes, !0, Why::NEVER);
    }

    /// A warp uses an mbarrier.
    pub fn used(&mut self, w: usize, mbarrier: (u32, u32)) {
        let step = self.course.steps;
        self.known.counters.uses.entry(mbarrier).or_default().insert(w, step);
    }

    /// An `mbarrier.inval`; answers whether it is the last one's of a counter, and so nobody's in particular.
    pub fn invalidated(
        &mut self,
        w: usize,
        pc: u32,
        (rank, offset, address): (u32, u32, u32),
    ) -> Result<bool, Refusal> {
        let uses = self.known.counters.uses.remove(&(rank, offset)).unwrap_or_default();
        let Some((last, way, counter)) = &self.known.counters.last else { return Ok(false) };
        if *last != w || !way.contains(&pc) {
            return Ok(false);
        }
        let shares = self.known.counters.shares.get(counter).cloned().unwrap_or_default();
        let late = |(warp, step): (&usize, &u64)| shares.get(warp).is_none_or(|(_, met)| met < step);
        if let Some((warp, _)) = uses.iter().find(|(warp, step)| late((warp, step))) {
            let message = format!(
                "the last thread to leave invalidates the mbarrier at {offset:#x}, which warp {warp} may use later"
            );
            return Err(self.unsupported(w, pc, 0, message));
        }
        // Any of them may have been the last.
        let mut participants: Vec<(usize, u32)> =
            shares.iter().map(|(warp, (lanes, _))| (*warp, *lanes)).collect();
        participants.sort_unstable();
        for (warp, lanes) in participants {
            self.emit(warp, lanes, pc, CommandAction::MbarrierInval { address, last: true })?;
        }
        Ok(true)
    }
}
