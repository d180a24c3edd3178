//! Where the elements that a matrix's registers hold belong in the matrix.

use bugaroo_ptx::op::{MatrixPart, MatrixType, Mma};

use super::element::{Element, Sum};
use super::registers::Registers;
use super::{places, quads};

/// Of elements that only repeat others.
const REPEATS: u16 = u16::MAX;

/// Where one matrix's elements belong, in row-major order.
#[derive(Clone, Debug)]
pub struct Side {
    part: MatrixPart,
    /// By register and lane: the first element's place, or [`REPEATS`].
    starts: Vec<[u16; 32]>,
    /// From one element of a register to the next.
    step: usize,
    /// Do the elements of lanes `4q` to `4q + 3` follow each other?
    fours: bool,
    elements: usize,
}

impl Side {
    /// A, B or C: what is there twice is taken from the first lane that has it.
    pub fn source(mma: &Mma, part: MatrixPart, ty: MatrixType, registers: usize) -> Side {
        Side::new(mma, part, ty, registers, true)
    }

    /// D: what is there twice is set twice.
    pub fn destination(mma: &Mma, ty: MatrixType, registers: usize) -> Side {
        Side::new(mma, MatrixPart::C, ty, registers, false)
    }

    fn new(mma: &Mma, part: MatrixPart, ty: MatrixType, registers: usize, once: bool) -> Side {
        let extent = mma.shape.extent(part);
        let size = extent.0 * extent.1;
        let per = places::per_register(ty);
        let index = |(row, column): (usize, usize)| row * extent.1 + column;
        let place = |register: usize, lane: usize, e: usize| {
            let i = register * per + e;
            if mma.of_quads() {
                let place = quads::place(mma, part, ty, lane, i);
                return Some(quads::product(lane) * size + index(place));
            }
            if !mma.wmma {
                return Some(index(places::mma_place(mma.shape, part, ty, (register, lane, e))));
            }
            let repeats = lane * registers * per + i >= size;
            (!(once && repeats)).then(|| index(places::wmma_place(extent, registers * per, lane, i)))
        };
        // The largest matrix has 4,096 elements.
        let start = |register, lane| place(register, lane, 0).map_or(REPEATS, |start| start as u16);
        let starts: Vec<[u16; 32]> =
            (0..registers).map(|register| std::array::from_fn(|lane| start(register, lane))).collect();
        let step = match (place(0, 0, 0), place(0, 0, 1)) {
            (Some(first), Some(second)) if per > 1 => second - first,
            _ => 1,
        };
        let fours = step == 1
            && starts.iter().flat_map(|row| row.chunks_exact(4)).all(|four| {
                (0..4).all(|i| four[i] != REPEATS && usize::from(four[i]) == usize::from(four[0]) + i * per)
            });
        let products = if mma.of_quads() { quads::PRODUCTS } else { 1 };
        Side { part, starts, step, fours, elements: products * size }
    }

    /// How many elements the matrix has, or all matrices that are multiplied at once.
    pub fn elements(&self) -> usize {
        self.elements
    }

    /// Widens all elements and puts them where they belong.
    #[inline(always)]
    pub fn spread<E: Element>(&self, registers: &dyn Registers, to: &mut [E::Number]) {
        for (register, starts) in self.starts.iter().enumerate() {
            let row = E::widen(registers, self.part, register);
            let row = row.as_ref();
            if self.fours {
                for (four, from) in starts.chunks_exact(4).zip(row.chunks_exact(4 * E::PER)) {
                    to[usize::from(four[0])..][..4 * E::PER].copy_from_slice(from);
                }
            } else {
                for (start, from) in starts.iter().zip(row.chunks_exact(E::PER)) {
                    for (e, from) in from.iter().enumerate() {
                        // A place of what repeats is none.
                        if let Some(to) = to.get_mut(usize::from(*start) + e * self.step) {
                            *to = *from;
                        }
                    }
                }
            }
        }
    }

    /// Sets all registers to the elements that they hold.
    #[inline(always)]
    pub fn collect<E: Sum>(&self, registers: &mut dyn Registers, from: &[E::Number]) {
        for (register, starts) in self.starts.iter().enumerate() {
            let mut row = E::EMPTY;
            for (start, to) in starts.iter().zip(row.as_mut().chunks_exact_mut(E::PER)) {
                for (e, to) in to.iter_mut().enumerate() {
                    *to = from[usize::from(*start) + e * self.step];
                }
            }
            E::narrow(registers, register, &row);
        }
    }
}
