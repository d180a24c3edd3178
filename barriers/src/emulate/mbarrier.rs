//! `mbarrier` as it happens in this one order of execution (PTX ISA, "Parallel Synchronization: mbarrier").
//!
//! A test or a try is taken to be a wait, as in the loop that it stands in; [`super::polling`] checks that it stands in one.

use bugaroo_ptx::op::MbarrierOp;
use bugaroo_simulator::alu::Width;
use bugaroo_simulator::decoded::Address;

use super::machine::{Machine, Target};
use super::refusal::Refusal;
use super::registers::{Why, lanes};
use super::step::Flow;
use super::warp::State;
use crate::program::{Action, RANK_SHIFT};

/// An mbarrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Phases {
    /// Arrivals that a phase takes.
    pub expected: u32,
    /// Arrivals that this phase still takes.
    pub pending: u32,
    /// Bytes that this phase still takes.
    pub bytes: i64,
    /// The number of the phase.
    pub phase: u32,
}

impl Machine<'_> {
    /// The mbarrier that a lane names: its CTA, its offset, and both in one.
    pub fn mbarrier_at(
        &self,
        w: usize,
        frame: u32,
        pc: u32,
        address: &Address,
        lane: usize,
    ) -> Result<(u32, u32, u32), Refusal> {
        match self.target(w, frame, address, lane) {
            Target::Shared(rank, at) => {
                self.inside(w, pc, lane, (rank, at), 8, 8)?;
                Ok((rank, at as u32, rank << RANK_SHIFT | at as u32))
            }
            Target::Unknown(why) => Err(self.unknown(w, pc, lane, "the address of an mbarrier", why)),
            _ => Err(self.illegal(w, pc, lane, "an mbarrier that is not in shared memory")),
        }
    }

    /// A value of a lane that must be known.
    pub fn needed(
        &self,
        w: usize,
        frame: u32,
        pc: u32,
        lane: usize,
        (slot, width): (i32, Width),
        what: &str,
    ) -> Result<u64, Refusal> {
        let registers = &self.frames[frame as usize].registers;
        if registers.known(slot) >> lane & 1 == 0 {
            return Err(self.unknown(w, pc, lane, what, registers.why(slot)));
        }
        Ok(registers.read(slot, width, lane))
    }

    /// An `mbarrier` instruction.
    #[allow(clippy::too_many_arguments, reason = "who, where, and the fields of the instruction")]
    pub fn mbarrier(
        &mut self,
        w: usize,
        fragment: usize,
        pc: u32,
        active: u32,
        op: MbarrierOp,
        address: &Address,
        value: Option<i32>,
        dst: Option<u32>,
    ) -> Result<Flow, Refusal> {
        let frame = self.warps[w].fragments[fragment].frame;
        if let MbarrierOp::Wait { parity, .. } = op {
            return self.mbarrier_wait(w, fragment, pc, active, address, (value, parity), dst);
        }
        for lane in lanes(active) {
            let (rank, offset, at) = self.mbarrier_at(w, frame, pc, address, lane)?;
            let number = match value {
                Some(slot) => {
                    Some(self.needed(w, frame, pc, lane, (slot, Width::W32), "the count of an mbarrier")?
                        as u32)
                }
                None => None,
            };
            let bit = 1 << lane;
            if op == MbarrierOp::Init {
                let count = number.unwrap_or(0);
                self.emit(w, bit, pc, Action::MbarrierInit { address: at, count })?;
                let fresh = Phases { expected: count, pending: count, bytes: 0, phase: 0 };
                self.ctas[rank as usize].mbarriers.insert(offset, fresh);
                self.ctas[rank as usize].shared.forget(offset as usize, 8, Why::at(pc));
                continue;
            }
            let Some(mut state) = self.ctas[rank as usize].mbarriers.get(&offset).copied() else {
                return Err(self.illegal(w, pc, lane, format!("no mbarrier was initialised at {offset:#x}")));
            };
            let before = state.phase;
            match op {
                MbarrierOp::Inval => {
                    self.emit(w, bit, pc, Action::MbarrierInval { address: at })?;
                    self.ctas[rank as usize].mbarriers.remove(&offset);
                    continue;
                }
                MbarrierOp::Arrive { drop, expect_tx, .. } => {
                    let count = if expect_tx { 1 } else { number.unwrap_or(1) };
                    let bytes = if expect_tx { number.unwrap_or(0) } else { 0 };
                    self.emit(
                        w,
                        bit,
                        pc,
                        Action::MbarrierArrive { address: at, count, expect_tx: bytes, drop },
                    )?;
                    state.bytes += i64::from(bytes);
                    // Too many arrivals are the checker's to tell.
                    state.pending = state.pending.saturating_sub(count);
                    if drop {
                        state.expected = state.expected.saturating_sub(count);
                    }
                }
                MbarrierOp::ExpectTx => {
                    let bytes = number.unwrap_or(0);
                    let action =
                        Action::MbarrierArrive { address: at, count: 0, expect_tx: bytes, drop: false };
                    self.emit(w, bit, pc, action)?;
                    state.bytes += i64::from(bytes);
                }
                MbarrierOp::CompleteTx => {
                    let bytes = number.unwrap_or(0);
                    self.emit(w, bit, pc, Action::MbarrierCompleteTx { address: at, bytes })?;
                    state.bytes -= i64::from(bytes);
                }
                _ => unreachable!("initialisation and waits are done above"),
            }
            self.ctas[rank as usize].mbarriers.insert(offset, state);
            if let Some(dst) = dst {
                let registers = &mut self.frames[frame as usize].registers;
                registers.write(dst, Width::W64, lane, u64::from(before & 1) << 63);
                registers.mark(dst, bit, bit, Why::NEVER);
            }
            self.complete_phase(rank, offset);
        }
        Ok(Flow::Next)
    }

    /// Goes to the next phase if nothing is missing, and lets go on who waits for that.
    pub fn complete_phase(&mut self, rank: u32, offset: u32) {
        let Some(state) = self.ctas[rank as usize].mbarriers.get_mut(&offset) else { return };
        if state.pending != 0 || state.bytes != 0 {
            return;
        }
        state.pending = state.expected;
        state.phase += 1;
        let (now, at) = (state.phase & 1, rank << RANK_SHIFT | offset);
        for warp in &mut self.warps {
            for fragment in &mut warp.fragments {
                let State::Phase { address, parity, answer } = fragment.state else { continue };
                if address != at || parity == now {
                    continue;
                }
                if let Some(row) = answer {
                    let registers = &mut self.frames[fragment.frame as usize].registers;
                    lanes(fragment.mask).for_each(|lane| registers.write(row, Width::Pred, lane, 1));
                    registers.mark(row, fragment.mask, !0, Why::NEVER);
                }
                fragment.state = State::Ready;
                fragment.pc += 1;
            }
        }
    }

    /// `test_wait`, `try_wait`
    #[allow(clippy::too_many_arguments, reason = "who, where, and the fields of the instruction")]
    fn mbarrier_wait(
        &mut self,
        w: usize,
        fragment: usize,
        pc: u32,
        active: u32,
        address: &Address,
        (value, by_parity): (Option<i32>, bool),
        dst: Option<u32>,
    ) -> Result<Flow, Refusal> {
        let frame = self.warps[w].fragments[fragment].frame;
        let width = if by_parity { Width::W32 } else { Width::W64 };
        let mut wanted = [(0, 0, 0, 0); 32];
        for lane in lanes(active) {
            let (rank, offset, at) = self.mbarrier_at(w, frame, pc, address, lane)?;
            let slot = value.expect("a test names a phase");
            let value = self.needed(
                w,
                frame,
                pc,
                lane,
                (slot, width),
                "the phase of an mbarrier that is waited for",
            )?;
            let parity = if by_parity { (value & 1) as u32 } else { (value >> 63) as u32 };
            if !self.ctas[rank as usize].mbarriers.contains_key(&offset) {
                return Err(self.illegal(w, pc, lane, format!("no mbarrier was initialised at {offset:#x}")));
            }
            wanted[lane] = (at, parity, rank, offset);
        }
        self.polled(w, fragment, pc, active, dst)?;
        let mut rest = active;
        let mut waiting = Vec::new();
        let mut done = 0;
        while rest != 0 {
            let (at, parity, rank, offset) = wanted[rest.trailing_zeros() as usize];
            let group =
                lanes(rest).filter(|l| wanted[*l] == (at, parity, rank, offset)).fold(0, |g, l| g | 1 << l);
            rest &= !group;
            self.emit(w, group, pc, Action::MbarrierWait { address: at, parity })?;
            if self.ctas[rank as usize].mbarriers[&offset].phase & 1 != parity {
                done |= group;
            } else {
                waiting.push((group, at, parity));
            }
        }
        if let Some(row) = dst {
            let registers = &mut self.frames[frame as usize].registers;
            lanes(done).for_each(|lane| registers.write(row, Width::Pred, lane, 1));
            registers.mark(row, done, !0, Why::NEVER);
        }
        if waiting.is_empty() {
            return Ok(Flow::Next);
        }
        if done != 0 {
            let through = self.warps[w].split(fragment, done);
            self.warps[w].fragments[through].pc += 1;
        }
        let mut left = active & !done;
        for (group, address, parity) in waiting {
            let part = self.warps[w].isolate(fragment, group, left);
            self.warps[w].fragments[part].state = State::Phase { address, parity, answer: dst };
            left &= !group;
        }
        Ok(Flow::Select)
    }
}
