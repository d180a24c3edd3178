//! setp and set of every relation, type, combination and destination against the definitions.

use std::cmp::Ordering;

use crate::alu_support::{Numbers, Row, check, edge_pairs, integer, row, shape};
use bugaroo_ptx::op::Op;
use bugaroo_ptx::types::{BoolOp, Compare, Type};
use bugaroo_simulator::alu::{Isa, OperandShape, Width, select};
use proptest::prelude::*;
use rustc_apfloat::Float;
use rustc_apfloat::ieee::{BFloat, Double, Half, Single};

const ORDERED: [Compare; 6] = [Compare::Eq, Compare::Ne, Compare::Lt, Compare::Le, Compare::Gt, Compare::Ge];
const UNORDERED: [Compare; 8] = [
    Compare::Equ,
    Compare::Neu,
    Compare::Ltu,
    Compare::Leu,
    Compare::Gtu,
    Compare::Geu,
    Compare::Num,
    Compare::Nan,
];
const INTEGERS: [Type; 6] = [Type::U16, Type::S16, Type::U32, Type::S32, Type::U64, Type::S64];
const FLOATS: [Type; 4] = [Type::F16, Type::BF16, Type::F32, Type::F64];

/// The relation of two numbers; None of a NaN.
fn order(ty: Type, ftz: bool, a: u64, b: u64) -> Option<Ordering> {
    fn of<F: Float>(ftz: bool, a: u64, b: u64) -> Option<Ordering> {
        let number = |x: u64| {
            let x = F::from_bits(u128::from(x));
            if ftz && x.is_denormal() { F::ZERO } else { x }
        };
        number(a).partial_cmp(&number(b))
    }
    match ty {
        Type::F16 => of::<Half>(ftz, a, b),
        Type::BF16 => of::<BFloat>(ftz, a, b),
        Type::F32 => of::<Single>(ftz, a, b),
        Type::F64 => of::<Double>(ftz, a, b),
        _ => Some(integer(a, ty).cmp(&integer(b, ty))),
    }
}

fn holds(cmp: Compare, order: Option<Ordering>) -> bool {
    use Ordering::{Equal, Greater, Less};
    let Some(order) = order else {
        return UNORDERED.contains(&cmp) && cmp != Compare::Num;
    };
    match cmp {
        Compare::Eq | Compare::Equ => order == Equal,
        Compare::Ne | Compare::Neu => order != Equal,
        Compare::Lt | Compare::Ltu => order == Less,
        Compare::Le | Compare::Leu => order != Greater,
        Compare::Gt | Compare::Gtu => order == Greater,
        Compare::Ge | Compare::Geu => order != Less,
        Compare::Num => true,
        Compare::Nan => false,
    }
}

fn combined(combine: Option<BoolOp>, t: bool, c: bool) -> bool {
    match combine {
        None => t,
        Some(BoolOp::And) => t && c,
        Some(BoolOp::Or) => t || c,
        Some(BoolOp::Xor) => t != c,
    }
}

/// The destinations of `set`, and what true is.
fn destinations(ty: Type) -> Vec<(Type, u64)> {
    let mut all = vec![(Type::U32, 0xffff_ffff), (Type::S32, 0xffff_ffff), (Type::F32, 0x3f80_0000)];
    if matches!(ty, Type::F16 | Type::BF16) {
        all.extend([(Type::U16, 0xffff), (Type::S16, 0xffff), (Type::F16, 0x3c00), (Type::BF16, 0x3f80)]);
    }
    all
}

/// Every combination on one relation.
fn forms(cmp: Compare, ty: Type, ftz: bool, a: Row, b: Row, c: Row) {
    let t = |x: &[u64]| holds(cmp, order(ty, ftz, x[0], x[1]));
    for combine in [None, Some(BoolOp::And), Some(BoolOp::Or), Some(BoolOp::Xor)] {
        for negated in [false, true] {
            if combine.is_none() && negated {
                continue;
            }
            let third = |x: &[u64]| combine.is_some() && (x[2] == 1) != negated;
            let types: &[Type] = if combine.is_some() { &[ty, ty, Type::Pred] } else { &[ty, ty] };
            let rows: &[Row] = if combine.is_some() { &[a, b, c] } else { &[a, b] };
            let setp = Op::Setp { cmp, ty, ftz, combine };
            let one = OperandShape { negated: [false, false, negated, false], ..shape(Type::Pred, types) };
            check(&setp, &one, rows, |x| (u64::from(combined(combine, t(x), third(x))), None));
            let two = OperandShape { dst2: Some(Width::Pred), ..one };
            check(&setp, &two, rows, |x| {
                let p = combined(combine, t(x), third(x));
                let q = combined(combine, !t(x), third(x));
                (u64::from(p), Some(u64::from(q)))
            });
            for (dst, truth) in destinations(ty) {
                let set = Op::Set { cmp, dst, ty, ftz, combine };
                let one = OperandShape { negated: one.negated, ..shape(dst, types) };
                check(&set, &one, rows, |x| {
                    (if combined(combine, t(x), third(x)) { truth } else { 0 }, None)
                });
            }
        }
    }
}

fn every_relation(ty: Type, a: Row, b: Row, c: Row, mut run: impl FnMut(Compare, Type, bool, Row, Row, Row)) {
    for cmp in ORDERED {
        run(cmp, ty, false, a, b, c);
    }
    if FLOATS.contains(&ty) {
        let ftz = matches!(ty, Type::F16 | Type::F32);
        for cmp in UNORDERED {
            run(cmp, ty, false, a, b, c);
        }
        for cmp in ORDERED.into_iter().chain(UNORDERED).filter(|_| ftz) {
            run(cmp, ty, true, a, b, c);
        }
    }
}

/// A row in which some lanes hold what the other one holds.
fn partly_equal(numbers: &mut Numbers, a: &Row, ty: Type) -> Row {
    let other = row(numbers, ty);
    std::array::from_fn(|i| if numbers.below(3) == 0 { a[i] } else { other[i] })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn relations_and_their_forms(seed: u64) {
        let mut numbers = Numbers(seed);
        for ty in INTEGERS.into_iter().chain(FLOATS) {
            let a = row(&mut numbers, ty);
            let b = partly_equal(&mut numbers, &a, ty);
            every_relation(ty, a, b, row(&mut numbers, Type::Pred), forms);
        }
    }

    #[test]
    fn bits_are_equal_or_not(seed: u64) {
        let mut numbers = Numbers(seed);
        for ty in [Type::B16, Type::B32, Type::B64] {
            let a = row(&mut numbers, ty);
            let b = partly_equal(&mut numbers, &a, ty);
            forms(Compare::Eq, ty, false, a, b, row(&mut numbers, Type::Pred));
            forms(Compare::Ne, ty, false, a, b, row(&mut numbers, Type::Pred));
        }
    }
}

#[test]
fn edges_meet_edges() {
    for ty in INTEGERS.into_iter().chain(FLOATS) {
        for [a, b] in edge_pairs(ty, ty) {
            every_relation(ty, a, b, [0; 32], |cmp, ty, ftz, a, b, _| {
                let plain = Op::Setp { cmp, ty, ftz, combine: None };
                check(&plain, &shape(Type::Pred, &[ty, ty]), &[a, b], |x| {
                    (u64::from(holds(cmp, order(ty, ftz, x[0], x[1]))), None)
                });
            });
        }
    }
}

#[test]
fn relations_that_a_type_lacks_are_refused() {
    let refused = |cmp, ty| {
        let op = Op::Setp { cmp, ty, ftz: false, combine: None };
        select(&op, &shape(Type::Pred, &[ty, ty]), Isa::Portable).is_none()
    };
    assert!(refused(Compare::Lt, Type::B32));
    assert!(refused(Compare::Ltu, Type::U32));
    assert!(refused(Compare::Num, Type::S64));
    assert!(refused(Compare::Eq, Type::F16x2));
}
