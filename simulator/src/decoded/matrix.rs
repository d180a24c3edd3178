//! Matrix instructions, as the engine runs them. Rows are 32 bits wide, those of `.f64` fragments 64.

use bugaroo_ptx::op::{MatrixPart, WmmaMatrix};

use super::{Address, Factor};
use crate::alu::tensor::Tensor;

/// One matrix instruction of a warp.
#[derive(Clone, Debug)]
pub enum Matrix {
    /// `ldmatrix`
    Load { address: Address, rows: Vec<Option<u32>>, trans: bool },
    /// `stmatrix`
    Store { address: Address, sources: Vec<i32>, trans: bool },
    /// `movmatrix`
    Transpose { dst: u32, src: i32 },
    /// `wmma.load`
    WmmaLoad {
        part: MatrixPart,
        matrix: WmmaMatrix,
        address: Address,
        stride: Option<i32>,
        rows: Vec<Option<u32>>,
    },
    /// `wmma.store`
    WmmaStore { matrix: WmmaMatrix, address: Address, stride: Option<i32>, sources: Vec<i32> },
    /// `mma`, `wmma.mma`. The tables are boxed: they are some 200 bytes, and moves of matrices have none.
    Multiply { tensor: Box<Tensor>, d: Vec<Option<u32>>, a: Vec<i32>, b: Vec<i32>, c: Vec<i32> },
    /// `wgmma.mma_async`
    Group(Box<GroupMultiply>),
}

/// A warp's part of a warpgroup's multiplication.
#[derive(Clone, Debug)]
pub struct GroupMultiply {
    /// The multiplication of eight columns.
    pub tensor: Tensor,
    /// Rows of D.
    pub d: Vec<Option<u32>>,
    /// The same registers, to be read.
    pub c: Vec<i32>,
    /// A.
    pub a: Factor,
    /// B: the 64-bit slot of its descriptor.
    pub b: i32,
    /// A predicate slot, negated: D is added to.
    pub adds: (i32, bool),
    /// The elements of A and of B that are next to each other are those of a column of A, a row of B.
    pub transposed: [bool; 2],
    /// Bits of each word of A and of B that are flipped, where the factor is negated.
    pub flipped: [u32; 2],
}

impl Matrix {
    /// Whether it touches memory that other threads see.
    pub fn visible(&self) -> bool {
        !matches!(self, Matrix::Transpose { .. } | Matrix::Multiply { .. })
    }
}
