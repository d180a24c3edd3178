//! `mma.sync.m8n8k4` of halves: four multiplications, each by two quads of lanes (PTX ISA, "Matrix Fragments for
//! mma.m8n8k4 with .f16 floating point type").
//!
//! The quads are lanes `4q` to `4q + 3` and those sixteen further, for `q` from 0 to 3; the latter hold the second half of
//! rows (of columns, of B in columns; of a row's columns, of B in rows).

use bugaroo_ptx::op::{MatrixPart, MatrixType, Mma};

use super::fragments::Fragment;
use super::multiply::element;

/// Extents of A, B and C: the longest.
const MOST: usize = 8;

/// Row and column of element `i` of a lane.
fn place(mma: &Mma, part: MatrixPart, ty: MatrixType, lane: usize, i: usize) -> (usize, usize) {
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

/// The product's fragment.
pub(super) fn multiply(mma: &Mma, a: &Fragment, b: &Fragment, c: &Fragment) -> Fragment {
    let mut product = Fragment::new(mma.d, mma.registers()[3]);
    for quad in 0..4 {
        let lanes = || (0..32).filter(move |lane| lane / 4 % 4 == quad);
        let spread = |fragment: &Fragment, part, ty, elements| {
            let mut all = [[0u64; MOST]; MOST];
            for lane in lanes() {
                for i in 0..elements {
                    let (row, column) = place(mma, part, ty, lane, i);
                    all[row][column] = fragment.element(lane, i);
                }
            }
            all
        };
        let (x, y) = (spread(a, MatrixPart::A, mma.a, 4), spread(b, MatrixPart::B, mma.b, 4));
        let sums = spread(c, MatrixPart::C, mma.c, 8);
        for lane in lanes() {
            for i in 0..8 {
                let (row, column) = place(mma, MatrixPart::C, mma.d, lane, i);
                let pairs = (0..4).map(|k| (x[row][k], y[k][column]));
                product.set_element(lane, i, element(mma, pairs, sums[row][column]));
            }
        }
    }
    product
}
