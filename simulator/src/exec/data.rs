//! Instructions that produce data lane by lane without touching memory: special registers, vectors packed
//! and unpacked, addresses of local variables, parameters in word rows.

use super::Machine;
use crate::address::LOCAL_WINDOW;
use crate::alu::Width;
use crate::alu::row::{RowMemory, store_lanes};
use crate::decoded::{Inst, Kind, SpecialValue, WORD_ROW};

/// Cycles that `%clock` advances by with each instruction of a warp, some time between those of arithmetic and of a load on
/// hardware. Programs that burn a stated time in a loop around `clock()` would run some ten million rounds otherwise.
const CYCLES: u64 = 16;

/// Lanes of a mask, lowest first.
#[inline(always)]
pub(crate) fn lanes(mut mask: u32) -> impl Iterator<Item = usize> + Clone {
    std::iter::from_fn(move || {
        (mask != 0).then(|| {
            let lane = mask.trailing_zeros();
            mask &= mask - 1;
            lane as usize
        })
    })
}

/// The address of a slot.
///
/// # Safety
/// The slot is an offset into the frame or the constants.
#[inline(always)]
pub(crate) unsafe fn row(frame: *const u8, consts: *const u8, slot: i32) -> *const u8 {
    // SAFETY: the caller's promise.
    unsafe { if slot >= 0 { frame.add(slot as usize) } else { consts.add(!slot as usize) } }
}

/// Reads one lane of a row that is no predicate.
///
/// # Safety
/// `row` is a row of this width.
#[inline(always)]
pub(crate) unsafe fn read_lane(row: *const u8, width: Width, lane: usize) -> u64 {
    // SAFETY: the caller's promise; rows are aligned for their elements.
    unsafe {
        match width {
            Width::Pred => u64::from(*row.cast::<u32>() >> lane & 1),
            Width::W16 => u64::from(*row.cast::<u16>().add(lane)),
            Width::W32 => u64::from(*row.cast::<u32>().add(lane)),
            Width::W64 => *row.cast::<u64>().add(lane),
        }
    }
}

/// Writes one lane of a row; what does not fit is cut off.
///
/// # Safety
/// `row` is a row of this width.
#[inline(always)]
pub(crate) unsafe fn write_lane(row: *mut u8, width: Width, lane: usize, value: u64) {
    // SAFETY: the caller's promise; rows are aligned for their elements.
    unsafe {
        match width {
            Width::Pred => {
                let row = row.cast::<u32>();
                *row = *row & !(1 << lane) | ((value & 1) as u32) << lane;
            }
            Width::W16 => *row.cast::<u16>().add(lane) = value as u16,
            Width::W32 => *row.cast::<u32>().add(lane) = value as u32,
            Width::W64 => *row.cast::<u64>().add(lane) = value,
        }
    }
}

impl Machine<'_> {
    /// Runs one such instruction.
    ///
    /// # Safety
    /// The instruction is one of the frame's function.
    #[inline(never)]
    pub(super) unsafe fn lane_data(
        &mut self,
        w: usize,
        fragment: usize,
        inst: &Inst,
        frame: *mut u8,
        consts: *const u8,
        active: u32,
    ) {
        let dst = frame.wrapping_add(inst.ops.dst as usize);
        // SAFETY: the loader made offsets and widths fit the frame.
        unsafe {
            match inst.kind {
                Kind::Special => self.special(w, frame, inst.extra, active),
                Kind::Pack => self.pack(frame, consts, inst.extra, active),
                Kind::Unpack => self.unpack(frame, consts, inst.extra, active),
                Kind::LocalAddress => {
                    let head = self.residents.frames.get(self.residents.warps[w].fragments[fragment].frame);
                    let window = if inst.ops.src[1] != 0 { LOCAL_WINDOW } else { 0 };
                    let value = window + u64::from(head.local_base.wrapping_add(inst.extra));
                    let width = if inst.ops.src[0] != 0 { Width::W64 } else { Width::W32 };
                    lanes(active).for_each(|lane| write_lane(dst, width, lane, value));
                }
                Kind::IsSpace => {
                    let source = row(frame, consts, inst.ops.src[0]);
                    for lane in lanes(active) {
                        let address = read_lane(source, Width::W64, lane);
                        let is = match inst.extra {
                            // Shared memory of this CTA; 1 is that of the whole cluster.
                            5 => self.is_own_shared(w, address),
                            window => Machine::window_number(address) == window,
                        };
                        write_lane(dst, Width::Pred, lane, u64::from(is));
                    }
                }
                Kind::Mapa | Kind::Getctarank => {
                    let width = if inst.extra != 0 { Width::W64 } else { Width::W32 };
                    let address = row(frame, consts, inst.ops.src[0]);
                    let rank = row(frame, consts, inst.ops.src[1]);
                    for lane in lanes(active) {
                        let address = read_lane(address, width, lane);
                        if inst.kind == Kind::Mapa {
                            let rank = read_lane(rank, Width::W32, lane) as u32;
                            write_lane(dst, width, lane, self.map_address(w, address, rank));
                        } else {
                            write_lane(dst, Width::W32, lane, u64::from(self.rank_of(w, address)));
                        }
                    }
                }
                Kind::ActiveMask => {
                    self.hang.unproven.set(true);
                    lanes(active).for_each(|lane| write_lane(dst, Width::W32, lane, u64::from(active)));
                }
                Kind::Lanewise => self.lanewise(frame, consts, inst.extra, active),
                _ => unreachable!("the loop sends nothing else here"),
            }
        }
    }

    unsafe fn lanewise(&self, frame: *mut u8, consts: *const u8, index: u32, active: u32) {
        let inst = &self.given.program.lanewise[index as usize];
        let (dst, width) = (frame.wrapping_add(inst.dst.0 as usize), inst.dst.1);
        for lane in lanes(active) {
            let mut sources = [0; 5];
            for (value, (slot, width, negated)) in sources.iter_mut().zip(&inst.src[..inst.count]) {
                // SAFETY: the loader recorded each row with its width.
                *value = unsafe { read_lane(row(frame, consts, *slot), *width, lane) } ^ u64::from(*negated);
            }
            let (value, second) = inst.what.apply(&sources);
            // SAFETY: as above; results go to rows of the frame.
            unsafe {
                write_lane(dst, width, lane, value);
                if let Some(row) = inst.second {
                    write_lane(frame.wrapping_add(row as usize), Width::Pred, lane, u64::from(second));
                }
            }
        }
    }

    unsafe fn special(&self, w: usize, frame: *mut u8, index: u32, active: u32) {
        let special = self.given.program.specials[index as usize];
        let warp = &self.residents.warps[w];
        let cta = &self.residents.ctas[warp.cta as usize];
        let dst = frame.wrapping_add(special.dst as usize);
        let clock = self.progress.counts.warp_instructions * CYCLES;
        if special.value.is_time() {
            self.hang.unproven.set(true);
        }
        let each = |value: u64| [value; 32];
        let masks = |mask: fn(u64) -> u64| std::array::from_fn(|lane| mask(1 << lane) & 0xffff_ffff);
        let values = match special.value {
            SpecialValue::Tid(d) => {
                self.given.layout.tids[warp.index as usize][usize::from(d)].map(u64::from)
            }
            SpecialValue::Ctaid(d) => each(cta.index[usize::from(d)].into()),
            SpecialValue::Laneid => std::array::from_fn(|lane| lane as u64),
            SpecialValue::Warpid => each(warp.index.into()),
            SpecialValue::Smid => each(cta.sm.into()),
            SpecialValue::LanemaskEq => masks(|own| own),
            SpecialValue::LanemaskLt => masks(|own| own - 1),
            SpecialValue::LanemaskLe => masks(|own| 2 * own - 1),
            SpecialValue::LanemaskGt => masks(|own| !(2 * own - 1)),
            SpecialValue::LanemaskGe => masks(|own| !(own - 1)),
            SpecialValue::Clock => each(clock & 0xffff_ffff),
            SpecialValue::ClockHi => each(clock >> 32),
            SpecialValue::Clock64 => each(clock),
            SpecialValue::GlobalTimer => each(clock + self.asynchrony.skew),
            SpecialValue::GlobalTimerLow => each((clock + self.asynchrony.skew) & 0xffff_ffff),
            SpecialValue::GlobalTimerHigh => each((clock + self.asynchrony.skew) >> 32),
            SpecialValue::Clusterid(d) => {
                let d = usize::from(d);
                each((cta.index[d] / self.given.plan.cluster[d]).into())
            }
            SpecialValue::ClusterCtaid(d) => {
                let d = usize::from(d);
                each((cta.index[d] % self.given.plan.cluster[d]).into())
            }
            SpecialValue::ClusterCtarank => each(self.rank(warp.cta).into()),
        };
        // SAFETY: the destination row is of this width.
        unsafe {
            if special.width == Width::W32 {
                store_lanes::<false, u32>(&RowMemory(values.map(|value| value as u32)), dst, active);
            } else {
                lanes(active).for_each(|lane| write_lane(dst, special.width, lane, values[lane]));
            }
        }
    }

    unsafe fn pack(&self, frame: *mut u8, consts: *const u8, index: u32, active: u32) {
        let pack = &self.given.program.packs[index as usize];
        let bits = u32::from(pack.part_bytes) * 8;
        let whole = frame.wrapping_add(pack.whole as usize);
        if let Some([low, high]) = pack.halves() {
            // SAFETY: the loader recorded each row with its width.
            unsafe {
                let [low, high] = [low, high].map(|slot| *row(frame, consts, slot).cast::<RowMemory<u32>>());
                let wide = |lane: usize| u64::from(low.0[lane]) | u64::from(high.0[lane]) << 32;
                store_lanes::<false, u64>(&RowMemory(std::array::from_fn(wide)), whole, active);
            }
            return;
        }
        for lane in lanes(active) {
            let mut value = 0;
            for (i, part) in pack.parts.iter().enumerate() {
                if let Some((slot, width)) = part {
                    // SAFETY: the loader recorded each row with its width.
                    let part = unsafe { read_lane(row(frame, consts, *slot), *width, lane) };
                    value |= (part & (!0 >> (64 - bits))) << (bits * i as u32);
                }
            }
            // SAFETY: the whole has a row as wide as the type.
            unsafe { write_lane(whole, row_width(pack.whole_bytes), lane, value) };
        }
    }

    unsafe fn unpack(&self, frame: *mut u8, consts: *const u8, index: u32, active: u32) {
        let pack = &self.given.program.packs[index as usize];
        let bits = u32::from(pack.part_bytes) * 8;
        if let Some(halves) = pack.halves() {
            // SAFETY: the loader recorded each row with its width.
            unsafe {
                let wide = *row(frame, consts, pack.whole).cast::<RowMemory<u64>>();
                for (slot, shift) in halves.into_iter().zip([0, 32]) {
                    let half = RowMemory(wide.0.map(|value| (value >> shift) as u32));
                    store_lanes::<false, u32>(&half, frame.wrapping_add(slot as usize), active);
                }
            }
            return;
        }
        for lane in lanes(active) {
            // SAFETY: the loader recorded each row with its width.
            let whole =
                unsafe { read_lane(row(frame, consts, pack.whole), row_width(pack.whole_bytes), lane) };
            for (i, part) in pack.parts.iter().enumerate() {
                if let Some((slot, width)) = part {
                    let value = whole >> (bits * i as u32) & (!0 >> (64 - bits));
                    // SAFETY: destinations are frame rows.
                    unsafe { write_lane(frame.wrapping_add(*slot as usize), *width, lane, value) };
                }
            }
        }
    }

    /// `ld.param` of word rows.
    ///
    /// # Safety
    /// The access is one of the frame's function.
    pub(super) unsafe fn param_load(&self, frame: *mut u8, index: u32, active: u32) {
        let access = &self.given.program.accesses[index as usize];
        for element in 0..usize::from(access.vec) {
            let (words, shift) = element_place(frame, access, element);
            let dst = frame.wrapping_add(access.rows[element] as usize);
            let width = access.width[element];
            // SAFETY: the loader checked that the bytes are the variable's.
            unsafe {
                if active == !0 && access.size == 4 && width == Width::W32 {
                    std::ptr::copy_nonoverlapping(words, dst, WORD_ROW as usize);
                    continue;
                }
                if access.size == 8 && width == Width::W64 {
                    let low = &*words.cast::<RowMemory<u32>>();
                    let high = &*words.add(WORD_ROW as usize).cast::<RowMemory<u32>>();
                    let wide = |lane: usize| u64::from(low.0[lane]) | u64::from(high.0[lane]) << 32;
                    store_lanes::<false, u64>(&RowMemory(std::array::from_fn(wide)), dst, active);
                    continue;
                }
                for lane in lanes(active) {
                    let low = read_lane(words, Width::W32, lane) >> shift;
                    let value = match access.size {
                        8 => low | read_lane(words.add(WORD_ROW as usize), Width::W32, lane) << 32,
                        4 if access.signed => i64::from(low as i32) as u64,
                        4 => low,
                        2 if access.signed => i64::from(low as i16) as u64,
                        2 => low & 0xffff,
                        _ if access.signed => i64::from(low as i8) as u64,
                        _ => low & 0xff,
                    };
                    write_lane(dst, width, lane, value);
                }
            }
        }
    }

    /// `st.param` to word rows.
    ///
    /// # Safety
    /// The access is one of the frame's function.
    pub(super) unsafe fn param_store(&self, frame: *mut u8, consts: *const u8, index: u32, active: u32) {
        let access = &self.given.program.accesses[index as usize];
        for element in 0..usize::from(access.vec) {
            let (words, shift) = element_place(frame, access, element);
            let width = access.width[element];
            // SAFETY: the loader checked that the bytes are the variable's.
            unsafe {
                let source = row(frame, consts, access.rows[element]);
                if active == !0 && access.size == 4 && width == Width::W32 {
                    std::ptr::copy_nonoverlapping(source, words, WORD_ROW as usize);
                    continue;
                }
                if access.size == 8 && width == Width::W64 {
                    let wide = *source.cast::<RowMemory<u64>>();
                    let half = |shift| RowMemory(wide.0.map(|value| (value >> shift) as u32));
                    store_lanes::<false, u32>(&half(0), words, active);
                    store_lanes::<false, u32>(&half(32), words.add(WORD_ROW as usize), active);
                    continue;
                }
                for lane in lanes(active) {
                    let value = read_lane(source, width, lane);
                    match access.size {
                        8 => {
                            write_lane(words, Width::W32, lane, value);
                            write_lane(words.add(WORD_ROW as usize), Width::W32, lane, value >> 32);
                        }
                        4 => write_lane(words, Width::W32, lane, value),
                        size => {
                            let part = if size == 2 { 0xffff } else { 0xff } << shift;
                            let old = read_lane(words, Width::W32, lane);
                            write_lane(words, Width::W32, lane, old & !part | value << shift & part);
                        }
                    }
                }
            }
        }
    }
}

/// First word row of an element, and the bit in it where the element begins.
fn element_place(frame: *mut u8, access: &crate::decoded::DecodedAccess, element: usize) -> (*mut u8, u32) {
    let byte = (access.address.offset >> 32) as usize + element * usize::from(access.size);
    let first = (access.address.offset as u32) as usize;
    (frame.wrapping_add(first + byte / 4 * WORD_ROW as usize), (byte % 4 * 8) as u32)
}

fn row_width(bytes: u8) -> Width {
    match bytes {
        2 => Width::W16,
        4 => Width::W32,
        _ => Width::W64,
    }
}
