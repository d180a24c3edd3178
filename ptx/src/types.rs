//! The small closed vocabularies of PTX: types, state spaces, scopes, memory semantics, rounding.

/// A fundamental or packed type (PTX ISA 5.2 "Types").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the ISA's own")]
pub enum Type {
    B8,
    B16,
    B32,
    B64,
    B128,
    U8,
    U16,
    U32,
    U64,
    S8,
    S16,
    S32,
    S64,
    F16,
    F16x2,
    BF16,
    BF16x2,
    F32,
    F64,
    Pred,
}

impl Type {
    /// Size in bytes; a predicate has none in memory and answers 0.
    pub const fn bytes(self) -> u32 {
        match self {
            Type::Pred => 0,
            Type::B8 | Type::U8 | Type::S8 => 1,
            Type::B16 | Type::U16 | Type::S16 | Type::F16 | Type::BF16 => 2,
            Type::B32 | Type::U32 | Type::S32 | Type::F32 | Type::F16x2 | Type::BF16x2 => 4,
            Type::B64 | Type::U64 | Type::S64 | Type::F64 => 8,
            Type::B128 => 16,
        }
    }

    /// Size in bits; 1 for a predicate.
    pub const fn bits(self) -> u32 {
        match self {
            Type::Pred => 1,
            other => other.bytes() * 8,
        }
    }

    /// Two's complement (`.sN`).
    pub const fn is_signed(self) -> bool {
        matches!(self, Type::S8 | Type::S16 | Type::S32 | Type::S64)
    }

    /// Any floating-point type, packed ones included.
    pub const fn is_float(self) -> bool {
        matches!(self, Type::F16 | Type::F16x2 | Type::BF16 | Type::BF16x2 | Type::F32 | Type::F64)
    }

    /// The type that is written `.name`.
    pub fn from_name(name: &str) -> Option<Type> {
        const ALL: [Type; 20] = [
            Type::B8,
            Type::B16,
            Type::B32,
            Type::B64,
            Type::B128,
            Type::U8,
            Type::U16,
            Type::U32,
            Type::U64,
            Type::S8,
            Type::S16,
            Type::S32,
            Type::S64,
            Type::F16,
            Type::F16x2,
            Type::BF16,
            Type::BF16x2,
            Type::F32,
            Type::F64,
            Type::Pred,
        ];
        ALL.into_iter().find(|ty| ty.name() == name)
    }

    /// The name after the dot: `u32`, `f16x2`, `pred`.
    pub const fn name(self) -> &'static str {
        match self {
            Type::B8 => "b8",
            Type::B16 => "b16",
            Type::B32 => "b32",
            Type::B64 => "b64",
            Type::B128 => "b128",
            Type::U8 => "u8",
            Type::U16 => "u16",
            Type::U32 => "u32",
            Type::U64 => "u64",
            Type::S8 => "s8",
            Type::S16 => "s16",
            Type::S32 => "s32",
            Type::S64 => "s64",
            Type::F16 => "f16",
            Type::F16x2 => "f16x2",
            Type::BF16 => "bf16",
            Type::BF16x2 => "bf16x2",
            Type::F32 => "f32",
            Type::F64 => "f64",
            Type::Pred => "pred",
        }
    }
}

/// A state space that an address can name; `Generic` when the instruction names none
/// (PTX ISA 5.1 "State Spaces").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the ISA's own")]
pub enum Space {
    Generic,
    Global,
    Shared,
    /// Shared memory of any CTA of the cluster, by its address in the cluster's window.
    SharedCluster,
    Local,
    Const,
    Param,
}

/// The set of threads that a strong operation orders with (PTX ISA 8.5 "Scope"). Wider is greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "the names are the ISA's own")]
pub enum Scope {
    Cta,
    Cluster,
    Gpu,
    Sys,
}

/// How strong a memory operation is (PTX ISA 8.4 "Operation types").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Semantics {
    /// No modifier, or `.weak`.
    Weak,
    /// `.volatile`, which the model treats as relaxed at system scope.
    Volatile,
    /// `.relaxed.SCOPE`
    Relaxed(Scope),
    /// `.acquire.SCOPE`
    Acquire(Scope),
    /// `.release.SCOPE`
    Release(Scope),
    /// `.acq_rel.SCOPE` (atomics only)
    AcqRel(Scope),
    /// `.mmio.relaxed.sys`
    Mmio,
}

/// Floating-point rounding of a result to the target format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// `.rn`, nearest even (also `.rni` for integers)
    Nearest,
    /// `.rna`, nearest, ties away from zero
    NearestAway,
    /// `.rz`, towards zero (`.rzi`)
    Zero,
    /// `.rm`, towards minus infinity (`.rmi`)
    Down,
    /// `.rp`, towards plus infinity (`.rpi`)
    Up,
}

/// Comparison of `setp`/`set`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the ISA's own")]
pub enum Compare {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    /// Unsigned `lo`, `ls`, `hi`, `hs` are folded into Lt, Le, Gt, Ge: the type says unsigned.
    /// The `u` forms are true when either operand is NaN.
    Equ,
    Neu,
    Ltu,
    Leu,
    Gtu,
    Geu,
    /// Both are numbers.
    Num,
    /// Either is NaN.
    Nan,
}

/// Boolean that combines a comparison with a third predicate operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the ISA's own")]
pub enum BoolOp {
    And,
    Or,
    Xor,
}
