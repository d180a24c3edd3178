//! Predicate rows: and, or, xor, not, mov on `.pred` (PTX ISA 9.7.8 and 9.7.9.4). A row is one word,
//! so these need no lanes at all.

use bugaroo_ptx::op::Op;
use bugaroo_ptx::types::Type;

use super::row::{Picker, store_mask};
use super::{Operands, RowFn, Width};

/// `OP` codes of [`binary`].
const AND: u8 = 0;
/// See [`AND`].
const OR: u8 = 1;
/// See [`AND`].
const XOR: u8 = 2;

/// `a OP b` on all lanes.
#[inline(always)]
fn combine<const OP: u8>(a: u32, b: u32) -> u32 {
    match OP {
        AND => a & b,
        OR => a | b,
        _ => a ^ b,
    }
}

/// The predicate row of source `index`, complemented where `not`.
///
/// # Safety
/// As for [`RowFn`]; the source is a predicate.
#[inline(always)]
pub unsafe fn load(frame: *const u8, consts: *const u8, ops: &Operands, index: usize, not: bool) -> u32 {
    // SAFETY: the caller's promise.
    let row = unsafe { *ops.source(frame, consts, index).cast::<u32>() };
    if not { !row } else { row }
}

/// # Safety
/// As for [`RowFn`]; two predicate sources, a predicate destination.
unsafe fn binary<const OP: u8, const NOT_A: bool, const NOT_B: bool>(
    frame: *mut u8,
    consts: *const u8,
    ops: &Operands,
    mask: u32,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let a = load(frame, consts, ops, 0, NOT_A);
        let b = load(frame, consts, ops, 1, NOT_B);
        store_mask(frame.add(ops.dst as usize), combine::<OP>(a, b), mask);
    }
}

/// # Safety
/// As for [`RowFn`]; one predicate source, a predicate destination.
unsafe fn copy<const NOT: bool>(frame: *mut u8, consts: *const u8, ops: &Operands, mask: u32) {
    // SAFETY: the caller's promise.
    unsafe { store_mask(frame.add(ops.dst as usize), load(frame, consts, ops, 0, NOT), mask) }
}

fn binary_of<const OP: u8>(negated: [bool; 4]) -> RowFn {
    match (negated[0], negated[1]) {
        (false, false) => binary::<OP, false, false>,
        (true, false) => binary::<OP, true, false>,
        (false, true) => binary::<OP, false, true>,
        (true, true) => binary::<OP, true, true>,
    }
}

/// The instructions of type `.pred`.
pub fn select(op: &Op, p: Picker<'_>) -> Option<RowFn> {
    let shape = p.shape;
    let pred = Some(Width::Pred);
    let two = shape.src == [pred, pred, None, None];
    let one = shape.src == [pred, None, None, None];
    if shape.dst != Width::Pred || shape.dst2.is_some() || !(one || two) {
        return None;
    }
    match *op {
        Op::And { ty: Type::Pred } if two => Some(binary_of::<AND>(shape.negated)),
        Op::Or { ty: Type::Pred } if two => Some(binary_of::<OR>(shape.negated)),
        Op::Xor { ty: Type::Pred } if two => Some(binary_of::<XOR>(shape.negated)),
        Op::Not { ty: Type::Pred } if one => {
            Some(if shape.negated[0] { copy::<false> } else { copy::<true> })
        }
        Op::Mov { ty: Type::Pred } if one => {
            Some(if shape.negated[0] { copy::<true> } else { copy::<false> })
        }
        _ => None,
    }
}
