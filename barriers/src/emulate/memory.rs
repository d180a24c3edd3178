//! Loads, stores and atomics.
//!
//! Accesses of shared memory become commands. Of global memory only constants are known; what is stored there is forgotten.

use bugaroo_ptx::types::Space;
use bugaroo_simulator::alu::Width;
use bugaroo_simulator::decoded::{DecodedAccess, Inst};

use super::machine::{Machine, Target};
use super::refusal::Refusal;
use super::registers::{Why, lanes, points_to_shared};
use super::strength::{atomic_strength, strength};
use crate::program::{
    self, CommandAction, Completion, RANK_SHIFT, SharedAccessKind, SharedAddresses, SharedStrength,
    WrittenValues,
};

const ADDRESS: &str = "the address of an access that may be of shared memory";
const GUARD: &str = "whether shared memory is accessed";

/// Addresses of lanes in shared memory, as they are collected.
pub(super) struct Touched {
    pub lanes: u32,
    pub at: [u32; 32],
}

impl Touched {
    pub fn none() -> Touched {
        Touched { lanes: 0, at: [0; 32] }
    }

    pub fn add(&mut self, lane: usize, rank: u32, offset: u64) {
        self.lanes |= 1 << lane;
        self.at[lane] = rank << RANK_SHIFT | offset as u32;
    }

    /// As a command has them: by a pattern if there is one.
    pub fn addresses(&self) -> SharedAddresses<'_> {
        let first = self.lanes.trailing_zeros();
        let rest = self.lanes & (self.lanes - 1);
        if rest == 0 {
            return SharedAddresses::Affine { base: self.at[first as usize], stride: 0 };
        }
        let second = rest.trailing_zeros();
        let step = self.at[second as usize].wrapping_sub(self.at[first as usize]) as i32;
        let apart = (second - first) as i32;
        if step % apart != 0 {
            return SharedAddresses::Each(&self.at);
        }
        let stride = step / apart;
        let base = self.at[first as usize].wrapping_sub((stride as u32).wrapping_mul(first));
        let pattern = SharedAddresses::Affine { base, stride };
        let fits = lanes(self.lanes).all(|lane| pattern.lane(lane as u32) == self.at[lane]);
        if fits { pattern } else { SharedAddresses::Each(&self.at) }
    }
}

impl Machine<'_> {
    /// Checks that lanes of which it is not known whether they run an access do not touch shared memory.
    fn doubtless(
        &self,
        w: usize,
        frame: u32,
        pc: u32,
        inst: &Inst,
        address: &bugaroo_simulator::decoded::Address,
        doubtful: u32,
    ) -> Result<(), Refusal> {
        let shared = |lane: &usize| {
            let target = self.target(w, frame, address, *lane);
            matches!(target, Target::Shared(..))
                || matches!(target, Target::Unknown(_)) && address.space != Space::Local
        };
        match lanes(doubtful).find(shared) {
            None => Ok(()),
            Some(_) => self.certain(w, frame, pc, inst, doubtful, GUARD),
        }
    }

    /// Checks a place in shared memory.
    pub fn inside(
        &self,
        w: usize,
        pc: u32,
        lane: usize,
        (rank, at): (u32, u64),
        bytes: u64,
        align: u64,
    ) -> Result<(), Refusal> {
        let size = self.ctas[rank as usize].shared.len();
        if at.checked_add(bytes).is_none_or(|end| end > size) {
            let message =
                format!("{bytes} bytes at {at:#x}, outside of the CTA's {size} bytes of shared memory");
            return Err(self.illegal(w, pc, lane, message));
        }
        if !at.is_multiple_of(align) {
            return Err(self.illegal(w, pc, lane, format!("{bytes} bytes at {at:#x}, which is misaligned")));
        }
        Ok(())
    }

    /// `ld`
    pub fn load(
        &mut self,
        w: usize,
        frame: u32,
        pc: u32,
        inst: &Inst,
        active: u32,
        doubtful: u32,
    ) -> Result<(), Refusal> {
        let access = &self.set.code.image.accesses[inst.extra as usize];
        let size = usize::from(access.size);
        let bytes = size * usize::from(access.vec);
        if doubtful != 0 {
            self.doubtless(w, frame, pc, inst, &access.address, doubtful)?;
        }
        let mut touched = Touched::none();
        let mut known = [0u32; 8];
        let mut why = [Why::at(pc); 8];
        if doubtful != 0 {
            why = [self.calls.frames[frame as usize].registers.why(inst.guard as i32); 8];
        }
        for lane in lanes(active) {
            let target = self.target(w, frame, &access.address, lane);
            if let Target::Shared(rank, at) = target {
                self.inside(w, pc, lane, (rank, at), bytes as u64, bytes as u64)?;
                touched.add(lane, rank, at);
            }
            for element in 0..usize::from(access.vec) {
                let offset = element * size;
                let value = match target {
                    Target::Shared(..) if self.set.code.open.contains(&pc) => Err(Why::at(pc)),
                    Target::Shared(rank, at) => {
                        self.ctas[rank as usize].shared.read(at as usize + offset, size)
                    }
                    Target::Local(at) => self.warps[w].local.read(lane, at as usize + offset, size),
                    Target::Param(at) => {
                        self.set.memory.params.read(at as usize + offset, size).ok_or(Why::at(pc))
                    }
                    Target::Global(Some(at)) => {
                        let at = at.wrapping_add(offset as u64);
                        let value = self.set.memory.constant_memory.read(at, size);
                        if value.is_some() {
                            self.known.tables.extend(self.set.memory.constant_memory.table(at));
                        }
                        value.ok_or(Why::at(pc))
                    }
                    Target::Global(None) => Err(Why::at(pc)),
                    Target::Unknown(why) if access.address.space == Space::Local => {
                        Err(self.warps[w].local.open(lane, why))
                    }
                    Target::Unknown(why) if access.address.space == Space::Param => Err(why),
                    Target::Unknown(why) => return Err(self.unknown(w, pc, lane, ADDRESS, why)),
                };
                match value {
                    Ok(value) => {
                        let value = if access.signed { extend(value, access.size) } else { value };
                        let registers = &mut self.calls.frames[frame as usize].registers;
                        registers.write(access.rows[element] as u32, access.width[element], lane, value);
                        known[element] |= 1 << lane;
                    }
                    Err(found) => why[element] = found,
                }
            }
        }
        let registers = &mut self.calls.frames[frame as usize].registers;
        for element in 0..usize::from(access.vec) {
            registers.mark(access.rows[element] as u32, active | doubtful, known[element], why[element]);
        }
        if access.address.space == Space::Param {
            self.name_params(w, frame, access, active);
        }
        if touched.lanes != 0 {
            self.read_contents(w, frame, pc, access, active);
        }
        let strength = strength(access.semantics);
        let elements = (size, bytes, strength);
        self.touch(w, pc, SharedAccessKind::Read, elements, &touched, WrittenValues::Unknown)
    }

    /// Says what an unknown value is that one thread has written to shared memory.
    fn name_content(
        &mut self,
        w: usize,
        frame: u32,
        (access, element, lane): (&DecodedAccess, usize, usize),
        (rank, at, size): (u32, usize, usize),
    ) {
        if self.warps[w].leavers.lanes >> lane & 1 != 0 {
            return;
        }
        // The expression of the register is that of all its bytes.
        let registers = &self.calls.frames[frame as usize].registers;
        let symbol = registers.symbol(access.rows[element], lane).filter(|_| is_whole(access, element));
        let symbol = symbol.unwrap_or_else(|| self.known.symbols.content(false));
        self.ctas[rank as usize].shared.set_content(at, size, symbol);
    }

    /// Says which expressions unknown values are that one thread has written to shared memory.
    fn read_contents(&mut self, w: usize, frame: u32, pc: u32, access: &DecodedAccess, active: u32) {
        let size = usize::from(access.size);
        if access.signed && size < 4 || self.set.code.open.contains(&pc) {
            return;
        }
        for lane in lanes(active) {
            let Target::Shared(rank, at) = self.target(w, frame, &access.address, lane) else { continue };
            for element in 0..usize::from(access.vec) {
                let row = access.rows[element];
                if size >= 4 && !is_whole(access, element) {
                    continue;
                }
                let content = self.ctas[rank as usize].shared.content(at as usize + element * size, size);
                let registers = &mut self.calls.frames[frame as usize].registers;
                if let (Some(symbol), 0) = (content, registers.known(row) >> lane & 1) {
                    registers.set_symbol(row as u32, lane, symbol);
                }
            }
        }
    }

    /// Says which expressions unknown bytes of parameters are.
    fn name_params(&mut self, w: usize, frame: u32, access: &DecodedAccess, active: u32) {
        let size = usize::from(access.size);
        for lane in lanes(active) {
            let Target::Param(at) = self.target(w, frame, &access.address, lane) else { continue };
            for element in 0..usize::from(access.vec) {
                let row = access.rows[element];
                let offset = at + (element * size) as u64;
                let registers = &mut self.calls.frames[frame as usize].registers;
                if registers.known(row) >> lane & 1 == 0 {
                    let symbol = self.known.symbols.param(offset, size, access.signed);
                    registers.set_symbol(row as u32, lane, symbol);
                }
            }
        }
    }

    /// Appends an access of shared memory, if there was one.
    pub fn touch(
        &mut self,
        w: usize,
        pc: u32,
        kind: SharedAccessKind,
        (element, bytes, strength): (usize, usize, SharedStrength),
        touched: &Touched,
        values: WrittenValues<'_>,
    ) -> Result<(), Refusal> {
        if touched.lanes == 0 {
            return Ok(());
        }
        // A strong vector is as many strong accesses.
        let (size, values) = match strength {
            SharedStrength::Weak => (bytes, values),
            _ if element == bytes => (bytes, values),
            _ => (element, WrittenValues::Unknown),
        };
        let mut touched = Touched { lanes: touched.lanes, at: touched.at };
        for _ in 0..bytes / size {
            let (addresses, completion) = (touched.addresses(), Completion::Now);
            let access =
                program::SharedAccess { kind, size: size as u32, strength, addresses, values, completion };
            self.emit(w, touched.lanes, pc, CommandAction::Access(access))?;
            touched.at.iter_mut().for_each(|at| *at = at.wrapping_add(size as u32));
        }
        Ok(())
    }

    /// `st`
    pub fn store(
        &mut self,
        w: usize,
        frame: u32,
        pc: u32,
        inst: &Inst,
        active: u32,
        doubtful: u32,
    ) -> Result<(), Refusal> {
        let access = &self.set.code.image.accesses[inst.extra as usize];
        let size = usize::from(access.size);
        let bytes = size * usize::from(access.vec);
        if doubtful != 0 {
            self.doubtless(w, frame, pc, inst, &access.address, doubtful)?;
            self.doubtful_local(w, frame, inst, access, doubtful);
        }
        let mut touched = Touched::none();
        let mut values: [Option<u64>; 32] = [None; 32];
        for lane in lanes(active) {
            let target = self.target(w, frame, &access.address, lane);
            if let Target::Shared(rank, at) = target {
                self.inside(w, pc, lane, (rank, at), bytes as u64, bytes as u64)?;
                touched.add(lane, rank, at);
            }
            let mut whole = Some(0u64);
            for element in 0..usize::from(access.vec) {
                let value = self.stored(frame, access, element, lane);
                let offset = element * size;
                whole = match (whole, value) {
                    (Some(whole), Ok(value)) if bytes <= 8 => Some(whole | value << (8 * offset)),
                    _ => None,
                };
                match target {
                    Target::Shared(rank, at) => {
                        let value = if self.set.code.open.contains(&pc) { Err(Why::at(pc)) } else { value };
                        if self.ways.doubt.depth > 0 {
                            let why = Why::at(pc).tainted(points_to_shared(size, value));
                            self.forget_shared(rank, at as usize + offset, size, why);
                        } else {
                            let at = at as usize + offset;
                            self.ctas[rank as usize].shared.write(at, size, value);
                            if value.is_err() && active.is_power_of_two() && !self.set.code.open.contains(&pc)
                            {
                                self.name_content(w, frame, (access, element, lane), (rank, at, size));
                            }
                        }
                    }
                    Target::Local(at) => self.store_local(w, pc, lane, at + offset as u64, size, value)?,
                    Target::Param(_) => {
                        return Err(self.illegal(w, pc, lane, "a store to the kernel's parameters"));
                    }
                    Target::Global(_) => self.addressing.escaped |= points_to_shared(size, value),
                    Target::Unknown(why) if access.address.space == Space::Local => {
                        self.warps[w].local.forget(lane, why);
                    }
                    Target::Unknown(why) => return Err(self.unknown(w, pc, lane, ADDRESS, why)),
                }
            }
            values[lane] = whole;
        }
        let elements = (size, bytes, strength(access.semantics));
        self.touch(w, pc, SharedAccessKind::Write, elements, &touched, written(&values, touched.lanes))
    }

    /// The bits of an element that a lane stores.
    pub fn stored(
        &self,
        frame: u32,
        access: &DecodedAccess,
        element: usize,
        lane: usize,
    ) -> Result<u64, Why> {
        let registers = &self.calls.frames[frame as usize].registers;
        let slot = access.rows[element];
        if registers.known(slot) >> lane & 1 == 0 {
            return Err(registers.why(slot));
        }
        let value = registers.read(slot, access.width[element], lane);
        Ok(value & (!0 >> (64 - 8 * u32::from(access.size))))
    }

    fn store_local(
        &mut self,
        w: usize,
        pc: u32,
        lane: usize,
        at: u64,
        size: usize,
        value: Result<u64, Why>,
    ) -> Result<(), Refusal> {
        const LIMIT: u64 = 512 << 10;
        if at + size as u64 > LIMIT {
            return Err(self.illegal(
                w,
                pc,
                lane,
                format!("byte {at:#x} of local memory, of which a thread has 512 KiB"),
            ));
        }
        self.warps[w].local.write(lane, at as usize, size, value);
        Ok(())
    }

    /// A store to local memory that may happen or not: what was there is no more known.
    fn doubtful_local(&mut self, w: usize, frame: u32, inst: &Inst, access: &DecodedAccess, doubtful: u32) {
        let why = self.calls.frames[frame as usize].registers.why(inst.guard as i32);
        let bytes = usize::from(access.size);
        for lane in lanes(doubtful) {
            match self.target(w, frame, &access.address, lane) {
                Target::Local(at) => {
                    for element in 0..usize::from(access.vec) {
                        self.warps[w].local.write(lane, at as usize + element * bytes, bytes, Err(why));
                    }
                }
                Target::Unknown(why) if access.address.space == Space::Local => {
                    self.warps[w].local.forget(lane, why);
                }
                _ => {}
            }
        }
    }

    /// `atom`, `red`: the result depends on the order of threads, so it is not known, nor what the memory holds then but for sums.
    pub fn atomic(
        &mut self,
        w: usize,
        frame: u32,
        pc: u32,
        inst: &Inst,
        active: u32,
        doubtful: u32,
    ) -> Result<(), Refusal> {
        let atomic = &self.set.code.image.atomics[inst.extra as usize];
        let bytes = atomic.bytes();
        if doubtful != 0 {
            self.doubtless(w, frame, pc, inst, &atomic.address, doubtful)?;
            if lanes(doubtful).any(|lane| self.is_grid_arrival(frame, atomic, lane)) {
                self.certain(w, frame, pc, inst, doubtful, "whether the grid's barrier is reached")?;
            }
        }
        let mut touched = Touched::none();
        let mut counted = None;
        for lane in lanes(active) {
            match self.target(w, frame, &atomic.address, lane) {
                Target::Shared(rank, at) => {
                    self.inside(w, pc, lane, (rank, at), bytes, bytes)?;
                    touched.add(lane, rank, at);
                    match self.sum(w, frame, pc, lane, atomic, (rank, at)) {
                        Some(sum) => {
                            self.summed(pc, (rank, at as u32), sum);
                            counted = Some((lane, (rank, at as u32), sum));
                        }
                        None => {
                            self.forget_shared(rank, at as usize, bytes as usize, Why::at(pc));
                        }
                    }
                }
                Target::Global(_) => {
                    if self.is_grid_arrival(frame, atomic, lane) {
                        self.arrive_at_grid(w, pc, lane)?;
                    }
                    let registers = &self.calls.frames[frame as usize].registers;
                    let pointer = |slot: i32| match registers.known(slot) >> lane & 1 {
                        0 => points_to_shared(8, Err(registers.why(slot))),
                        _ => points_to_shared(8, Ok(registers.read(slot, atomic.width, lane))),
                    };
                    let high = atomic.high.iter().flat_map(|high| high.src);
                    self.addressing.escaped |= bytes >= 8 && atomic.src.into_iter().chain(high).any(pointer);
                }
                Target::Unknown(why) => return Err(self.unknown(w, pc, lane, ADDRESS, why)),
                Target::Local(_) | Target::Param(_) => {
                    return Err(self.illegal(
                        w,
                        pc,
                        lane,
                        "an atomic operation on local memory or a parameter",
                    ));
                }
            }
        }
        for dst in atomic.dst.into_iter().chain(atomic.high.and_then(|high| high.dst)) {
            self.calls.frames[frame as usize].registers.mark(dst, active | doubtful, 0, Why::at(pc));
        }
        if let (Some((lane, counter, sum)), Some(dst), true) = (counted, atomic.dst, active.is_power_of_two())
        {
            self.counted_down(w, frame, pc, lane, dst, (counter, sum));
        }
        let elements = (bytes as usize, bytes as usize, atomic_strength(atomic.semantics));
        self.touch(w, pc, SharedAccessKind::Atomic, elements, &touched, WrittenValues::Unknown)
    }
}

/// Whether an element is as many bytes as its register has, four or more.
fn is_whole(access: &DecodedAccess, element: usize) -> bool {
    matches!((access.size, access.width[element]), (4, Width::W32) | (8, Width::W64))
}

/// What a write is known to write, in the form that takes the least room.
fn written(values: &[Option<u64>; 32], lanes_on: u32) -> WrittenValues<'_> {
    if lanes_on == 0 {
        return WrittenValues::Unknown;
    }
    let first = values[lanes_on.trailing_zeros() as usize];
    let same = lanes(lanes_on).all(|lane| values[lane] == first);
    match (same, first) {
        (true, None) => WrittenValues::Unknown,
        (true, Some(value)) => WrittenValues::Same(value),
        _ => WrittenValues::Each(values),
    }
}

fn extend(value: u64, size: u8) -> u64 {
    match size {
        1 => value as i8 as i64 as u64,
        2 => value as i16 as i64 as u64,
        4 => value as i32 as i64 as u64,
        _ => value,
    }
}
