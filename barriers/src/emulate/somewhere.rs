//! Accesses of shared memory at an address that is not known, in a variable that is ([`super::objects`]): `counts[key]`.
//!
//! Each such lane accesses all of the variable, or all of it between the bounds of its address ([`super::making`]), perhaps: a race with
//! anything else there is possible, no more, and a proof holds wherever the access goes. Whatever is read is not known, nor is any of the variable behind a write. What stands beside an mbarrier in one variable
//! is refused, as nobody could say whether that is overwritten.

use std::ops::Range;

use bugaroo_ptx::types::Space;
use bugaroo_simulator::decoded::{Base, Inst, Kind};

use super::machine::{Machine, Target};
use super::making::Bound;
use super::objects::{Part, Scattered};
use super::refusal::Refusal;
use super::registers::{Why, lanes, points_to_shared};
use super::span::Span;
use super::strength::{atomic_strength, strength};
use crate::program::{
    AccessCondition, CommandAction, Completion, RANK_SHIFT, SharedAccess, SharedAccessKind, SharedAddresses,
    SharedStrength, WrittenValues,
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
        let (address, _) = self.reach(inst);
        if matches!(address.space, Space::Local | Space::Param) {
            return Ok(0);
        }
        let unknown = |lane: &usize| matches!(self.target(w, frame, address, *lane), Target::Unknown(_));
        let scattered = lanes(all).filter(unknown).fold(0, |mask, lane| mask | 1 << lane);
        if scattered == 0 {
            return Ok(0);
        }
        let (kind, strength) = self.sort(inst);
        let Some(groups) = self.places(w, frame, pc, inst, scattered) else { return Ok(0) };
        let mut places: Scattered = Vec::new();
        for place in groups.iter().flat_map(|(_, places)| places) {
            if !places.contains(place) {
                places.push(place.clone());
            }
        }
        let holds_mbarrier = |(rank, bytes): &(u32, Range<u32>)| {
            let mut mbarriers = self.ctas[*rank as usize].mbarriers.keys();
            mbarriers.any(|at| at + MBARRIER > bytes.start && *at < bytes.end)
        };
        if kind != SharedAccessKind::Read && places.iter().any(holds_mbarrier) {
            return Ok(0);
        }
        let why = Why::at(pc).tainted(self.hands_out_pointer(frame, inst, scattered));
        let outer = self.ways.doubt.condition;
        let condition = AccessCondition { origin: pc, literal: None, outer, last: false };
        self.ways.doubt.condition = Some(self.out.condition(condition));
        for (rank, bytes) in places.iter().filter(|_| kind != SharedAccessKind::Read) {
            self.forget_shared(*rank, bytes.start as usize, bytes.len(), why);
        }
        for (mask, (rank, bytes)) in
            groups.iter().flat_map(|(mask, places)| places.iter().map(move |place| (*mask, place)))
        {
            let access = SharedAccess {
                kind,
                size: bytes.len() as u32,
                strength,
                addresses: SharedAddresses::Affine { base: rank << RANK_SHIFT | bytes.start, stride: 0 },
                values: WrittenValues::Unknown,
                completion: Completion::Now,
            };
            self.emit(w, mask, pc, CommandAction::Access(access))?;
        }
        self.ways.doubt.condition = outer;
        let points = places.iter().any(|(rank, bytes)| {
            self.ctas[*rank as usize].shared.may_point(bytes.start as usize, bytes.len())
        });
        if kind != SharedAccessKind::Read {
            places.retain(|place| !self.addressing.scattered.contains(place));
            self.addressing.scattered.append(&mut places);
        }
        let registers = &mut self.calls.frames[frame as usize].registers;
        let image = self.set.code.image;
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

    /// The places that lanes may access: lanes that may access the same, and these. None if one of them may be anywhere.
    fn places(
        &mut self,
        w: usize,
        frame: u32,
        pc: u32,
        inst: &Inst,
        scattered: u32,
    ) -> Option<Vec<(u32, Scattered)>> {
        let mut groups: Vec<(u32, Scattered)> = Vec::new();
        let variables = self.variables(w, frame, pc, inst);
        for lane in lanes(scattered) {
            let places = match (self.bounded(w, frame, pc, inst, lane), &variables) {
                (Some(place), Some(parts)) => within(&place, parts),
                (Some(place), None) => vec![place],
                (None, Some(parts)) => parts.clone(),
                (None, None) => return None,
            };
            match groups.iter_mut().find(|(_, same)| *same == places) {
                Some((mask, _)) => *mask |= 1 << lane,
                None => groups.push((1 << lane, places)),
            }
        }
        Some(groups)
    }

    /// The variables, or parts of them, that an access may be in.
    fn variables(&mut self, w: usize, frame: u32, pc: u32, inst: &Inst) -> Option<Scattered> {
        let function = &self.set.code.image.functions[self.calls.frames[frame as usize].function as usize];
        let text = self.set.code.image.origins[pc as usize].text.0;
        let (_, bytes) = self.reach(inst);
        let parts = self.addressing.objects.of(&function.name, text, bytes)?;
        let own = self.warps[w].own.cta;
        let all = 0..self.ctas.len() as u32;
        let ranks = |mapped: bool| if mapped { all.clone() } else { own..own + 1 };
        let places = parts.into_iter().flat_map(|Part { bytes, mapped }| {
            ranks(mapped).map(move |rank| (rank, bytes.clone())).collect::<Vec<_>>()
        });
        Some(places.collect())
    }

    /// The bytes of shared memory that an access is in whose address is not known in this lane, and the CTA's rank.
    pub fn bounded(
        &mut self,
        w: usize,
        frame: u32,
        pc: u32,
        inst: &Inst,
        lane: usize,
    ) -> Option<(u32, Range<u32>)> {
        let (address, bytes) = self.reach(inst);
        let flow = &self.set.code.flows[self.calls.frames[frame as usize].function as usize];
        let making =
            self.addressing.makings.of(self.set.code.image, self.set.code.extras, flow, pc, address.base);
        let Bound { in_window, span } = making.of(&self.calls.frames[frame as usize].registers, lane);
        if span.is_all() || in_window != (address.space == Space::Generic) {
            return None;
        }
        let offset = match address.base {
            Base::Row64(_) => address.offset as i64,
            _ => i64::from(address.offset as i32),
        };
        let apart = Span::exactly(i64::try_from(offset.unsigned_abs()).ok()?);
        let reached = if offset < 0 { span.minus(apart) } else { span.plus(apart) };
        if reached.is_all() {
            return None;
        }
        let size = |rank: u32| self.ctas[rank as usize].shared.len();
        let (Target::Shared(rank, first), Target::Shared(same, last)) =
            (self.shared_target(w, reached.0), self.shared_target(w, reached.1))
        else {
            return None;
        };
        let end = (last + bytes).min(size(rank));
        (rank == same && first < end).then_some((rank, first as u32..end as u32))
    }

    /// Whether a store may be of an address of shared memory.
    fn hands_out_pointer(&self, frame: u32, inst: &Inst, mask: u32) -> bool {
        if inst.kind != Kind::Store {
            return false;
        }
        let access = &self.set.code.image.accesses[inst.extra as usize];
        let size = usize::from(access.size);
        let points = |lane: usize, element| points_to_shared(size, self.stored(frame, access, element, lane));
        lanes(mask).any(|lane| (0..usize::from(access.vec)).any(|element| points(lane, element)))
    }

    /// What an access does, and how strong it is.
    fn sort(&self, inst: &Inst) -> (SharedAccessKind, SharedStrength) {
        let image = self.set.code.image;
        match inst.kind {
            Kind::Load => (SharedAccessKind::Read, strength(image.accesses[inst.extra as usize].semantics)),
            Kind::Store => (SharedAccessKind::Write, strength(image.accesses[inst.extra as usize].semantics)),
            _ => (SharedAccessKind::Atomic, atomic_strength(image.atomics[inst.extra as usize].semantics)),
        }
    }

    /// Whether something unknown may have been written to a place where an mbarrier comes to be.
    pub fn is_scattered(&self, rank: u32, offset: u32) -> bool {
        let over = |(of, bytes): &(u32, Range<u32>)| {
            *of == rank && offset + MBARRIER > bytes.start && offset < bytes.end
        };
        self.addressing.scattered.iter().any(over)
    }
}

/// What of these parts of variables is in a place; all of the place if it is beyond them.
fn within((rank, bytes): &(u32, Range<u32>), parts: &Scattered) -> Scattered {
    let common = |(of, part): &(u32, Range<u32>)| {
        let both = part.start.max(bytes.start)..part.end.min(bytes.end);
        (of == rank && !both.is_empty()).then_some((*of, both))
    };
    let inside: Scattered = parts.iter().filter_map(common).collect();
    if inside.is_empty() { vec![(*rank, bytes.clone())] } else { inside }
}
