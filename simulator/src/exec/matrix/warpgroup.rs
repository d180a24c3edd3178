//! `wgmma`: matrices in shared memory that a descriptor says the place of (PTX ISA, "Asynchronous Warpgroup Level Matrix
//! Instructions", "Shared Memory Matrix Layout", "Matrix Descriptor Format"; the layouts as CUTLASS writes them,
//! `mma_sm90_desc.hpp`).
//!
//! The 64 rows of D are 16 for each warp. Eight columns of them are what `mma.m16n8` gives, in the same registers, so a warp
//! does one such multiplication for each eight columns; each row of A and each column of B has 32 bytes. The ISA has the
//! multiplication read shared memory and set D at any time from where it stands to the `wgmma.wait_group` for it. Here it does
//! so where it stands, which is one of those times, whatever `wgmma.fence` and the groups say.
//!
//! What that misses: a program that overwrites A or B, or reads D, before it has waited.

use bugaroo_ptx::op::MatrixPart;
use bugaroo_ptx::types::Space;

use super::super::data::{read_lane, row};
use super::super::observed::Elements;
use super::super::{Machine, Trouble};
use super::operands::Operands;
use crate::alu::Width;
use crate::alu::tensor::Registers;
use crate::decoded::{Factor, GroupMultiply};
use crate::fault::TouchKind;

/// Warps that multiply together.
const WARPS: usize = 4;
/// Rows of D that a warp has.
const ROWS: usize = 16;
/// Columns of D that are done at once.
const COLUMNS: usize = 8;
/// Bytes that lie together whatever the layout.
const LINE: u64 = 16;

/// Rows of A or columns of B, each of 32 bytes.
type Strips = [[u32; 8]; ROWS];

/// A matrix in shared memory.
#[derive(Clone, Copy, Debug)]
struct Descriptor {
    start: u64,
    /// Bytes between neighbours of the leading dimension, and of the other.
    leading: u64,
    stride: u64,
    /// Where in its period the pattern of the swizzle begins.
    base: u64,
    /// Lines of a row of the pattern: 1 (not swizzled), 2, 4 or 8.
    width: u64,
}

impl Descriptor {
    fn new(bits: u64) -> Descriptor {
        // 14 bits, in units of 16 bytes.
        let field = |shift: u32| (bits >> shift & 0x3fff) << 4;
        let width = [1, 8, 4, 2][(bits >> 62) as usize];
        Descriptor { start: field(0), leading: field(16), stride: field(32), base: bits >> 49 & 7, width }
    }

    /// The address of the line that lies so far from the start, in order of the pattern.
    fn line(&self, offset: u64) -> u64 {
        let address = self.start + offset;
        let phase = (address >> 7).wrapping_sub(self.base) & (self.width - 1);
        address ^ (phase << 4)
    }

    /// Of a matrix whose rows of 32 bytes lie in two lines each: the line of a row.
    fn of_row(&self, index: u64, half: u64) -> u64 {
        let within = index % 8 * self.width * LINE + index / 8 * self.stride;
        self.line(within + half * if self.width == 1 { self.leading } else { LINE })
    }

    /// Of a matrix of 16-bit elements that lies the other way round: the line of eight rows' elements of this depth.
    fn of_depth(&self, rows: u64, depth: u64) -> u64 {
        let (period, depths) =
            if self.width == 1 { (self.stride, self.leading) } else { (self.leading, self.stride) };
        let across = rows % self.width * LINE + rows / self.width * period;
        self.line(across + depth % 8 * self.width * LINE + depth / 8 * depths)
    }
}

/// The registers of eight columns of D.
struct Tile<'a> {
    operands: Operands<'a>,
    /// A from shared memory.
    a: Option<Strips>,
    b: Strips,
    /// By part: bits that are flipped in each of its words, to change signs.
    flipped: [u32; 2],
    /// Without C, D is only the product.
    adds: bool,
}

impl Registers for Tile<'_> {
    #[inline(always)]
    fn words(&self, part: MatrixPart, register: usize) -> [u32; 32] {
        // Lane 4g + t has words t of rows g and, of A, g + 8.
        let of = |strips: &Strips, row: usize, word: usize| -> [u32; 32] {
            std::array::from_fn(|lane| strips[row + lane / 4][word + lane % 4])
        };
        match part {
            MatrixPart::A => match &self.a {
                Some(a) => of(a, register % 2 * 8, register / 2 * 4),
                None => self.operands.words(part, register),
            }
            .map(|word| word ^ self.flipped[0]),
            MatrixPart::B => of(&self.b, 0, register * 4).map(|word| word ^ self.flipped[1]),
            MatrixPart::C if self.adds => self.operands.words(part, register),
            MatrixPart::C => [0; 32],
        }
    }

    #[inline(always)]
    fn doubles(&self, _part: MatrixPart, _register: usize) -> [u64; 32] {
        // `wgmma` has no elements of 64 bits.
        [0; 32]
    }

    #[inline(always)]
    fn set_words(&mut self, register: usize, row: &[u32; 32]) {
        self.operands.set_words(register, row);
    }

    #[inline(always)]
    fn set_doubles(&mut self, _register: usize, _row: &[u64; 32]) {}
}

impl Machine<'_> {
    /// Multiplies a warp's rows.
    pub(super) fn group_multiply(
        &mut self,
        w: usize,
        (frames, mask): (&[*mut u8; 32], u32),
        what: &GroupMultiply,
        pc: u32,
    ) -> Result<(), Trouble> {
        let consts = self.given.constants.base();
        let first = mask.trailing_zeros() as usize;
        // SAFETY: the loader's slots, of these widths.
        let descriptor = |slot| unsafe { read_lane(row(frames[first], consts, slot), Width::W64, first) };
        // SAFETY: as above.
        let adds = unsafe { read_lane(row(frames[first], consts, what.adds.0), Width::Pred, first) } & 1 != 0;
        let adds = adds != what.adds.1;
        let warp = self.residents.warps[w].index as usize % WARPS;
        let mut lines = Vec::new();
        let (a, sources) = match &what.a {
            Factor::Fragment(slots) => (None, &slots[..]),
            Factor::Shared(slot) => {
                let a = Descriptor::new(descriptor(*slot));
                let rows = (warp * ROWS, ROWS);
                (Some(self.strips(w, first, a, what.transposed[0], rows, &mut lines)?), &[][..])
            }
        };
        let b = Descriptor::new(descriptor(what.b));
        let per = what.tensor.mma().registers()[3];
        let columns = what.d.len() / per;
        for tile in 0..columns {
            let registers = tile * per..(tile + 1) * per;
            let rows = (tile * COLUMNS, COLUMNS);
            let b = self.strips(w, first, b, what.transposed[1], rows, &mut lines)?;
            let sources = [sources, &[][..], &what.c[registers.clone()]];
            // SAFETY: the loader's slots.
            let operands = unsafe { Operands::new(frames, mask, consts, sources, &what.d[registers]) };
            what.tensor.multiply(&mut Tile { operands, a, b, flipped: what.flipped, adds });
        }
        self.observed_lines(w, pc, &lines);
        Ok(())
    }

    /// So many rows from the first on, of 32 bytes each. The addresses of the lines that were read are added to `read`.
    fn strips(
        &self,
        w: usize,
        lane: usize,
        matrix: Descriptor,
        transposed: bool,
        (first, count): (usize, usize),
        read: &mut Vec<u64>,
    ) -> Result<Strips, Trouble> {
        let mut strips = [[0; 8]; ROWS];
        let mut line = |address: u64| -> Result<[u16; 8], Trouble> {
            let found = self.spot(w, Space::Shared, address, LINE, LINE, TouchKind::Read);
            let found = found.map_err(|kind| Box::new((kind, lane as u32)))?;
            read.push(address);
            // SAFETY: 16 bytes that were checked. Shared memory is always there.
            Ok(self
                .pointer(found, LINE)
                .map_or([0; 8], |from| unsafe { from.cast::<[u16; 8]>().read_unaligned() }))
        };
        if transposed {
            for eight in (0..count).step_by(8) {
                for depth in 0..16 {
                    let elements = line(matrix.of_depth(((first + eight) / 8) as u64, depth as u64))?;
                    for (strip, element) in strips[eight..].iter_mut().zip(elements) {
                        strip[depth / 2] |= u32::from(element) << (depth % 2 * 16);
                    }
                }
            }
            return Ok(strips);
        }
        for (index, strip) in strips.iter_mut().take(count).enumerate() {
            for half in 0..2 {
                let halves = line(matrix.of_row((first + index) as u64, half as u64))?;
                for (word, pair) in strip[half * 4..].iter_mut().zip(halves.chunks_exact(2)) {
                    *word = u32::from(pair[0]) | u32::from(pair[1]) << 16;
                }
            }
        }
        Ok(strips)
    }

    /// Tells of lines of 16 bytes that a warp has read: which lane of it read which, the ISA does not say.
    fn observed_lines(&mut self, w: usize, pc: u32, read: &[u64]) {
        if self.hooks.watch.is_none() {
            return;
        }
        for some in read.chunks(32) {
            let mut lines = Elements::new(4, 4);
            for (lane, address) in some.iter().enumerate() {
                let Ok(spot) = self.spot(w, Space::Shared, *address, LINE, LINE, TouchKind::Read) else {
                    continue;
                };
                let Some(from) = self.pointer(spot, LINE) else { continue };
                lines.at[lane] = Some((spot, 0));
                // SAFETY: 16 bytes that were checked.
                lines.values[lane] = unsafe { from.cast::<u128>().read_unaligned() };
            }
            self.observed_elements(w, pc, false, &lines);
        }
    }
}
