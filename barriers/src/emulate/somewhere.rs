//! Accesses of shared memory at an address that is not known, in a variable that is ([`super::objects`]): `counts[key]`.
//!
//! Each such lane accesses all of the variable, perhaps: a race with anything else there is possible, no more, and a proof holds wherever
//! the access goes. Whatever is read is not known, nor is any of the variable behind a write. What stands beside an mbarrier in one variable
//! is refused, as nobody could say whether that is overwritten.

use std::ops::Range;

use bugaroo_ptx::types::Space;
use bugaroo_simulator::decoded::{Inst, Kind};

use super::machine::{Machine, Target};
use super::memory::{atomic_strength, strength};
use super::objects::{Part, Scattered};
use super::refusal::Refusal;
use super::registers::{Why, lanes, points_to_shared};
use crate::program::{
    Access, AccessKind, Action, Addresses, Completion, Condition, RANK_SHIFT, Strength, Values,
};

/// Bytes of an mbarrier.
const MBARRIER: u32 = 8;

impl Machine<'_> {
    /// Does an access for those of `all` lanes whose address is not known, but for the variable that it is in; answers which they are.
    pub fn somewhere(
        &mut self,
        w: usize,
        frame: u32,
        pc: u32,
        inst: &Inst,
        all: u32,
    ) -> Result<u32, Refusal> {
        let (address, bytes) = self.reach(inst);
        if matches!(address.space, Space::Local | Space::Param) {
            return Ok(0);
        }
        let unknown = |lane: &usize| matches!(self.target(w, frame, address, *lane), Target::Unknown(_));
        let scattered = lanes(all).filter(unknown).fold(0, |mask, lane| mask | 1 << lane);
        if scattered == 0 {
            return Ok(0);
        }
        let function = &self.set.image.functions[self.frames[frame as usize].function as usize];
        let text = self.set.image.origins[pc as usize].text.0;
        let Some(parts) = self.objects.of(&function.name, text, bytes) else { return Ok(0) };
        let (kind, strength) = self.sort(inst);
        let mut places = Scattered::new();
        for Part { bytes, mapped } in parts {
            let own = self.warps[w].cta;
            let ranks = if mapped { 0..self.ctas.len() as u32 } else { own..own + 1 };
            places.extend(ranks.map(|rank| (rank, bytes.clone())));
        }
        let holds_mbarrier = |(rank, bytes): &(u32, Range<u32>)| {
            let mut mbarriers = self.ctas[*rank as usize].mbarriers.keys();
            mbarriers.any(|at| at + MBARRIER > bytes.start && *at < bytes.end)
        };
        if kind != AccessKind::Read && places.iter().any(holds_mbarrier) {
            return Ok(0);
        }
        let why = Why::at(pc).tainted(self.hands_out_pointer(frame, inst, scattered));
        let outer = self.doubt.condition;
        let condition = Condition { origin: pc, literal: None, outer, last: false };
        self.doubt.condition = Some(self.out.condition(condition));
        for (rank, bytes) in &places {
            if kind != AccessKind::Read {
                self.forget_shared(*rank, bytes.start as usize, bytes.len(), why);
            }
            let access = Access {
                kind,
                size: bytes.len() as u32,
                strength,
                addresses: Addresses::Affine { base: rank << RANK_SHIFT | bytes.start, stride: 0 },
                values: Values::Unknown,
                completion: Completion::Now,
            };
            self.emit(w, scattered, pc, Action::Access(access))?;
        }
        self.doubt.condition = outer;
        if kind != AccessKind::Read {
            places.retain(|place| !self.scattered.contains(place));
            self.scattered.append(&mut places);
        }
        let points = places.iter().any(|(rank, bytes)| {
            self.ctas[*rank as usize].shared.may_point(bytes.start as usize, bytes.len())
        });
        let registers = &mut self.frames[frame as usize].registers;
        let image = self.set.image;
        match inst.kind {
            Kind::Load => {
                let access = &image.accesses[inst.extra as usize];
                for row in &access.rows[..usize::from(access.vec)] {
                    registers.mark(*row as u32, scattered, 0, Why::at(pc).tainted(points));
                }
            }
            Kind::Atomic => {
                let atomic = &image.atomics[inst.extra as usize];
                for dst in atomic.dst.into_iter().chain(atomic.high.and_then(|high| high.dst)) {
                    registers.mark(dst, scattered, 0, Why::at(pc));
                }
            }
            _ => {}
        }
        Ok(scattered)
    }

    /// Whether a store may be of an address of shared memory.
    fn hands_out_pointer(&self, frame: u32, inst: &Inst, mask: u32) -> bool {
        if inst.kind != Kind::Store {
            return false;
        }
        let access = &self.set.image.accesses[inst.extra as usize];
        let size = usize::from(access.size);
        let points = |lane: usize, element| points_to_shared(size, self.stored(frame, access, element, lane));
        lanes(mask).any(|lane| (0..usize::from(access.vec)).any(|element| points(lane, element)))
    }

    /// What an access does, and how strong it is.
    fn sort(&self, inst: &Inst) -> (AccessKind, Strength) {
        let image = self.set.image;
        match inst.kind {
            Kind::Load => (AccessKind::Read, strength(image.accesses[inst.extra as usize].semantics)),
            Kind::Store => (AccessKind::Write, strength(image.accesses[inst.extra as usize].semantics)),
            _ => (AccessKind::Atomic, atomic_strength(image.atomics[inst.extra as usize].semantics)),
        }
    }

    /// Whether something unknown may have been written to a place where an mbarrier comes to be.
    pub fn is_scattered(&self, rank: u32, offset: u32) -> bool {
        let over = |(of, bytes): &(u32, Range<u32>)| {
            *of == rank && offset + MBARRIER > bytes.start && offset < bytes.end
        };
        self.scattered.iter().any(over)
    }
}
