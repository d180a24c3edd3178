//! Late loads of a program's lanes: which are, for how long, and where their values go in the end.

use super::bytes::{Seen, packed};
use super::{At, Ptx};
use crate::model::accessed::Registers;
use crate::model::ptx::draw::mix;
use crate::model::ptx::until::NEVER;

/// Times that a lane stays at an instruction for a late load, at most: others have to come by meanwhile.
const LONGEST_STAY: u32 = 127;

/// A late load: where its value goes, and how often its lane stays at the last instruction that it may wait for.
#[derive(Debug)]
pub(super) struct Pending {
    pub lane: u32,
    pub token: u64,
    pub registers: Registers,
    pub until: u32,
    pub stays: u32,
}

impl Ptx {
    /// Gives a thread's loads that have been resolved their values.
    pub(super) fn deliver(&mut self, at: &At, lane: usize) {
        for (late, value) in self.machine.take_settled(Self::slot(at, lane)) {
            let all = &mut self.pending[at.warp as usize];
            let place = all.iter().position(|pending| pending.token == late.token);
            let pending = all.swap_remove(place.expect("each late load is pending until it is resolved"));
            let whole = packed(late.span, value);
            let (size, count) = pending.registers.elements();
            for element in 0..count {
                let value = (whole >> (8 * size * element)) as u64;
                // SAFETY: lanes leave their call only behind the instruction that it is pending until.
                unsafe { pending.registers.supply(lane, element, value) };
            }
        }
    }

    /// The lanes whose load at this instruction is to be late: now and then some of the warp's.
    pub(super) fn late_lanes(&mut self, at: &At, among: u32) -> u32 {
        if among == 0 || self.facts.until[at.pc as usize] == NEVER || self.late == 0 {
            return 0;
        }
        let draw = self.draw();
        if (draw >> 32) as u32 <= self.late { among & (draw as u32 | 1 << among.trailing_zeros()) } else { 0 }
    }

    pub(super) fn draw(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.random)
    }

    /// How often a lane stays for a late load: mostly not long, one time in four for up to [`LONGEST_STAY`].
    pub(super) fn stays(&mut self) -> u32 {
        let draw = self.draw();
        let short = ((draw >> 8) as u32 | 1 << 6).trailing_zeros();
        if draw & 3 == 0 { (draw >> 32) as u32 & LONGEST_STAY } else { short }
    }

    /// After an instruction: whether lanes stay at it for loads that are still late.
    pub(super) fn stay(&mut self, at: &At, memory: &mut Seen<'_, '_>) -> bool {
        self.staying[at.warp as usize] &= !at.lanes;
        if self.pending[at.warp as usize].is_empty() {
            return false;
        }
        let (mut stays, mut over) = (false, Vec::new());
        for pending in &mut self.pending[at.warp as usize] {
            let here = at.lanes >> pending.lane & 1 != 0;
            if here && pending.until == at.pc {
                match pending.stays {
                    0 => over.push((pending.lane as usize, pending.token)),
                    _ => {
                        pending.stays -= 1;
                        stays = true;
                    }
                }
            }
        }
        for (lane, token) in over {
            self.machine.settle(memory, Self::slot(at, lane), token);
            self.note(at, lane);
        }
        if stays {
            self.staying[at.warp as usize] |= at.lanes;
        }
        stays
    }
}
