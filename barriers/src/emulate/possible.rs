//! Accesses that happen or not: under a guard whose value is not known, which is an arm of one instruction, and in arms ([`super::arms`]).

use bugaroo_simulator::decoded::{Address, Inst, Kind};

use super::machine::{Machine, Target};
use super::refusal::Refusal;
use super::registers::{Why, lanes};
use crate::program::{AccessCondition, Literal};

impl<'a> Machine<'a> {
    /// Lanes whose access of shared memory is outside of it or misaligned: they are taken not to get there.
    pub fn outside(&self, w: usize, frame: u32, inst: &Inst, active: u32) -> u32 {
        let (address, bytes) = self.reach(inst);
        let outside = |lane: &usize| match self.target(w, frame, address, *lane) {
            Target::Shared(rank, at) => {
                let size = self.ctas[rank as usize].shared.len();
                at.checked_add(bytes).is_none_or(|end| end > size) || !at.is_multiple_of(bytes)
            }
            _ => false,
        };
        lanes(active).filter(outside).fold(0, |mask, lane| mask | 1 << lane)
    }

    /// The address of an access, and its bytes.
    pub fn reach(&self, inst: &Inst) -> (&'a Address, u64) {
        let image = self.set.code.image;
        match inst.kind {
            Kind::Atomic => {
                let atomic = &image.atomics[inst.extra as usize];
                (&atomic.address, atomic.bytes())
            }
            _ => {
                let access = &image.accesses[inst.extra as usize];
                (&access.address, u64::from(access.size) * u64::from(access.vec))
            }
        }
    }

    /// An access by lanes that do it, and by lanes of which it is not known: for these it is an arm of its own. Those whose address is not known
    /// go first.
    pub fn access(
        &mut self,
        w: usize,
        frame: u32,
        pc: u32,
        inst: &Inst,
        active: u32,
        doubtful: u32,
    ) -> Result<(), Refusal> {
        let all = active | doubtful;
        let first = self.out.warps()[w].len();
        self.signal_before(w, pc, inst, all);
        let scattered = self.somewhere(w, frame, pc, inst, all)?;
        let (active, doubtful) = (active & !scattered, doubtful & !scattered);
        let (address, _) = self.reach(inst);
        let shared = |lane: &usize| matches!(self.target(w, frame, address, *lane), Target::Shared(..));
        let open = lanes(doubtful).filter(shared).fold(0, |mask, lane| mask | 1 << lane);
        if open != 0 {
            let guard = inst.guard as i32;
            let without = self.state(w, frame, open);
            let why = without.registers.why(guard).plain();
            let inner = open & !self.outside(w, frame, inst, open);
            let (outer, depth) = (self.ways.doubt.condition, self.ways.doubt.depth);
            let symbol = without.registers.common_symbol(guard, open);
            let symbol = symbol.filter(|_| !self.ways.rounds.has_stations());
            let literal = symbol.map(|symbol| Literal {
                value: symbol.index() as u32,
                holds: !(symbol.is_negated() ^ (inst.guard_flip != 0)),
            });
            let condition = AccessCondition { origin: pc, literal, outer, last: false };
            self.ways.doubt.condition = Some(self.out.condition(condition));
            self.ways.doubt.depth += 1;
            self.plain_access(w, frame, pc, inst, inner, 0)?;
            (self.ways.doubt.condition, self.ways.doubt.depth) = (outer, depth);
            let mut with = self.state(w, frame, inner);
            self.merge(frame, &mut with, &without, why);
            self.install(w, frame, &with);
        }
        self.plain_access(w, frame, pc, inst, active, doubtful & !open)?;
        self.signal_after(w, frame, pc, inst, all, first)
    }

    fn plain_access(
        &mut self,
        w: usize,
        frame: u32,
        pc: u32,
        inst: &Inst,
        active: u32,
        doubtful: u32,
    ) -> Result<(), Refusal> {
        match inst.kind {
            Kind::Load => self.load(w, frame, pc, inst, active, doubtful),
            Kind::Store => self.store(w, frame, pc, inst, active, doubtful),
            _ => self.atomic(w, frame, pc, inst, active, doubtful),
        }
    }

    /// Forgets what is known of shared memory that something may have written.
    pub fn forget_shared(&mut self, rank: u32, at: usize, size: usize, why: Why) {
        let shared = &mut self.ctas[rank as usize].shared;
        // What stood there may still be there.
        let news = shared.forget(at, size, why.tainted(shared.may_point(at, size)));
        self.ways.doubt.forgotten += u64::from(news);
    }
}
