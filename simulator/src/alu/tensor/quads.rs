//! `mma.sync.m8n8k4` of halves: four multiplications, each by two quads of lanes (PTX ISA, "Matrix Fragments for
//! mma.m8n8k4 with .f16 floating point type").
//!
//! The quads are lanes `4q` to `4q + 3` and those sixteen further, for `q` from 0 to 3; the latter hold the second half of
//! rows (of columns, of B in columns; of a row's columns, of B in rows).

use bugaroo_ptx::op::{MatrixPart, MatrixType, Mma};

/// Multiplications at once.
pub const PRODUCTS: usize = 4;

/// Which of them a lane takes part in.
pub fn product(lane: usize) -> usize {
    lane / 4 % PRODUCTS
}

/// Row and column of element `i` of a lane.
pub fn place(mma: &Mma, part: MatrixPart, ty: MatrixType, lane: usize, i: usize) -> (usize, usize) {
    let (line, half) = (lane % 4, lane / 16 * 4);
    match part {
        MatrixPart::A if mma.a_row => (line + half, i),
        MatrixPart::A => (i + half, line),
        MatrixPart::B if mma.b_row => (line, i + half),
        MatrixPart::B => (i, line + half),
        MatrixPart::C if ty == MatrixType::F32 => {
            ((lane & 1) + (i & 2) + half, (i & 4) + (lane & 2) + (i & 1))
        }
        MatrixPart::C => (line + half, i),
    }
}
