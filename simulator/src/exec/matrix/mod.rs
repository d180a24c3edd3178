//! Matrix instructions of a warp (PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions").
//!
//! Which lane holds which element is the ISA's where it says so (`mma`, `ldmatrix`, `stmatrix`,
//! `movmatrix`); fragments of `wmma` are opaque there, and ours: [`crate::alu::tensor`], where the arithmetic is, too.

mod operands;
mod tile;
mod warpgroup;

use bugaroo_ptx::op::MatrixPart;

use super::data::{lanes, read_lane, row, write_lane};
use super::observed::Elements;
use super::spot::Spot;
use super::{Machine, Trouble};
use crate::alu::Width;
use crate::alu::row::{RowMemory, store_lanes};
use crate::alu::tensor::places::{per_register, width, wmma_place};
use crate::decoded::{Address, Matrix};
use crate::fault::{StopKind, TouchKind};
use operands::Operands;
use tile::Layout;

impl Machine<'_> {
    /// Does matrix instruction `index` for the lanes that have a frame, which should be all of them.
    pub(super) fn matrix(
        &mut self,
        w: usize,
        frames: &[*mut u8; 32],
        index: u32,
        pc: u32,
    ) -> Result<(), Trouble> {
        let program = self.given.program;
        let mask = (0..32).filter(|lane| !frames[*lane].is_null()).fold(0u32, |mask, lane| mask | 1 << lane);
        let consts = self.given.constants.base();
        // SAFETY: the loader's slot, 32 bits wide.
        let word = |slot: i32, lane: usize| unsafe {
            read_lane(row(frames[lane], consts, slot), Width::W32, lane) as u32
        };
        match &program.matrices[index as usize] {
            Matrix::Load { address, rows, trans } => {
                for (number, dst) in rows.iter().enumerate() {
                    let mut words = [0u32; 32];
                    let mut lines = self.hooks.watch.is_some().then(|| Elements::new(4, 4));
                    for (i, to) in words.chunks_exact_mut(4).enumerate() {
                        let lane = number * 8 + i;
                        let Some((spot, from)) = self.line(w, frames, address, lane, TouchKind::Read)? else {
                            continue;
                        };
                        // SAFETY: `line` checked 16 bytes.
                        let line = unsafe { from.cast::<[u32; 4]>().read_unaligned() };
                        to.copy_from_slice(&line);
                        if let Some(lines) = &mut lines {
                            lines.at[lane] = Some((spot, 0));
                            lines.values[lane] =
                                line.iter().rev().fold(0, |value, word| value << 32 | u128::from(*word));
                        }
                    }
                    if let Some(lines) = lines {
                        self.observed_elements(w, pc, false, &lines);
                    }
                    let Some(dst) = dst else { continue };
                    let words = if *trans { transposed(&words) } else { words };
                    // SAFETY: the loader's row.
                    unsafe { write_words(frames, mask, *dst, &words) };
                }
            }
            Matrix::Store { address, sources, trans } => {
                for (number, source) in sources.iter().enumerate() {
                    let mut matrix = [[0u16; 8]; 8];
                    for lane in lanes(mask) {
                        let (i, j) = (lane / 4, lane % 4 * 2);
                        let value = word(*source, lane);
                        for (k, half) in [value as u16, (value >> 16) as u16].into_iter().enumerate() {
                            if *trans {
                                matrix[j + k][i] = half;
                            } else {
                                matrix[i][j + k] = half;
                            }
                        }
                    }
                    let mut lines = Elements::new(4, 4);
                    for (i, line) in matrix.iter().enumerate() {
                        let lane = number * 8 + i;
                        let Some((spot, to)) = self.line(w, frames, address, lane, TouchKind::Write)? else {
                            continue;
                        };
                        lines.at[lane] = Some((spot, 0));
                        for (j, element) in line.iter().enumerate() {
                            // SAFETY: `line` checked 16 bytes.
                            unsafe { to.cast::<u16>().add(j).write_unaligned(*element) };
                            lines.values[lane] |= u128::from(*element) << (16 * j);
                        }
                    }
                    self.observed_elements(w, pc, true, &lines);
                }
            }
            Matrix::Transpose { dst, src } => {
                let mut given = [0; 32];
                lanes(mask).for_each(|lane| given[lane] = word(*src, lane));
                // SAFETY: the loader's row.
                unsafe { write_words(frames, mask, *dst, &transposed(&given)) };
            }
            Matrix::WmmaLoad { part, matrix, address, stride, rows } => {
                let lane = mask.trailing_zeros() as usize;
                let stride = stride.map(|slot| word(slot, lane));
                let at = self.lane_address(w, frames[lane], address, lane);
                let access = TouchKind::Read;
                let (spot, base, layout) = self.tile(w, address, at, *part, matrix, stride, access, lane)?;
                let bits = matrix.ty.bits();
                // Of elements of less than a byte, the byte.
                // SAFETY: `tile` checked every element.
                let there = |_, _, bit: u64| unsafe { tile::read_element(base, bit & !7, bits.max(8)) };
                self.observed_tile(w, (pc, mask), false, (spot, &layout), rows.len(), there);
                let width = width(matrix.ty);
                for (register, dst) in rows.iter().enumerate() {
                    let Some(dst) = dst else { continue };
                    for lane in lanes(mask) {
                        // SAFETY: `tile` checked every element.
                        let value = unsafe { layout.read(base, rows.len(), register, lane) };
                        // SAFETY: the loader's row.
                        unsafe { write_lane(frames[lane].add(*dst as usize), width, lane, value) };
                    }
                }
            }
            Matrix::WmmaStore { matrix, address, stride, sources } => {
                let lane = mask.trailing_zeros() as usize;
                let stride = stride.map(|slot| word(slot, lane));
                let at = self.lane_address(w, frames[lane], address, lane);
                let access = TouchKind::Write;
                let (spot, base, layout) =
                    self.tile(w, address, at, MatrixPart::C, matrix, stride, access, lane)?;
                let (bits, per) = (matrix.ty.bits(), per_register(matrix.ty));
                for lane in lanes(mask) {
                    for (register, source) in sources.iter().enumerate() {
                        // SAFETY: the loader's row.
                        let value =
                            unsafe { read_lane(row(frames[lane], consts, *source), width(matrix.ty), lane) };
                        // SAFETY: `tile` checked every element; accumulators have whole bytes.
                        unsafe { layout.write(base, sources.len(), register, lane, value) };
                    }
                }
                let value = |i: usize, lane: usize, _| {
                    // SAFETY: the loader's row.
                    let register = unsafe {
                        read_lane(row(frames[lane], consts, sources[i / per]), width(matrix.ty), lane)
                    };
                    register >> ((i % per) as u32 * bits)
                };
                self.observed_tile(w, (pc, mask), true, (spot, &layout), sources.len(), value);
            }
            Matrix::Group(what) => self.group_multiply(w, (frames, mask), what, pc)?,
            Matrix::Multiply { tensor, d, a, b, c } => {
                // SAFETY: the loader's slots.
                let mut operands = unsafe { Operands::new(frames, mask, consts, [a, b, c], d) };
                tensor.multiply(&mut operands);
            }
        }
        Ok(())
    }

    /// Tells of a matrix of `wmma`, so many registers a lane: of those that hold an element, the first lane has accessed it. `value` is that of
    /// an element of a lane, which lies at this bit.
    fn observed_tile(
        &mut self,
        w: usize,
        (pc, mask): (u32, u32),
        writes: bool,
        (spot, layout): (Spot, &Layout),
        registers: usize,
        value: impl Fn(usize, usize, u64) -> u64,
    ) {
        if self.hooks.watch.is_none() {
            return;
        }
        let held = registers * layout.per_register();
        for i in 0..held {
            let mut elements = Elements::new(layout.bits().div_ceil(8), 1);
            for lane in lanes(mask).filter(|lane| lane * held + i < layout.elements()) {
                let bit = layout.bit(wmma_place(layout.extent(), held, lane, i));
                elements.at[lane] = Some((spot, bit / 8));
                elements.values[lane] = value(i, lane, bit).into();
            }
            self.observed_elements(w, pc, writes, &elements);
        }
    }

    /// The 16 bytes of a row of a small matrix, whose address the lane of this number gives.
    #[inline]
    fn line(
        &self,
        w: usize,
        frames: &[*mut u8; 32],
        address: &Address,
        lane: usize,
        access: TouchKind,
    ) -> Result<Option<(Spot, *mut u8)>, Trouble> {
        if frames[lane].is_null() {
            return Ok(None);
        }
        let at = self.lane_address(w, frames[lane], address, lane);
        let found = self.spot(w, address.space, at, 16, 16, access);
        let found = found.map_err(|kind| Box::new((kind, lane as u32)))?;
        Ok(self.pointer(found, 16).map(|pointer| (found, pointer)))
    }

    /// The memory of a matrix of `wmma`: checked as one range from the first element to the last.
    #[allow(clippy::too_many_arguments, reason = "the instruction taken apart")]
    fn tile(
        &self,
        w: usize,
        address: &Address,
        at: u64,
        part: MatrixPart,
        matrix: &bugaroo_ptx::op::WmmaMatrix,
        stride: Option<u32>,
        access: TouchKind,
        lane: usize,
    ) -> Result<(Spot, *mut u8, Layout), Trouble> {
        let layout = Layout::new(matrix, part, stride);
        let bytes = layout.bytes();
        let trouble = |kind: StopKind| Box::new((kind, lane as u32));
        let align = u64::from(matrix.ty.bits().div_ceil(8));
        let found: Spot = self.spot(w, address.space, at, bytes, align, access).map_err(trouble)?;
        let outside = StopKind::OutOfBounds { address: at, size: bytes as u32, access, near: None };
        let base = self.pointer(found, bytes).ok_or_else(|| trouble(outside))?;
        Ok((found, base, layout))
    }
}

/// The other way round: an 8 by 8 matrix of 16-bit elements, two to a word.
fn transposed(words: &[u32; 32]) -> [u32; 32] {
    let at = |i: usize, j: usize| words[i * 4 + j / 2] >> (j % 2 * 16) & 0xffff;
    std::array::from_fn(|word| {
        let (i, j) = (word / 4, word % 4 * 2);
        at(j, i) | at(j + 1, i) << 16
    })
}

/// Sets a row of the lanes in `mask`.
///
/// # Safety
/// Those lanes' frames have a row of 32 bits there.
unsafe fn write_words(frames: &[*mut u8; 32], mask: u32, dst: u32, words: &[u32; 32]) {
    if mask == u32::MAX && frames.iter().all(|frame| *frame == frames[0]) {
        // SAFETY: the caller's promise.
        unsafe { store_lanes::<false, u32>(&RowMemory(*words), frames[0].add(dst as usize), mask) };
        return;
    }
    for lane in lanes(mask) {
        // SAFETY: the caller's promise.
        unsafe { write_lane(frames[lane].add(dst as usize), Width::W32, lane, u64::from(words[lane])) };
    }
}
