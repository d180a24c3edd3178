//! Which type each source operand of an instruction has, for the rows of its immediates.

use bugaroo_ptx::op::{Op, Part};
use bugaroo_ptx::types::Type;

/// The unsigned type twice as wide; other types as they are.
const fn doubled(ty: Type) -> Type {
    match ty {
        Type::U16 => Type::U32,
        Type::S16 => Type::S32,
        Type::U32 => Type::U64,
        Type::S32 => Type::S64,
        other => other,
    }
}

/// The type of source operand `index` of an ALU instruction, carry excluded: what an immediate there
/// is converted to, and (8-bit types aside) the width of the row that [`super::select`] expects for it.
/// None for instructions that the ALU does not compute and operands that they do not have.
pub fn source_type(op: &Op, index: usize) -> Option<Type> {
    let (types, count): ([Type; 4], usize) = match *op {
        Op::Add { ty, .. }
        | Op::Sub { ty, .. }
        | Op::Mul { ty, .. }
        | Op::Mul24 { ty, .. }
        | Op::Div { ty, .. }
        | Op::Rem { ty }
        | Op::Min { ty, .. }
        | Op::Max { ty, .. }
        | Op::Copysign { ty }
        | Op::And { ty }
        | Op::Or { ty }
        | Op::Xor { ty } => ([ty; 4], 2),
        Op::Mad { ty, part: Part::Wide, .. } => ([ty, ty, doubled(ty), ty], 3),
        Op::Mad { ty, .. } | Op::Mad24 { ty, .. } | Op::Fma { ty, .. } | Op::Sad { ty } => ([ty; 4], 3),
        Op::Abs { ty, .. }
        | Op::Neg { ty, .. }
        | Op::Rcp { ty, .. }
        | Op::Sqrt { ty, .. }
        | Op::Rsqrt { ty, .. }
        | Op::Ex2 { ty, .. }
        | Op::Tanh { ty }
        | Op::Testp { ty, .. }
        | Op::Not { ty }
        | Op::Cnot { ty }
        | Op::Bfind { ty, .. }
        | Op::Brev { ty }
        | Op::Clz { ty }
        | Op::Popc { ty }
        | Op::Mov { ty } => ([ty; 4], 1),
        Op::Sin { .. } | Op::Cos { .. } | Op::Lg2 { .. } => ([Type::F32; 4], 1),
        Op::Lop3 => ([Type::B32; 4], 4),
        Op::Shl { ty } | Op::Shr { ty } => ([ty, Type::U32, ty, ty], 2),
        Op::Szext { ty, .. } => ([ty, Type::U32, ty, ty], 2),
        Op::Bmsk { .. } => ([Type::U32; 4], 2),
        Op::Shf { .. } | Op::Prmt { .. } => ([Type::B32, Type::B32, Type::U32, Type::B32], 3),
        Op::Bfe { ty } => ([ty, Type::U32, Type::U32, ty], 3),
        Op::Bfi { ty } => ([ty, ty, Type::U32, Type::U32], 4),
        Op::Dp4a { .. } | Op::Dp2a { .. } => ([Type::B32; 4], 3),
        Op::Setp { ty, combine, .. } | Op::Set { ty, combine, .. } => {
            ([ty, ty, Type::Pred, ty], if combine.is_some() { 3 } else { 2 })
        }
        Op::Selp { ty } => ([ty, ty, Type::Pred, ty], 3),
        Op::Slct { ty, selector, .. } => ([ty, ty, selector, ty], 3),
        Op::Cvt { dst: Type::F16x2 | Type::BF16x2, src: Type::F32, .. } => ([Type::F32; 4], 2),
        Op::Cvt { src, .. } => ([src; 4], 1),
        _ => return None,
    };
    types[..count].get(index).copied()
}
