//! The words of matrix instructions (PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions").

use crate::types::Space;

/// Element type of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the ISA's own")]
pub enum MatrixType {
    F16,
    BF16,
    TF32,
    F32,
    F64,
    S4,
    U4,
    S8,
    U8,
    S32,
    B1,
    E4M3,
    E5M2,
}

impl MatrixType {
    /// Bits of an element.
    pub const fn bits(self) -> u32 {
        match self {
            MatrixType::B1 => 1,
            MatrixType::S4 | MatrixType::U4 => 4,
            MatrixType::S8 | MatrixType::U8 | MatrixType::E4M3 | MatrixType::E5M2 => 8,
            MatrixType::F16 | MatrixType::BF16 => 16,
            MatrixType::TF32 | MatrixType::F32 | MatrixType::S32 => 32,
            MatrixType::F64 => 64,
        }
    }
}

/// `.mMnNkK`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the ISA's own")]
pub struct MatrixShape {
    pub m: u8,
    pub n: u8,
    pub k: u8,
}

impl MatrixShape {
    /// Extent of the sum: `k`, but that 256 is kept as 0.
    pub const fn depth(self) -> usize {
        if self.k == 0 { 256 } else { self.k as usize }
    }

    /// Rows and columns of a matrix of the product.
    pub const fn extent(self, part: MatrixPart) -> (usize, usize) {
        match part {
            MatrixPart::A => (self.m as usize, self.depth()),
            MatrixPart::B => (self.depth(), self.n as usize),
            MatrixPart::C => (self.m as usize, self.n as usize),
        }
    }

    /// Registers of a lane that hold its share of a matrix.
    pub const fn registers(self, part: MatrixPart, ty: MatrixType) -> usize {
        let (rows, columns) = self.extent(part);
        let bits = rows * columns * ty.bits() as usize / 32;
        bits / if ty.bits() == 64 { 64 } else { 32 }
    }
}

/// Which matrix of `D = A × B + C`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the ISA's own")]
pub enum MatrixPart {
    A,
    B,
    C,
}

/// How bits of `.b1` matrices are combined before they are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the ISA's own")]
pub enum BitOp {
    And,
    Xor,
}

/// A matrix multiplication.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mma {
    /// `wmma.mma`: fragments of `wmma.load`. Otherwise those of `mma.sync`.
    pub wmma: bool,
    /// Extents.
    pub shape: MatrixShape,
    /// Row-major A.
    pub a_row: bool,
    /// Row-major B.
    pub b_row: bool,
    /// Type of A.
    pub a: MatrixType,
    /// Type of B.
    pub b: MatrixType,
    /// Type of C.
    pub c: MatrixType,
    /// Type of D.
    pub d: MatrixType,
    /// `.satfinite`
    pub satfinite: bool,
    /// For `.b1`.
    pub bits: Option<BitOp>,
}

/// An asynchronous multiplication by a warpgroup: D of 64 by `n` elements. The four warps have 16 rows each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Wgmma {
    /// Columns of B and D.
    pub n: u16,
    /// Type of D.
    pub d: MatrixType,
    /// Type of A.
    pub a: MatrixType,
    /// Type of B, which is as wide as A's.
    pub b: MatrixType,
    /// `.satfinite`
    pub satfinite: bool,
}

impl Wgmma {
    /// The multiplication that gives a warp eight columns of its 16 rows, in the same registers.
    pub const fn of_warp(&self) -> Mma {
        // 256 is kept as 0, see `MatrixShape`.
        let shape = MatrixShape { m: 16, n: 8, k: self.depth() as u8 };
        let bits = if matches!(self.a, MatrixType::B1) { Some(BitOp::And) } else { None };
        let (a, b, d, satfinite) = (self.a, self.b, self.d, self.satfinite);
        Mma { wmma: false, shape, a_row: true, b_row: false, a, b, c: d, d, satfinite, bits }
    }

    /// Extent of the sum: 32 bytes of A's type.
    pub const fn depth(&self) -> u32 {
        256 / self.a.bits()
    }

    /// Registers of D.
    pub const fn registers(&self) -> usize {
        self.n as usize * self.d.bits() as usize / 64
    }

    /// Whether the operands say if A and B are transposed: only those of halves can be.
    pub const fn transposes(&self) -> bool {
        self.a.bits() == 16
    }
}

/// A matrix that `wmma.load` and `wmma.store` move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WmmaMatrix {
    /// Extents of the multiplication that it is for.
    pub shape: MatrixShape,
    /// Row-major in memory.
    pub row: bool,
    /// Where it is.
    pub space: Space,
    /// Of what.
    pub ty: MatrixType,
}

impl WmmaMatrix {
    /// Registers of its fragment. Inputs of halves have eight, whatever their shape: elements repeat.
    pub const fn registers(&self, part: MatrixPart) -> usize {
        match (self.ty, part) {
            (MatrixType::F16, MatrixPart::A | MatrixPart::B) => 8,
            _ => self.shape.registers(part, self.ty),
        }
    }
}

impl Mma {
    /// `mma.sync.m8n8k4` of halves: four multiplications at once, each by eight lanes of the warp.
    pub fn of_quads(&self) -> bool {
        !self.wmma && self.a == MatrixType::F16 && (self.shape.m, self.shape.k) == (8, 4)
    }

    /// Registers of A, B, C and D.
    pub fn registers(&self) -> [usize; 4] {
        if self.of_quads() {
            let accumulators = |ty| if ty == MatrixType::F16 { 4 } else { 8 };
            return [2, 2, accumulators(self.c), accumulators(self.d)];
        }
        let of = |part, ty| {
            let matrix = WmmaMatrix { shape: self.shape, row: true, space: Space::Generic, ty };
            if self.wmma { matrix.registers(part) } else { self.shape.registers(part, ty) }
        };
        [
            of(MatrixPart::A, self.a),
            of(MatrixPart::B, self.b),
            of(MatrixPart::C, self.c),
            of(MatrixPart::C, self.d),
        ]
    }
}
