//! Late loads of a program's lanes: which are, for how long, and where their values go in the end.

use super::bytes::{Seen, order, packed};
use super::{At, PtxModel};
use crate::model::Accessed;
use crate::model::accessed::Registers;
use crate::model::ptx::Strength;
use crate::model::ptx::until::NEVER;
use bugaroo_semantics::splitmix::{GOLDEN, mix};

/// Times that a lane stays at an instruction for a late load, at most: others have to come by meanwhile.
const LONGEST_STAY: u32 = 127;
/// After so many late loads by one instruction of one warp the next are half as likely, and so on,
const OFTEN: u8 = 4;
/// down to this power of two,
const SELDOM: u8 = 5;
/// after so many of one warp, too,
const MANY: u32 = 16;
/// down to this one,
const FEW: u32 = 3;
/// and stay this often at most.
const SHORT_STAY: u32 = 4;

/// How often a warp's loads have been late.
#[derive(Clone, Debug, Default)]
pub(super) struct Often {
    /// By number of the instruction.
    by_load: Vec<(u32, u8)>,
    all: u32,
}

impl Often {
    fn of(&mut self, pc: u32) -> &mut u8 {
        let index = self.by_load.iter().position(|entry| entry.0 == pc).unwrap_or_else(|| {
            self.by_load.push((pc, 0));
            self.by_load.len() - 1
        });
        &mut self.by_load[index].1
    }

    /// Another warp begins.
    pub fn clear(&mut self) {
        self.by_load.clear();
        self.all = 0;
    }
}

/// A late load: where its value goes, and how often its lane stays at the last instruction that it may wait for.
#[derive(Debug)]
pub(super) struct Pending {
    pub lane: u32,
    pub token: u64,
    pub registers: Registers,
    pub until: u32,
    pub stays: u32,
}

impl PtxModel {
    /// Gives a thread's loads that have been resolved their values.
    pub(super) fn deliver(&mut self, at: &At, lane: usize) {
        for (late, value) in self.machine.take_settled(Self::slot(at, lane)) {
            let all = &mut self.warps.pending[at.warp as usize];
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

    /// The lanes whose load at this instruction is to be late, if it is from global memory and if it is from shared
    /// memory: now and then some of the warp's.
    pub(super) fn late_lanes(&mut self, at: &At, access: &Accessed<'_>, among: u32) -> [u32; 2] {
        if among == 0 || self.given.facts.until[at.pc as usize] == NEVER || self.given.late == [0; 2] {
            return [0; 2];
        }
        let weak = || order(access.semantics).0 == Strength::Weak;
        if self.given.swarm.is_some_and(|swarm| !swarm.has(at.pc, weak())) {
            return [0; 2];
        }
        let draw = self.draw();
        let among_spaces = self.given.late.map(|late| late != 0 && (draw >> 32) as u32 <= late);
        if among_spaces == [false; 2] || !self.late_again(at) {
            return [0; 2];
        }
        let some = among & (draw as u32 | 1 << among.trailing_zeros());
        among_spaces.map(|late| if late { some } else { 0 })
    }

    /// Whether a load of a warp may be late once more: one in a loop that has been often becomes so seldom.
    fn late_again(&mut self, at: &At) -> bool {
        let draw = self.draw();
        let often = &mut self.warps.often[at.warp as usize];
        let times = often.of(at.pc);
        let halvings = (*times / OFTEN).min(SELDOM);
        let of_all = (often.all / MANY).min(FEW);
        let again = draw >> 32 & ((1 << of_all.max(halvings.into())) - 1) == 0;
        if again {
            let times = often.of(at.pc);
            *times = times.saturating_add(1);
            often.all += 1;
        }
        again
    }

    /// How often the lanes stay that load late here: not for long where that has been often.
    pub(super) fn stays_at(&mut self, at: &At) -> u32 {
        let often = &mut self.warps.often[at.warp as usize];
        let short = *often.of(at.pc) > OFTEN || often.all > MANY / 2;
        if short { self.stays().min(SHORT_STAY) } else { self.stays() }
    }

    pub(super) fn draw(&mut self) -> u64 {
        self.random = self.random.wrapping_add(GOLDEN);
        mix(self.random)
    }

    /// How often a lane stays for a late load: mostly not long, one time in four for up to [`LONGEST_STAY`].
    fn stays(&mut self) -> u32 {
        let draw = self.draw();
        let short = ((draw >> 8) as u32 | 1 << 6).trailing_zeros();
        if draw & 3 == 0 { (draw >> 32) as u32 & LONGEST_STAY } else { short }
    }

    /// After an instruction: whether lanes stay at it for loads that are still late.
    pub(super) fn stay(&mut self, at: &At, memory: &mut Seen<'_, '_>) -> bool {
        self.warps.staying[at.warp as usize] &= !at.lanes;
        if self.warps.pending[at.warp as usize].is_empty() {
            return false;
        }
        let (mut stays, mut over) = (false, Vec::new());
        for pending in &mut self.warps.pending[at.warp as usize] {
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
            self.settle(at, lane);
        }
        if stays {
            self.warps.staying[at.warp as usize] |= at.lanes;
        }
        stays
    }
}
