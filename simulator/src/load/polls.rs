//! Which loads and atomics a thread may poll: those from which it comes back to the same instruction by arithmetic and branches
//! alone, with no other access, fence or barrier between.

use crate::decoded::{Atomic, DecodedAccess, Inst, Kind, NO_GUARD};

/// Instructions of a round that are looked at. A loop that polls is short.
const LONGEST: usize = 64;

/// The instructions that may be polled, in order.
pub(super) fn polls(code: &[Inst], accesses: &[DecodedAccess], atomics: &[Atomic]) -> Vec<u32> {
    let may = |(inst, pc): &(&Inst, u32)| reads(inst, accesses, atomics) && comes_back(code, *pc);
    code.iter().zip(0..).filter(may).map(|(_, pc)| pc).collect()
}

/// Whether it is an access that may read without writing, by all lanes that come to it.
fn reads(inst: &Inst, accesses: &[DecodedAccess], atomics: &[Atomic]) -> bool {
    let at = inst.extra as usize;
    inst.guard == NO_GUARD
        && match inst.kind {
            Kind::Load => accesses[at].visible && accesses[at].vec == 1,
            Kind::Atomic => {
                let atomic = &atomics[at];
                atomic.dst.is_some() && atomic.high.is_none() && !atomic.ty.is_float()
            }
            _ => false,
        }
}

/// Whether a thread does nothing between two executions that depends on anything but registers, or changes anything else.
pub(crate) fn computes(inst: &Inst) -> bool {
    matches!(inst.kind, Kind::Alu | Kind::Nop | Kind::ParamLoad | Kind::Branch)
}

fn comes_back(code: &[Inst], pc: u32) -> bool {
    let mut seen = Vec::new();
    let mut open = vec![pc + 1];
    while let Some(next) = open.pop() {
        if next == pc {
            return true;
        }
        let Some(inst) = code.get(next as usize).filter(|inst| computes(inst)) else { continue };
        if seen.contains(&next) {
            continue;
        }
        seen.push(next);
        if seen.len() > LONGEST {
            return false;
        }
        if inst.kind != Kind::Branch || inst.guard != NO_GUARD {
            open.push(next + 1);
        }
        if inst.kind == Kind::Branch {
            open.push(inst.extra);
        }
    }
    false
}
