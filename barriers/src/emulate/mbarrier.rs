//! `mbarrier` as it happens in this one order of execution (PTX ISA, "Parallel Synchronization: mbarrier").
//!
//! A test or a try is taken to be a wait, as in the loop that it stands in; [`super::polling`] checks that it stands in one.

use bugaroo_ptx::op::MbarrierOp;
use bugaroo_simulator::alu::Width;
use bugaroo_simulator::decoded::Address;

use super::held::phases::Phases;
use super::held::warp::{Flow, State};
use super::machine::{Machine, Target};
use super::refusal::Refusal;
use super::registers::{Why, lanes};
use crate::program::{CommandAction, RANK_SHIFT, SharedAccess};

/// Bytes of an mbarrier.
const SIZE: u32 = 8;

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
        let registers = &self.calls.frames[frame as usize].registers;
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
        (op, relaxed): (MbarrierOp, bool),
        address: &Address,
        value: Option<i32>,
        dst: Option<u32>,
    ) -> Result<Flow, Refusal> {
        let frame = self.warps[w].fragments[fragment].frame;
        if let MbarrierOp::Wait { parity, .. } = op {
            return self.mbarrier_wait(w, fragment, pc, active, address, (value, parity), dst, relaxed);
        }
        let mut named = [(0, 0, 0, None); 32];
        for lane in lanes(active) {
            let (rank, offset, at) = self.mbarrier_at(w, frame, pc, address, lane)?;
            let number = match value {
                Some(slot) => {
                    let what = "the count of an mbarrier";
                    Some(self.needed(w, frame, pc, lane, (slot, Width::W32), what)? as u32)
                }
                None => None,
            };
            if op != MbarrierOp::Init && !self.ctas[rank as usize].mbarriers.contains_key(&offset) {
                return Err(self.illegal(w, pc, lane, format!("no mbarrier was initialised at {offset:#x}")));
            }
            if op == MbarrierOp::Init && self.ctas[rank as usize].mbarriers.contains_key(&offset) {
                let what = format!(
                    "the mbarrier at {offset:#x} is initialised while it is valid: mbarrier.inval has to come before"
                );
                return Err(self.illegal(w, pc, lane, what));
            }
            if op == MbarrierOp::Init && self.is_scattered(rank, offset) {
                let what = "what an mbarrier is overwritten with";
                return Err(self.unknown(w, pc, lane, what, Why::SHARED));
            }
            named[lane] = (rank, offset, at, number);
        }
        // Lanes that do the same are one command.
        let mut rest = active;
        while rest != 0 {
            let (rank, offset, at, number) = named[rest.trailing_zeros() as usize];
            let group =
                lanes(rest).filter(|l| named[*l] == (rank, offset, at, number)).fold(0, |g, l| g | 1 << l);
            rest &= !group;
            let number = number.unwrap_or(0);
            let action = match op {
                MbarrierOp::Init => CommandAction::MbarrierInit { address: at, count: number },
                MbarrierOp::Inval => CommandAction::MbarrierInval { address: at, last: false },
                MbarrierOp::Arrive { drop, expect_tx: true, .. } => {
                    CommandAction::MbarrierArrive { address: at, count: 1, expect_tx: number, drop, relaxed }
                }
                MbarrierOp::Arrive { drop, .. } => {
                    let count = if value.is_some() { number } else { 1 };
                    CommandAction::MbarrierArrive { address: at, count, expect_tx: 0, drop, relaxed }
                }
                MbarrierOp::ExpectTx => CommandAction::MbarrierArrive {
                    address: at,
                    count: 0,
                    expect_tx: number,
                    drop: false,
                    relaxed: false,
                },
                MbarrierOp::CompleteTx => CommandAction::MbarrierCompleteTx { address: at, bytes: number },
                MbarrierOp::Wait { .. } | MbarrierOp::PendingCount => {
                    unreachable!("waits are done above, and the loader has a form of its own for counts")
                }
            };
            if op == MbarrierOp::Inval && self.invalidated(w, pc, (rank, offset, at))? {
                self.ctas[rank as usize].mbarriers.remove(&offset);
                continue;
            }
            self.used(w, (rank, offset));
            self.emit(w, group, pc, action)?;
            for lane in lanes(group) {
                let before = self.apply((rank, offset), pc, action);
                if let Some(dst) = dst {
                    let registers = &mut self.calls.frames[frame as usize].registers;
                    registers.write(dst, Width::W64, lane, u64::from(before & 1) << 63);
                    registers.mark(dst, 1 << lane, !0, Why::NEVER);
                }
                self.complete_phase(rank, offset);
            }
        }
        Ok(Flow::Next)
    }

    /// Refuses an access of bytes that are a valid mbarrier's (PTX ISA, "mbarrier": it is undefined what comes of it).
    pub fn beside_mbarriers(
        &self,
        w: usize,
        mask: u32,
        pc: u32,
        access: &SharedAccess<'_>,
        possible: bool,
    ) -> Result<(), Refusal> {
        if self.ctas.iter().all(|cta| cta.mbarriers.is_empty()) {
            return Ok(());
        }
        for lane in lanes(mask) {
            let address = access.addresses.lane(lane as u32);
            let (rank, first) = (address >> RANK_SHIFT, address & ((1 << RANK_SHIFT) - 1));
            let Some(cta) = self.ctas.get(rank as usize) else { continue };
            let hit = |at: &&u32| first < **at + SIZE && **at < first.saturating_add(access.size);
            let Some(at) = cta.mbarriers.keys().filter(hit).min() else { continue };
            let what = format!(
                "an access of the mbarrier at {at:#x}, which is valid: mbarrier.inval has to come before"
            );
            return Err(match possible {
                false => self.illegal(w, pc, lane, what),
                true => self.unsupported(w, pc, lane, format!("{what}; whether it happens is not known")),
            });
        }
        Ok(())
    }

    /// What a command does to its mbarrier; answers the phase before.
    fn apply(&mut self, (rank, offset): (u32, u32), pc: u32, action: CommandAction<'_>) -> u32 {
        let cta = &mut self.ctas[rank as usize];
        if let CommandAction::MbarrierInit { count, .. } = action {
            cta.mbarriers.insert(
                offset,
                Phases { expected: count, pending: count, bytes: 0, phase: 0, guessed: None },
            );
            cta.shared.forget(offset as usize, 8, Why::at(pc));
            return 0;
        }
        let Some(state) = cta.mbarriers.get_mut(&offset) else { return 0 };
        let before = state.phase;
        match action {
            CommandAction::MbarrierInval { .. } => {
                cta.mbarriers.remove(&offset);
            }
            CommandAction::MbarrierArrive { count, expect_tx, drop, .. } => {
                state.bytes += i64::from(expect_tx);
                // Too many arrivals are the checker's to tell.
                state.pending = state.pending.saturating_sub(count);
                if drop {
                    state.expected = state.expected.saturating_sub(count);
                }
            }
            CommandAction::MbarrierCompleteTx { bytes, .. } => state.bytes -= i64::from(bytes),
            _ => {}
        }
        before
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
        self.show_sums();
        for warp in &mut self.warps {
            for fragment in &mut warp.fragments {
                let State::Phase { address, parity, answer, behind } = fragment.state else { continue };
                if address != at || parity == now {
                    continue;
                }
                if let Some(row) = answer {
                    let registers = &mut self.calls.frames[fragment.frame as usize].registers;
                    lanes(fragment.mask).for_each(|lane| registers.write(row, Width::Pred, lane, 1));
                    registers.mark(row, fragment.mask, !0, Why::NEVER);
                }
                fragment.state = State::Ready;
                fragment.pc = behind;
            }
        }
    }

    /// What the lanes of a test wait for: the mbarrier in one, the parity of its phase, its CTA and its offset.
    pub fn awaited(
        &self,
        w: usize,
        frame: u32,
        pc: u32,
        active: u32,
        address: &Address,
        (value, by_parity): (Option<i32>, bool),
    ) -> Result<[(u32, u32, u32, u32); 32], Refusal> {
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
        Ok(wanted)
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
        relaxed: bool,
    ) -> Result<Flow, Refusal> {
        let frame = self.warps[w].fragments[fragment].frame;
        let wanted = self.awaited(w, frame, pc, active, address, (value, by_parity))?;
        let behind = self.polled(w, fragment, pc, active, dst)?;
        // Behind a wait in more than one instruction, the registers have their values already.
        let dst = if behind == pc + 1 { dst } else { None };
        let mut rest = active;
        let mut waiting = Vec::new();
        let mut done = 0;
        while rest != 0 {
            let (at, parity, rank, offset) = wanted[rest.trailing_zeros() as usize];
            let group =
                lanes(rest).filter(|l| wanted[*l] == (at, parity, rank, offset)).fold(0, |g, l| g | 1 << l);
            rest &= !group;
            self.used(w, (rank, offset));
            self.emit(w, group, pc, CommandAction::MbarrierWait { address: at, parity, relaxed })?;
            if self.ctas[rank as usize].mbarriers[&offset].phase & 1 != parity {
                done |= group;
            } else {
                waiting.push((group, at, parity));
            }
        }
        if let Some(row) = dst {
            let registers = &mut self.calls.frames[frame as usize].registers;
            lanes(done).for_each(|lane| registers.write(row, Width::Pred, lane, 1));
            registers.mark(row, done, !0, Why::NEVER);
        }
        if waiting.is_empty() {
            if behind == pc + 1 {
                return Ok(Flow::Next);
            }
            let part = self.warps[w].isolate(fragment, active, active);
            self.warps[w].fragments[part].pc = behind;
            return Ok(Flow::Select);
        }
        if done != 0 {
            let through = self.warps[w].split(fragment, done);
            self.warps[w].fragments[through].pc = behind;
        }
        let mut left = active & !done;
        for (group, address, parity) in waiting {
            let part = self.warps[w].isolate(fragment, group, left);
            self.warps[w].fragments[part].state = State::Phase { address, parity, answer: dst, behind };
            left &= !group;
        }
        Ok(Flow::Select)
    }
}
