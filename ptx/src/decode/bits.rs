//! Logic, shifts and bit fields (PTX ISA 9.7.1.16 to 9.7.1.23, 9.7.8).

use crate::op::{Op, PrmtMode};
use crate::types::Type;

use super::modifiers::Modifiers;

use Type::{B16, B32, B64, Pred, S16, S32, S64, U16, U32, U64};

const LOGIC: [Type; 4] = [Pred, B16, B32, B64];
const FIELDS: [Type; 4] = [U32, U64, S32, S64];

pub(super) fn decode(opcode: &str, m: &mut Modifiers<'_>) -> Option<Op> {
    Some(match opcode {
        "and" => Op::And { ty: m.ty_in(&LOGIC)? },
        "or" => Op::Or { ty: m.ty_in(&LOGIC)? },
        "xor" => Op::Xor { ty: m.ty_in(&LOGIC)? },
        "not" => Op::Not { ty: m.ty_in(&LOGIC)? },
        "cnot" => Op::Cnot { ty: m.ty_in(&[B16, B32, B64])? },
        "lop3" => {
            m.ty_in(&[B32])?;
            Op::Lop3
        }
        "shl" => Op::Shl { ty: m.ty_in(&[B16, B32, B64])? },
        "shr" => Op::Shr { ty: m.ty_in(&[B16, B32, B64, U16, U32, U64, S16, S32, S64])? },
        "shf" => {
            let left = m.one_of(&[("l", true), ("r", false)])?;
            let wrap = wrap(m)?;
            m.ty_in(&[B32])?;
            Op::Shf { left, wrap }
        }
        "bfe" => Op::Bfe { ty: m.ty_in(&FIELDS)? },
        "bfi" => Op::Bfi { ty: m.ty_in(&[B32, B64])? },
        "bfind" => {
            let shiftamt = m.flag("shiftamt");
            Op::Bfind { ty: m.ty_in(&FIELDS)?, shiftamt }
        }
        "brev" => Op::Brev { ty: m.ty_in(&[B32, B64])? },
        "clz" => Op::Clz { ty: m.ty_in(&[B32, B64])? },
        "popc" => Op::Popc { ty: m.ty_in(&[B32, B64])? },
        "bmsk" => {
            let wrap = wrap(m)?;
            m.ty_in(&[B32])?;
            Op::Bmsk { wrap }
        }
        "szext" => {
            let wrap = wrap(m)?;
            Op::Szext { ty: m.ty_in(&[U32, S32])?, wrap }
        }
        "prmt" => {
            m.ty_in(&[B32])?;
            let mode = m.one_of(&[
                ("f4e", PrmtMode::F4e),
                ("b4e", PrmtMode::B4e),
                ("rc8", PrmtMode::Rc8),
                ("ecl", PrmtMode::Ecl),
                ("ecr", PrmtMode::Ecr),
                ("rc16", PrmtMode::Rc16),
            ]);
            Op::Prmt { mode: mode.unwrap_or(PrmtMode::Index) }
        }
        "dp4a" => Op::Dp4a { a: m.ty_in(&[U32, S32])?, b: m.ty_in(&[U32, S32])? },
        "dp2a" => {
            let hi = m.one_of(&[("lo", false), ("hi", true)])?;
            Op::Dp2a { a: m.ty_in(&[U32, S32])?, b: m.ty_in(&[U32, S32])?, hi }
        }
        _ => return None,
    })
}

/// What happens to a shift past the width.
fn wrap(m: &mut Modifiers<'_>) -> Option<bool> {
    m.one_of(&[("wrap", true), ("clamp", false)])
}
