//! Loads and stores of whole rows.
//!
//! Consecutive addresses with elements as wide as the register are one block copy; one address for all is a
//! broadcast; the rest goes lane by lane. Lanes that store to one address store in lane order, so the highest
//! lane's value stays (the ISA leaves it open which).

use bugaroo_ptx::types::Space;

use super::data::{lanes, row};
use super::resolve::{Pattern, Request, Resolved};
use super::shape::consecutive;
use super::{Machine, Trouble};
use crate::alu::Width;
use crate::alu::row::{RowMemory, Word, store_lanes};
use crate::alu::words;
use crate::decoded::{Address, Base, DecodedAccess};
use crate::fault::TouchKind;

/// Moves one element between memory and a register row, for a pair of types.
///
/// # Safety
/// Active lanes' pointers are valid for `T`; the row has 32 `R`s.
#[inline(always)]
unsafe fn load_row<const V3: bool, T: Copy, R: Word>(
    from: &(Resolved, &[u64; 32]),
    to: *mut u8,
    mask: u32,
    stride: usize,
    shift: usize,
    widen: impl Fn(T) -> R,
) {
    let to = to.cast::<R>();
    // SAFETY: the caller's promise; memory is read unaligned, as host alignment is not the device's.
    unsafe {
        let get = |pointer: *mut u8| widen(pointer.wrapping_add(shift).cast::<T>().read_unaligned());
        match from.0.pattern {
            Pattern::Consecutive(first) if mask == !0 => {
                for lane in 0..32 {
                    *to.add(lane) = get(first.wrapping_add(lane * stride));
                }
            }
            Pattern::Consecutive(first) => {
                lanes(mask).for_each(|lane| *to.add(lane) = get(first.wrapping_add(lane * stride)));
            }
            Pattern::Same(all) => {
                store_lanes::<V3, R>(&RowMemory([get(all); 32]), to.cast(), mask);
            }
            Pattern::Each if mask == !0 => {
                for lane in 0..32 {
                    *to.add(lane) = get(from.1[lane] as *mut u8);
                }
            }
            Pattern::Each => {
                lanes(mask).for_each(|lane| *to.add(lane) = get(from.1[lane] as *mut u8));
            }
        }
    }
}

/// The other way round.
///
/// # Safety
/// As for [`load_row`].
#[inline(always)]
unsafe fn store_row<T: Copy, R: Copy>(
    to: &(Resolved, &[u64; 32]),
    from: *const u8,
    mask: u32,
    stride: usize,
    shift: usize,
    narrow: impl Fn(R) -> T,
) {
    let from = from.cast::<R>();
    // SAFETY: the caller's promise; memory is written unaligned, as host alignment is not the device's.
    unsafe {
        let put = |pointer: *mut u8, lane: usize| {
            pointer.wrapping_add(shift).cast::<T>().write_unaligned(narrow(*from.add(lane)));
        };
        match to.0.pattern {
            Pattern::Consecutive(first) if mask == !0 => {
                for lane in 0..32 {
                    put(first.wrapping_add(lane * stride), lane);
                }
            }
            Pattern::Consecutive(first) => {
                lanes(mask).for_each(|lane| put(first.wrapping_add(lane * stride), lane));
            }
            Pattern::Same(all) => put(all, 31 - mask.leading_zeros() as usize),
            Pattern::Each if mask == !0 => {
                for lane in 0..32 {
                    put(to.1[lane] as *mut u8, lane);
                }
            }
            Pattern::Each => lanes(mask).for_each(|lane| put(to.1[lane] as *mut u8, lane)),
        }
    }
}

/// Whether it moves one word a lane, from or to a row of words.
#[inline(always)]
fn is_word(access: &DecodedAccess) -> bool {
    access.vec == 1 && access.size == 4 && access.width[0] == Width::W32
}

/// Loads a word for each lane.
///
/// # Safety
/// All addresses, which are `base` and `offset`, lie in the memory at `shared`, with their words; `to` is a row of words.
#[inline(never)]
unsafe fn load_shared(shared: *const u8, base: *const [u32; 32], offset: u32, to: *mut u8) {
    // SAFETY: the caller's promise. The row that is written may be that of the addresses, so those are read first.
    unsafe {
        let (base, to) = (*base, to.cast::<u32>());
        if consecutive(&base, 4) {
            std::ptr::copy_nonoverlapping(shared.add(base[0].wrapping_add(offset) as usize), to.cast(), 128);
            return;
        }
        for (lane, base) in base.iter().enumerate() {
            let from = shared.add(base.wrapping_add(offset) as usize);
            *to.add(lane) = from.cast::<u32>().read_unaligned();
        }
    }
}

impl Machine<'_> {
    /// `ld`: answers whether it was a visible operation.
    ///
    /// # Safety
    /// The access is one of the frame's function; `mask` is not empty.
    #[inline(always)]
    pub(super) unsafe fn load<const V3: bool>(
        &mut self,
        w: usize,
        frame: *mut u8,
        consts: *const u8,
        index: u32,
        mask: u32,
    ) -> Result<bool, Trouble> {
        let program = self.given.program;
        let access = &program.accesses[index as usize];
        let bytes = u32::from(access.size) * u32::from(access.vec);
        let request = Request { address: access.address, bytes, site: index as usize, kind: TouchKind::Read };
        // SAFETY: the loader's rows; pointers are checked by `resolve`, `whole_row` and `shared_row`.
        unsafe {
            if mask == !0 && is_word(access) {
                let to = frame.add(access.rows[0] as usize);
                if let Some((from, theirs)) =
                    self.whole_row(w, (frame, consts), &access.address, index as usize, 4)
                {
                    std::ptr::copy_nonoverlapping(from, to, 128);
                    return Ok(access.visible && theirs);
                }
                if let Address { base: Base::Row32(slot), offset, space: Space::Shared } = access.address {
                    let base = row(frame, consts, slot).cast::<[u32; 32]>();
                    if let Some(shared) = self.shared_row(w, &*base, offset as u32, 4) {
                        load_shared(shared, base, offset as u32, to);
                        return Ok(access.visible);
                    }
                }
            }
            let found = self.resolve(w, frame, consts, &request, mask)?;
            self.load_rows::<V3>(frame, access, found, mask);
            Ok(access.visible && found.visible && !found.quiet)
        }
    }

    /// Moves what a load of these lanes reads, which is at `found`, to its registers.
    ///
    /// # Safety
    /// The access is one of the frame's function; `found` was resolved for these lanes, at least.
    #[inline(always)]
    pub(super) unsafe fn load_rows<const V3: bool>(
        &self,
        frame: *mut u8,
        access: &DecodedAccess,
        found: Resolved,
        mask: u32,
    ) {
        // SAFETY: the loader's rows; pointers were checked by `resolve`.
        unsafe {
            let found = (found, &self.paths.pointers);
            let stride = usize::from(access.size) * usize::from(access.vec);
            if access.vec == 1 && access.size == 4 && access.width[0] == Width::W32 {
                let to = frame.add(access.rows[0] as usize);
                if let Pattern::Consecutive(first) = found.0.pattern
                    && mask == !0
                {
                    std::ptr::copy_nonoverlapping(first, to, 128);
                } else {
                    load_row::<V3, u32, u32>(&found, to, mask, 4, 0, |v| v);
                }
                return;
            }
            for element in 0..usize::from(access.vec) {
                let to = frame.add(access.rows[element] as usize);
                let shift = element * usize::from(access.size);
                let (signed, width) = (access.signed, access.width[element]);
                match (access.size, width) {
                    (4, Width::W32) => load_row::<V3, u32, u32>(&found, to, mask, stride, shift, |v| v),
                    (8, _) => load_row::<V3, u64, u64>(&found, to, mask, stride, shift, |v| v),
                    (4, _) if signed => {
                        load_row::<V3, i32, u64>(&found, to, mask, stride, shift, |v| i64::from(v) as u64)
                    }
                    (4, _) => load_row::<V3, u32, u64>(&found, to, mask, stride, shift, u64::from),
                    (2, Width::W16) => load_row::<V3, u16, u16>(&found, to, mask, stride, shift, |v| v),
                    (2, Width::W32) if signed => {
                        load_row::<V3, i16, u32>(&found, to, mask, stride, shift, |v| i32::from(v) as u32);
                    }
                    (2, Width::W32) => load_row::<V3, u16, u32>(&found, to, mask, stride, shift, u32::from),
                    (2, _) if signed => {
                        load_row::<V3, i16, u64>(&found, to, mask, stride, shift, |v| i64::from(v) as u64)
                    }
                    (2, _) => load_row::<V3, u16, u64>(&found, to, mask, stride, shift, u64::from),
                    (_, Width::W16) if signed => {
                        load_row::<V3, i8, u16>(&found, to, mask, stride, shift, |v| i16::from(v) as u16);
                    }
                    (_, Width::W16) => load_row::<V3, u8, u16>(&found, to, mask, stride, shift, u16::from),
                    (_, Width::W32) if signed => {
                        load_row::<V3, i8, u32>(&found, to, mask, stride, shift, |v| i32::from(v) as u32);
                    }
                    (_, Width::W32) => load_row::<V3, u8, u32>(&found, to, mask, stride, shift, u32::from),
                    (_, _) if signed => {
                        load_row::<V3, i8, u64>(&found, to, mask, stride, shift, |v| i64::from(v) as u64)
                    }
                    (_, _) => load_row::<V3, u8, u64>(&found, to, mask, stride, shift, u64::from),
                }
            }
        }
    }

    /// `st`: answers whether it was a visible operation.
    ///
    /// # Safety
    /// The access is one of the frame's function; `mask` is not empty.
    #[inline(always)]
    pub(super) unsafe fn store(
        &mut self,
        w: usize,
        frame: *mut u8,
        consts: *const u8,
        index: u32,
        mask: u32,
    ) -> Result<bool, Trouble> {
        let program = self.given.program;
        let access = &program.accesses[index as usize];
        let bytes = u32::from(access.size) * u32::from(access.vec);
        let request =
            Request { address: access.address, bytes, site: index as usize, kind: TouchKind::Write };
        // SAFETY: the loader's rows; pointers are checked by `resolve` and `whole_row`.
        unsafe {
            if mask == !0
                && is_word(access)
                && let Some((to, theirs)) =
                    self.whole_row(w, (frame, consts), &access.address, index as usize, 4)
            {
                self.count_row(w, (access, index), to, theirs);
                std::ptr::copy_nonoverlapping(row(frame, consts, access.rows[0]), to, 128);
                return Ok(access.visible && theirs);
            }
            let found = self.resolve(w, frame, consts, &request, mask)?;
            self.count_stores(w, (access.counted, index), &found, mask, bytes);
            self.store_rows(frame, consts, access, found, mask);
            Ok(access.visible && found.visible)
        }
    }

    /// Moves what these lanes store from its registers to `found`.
    ///
    /// # Safety
    /// As for [`Machine::load_rows`].
    #[inline(always)]
    pub(super) unsafe fn store_rows(
        &self,
        frame: *mut u8,
        consts: *const u8,
        access: &DecodedAccess,
        found: Resolved,
        mask: u32,
    ) {
        // SAFETY: the loader's rows; pointers were checked by `resolve`.
        unsafe {
            let found = (found, &self.paths.pointers);
            let stride = usize::from(access.size) * usize::from(access.vec);
            if access.vec == 1 && access.size == 4 && access.width[0] == Width::W32 {
                let from = row(frame, consts, access.rows[0]);
                if let Pattern::Consecutive(first) = found.0.pattern {
                    if mask == !0 {
                        std::ptr::copy_nonoverlapping(from, first, 128);
                    } else {
                        words::write(mask, &*from.cast(), first.cast());
                    }
                } else {
                    store_row::<u32, u32>(&found, from, mask, 4, 0, |v| v);
                }
                return;
            }
            for element in 0..usize::from(access.vec) {
                let from = row(frame, consts, access.rows[element]);
                let shift = element * usize::from(access.size);
                match (access.size, access.width[element]) {
                    (4, Width::W32) => store_row::<u32, u32>(&found, from, mask, stride, shift, |v| v),
                    (8, _) => store_row::<u64, u64>(&found, from, mask, stride, shift, |v| v),
                    (4, _) => store_row::<u32, u64>(&found, from, mask, stride, shift, |v| v as u32),
                    (2, Width::W16) => store_row::<u16, u16>(&found, from, mask, stride, shift, |v| v),
                    (2, Width::W32) => store_row::<u16, u32>(&found, from, mask, stride, shift, |v| v as u16),
                    (2, _) => store_row::<u16, u64>(&found, from, mask, stride, shift, |v| v as u16),
                    (_, Width::W16) => store_row::<u8, u16>(&found, from, mask, stride, shift, |v| v as u8),
                    (_, Width::W32) => store_row::<u8, u32>(&found, from, mask, stride, shift, |v| v as u8),
                    (_, _) => store_row::<u8, u64>(&found, from, mask, stride, shift, |v| v as u8),
                }
            }
        }
    }
}
