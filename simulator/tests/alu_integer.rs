//! Integer arithmetic and carry chains against 128-bit arithmetic.

use crate::alu_support::{Numbers, Row, check, edge_pairs, integer, limits, row, shape, signed, wrap};
use bugaroo_ptx::op::{Op, Part, Precision};
use bugaroo_ptx::types::{Rounding, Type};
use bugaroo_simulator::alu::Width;
use proptest::prelude::*;

const TYPES: [Type; 6] = [Type::U16, Type::S16, Type::U32, Type::S32, Type::U64, Type::S64];
const N: Rounding = Rounding::Nearest;

fn add(ty: Type, sat: bool, carry_in: bool, carry_out: bool) -> Op {
    Op::Add { ty, rnd: N, ftz: false, sat, carry_in, carry_out }
}

fn sub(ty: Type, sat: bool, carry_in: bool, carry_out: bool) -> Op {
    Op::Sub { ty, rnd: N, ftz: false, sat, carry_in, carry_out }
}

fn mul(ty: Type, part: Part) -> Op {
    Op::Mul { ty, part: Some(part), rnd: N, ftz: false, sat: false }
}

fn mad(ty: Type, part: Part, sat: bool, carry_in: bool, carry_out: bool) -> Op {
    Op::Mad { ty, part, sat, carry_in, carry_out }
}

/// The type twice as wide.
fn double(ty: Type) -> Type {
    match ty {
        Type::U16 => Type::U32,
        Type::S16 => Type::S32,
        Type::U32 => Type::U64,
        _ => Type::S64,
    }
}

/// The exact product in 256 bits is never needed: high and low halves of two 64-bit factors, by schoolbook.
fn halves(a: u64, b: u64, ty: Type) -> (u64, u64) {
    let bits = ty.bits();
    if bits < 64 {
        let product = integer(a, ty) * integer(b, ty);
        return (wrap(product >> bits, ty), wrap(product, ty));
    }
    let (a1, a0, b1, b0) = (a >> 32, a & 0xffff_ffff, b >> 32, b & 0xffff_ffff);
    let middle = ((a0 * b0) >> 32) + ((a1 * b0) & 0xffff_ffff) + ((a0 * b1) & 0xffff_ffff);
    let mut high = a1 * b1 + ((a1 * b0) >> 32) + ((a0 * b1) >> 32) + (middle >> 32);
    if ty.is_signed() {
        if (a as i64) < 0 {
            high = high.wrapping_sub(b);
        }
        if (b as i64) < 0 {
            high = high.wrapping_sub(a);
        }
    }
    (high, a.wrapping_mul(b))
}

fn clamp(x: i128, ty: Type) -> u64 {
    let (least, greatest) = limits(ty);
    wrap(x.clamp(least, greatest), ty)
}

fn two_operands(ty: Type, a: Row, b: Row) {
    let both = [a, b];
    let plain = shape(ty, &[ty, ty]);
    let int = |x| integer(x, ty);
    check(&add(ty, false, false, false), &plain, &both, |x| (wrap(int(x[0]) + int(x[1]), ty), None));
    check(&sub(ty, false, false, false), &plain, &both, |x| (wrap(int(x[0]) - int(x[1]), ty), None));
    check(&mul(ty, Part::Lo), &plain, &both, |x| (halves(x[0], x[1], ty).1, None));
    check(&mul(ty, Part::Hi), &plain, &both, |x| (halves(x[0], x[1], ty).0, None));
    check(&Op::Min { ty, ftz: false, nan: false }, &plain, &both, |x| {
        (wrap(int(x[0]).min(int(x[1])), ty), None)
    });
    check(&Op::Max { ty, ftz: false, nan: false }, &plain, &both, |x| {
        (wrap(int(x[0]).max(int(x[1])), ty), None)
    });
    let div = Op::Div { ty, precision: Precision::Integer, ftz: false };
    check(&div, &plain, &both, |x| (wrap(int(x[0]).checked_div(int(x[1])).unwrap_or(-1), ty), None));
    check(&Op::Rem { ty }, &plain, &both, |x| {
        (wrap(int(x[0]).checked_rem(int(x[1])).unwrap_or(-1), ty), None)
    });
    let one = shape(ty, &[ty]);
    check(&Op::Neg { ty, ftz: false }, &one, &[a], |x| (wrap(-int(x[0]), ty), None));
    check(&Op::Abs { ty, ftz: false }, &one, &[a], |x| (wrap(int(x[0]).abs(), ty), None));
    if ty.bits() < 64 {
        let wide = double(ty);
        check(&mul(ty, Part::Wide), &shape(wide, &[ty, ty]), &both, |x| {
            (wrap(int(x[0]) * int(x[1]), wide), None)
        });
    }
    if ty == Type::S32 {
        check(&add(ty, true, false, false), &plain, &both, |x| (clamp(int(x[0]) + int(x[1]), ty), None));
        check(&sub(ty, true, false, false), &plain, &both, |x| (clamp(int(x[0]) - int(x[1]), ty), None));
    }
}

fn three_operands(ty: Type, a: Row, b: Row, c: Row, numbers: &mut Numbers) {
    let all = [a, b, c];
    let plain = shape(ty, &[ty, ty, ty]);
    let int = |x| integer(x, ty);
    let low = |x: &[u64]| wrap(integer(halves(x[0], x[1], ty).1, ty) + int(x[2]), ty);
    let high = |x: &[u64]| wrap(integer(halves(x[0], x[1], ty).0, ty) + int(x[2]), ty);
    check(&mad(ty, Part::Lo, false, false, false), &plain, &all, |x| (low(x), None));
    check(&mad(ty, Part::Hi, false, false, false), &plain, &all, |x| (high(x), None));
    check(&Op::Sad { ty }, &plain, &all, |x| (wrap(int(x[2]) + (int(x[0]) - int(x[1])).abs(), ty), None));
    if ty.bits() < 64 {
        let wide = double(ty);
        let addend = row(numbers, wide);
        check(
            &mad(ty, Part::Wide, false, false, false),
            &shape(wide, &[ty, ty, wide]),
            &[a, b, addend],
            |x| (wrap(int(x[0]) * int(x[1]) + integer(x[2], wide), wide), None),
        );
    }
    if ty == Type::S32 {
        check(&mad(ty, Part::Hi, true, false, false), &plain, &all, |x| {
            (clamp(signed(halves(x[0], x[1], ty).0, ty) + int(x[2]), ty), None)
        });
    }
}

fn carries(ty: Type, a: Row, b: Row, c: Row, carry: Row) {
    let unsigned = if ty.bits() == 32 { Type::U32 } else { Type::U64 };
    let base = 1i128 << ty.bits();
    let digit = |x: u64| integer(x, unsigned);
    for (carry_in, carry_out) in [(false, true), (true, false), (true, true)] {
        let with = |types: &[Type]| {
            let mut shape = shape(ty, types);
            shape.dst2 = carry_out.then_some(Width::Pred);
            if carry_in {
                shape.src[types.len()] = Some(Width::Pred);
            }
            shape
        };
        let sources = |rows: &[Row]| {
            let mut rows = rows.to_vec();
            rows.extend(carry_in.then_some(carry));
            rows
        };
        let incoming = |x: &[u64], at: usize| if carry_in { i128::from(x[at]) } else { 0 };
        let result = |sum: i128| (wrap(sum, ty), carry_out.then_some(u64::from(sum >= base || sum < 0)));
        check(&add(ty, false, carry_in, carry_out), &with(&[ty, ty]), &sources(&[a, b]), |x| {
            result(digit(x[0]) + digit(x[1]) + incoming(x, 2))
        });
        check(&sub(ty, false, carry_in, carry_out), &with(&[ty, ty]), &sources(&[a, b]), |x| {
            // As the hardware's adder has it: the flag is set where nothing was borrowed.
            let borrowed = if carry_in { 1 - incoming(x, 2) } else { 0 };
            let difference = digit(x[0]) - digit(x[1]) - borrowed;
            (wrap(difference, ty), carry_out.then_some(u64::from(difference >= 0)))
        });
        for part in [Part::Lo, Part::Hi] {
            let op = mad(ty, part, false, carry_in, carry_out);
            check(&op, &with(&[ty, ty, ty]), &sources(&[a, b, c]), |x| {
                let (high, low) = halves(x[0], x[1], ty);
                let kept = if part == Part::Hi { high } else { low };
                result(digit(kept) + digit(x[2]) + incoming(x, 3))
            });
        }
    }
}

/// 24-bit factors.
fn factor(x: u64, signed: bool) -> i128 {
    let low = i128::from(x & 0xff_ffff);
    if signed && low >= 0x80_0000 { low - 0x100_0000 } else { low }
}

fn products_24(a: Row, b: Row, c: Row) {
    for ty in [Type::U32, Type::S32] {
        for hi in [false, true] {
            let part = |x: &[u64]| {
                let product = factor(x[0], ty.is_signed()) * factor(x[1], ty.is_signed());
                wrap(if hi { product >> 16 } else { product }, ty)
            };
            check(&Op::Mul24 { ty, hi }, &shape(ty, &[ty, ty]), &[a, b], |x| (part(x), None));
            let three = shape(ty, &[ty, ty, ty]);
            check(&Op::Mad24 { ty, hi, sat: false }, &three, &[a, b, c], |x| {
                (wrap(integer(part(x), ty) + integer(x[2], ty), ty), None)
            });
            if hi && ty == Type::S32 {
                check(&Op::Mad24 { ty, hi, sat: true }, &three, &[a, b, c], |x| {
                    (clamp(integer(part(x), ty) + integer(x[2], ty), ty), None)
                });
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn arithmetic_is_exact(seed: u64) {
        let mut numbers = Numbers(seed);
        for ty in TYPES {
            let [a, b, c] = [(); 3].map(|()| row(&mut numbers, ty));
            two_operands(ty, a, b);
            three_operands(ty, a, b, c, &mut numbers);
        }
    }

    #[test]
    fn carries_chain(seed: u64) {
        let mut numbers = Numbers(seed);
        for ty in [Type::U32, Type::S32, Type::U64, Type::S64] {
            let [a, b, c] = [(); 3].map(|()| row(&mut numbers, ty));
            let carry = row(&mut numbers, Type::Pred);
            carries(ty, a, b, c, carry);
        }
    }

    #[test]
    fn products_of_24_bits(seed: u64) {
        let mut numbers = Numbers(seed);
        let [a, b, c] = [(); 3].map(|()| row(&mut numbers, Type::U32));
        products_24(a, b, c);
    }
}

#[test]
fn edges_meet_edges() {
    let mut numbers = Numbers(1);
    for ty in TYPES {
        for [a, b] in edge_pairs(ty, ty) {
            let c = row(&mut numbers, ty);
            two_operands(ty, a, b);
            three_operands(ty, a, b, c, &mut numbers);
            if ty.bits() >= 32 {
                carries(ty, a, b, c, row(&mut numbers, Type::Pred));
            }
            if ty.bits() == 32 {
                products_24(a, b, c);
            }
        }
    }
}

#[test]
fn division_by_zero_and_of_the_least_number_do_not_trap() {
    for ty in TYPES {
        let (least, _) = limits(ty);
        let least = wrap(least, ty);
        let zero = [0; 32];
        let ones = [wrap(-1, ty); 32];
        let div = Op::Div { ty, precision: Precision::Integer, ftz: false };
        let two = shape(ty, &[ty, ty]);
        check(&div, &two, &[[least; 32], zero], |_| (wrap(-1, ty), None));
        check(&Op::Rem { ty }, &two, &[[least; 32], zero], |_| (wrap(-1, ty), None));
        if ty.is_signed() {
            check(&div, &two, &[[least; 32], ones], |_| (least, None));
            check(&Op::Rem { ty }, &two, &[[least; 32], ones], |_| (0, None));
        }
    }
}
