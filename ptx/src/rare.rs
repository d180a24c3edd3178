//! Arithmetic that programs use rarely: eight-bit floats, tf32, pairs of 16-bit integers and of floats, mixed precision, video
//! instructions.
//!
//! Apart from [`crate::op::Op`] because there are many of them and they are all alike to everybody but who
//! computes them: values in, a value out, one lane at a time.

use crate::types::{BoolOp, Compare, Rounding, Type};

/// An eight-bit floating-point format, as packed pairs have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fp8 {
    /// `.e4m3x2`
    E4m3,
    /// `.e5m2x2`
    E5m2,
}

/// An operation on two 16-bit integers in one register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the ISA's own")]
pub enum PairOp {
    Add,
    Min,
    Max,
}

/// Floating-point arithmetic of two numbers, or three.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the ISA's own")]
pub enum FloatOp {
    Add,
    Sub,
    Mul,
    Fma,
}

/// What a video instruction computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the ISA's own")]
pub enum VideoOp {
    Add,
    Sub,
    AbsDiff,
    Min,
    Max,
    Avrg,
    Shl,
    Shr,
    Mad,
    Set(Compare),
}

/// A second operation of a video instruction, with its last operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the ISA's own")]
pub enum VideoThen {
    Add,
    Min,
    Max,
}

/// A video instruction (ISA 9.7.18 "Scalar Video Instructions", 9.7.19 "SIMD Video Instructions").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Video {
    /// What it computes.
    pub op: VideoOp,
    /// 1, or 2 halves or 4 bytes.
    pub lanes: u8,
    /// Whether the operands and the result are signed.
    pub signed: [bool; 2],
    /// Whether the result is.
    pub signed_result: bool,
    /// `.sat`
    pub sat: bool,
    /// `.wrap` of a shift.
    pub wrap: bool,
    /// `.po` of `vmad`.
    pub plus_one: bool,
    /// `.shr7`, `.shr15` of `vmad`.
    pub scale: u8,
    /// The second operation.
    pub then: Option<VideoThen>,
}

/// Rarely used arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rare {
    /// `cvt.rn.satfinite{.relu}.FP8.f32 d, a, b` and `….FP8.f16x2 d, a`
    ToFp8 {
        /// The format.
        fp8: Fp8,
        /// `F32` or `F16x2`.
        src: Type,
        /// `.relu`
        relu: bool,
    },
    /// `cvt.rn{.relu}.f16x2.FP8`
    FromFp8 {
        /// The format.
        fp8: Fp8,
        /// `.relu`
        relu: bool,
    },
    /// `cvt.RND{.relu}{.satfinite}.tf32.f32`
    ToTf32 {
        /// `NearestAway`, `Nearest` or `Zero`.
        rnd: Rounding,
        /// `.relu`
        relu: bool,
        /// `.satfinite`
        satfinite: bool,
    },
    /// `cvt.pack.sat.TYPE.s32{.b32}`
    Pack {
        /// `U16`, `S16`, `U8` or `S8`.
        dst: Type,
    },
    /// `add`, `min{.relu}`, `max{.relu}` of `.u16x2`, `.s16x2`
    Pair {
        /// What.
        op: PairOp,
        /// `.s16x2`
        signed: bool,
        /// `.relu`
        relu: bool,
    },
    /// `add`, `sub`, `mul`, `fma` of `.f32x2`
    FloatPair {
        /// What.
        op: FloatOp,
        /// How both results are rounded.
        rnd: Rounding,
        /// `.ftz`
        ftz: bool,
    },
    /// `add`, `sub`, `fma` of `.f32.f16`, `.f32.bf16`: what comes before the last operand is of 16 bits.
    Mixed {
        /// What.
        op: FloatOp,
        /// `F16` or `BF16`.
        half: Type,
        /// How the result is rounded.
        rnd: Rounding,
        /// `.sat`
        sat: bool,
    },
    /// `min.relu.s32`, `max.relu.s32`
    Relu {
        /// `max`
        max: bool,
    },
    /// `min`, `max` with `.xorsign.abs`
    Xorsign {
        /// `max`
        max: bool,
        /// `F32`, `F16`, `F16x2`, `BF16` or `BF16x2`.
        ty: Type,
        /// `.ftz`
        ftz: bool,
        /// `.NaN`
        nan: bool,
    },
    /// `fns.b32`
    Fns,
    /// `lop3.BOOL.b32 d|p, a, b, c, table, q`
    Lop3 {
        /// How `q` is combined.
        combine: BoolOp,
    },
    /// Video instructions. Selectors are suffixes of the operands' names.
    Video(Video),
}

impl Rare {
    /// Types of the sources, as many as there may be at most.
    pub fn sources(&self) -> &'static [Type] {
        use Type::{B16, B32, B64, BF16, BF16x2, F16, F16x2, F32, Pred, S32, U32};
        match self {
            Rare::ToFp8 { src: Type::F32, .. } => &[F32, F32],
            Rare::ToFp8 { .. } => &[F16x2],
            Rare::FromFp8 { .. } => &[B16],
            Rare::ToTf32 { .. } => &[F32],
            Rare::Pack { dst: Type::U16 | Type::S16 } => &[S32, S32],
            Rare::Pack { .. } => &[S32, S32, B32],
            Rare::Pair { .. } => &[B32, B32],
            Rare::FloatPair { op: FloatOp::Fma, .. } => &[B64, B64, B64],
            Rare::FloatPair { .. } => &[B64, B64],
            Rare::Mixed { op: FloatOp::Fma, half: F16, .. } => &[F16, F16, F32],
            Rare::Mixed { op: FloatOp::Fma, .. } => &[BF16, BF16, F32],
            Rare::Mixed { half: F16, .. } => &[F16, F32],
            Rare::Mixed { .. } => &[BF16, F32],
            Rare::Relu { .. } => &[S32, S32],
            Rare::Xorsign { ty, .. } => match ty {
                Type::F32 => &[F32, F32],
                Type::F16 => &[F16, F16],
                Type::F16x2 => &[F16x2, F16x2],
                Type::BF16 => &[BF16, BF16],
                _ => &[BF16x2, BF16x2],
            },
            Rare::Fns => &[B32, B32, S32],
            Rare::Lop3 { .. } => &[B32, B32, B32, U32, Pred],
            Rare::Video(_) => &[U32, U32, U32],
        }
    }

    /// Type of the result.
    pub fn result(&self) -> Type {
        match self {
            Rare::ToFp8 { .. } => Type::B16,
            Rare::Xorsign { ty, .. } => *ty,
            Rare::FloatPair { .. } => Type::B64,
            Rare::Mixed { .. } => Type::F32,
            _ => Type::B32,
        }
    }

    /// Whether an instruction may have so many operands.
    pub(crate) fn takes(&self, operands: usize) -> bool {
        let most = self.sources().len() + 1;
        match self {
            Rare::Video(Video { lanes: 1, op, then: None, .. }) if *op != VideoOp::Mad => {
                (most - 1..=most).contains(&operands)
            }
            _ => operands == most,
        }
    }
}
