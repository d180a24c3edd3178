//! Instructions that produce data lane by lane without touching memory: special registers, vectors packed and unpacked, addresses
//! of local variables, parameters in word rows, rare arithmetic.

use bugaroo_simulator::alu::Width;
use bugaroo_simulator::decoded::{DecodedAccess, Inst, Kind, SpecialValue, WORD_ROW};
use bugaroo_simulator::{LOCAL_WINDOW, SHARED_WINDOW};

use super::machine::Machine;
use super::refusal::Refusal;
use super::registers::{Registers, Why, lanes};

impl Machine<'_> {
    /// Runs one such instruction for the lanes in `active`; whether those in `doubtful` run it is not known.
    pub fn lane_data(
        &mut self,
        w: usize,
        frame: u32,
        pc: u32,
        inst: &Inst,
        active: u32,
        doubtful: u32,
    ) -> Result<(), Refusal> {
        let touched = active | doubtful;
        match inst.kind {
            Kind::Special => {
                let special = self.set.code.image.specials[inst.extra as usize];
                let mut known = 0;
                for lane in lanes(active) {
                    if let Some(value) = self.special(w, special.value, lane) {
                        let registers = &mut self.calls.frames[frame as usize].registers;
                        registers.write(special.dst, special.width, lane, value);
                        known |= 1 << lane;
                    }
                }
                self.calls.frames[frame as usize].registers.mark(special.dst, touched, known, Why::at(pc));
                if let SpecialValue::Ctaid(dimension) = special.value
                    && self.set.extent.any_cta[usize::from(dimension)]
                {
                    // It is the same for all threads.
                    let symbol = self.known.symbols.cta(dimension, special.width);
                    let registers = &mut self.calls.frames[frame as usize].registers;
                    lanes(active).for_each(|lane| registers.set_symbol(special.dst, lane, symbol));
                }
            }
            Kind::LocalAddress => {
                let head = &mut self.calls.frames[frame as usize];
                let window = if inst.ops.src[1] != 0 { LOCAL_WINDOW } else { 0 };
                let value = window + u64::from(head.local_base.wrapping_add(inst.extra));
                let width = if inst.ops.src[0] != 0 { Width::W64 } else { Width::W32 };
                lanes(active).for_each(|lane| head.registers.write(inst.ops.dst, width, lane, value));
                head.registers.mark(inst.ops.dst, touched, active, Why::at(pc));
            }
            Kind::IsSpace => {
                let registers = &mut self.calls.frames[frame as usize].registers;
                let known = registers.known(inst.ops.src[0]) & active;
                for lane in lanes(known) {
                    let address = registers.read(inst.ops.src[0], Width::W64, lane);
                    let is = match (inst.extra, address >> 32) {
                        // Shared memory of this CTA; 1 is that of the whole cluster.
                        (5, 1) => address & 0xff00_0000 == 0,
                        (1, 1) | (2, 2) | (3, 3) => true,
                        (0, window) => !(1..=3).contains(&window),
                        _ => false,
                    };
                    registers.write(inst.ops.dst, Width::Pred, lane, u64::from(is));
                }
                let why = registers.why(inst.ops.src[0]);
                registers.mark(inst.ops.dst, touched, known, why);
            }
            Kind::Mapa | Kind::Getctarank => self.map(w, frame, (pc, inst), active, doubtful),
            Kind::ActiveMask => {
                // Which lanes are together is nothing that can be relied on.
                let lockstep = self.set.lockstep;
                let registers = &mut self.calls.frames[frame as usize].registers;
                for lane in lanes(active) {
                    registers.write(inst.ops.dst, Width::W32, lane, u64::from(active));
                }
                let known = if lockstep || active == self.warps[w].alive { active } else { 0 };
                registers.mark(inst.ops.dst, touched, known, Why::at(pc));
            }
            Kind::Pack => self.pack(frame, inst, active, doubtful),
            Kind::Unpack => self.unpack(frame, inst, active, doubtful),
            Kind::Lanewise => self.lanewise(frame, inst, active, doubtful),
            Kind::Texture => {
                // What a texture or a surface holds is not known.
                let texture = &self.set.code.image.textures[inst.extra as usize];
                let registers = &mut self.calls.frames[frame as usize].registers;
                for row in texture.results() {
                    registers.mark(row, touched, 0, Why::at(pc));
                }
            }
            Kind::ParamLoad => {
                let access = &self.set.code.image.accesses[inst.extra as usize];
                param_load(&mut self.calls.frames[frame as usize].registers, access, active, doubtful);
            }
            Kind::ParamStore => {
                let access = &self.set.code.image.accesses[inst.extra as usize];
                param_store(&mut self.calls.frames[frame as usize].registers, access, active, doubtful);
            }
            _ => unreachable!("the loop sends nothing else here"),
        }
        Ok(())
    }

    /// `mapa`, `getctarank`
    fn map(&mut self, w: usize, frame: u32, (pc, inst): (u32, &Inst), active: u32, doubtful: u32) {
        let own = self.warps[w].own.cta;
        let registers = &mut self.calls.frames[frame as usize].registers;
        let width = if inst.extra != 0 { Width::W64 } else { Width::W32 };
        let [address, rank, ..] = inst.ops.src;
        let is_map = inst.kind == Kind::Mapa;
        let known = registers.known(address) & if is_map { registers.known(rank) } else { !0 } & active;
        // Which CTA that is depends on the cluster.
        let known = if self.set.extent.clustered { known } else { 0 };
        for lane in lanes(known) {
            let at = registers.read(address, width, lane);
            if is_map {
                let rank = registers.read(rank, Width::W32, lane);
                let plain = at & !(0xff << 24);
                let mapped = if rank == u64::from(own) { plain } else { plain | (rank + 1).min(0xff) << 24 };
                registers.write(inst.ops.dst, width, lane, mapped);
            } else {
                let of = match at >> 24 & 0xff {
                    0 => u64::from(own),
                    rank => rank - 1,
                };
                registers.write(inst.ops.dst, Width::W32, lane, of);
            }
        }
        let why = if !self.set.extent.clustered {
            Why::at(pc)
        } else if registers.known(address) & active != active {
            registers.why(address)
        } else {
            registers.why(rank)
        };
        registers.mark(inst.ops.dst, active | doubtful, known, why.tainted(true));
    }

    fn pack(&mut self, frame: u32, inst: &Inst, active: u32, doubtful: u32) {
        let pack = &self.set.code.image.packs[inst.extra as usize];
        let registers = &mut self.calls.frames[frame as usize].registers;
        let bits = u32::from(pack.part_bytes) * 8;
        let width = row_width(pack.whole_bytes);
        let mut known = active;
        let mut why = Why::NEVER;
        for (slot, _) in pack.parts.iter().flatten() {
            if registers.known(*slot) & active != active {
                why = registers.why(*slot);
            }
            known &= registers.known(*slot);
        }
        let mut values = [0; 32];
        for lane in lanes(active) {
            for (i, part) in pack.parts.iter().enumerate() {
                if let Some((slot, width)) = part {
                    let part = registers.read(*slot, *width, lane) & (!0 >> (64 - bits));
                    values[lane] |= part << (bits * i as u32);
                }
            }
        }
        lanes(active).for_each(|lane| registers.write(pack.whole as u32, width, lane, values[lane]));
        registers.mark(pack.whole as u32, active | doubtful, known, why);
    }

    fn unpack(&mut self, frame: u32, inst: &Inst, active: u32, doubtful: u32) {
        let pack = &self.set.code.image.packs[inst.extra as usize];
        let registers = &mut self.calls.frames[frame as usize].registers;
        let bits = u32::from(pack.part_bytes) * 8;
        let width = row_width(pack.whole_bytes);
        let (known, why) = (registers.known(pack.whole) & active, registers.why(pack.whole));
        let mut values = [0; 32];
        lanes(active).for_each(|lane| values[lane] = registers.read(pack.whole, width, lane));
        for (i, part) in pack.parts.iter().enumerate() {
            let Some((slot, width)) = part else { continue };
            for lane in lanes(active) {
                let value = values[lane] >> (bits * i as u32) & (!0 >> (64 - bits));
                registers.write(*slot as u32, *width, lane, value);
            }
            registers.mark(*slot as u32, active | doubtful, known, why);
        }
    }

    fn lanewise(&mut self, frame: u32, inst: &Inst, active: u32, doubtful: u32) {
        let what = &self.set.code.image.lanewise[inst.extra as usize];
        let registers = &mut self.calls.frames[frame as usize].registers;
        let sources = &what.src[..what.count];
        let mut known = active;
        let mut why = Why::NEVER;
        for (slot, ..) in sources {
            if registers.known(*slot) & active != active {
                why = registers.why(*slot);
            }
            known &= registers.known(*slot);
        }
        for lane in lanes(active) {
            let mut values = [0; 5];
            for (value, (slot, width, negated)) in values.iter_mut().zip(sources) {
                *value = registers.read(*slot, *width, lane) ^ u64::from(*negated);
            }
            let (value, second) = what.what.apply(&values);
            registers.write(what.dst.0, what.dst.1, lane, value);
            if let Some(row) = what.second {
                registers.write(row, Width::Pred, lane, u64::from(second));
            }
        }
        registers.mark(what.dst.0, active | doubtful, known, why);
        if let Some(row) = what.second {
            registers.mark(row, active | doubtful, known, why);
        }
    }
}

/// First word row of an element, and the bit in it where the element begins.
fn element_place(access: &DecodedAccess, element: usize) -> (u32, u32) {
    let byte = (access.address.offset >> 32) as u32 + element as u32 * u32::from(access.size);
    (access.address.offset as u32 + byte / 4 * WORD_ROW, byte % 4 * 8)
}

/// `ld.param` of word rows.
fn param_load(registers: &mut Registers<'_>, access: &DecodedAccess, active: u32, doubtful: u32) {
    for element in 0..usize::from(access.vec) {
        let (row, shift) = element_place(access, element);
        let (dst, width) = (access.rows[element] as u32, access.width[element]);
        let mut known = registers.known(row as i32) & active;
        let mut why = registers.why(row as i32);
        if access.size == 8 {
            let high = (row + WORD_ROW) as i32;
            if registers.known(high) & active != active {
                why = registers.why(high);
            }
            known &= registers.known(high);
        }
        for lane in lanes(known) {
            let low = registers.read(row as i32, Width::W32, lane) >> shift;
            let value = match access.size {
                8 => low | registers.read((row + WORD_ROW) as i32, Width::W32, lane) << 32,
                4 if access.signed => i64::from(low as i32) as u64,
                4 => low,
                2 if access.signed => i64::from(low as i16) as u64,
                2 => low & 0xffff,
                _ if access.signed => i64::from(low as i8) as u64,
                _ => low & 0xff,
            };
            registers.write(dst, width, lane, value);
        }
        registers.mark(dst, active | doubtful, known, why);
    }
}

/// `st.param` to word rows.
fn param_store(registers: &mut Registers<'_>, access: &DecodedAccess, active: u32, doubtful: u32) {
    for element in 0..usize::from(access.vec) {
        let (row, shift) = element_place(access, element);
        let (slot, width) = (access.rows[element], access.width[element]);
        let (known, why) = (registers.known(slot) & active, registers.why(slot));
        // Half of an address of shared memory is no address any more that could be told.
        let shared = access.size == 8
            && lanes(known)
                .any(|lane| registers.read(slot, width, lane).wrapping_sub(SHARED_WINDOW) < 1 << 32);
        let why = why.tainted(shared);
        let mut kept = known;
        for lane in lanes(known) {
            let value = registers.read(slot, width, lane);
            match access.size {
                8 => {
                    registers.write(row, Width::W32, lane, value);
                    registers.write(row + WORD_ROW, Width::W32, lane, value >> 32);
                }
                4 => registers.write(row, Width::W32, lane, value),
                size => {
                    let part = if size == 2 { 0xffff } else { 0xff } << shift;
                    let old = registers.read(row as i32, Width::W32, lane);
                    registers.write(row, Width::W32, lane, old & !part | value << shift & part);
                }
            }
        }
        if access.size < 4 {
            // The rest of the word must be known, too, or nothing may have been written there.
            let fresh = registers.why(row as i32) == Why::NEVER;
            kept &= registers.known(row as i32) | if fresh && shift == 0 { !0 } else { 0 };
        }
        registers.mark(row, active | doubtful, kept, why);
        if access.size == 8 {
            registers.mark(row + WORD_ROW, active | doubtful, kept, why);
        }
    }
}

fn row_width(bytes: u8) -> Width {
    match bytes {
        2 => Width::W16,
        4 => Width::W32,
        _ => Width::W64,
    }
}
