//! Opcode and modifiers to [`Op`] (PTX ISA 9.7).
//!
//! Strict: an unknown modifier, a type that the instruction does not take or a wrong number of
//! operands makes the whole instruction [`Op::Other`], so that who meets any other `Op` may rely on
//! it. What is not checked: the kinds and the types of the operands.

mod arithmetic;
mod asynchronous;
mod bits;
mod control;
mod matrix;
mod memory;
mod modifiers;
mod rare;
mod texture;

use std::ops::RangeInclusive;

use crate::ast::Operand;
use crate::op::{AtomOp, BarrierKind, FenceKind, MbarrierOp, Op};
use crate::types::Type;
use modifiers::Modifiers;

/// What the instruction means; `Other` when that is not known for certain.
pub(crate) fn decode(opcode: &str, modifiers: &[String], operands: &[Operand]) -> Op {
    let decoded = Modifiers::new(modifiers).and_then(|mut modifiers| {
        let op = arithmetic::decode(opcode, &mut modifiers)
            .or_else(|| bits::decode(opcode, &mut modifiers))
            .or_else(|| memory::decode(opcode, &mut modifiers))
            .or_else(|| control::decode(opcode, &mut modifiers))
            .or_else(|| asynchronous::decode(opcode, &mut modifiers))
            .or_else(|| matrix::decode(opcode, &mut modifiers))
            .or_else(|| texture::decode(opcode, &mut modifiers))?;
        (modifiers.done() && operand_count(&op).contains(&operands.len())).then_some(op)
    });
    let rare = || {
        let mut modifiers = Modifiers::new(modifiers)?;
        let rare = rare::decode(opcode, &mut modifiers)?;
        (modifiers.done() && rare.takes(operands.len())).then_some(Op::Rare(rare))
    };
    decoded.or_else(rare).unwrap_or(Op::Other)
}

/// How many operands the ISA's syntax line of an instruction has.
fn operand_count(op: &Op) -> RangeInclusive<usize> {
    let exactly = |count| count..=count;
    match op {
        Op::Ret { .. } | Op::Exit | Op::Trap | Op::Brkpt => exactly(0),
        Op::Fence { kind: FenceKind::Proxy, .. } => 0..=2,
        Op::Fence { .. } => exactly(0),
        Op::Alloca { .. } => 2..=3,
        Op::Stack { .. } => exactly(1),
        Op::Bra { .. } | Op::Nanosleep | Op::WarpSync | Op::Activemask => exactly(1),
        Op::Call { .. } => 1..=4,
        Op::Prefetch => 1..=3,
        Op::Brx { .. }
        | Op::Abs { .. }
        | Op::Neg { .. }
        | Op::Rcp { .. }
        | Op::Sqrt { .. }
        | Op::Rsqrt { .. }
        | Op::Sin { .. }
        | Op::Cos { .. }
        | Op::Lg2 { .. }
        | Op::Ex2 { .. }
        | Op::Tanh { .. }
        | Op::Testp { .. }
        | Op::Not { .. }
        | Op::Cnot { .. }
        | Op::Bfind { .. }
        | Op::Brev { .. }
        | Op::Clz { .. }
        | Op::Popc { .. }
        | Op::Mov { .. }
        | Op::Cvta { .. }
        | Op::Isspacep { .. } => exactly(2),
        Op::Cvt { dst: Type::F16x2 | Type::BF16x2, .. } => exactly(3),
        Op::Cvt { .. } => exactly(2),
        Op::Add { .. }
        | Op::Sub { .. }
        | Op::Mul { .. }
        | Op::Mul24 { .. }
        | Op::Div { .. }
        | Op::Rem { .. }
        | Op::Min { .. }
        | Op::Max { .. }
        | Op::Copysign { .. }
        | Op::And { .. }
        | Op::Or { .. }
        | Op::Xor { .. }
        | Op::Shl { .. }
        | Op::Shr { .. }
        | Op::Bmsk { .. }
        | Op::Szext { .. }
        | Op::Match { .. } => exactly(3),
        Op::Setp { combine, .. } | Op::Set { combine, .. } => exactly(3 + usize::from(combine.is_some())),
        Op::Mad { .. }
        | Op::Mad24 { .. }
        | Op::Fma { .. }
        | Op::Sad { .. }
        | Op::Shf { .. }
        | Op::Bfe { .. }
        | Op::Prmt { .. }
        | Op::Dp4a { .. }
        | Op::Dp2a { .. }
        | Op::Selp { .. }
        | Op::Slct { .. } => exactly(4),
        Op::Lop3 | Op::Bfi { .. } => exactly(5),
        // The last operand, when there is one more, is a cache policy.
        Op::Ld { .. } | Op::Ldu { .. } | Op::St { .. } | Op::Red { .. } => 2..=3,
        Op::Atom { op: AtomOp::Cas, .. } => 4..=5,
        Op::Atom { .. } => 3..=4,
        Op::Barrier { kind: BarrierKind::Sync, .. } => 1..=2,
        Op::Barrier { kind: BarrierKind::Arrive, .. } => exactly(2),
        Op::Barrier { kind: BarrierKind::Red(_), .. } => 3..=4,
        Op::Shfl { sync, .. } => exactly(4 + usize::from(*sync)),
        Op::Vote { sync, .. } => exactly(2 + usize::from(*sync)),
        Op::Hint => 0..=1,
        Op::CpAsyncCommit { .. } | Op::ClusterBarrier { .. } => exactly(0),
        Op::CpAsyncArrive { .. } => exactly(1),
        Op::CpAsyncWait { bulk, .. } => usize::from(*bulk)..=1,
        Op::Createpolicy => 1..=4,
        Op::Elect | Op::Getctarank { .. } | Op::Ldmatrix { .. } | Op::Stmatrix { .. } | Op::Movmatrix => {
            exactly(2)
        }
        Op::Redux { .. } | Op::Mapa { .. } | Op::StAsync { .. } | Op::RedAsync { .. } => exactly(3),
        Op::WmmaLoad { .. } | Op::WmmaStore { .. } => 2..=3,
        Op::Mma(_) => exactly(4),
        Op::WgmmaFence | Op::WgmmaCommit => exactly(0),
        Op::WgmmaWait => exactly(1),
        Op::Wgmma(_) => 4..=8,
        Op::Mbarrier { op, .. } => match op {
            MbarrierOp::Inval => exactly(1),
            MbarrierOp::Init | MbarrierOp::PendingCount | MbarrierOp::ExpectTx | MbarrierOp::CompleteTx => {
                exactly(2)
            }
            MbarrierOp::Arrive { no_complete: false, expect_tx: false, .. } => 2..=3,
            MbarrierOp::Arrive { .. } => exactly(3),
            MbarrierOp::Wait { blocking, .. } => 3..=3 + usize::from(*blocking),
        },
        Op::CpAsync { policy } => 3 + usize::from(*policy)..=4 + usize::from(*policy),
        Op::CpAsyncBulk { mbarrier, multicast, policy, .. } => {
            exactly(3 + usize::from(*mbarrier) + usize::from(*multicast) + usize::from(*policy))
        }
        Op::CpAsyncTensor { to_shared, multicast, policy, .. } => {
            exactly(3 + usize::from(*to_shared) + usize::from(*multicast) + usize::from(*policy))
        }
        Op::Texture(texture) => exactly(texture.operands()),
        // Rare ones know their own.
        Op::Rare(_) | Op::Other => 0..=usize::MAX,
    }
}

#[cfg(test)]
mod tests;
