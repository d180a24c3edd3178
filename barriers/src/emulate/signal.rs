//! Flags in memory: strong accesses and fences are told beside the commands ([`crate::program::Signal`]), so that the checker does not call a race
//! what they may order.
//!
//! A loop that waits for a flag has no end here where the flag is known and not set yet, as its warp goes on alone. Strong reads that come again
//! and again with nothing between them are taken for such a loop. They are not known, then ([`super::case::AssumedCase::polled`]).

use bugaroo_ptx::types::Semantics;
use bugaroo_semantics::effect::{acquires, releases, strong_among};
use bugaroo_simulator::decoded::{Inst, Kind};

use super::machine::{Machine, Target};
use super::refusal::Refusal;
use super::registers::lanes;
use crate::program::{Opcode, SharedAccessKind, SharedStrength, Signal};

/// Strong reads of a warp one after the other, with nothing else between, that are taken for a loop.
const POLLS: u32 = 2048;
/// Different instructions of such a loop, at most.
const LOOP: usize = 32;

impl Machine<'_> {
    /// What an access of memory says of its order and strength.
    fn semantics(&self, inst: &Inst) -> Semantics {
        match inst.kind {
            Kind::Atomic => self.set.code.image.atomics[inst.extra as usize].semantics,
            _ => self.set.code.image.accesses[inst.extra as usize].semantics,
        }
    }

    /// Something is told of lanes, beside their commands.
    fn signal(&mut self, w: usize, pc: u32, mask: u32, what: Signal) {
        if self.set.orders.flags && !self.ways.doubt.silent {
            self.out.warp_mut(w as u32).signal(mask, pc, what);
        }
    }

    /// A fence, by lanes that may be there.
    pub fn signal_fence(&mut self, w: usize, pc: u32, mask: u32) {
        if self.set.code.extras[pc as usize].fence.is_some() {
            self.signal(w, pc, mask, Signal::Acquire);
            self.signal(w, pc, mask, Signal::Release);
        }
    }

    /// An access is about to be made.
    pub fn signal_before(&mut self, w: usize, pc: u32, inst: &Inst, mask: u32) {
        if self.set.orders.flags && releases(self.semantics(inst)) {
            self.signal(w, pc, mask, Signal::Release);
        }
    }

    /// An access has been made, by the warp's commands from `first` on.
    pub fn signal_after(
        &mut self,
        w: usize,
        frame: u32,
        pc: u32,
        inst: &Inst,
        mask: u32,
        first: usize,
    ) -> Result<(), Refusal> {
        let semantics = self.semantics(inst);
        if !self.set.orders.flags || inst.kind != Kind::Atomic && strong_among(semantics).is_none() {
            return Ok(());
        }
        let unread = self.set.code.extras[pc as usize].unread;
        let last = self.out.warps()[w].len();
        for command in first..last {
            let packed = self.out.warps()[w].packed()[command];
            if packed.strength() != SharedStrength::Weak {
                self.signal_access(w, pc, packed.lanes, packed.kind(), unread, Some(command as u32));
            }
        }
        let (address, _) = self.reach(inst);
        let elsewhere = |lane: &usize| matches!(self.target(w, frame, address, *lane), Target::Global(_));
        let outside = lanes(mask).filter(elsewhere).fold(0, |mask, lane| mask | 1 << lane);
        let kind = match inst.kind {
            Kind::Load => SharedAccessKind::Read,
            Kind::Store => SharedAccessKind::Write,
            _ => SharedAccessKind::Atomic,
        };
        self.signal_access(w, pc, outside, kind, unread, None);
        if acquires(semantics) {
            self.signal(w, pc, mask, Signal::Acquire);
        }
        if inst.kind == Kind::Load && first < last { self.poll(w, pc, mask, first) } else { Ok(()) }
    }

    fn signal_access(
        &mut self,
        w: usize,
        pc: u32,
        mask: u32,
        kind: SharedAccessKind,
        unread: bool,
        command: Option<u32>,
    ) {
        if kind != SharedAccessKind::Write && !unread {
            self.signal(w, pc, mask, Signal::Read(command));
        }
        if kind != SharedAccessKind::Read {
            self.signal(w, pc, mask, Signal::Write(command));
        }
    }

    /// A warp has read a flag, by its commands from `first` on. Refuses where it seems to do so for ever, and notes that these are to be read
    /// as not known.
    fn poll(&mut self, w: usize, pc: u32, mask: u32, first: usize) -> Result<(), Refusal> {
        let commands = self.out.warps()[w].len();
        let polls = &mut self.warps[w].polls;
        polls.times = if polls.commands == first { polls.times + 1 } else { 1 };
        polls.commands = commands;
        if polls.times < POLLS {
            return Ok(());
        }
        let recent = self.out.warps()[w].packed().iter().rev().take(POLLS as usize);
        for packed in recent.filter(|packed| packed.opcode() == Opcode::Access) {
            if self.course.polled.len() < LOOP && !self.course.polled.contains(&packed.origin) {
                self.course.polled.push(packed.origin);
            }
        }
        polls.times = 0;
        if self.course.polled.iter().all(|origin| self.set.code.open.contains(origin)) {
            return Ok(());
        }
        Err(self.runaway(w, pc, mask))
    }
}
