//! Until when a load of a program may be late: found when the program is loaded for this model.
//!
//! A late load has no value yet, so nothing may use its registers, and nothing else may write them. Within the
//! straight line of instructions behind it, as far as these are understood and touch none of its registers,
//! the last one at which the model is asked in any case (an access without a guard, or a fence) is where it has to be
//! resolved at the latest: after that is done. So `ld r, [x]; st [y], 1; … r …` can be executed the other way round.
//!
//! What it can miss: loads that are used at once, though a compiler could have moved the use; whatever lies behind a
//! branch.

use bugaroo_ptx::types::Space;

use crate::alu::Width;
use crate::decoded::{Address, Base, DecodedAccess, Inst, Kind, NO_GUARD};
use crate::load::Program;

/// No load, or none that may be late.
pub(super) const NEVER: u32 = u32::MAX;
/// Instructions that are looked at behind a load.
const FAR: usize = 64;

/// By number of the instruction.
pub(super) fn until(program: &Program) -> Vec<u32> {
    (0..program.code.len()).map(|pc| of(program, pc).unwrap_or(NEVER)).collect()
}

fn bytes(width: Width) -> i32 {
    match width {
        Width::Pred => 4,
        Width::W16 => 64,
        Width::W32 => 128,
        Width::W64 => 256,
    }
}

/// Rows of a frame: where each begins and ends.
type Rows = Vec<(i32, i32)>;

fn of(program: &Program, pc: usize) -> Option<u32> {
    let inst = &program.code[pc];
    if inst.kind != Kind::Load {
        return None;
    }
    let access = &program.accesses[inst.extra as usize];
    if !access.visible || u32::from(access.size) * u32::from(access.vec) > 16 {
        return None;
    }
    let mine: Rows =
        rows(access).map(|(slot, width)| (slot, slot + bytes(width))).filter(|row| row.0 >= 0).collect();
    let touches = |slot: i32| mine.iter().any(|row| row.0 <= slot && slot < row.1);
    let mut last = None;
    let behind = program.code.iter().enumerate().skip(pc + 1).take(FAR);
    for (at, next) in behind {
        if next.guard != NO_GUARD && touches(next.guard as i32) || !leaves_alone(program, next, &touches) {
            break;
        }
        if next.guard == NO_GUARD && asks(program, next) {
            last = Some(at as u32);
        }
    }
    last
}

fn rows(access: &DecodedAccess) -> impl Iterator<Item = (i32, Width)> {
    access.rows.into_iter().zip(access.width).take(access.vec.into())
}

/// Whether an instruction is understood and has nothing to do with certain rows.
fn leaves_alone(program: &Program, inst: &Inst, touches: &dyn Fn(i32) -> bool) -> bool {
    let address = |address: &Address| match address.base {
        Base::Row64(slot) | Base::Row32(slot) => !touches(slot),
        Base::Fixed | Base::FrameLocal => true,
    };
    match inst.kind {
        Kind::Nop | Kind::Fence => true,
        Kind::Alu => {
            !inst.ops.src.iter().any(|slot| touches(*slot))
                && !touches(inst.ops.dst as i32)
                && !touches(inst.ops.dst2 as i32)
        }
        Kind::Load | Kind::Store => {
            let access = &program.accesses[inst.extra as usize];
            address(&access.address) && !rows(access).any(|(slot, _)| touches(slot))
        }
        Kind::Atomic => {
            let atomic = &program.atomics[inst.extra as usize];
            address(&atomic.address) && !atomic.rows().any(touches)
        }
        Kind::ParamLoad => {
            let access = &program.accesses[inst.extra as usize];
            access.address.space == Space::Param && !rows(access).any(|(slot, _)| touches(slot))
        }
        _ => false,
    }
}

/// Whether the model is asked at an instruction, whatever its addresses are.
fn asks(program: &Program, inst: &Inst) -> bool {
    let plain = |address: &Address| matches!(address.space, Space::Global | Space::Shared);
    match inst.kind {
        Kind::Load | Kind::Store => {
            let access = &program.accesses[inst.extra as usize];
            access.visible && plain(&access.address)
        }
        Kind::Atomic => plain(&program.atomics[inst.extra as usize].address),
        Kind::Fence => ((inst.extra >> 1) as usize) < program.fences.len(),
        _ => false,
    }
}
