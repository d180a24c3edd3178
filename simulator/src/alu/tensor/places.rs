//! Which lane holds which element of a matrix.
//!
//! `mma`: as the ISA shows it ("Matrix Fragments for mma"), in one formula for all shapes. A register holds
//! `e` neighbours; lane `4g + t` holds, in register `r` of A, row `g` (plus 8 for odd `r` where there are 16
//! rows) and columns from `t·e` (plus `4e` for each further pair of registers) on; B likewise with its rows
//! for A's columns and one column `g`; C has two neighbours `2t` and `2t + 1` of row `g`, then those of `g + 8`.
//!
//! `wmma`, opaque to programs: element `i` of lane `l` is, in row-major order, element
//! `l · (elements of a lane) + i` of the matrix; where lanes have more room than there are elements, they
//! begin again.

use bugaroo_ptx::op::{MatrixPart, MatrixShape, MatrixType};

use crate::alu::Width;

/// Width of a fragment's registers.
pub fn width(ty: MatrixType) -> Width {
    if ty == MatrixType::F64 { Width::W64 } else { Width::W32 }
}

/// Elements of a register.
pub fn per_register(ty: MatrixType) -> usize {
    (width(ty).bytes() / 4 / ty.bits()) as usize
}

/// Row and column of element `i` of a lane, of `wmma` with so many elements a lane.
pub fn wmma_place((rows, columns): (usize, usize), elements: usize, lane: usize, i: usize) -> (usize, usize) {
    // Powers of two, in all shapes of `wmma`.
    let number = (lane * elements + i) & (rows * columns - 1);
    (number >> columns.trailing_zeros(), number & (columns - 1))
}

/// Row and column of element `e` of a lane's register, of `mma`.
pub fn mma_place(
    shape: MatrixShape,
    part: MatrixPart,
    ty: MatrixType,
    (register, lane, e): (usize, usize, usize),
) -> (usize, usize) {
    let per = per_register(ty);
    let (group, within) = (lane / 4, lane % 4);
    let tall = shape.m == 16;
    match part {
        MatrixPart::A => {
            let (row, pair) = if tall { (group + register % 2 * 8, register / 2) } else { (group, register) };
            (row, within * per + e + pair * 4 * per)
        }
        MatrixPart::B => (within * per + e + register * 4 * per, group),
        MatrixPart::C => {
            let i = register * per + e;
            (group + i / 2 * 8, within * 2 + i % 2)
        }
    }
}
