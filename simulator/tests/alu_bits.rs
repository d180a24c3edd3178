//! Logic, shifts, bit fields, bytes, truth tables and predicates against the ISA's own bit-by-bit definitions.

use crate::alu_support::{Numbers, Row, check, edge_pairs, integer, row, shape, signed, wrap};
use bugaroo_ptx::op::{Op, PrmtMode};
use bugaroo_ptx::types::Type;
use bugaroo_simulator::alu::{OperandShape, Width};
use proptest::prelude::*;

const BITS: [Type; 3] = [Type::B16, Type::B32, Type::B64];

fn bit(x: u64, i: u32) -> u64 {
    x >> i & 1
}

fn logic(ty: Type, a: Row, b: Row, c: Row, p: Row) {
    let two = shape(ty, &[ty, ty]);
    let one = shape(ty, &[ty]);
    let bitwise = |f: &dyn Fn(u64, u64) -> u64, x: &[u64]| {
        (0..ty.bits()).fold(0, |d, i| d | (f(bit(x[0], i), bit(x[1], i)) & 1) << i)
    };
    check(&Op::And { ty }, &two, &[a, b], |x| (bitwise(&|a, b| a * b, x), None));
    check(&Op::Or { ty }, &two, &[a, b], |x| (bitwise(&|a, b| u64::from(a + b > 0), x), None));
    check(&Op::Xor { ty }, &two, &[a, b], |x| (bitwise(&|a, b| a + b, x), None));
    check(&Op::Not { ty }, &one, &[a], |x| (bitwise(&|a, _| 1 - a, &[x[0], 0]), None));
    check(&Op::Cnot { ty }, &one, &[a], |x| (u64::from(x[0] == 0), None));
    check(&Op::Mov { ty }, &one, &[a], |x| (x[0], None));
    let select = shape(ty, &[ty, ty, Type::Pred]);
    check(&Op::Selp { ty }, &select, &[a, b, p], |x| (if x[2] == 1 { x[0] } else { x[1] }, None));
    let negated = OperandShape { negated: [false, false, true, false], ..select };
    check(&Op::Selp { ty }, &negated, &[a, b, p], |x| (if x[2] == 0 { x[0] } else { x[1] }, None));
    let by_int = Op::Slct { ty, selector: Type::S32, ftz: false };
    check(&by_int, &shape(ty, &[ty, ty, Type::S32]), &[a, b, c], |x| {
        (if signed(x[2], Type::S32) >= 0 { x[0] } else { x[1] }, None)
    });
    for ftz in [false, true] {
        let by_float = Op::Slct { ty, selector: Type::F32, ftz };
        check(&by_float, &shape(ty, &[ty, ty, Type::F32]), &[a, b, c], |x| {
            let selector = f32::from_bits(x[2] as u32);
            let flushed = if ftz && selector.is_subnormal() { 0.0 } else { selector };
            (if flushed >= 0.0 { x[0] } else { x[1] }, None)
        });
    }
}

/// `a` shifted by one, `by` times.
fn shifted(a: u64, by: u64, step: impl Fn(u64) -> u64) -> u64 {
    (0..by.min(200)).fold(a, |a, _| step(a))
}

fn shifts(a: Row, b: Row, amount: Row, numbers: &mut Numbers) {
    for ty in
        [Type::B16, Type::B32, Type::B64, Type::U16, Type::S16, Type::U32, Type::S32, Type::U64, Type::S64]
    {
        let a = a.map(|x| wrap(i128::from(x), ty));
        let right = |x: &[u64]| shifted(x[0], x[1], |a| wrap(integer(a, ty) >> 1, ty));
        let left = |x: &[u64]| shifted(x[0], x[1], |a| wrap(i128::from(a) << 1, ty));
        check(&Op::Shr { ty }, &shape(ty, &[ty, Type::U32]), &[a, amount], |x| (right(x), None));
        if BITS.contains(&ty) {
            check(&Op::Shl { ty }, &shape(ty, &[ty, Type::U32]), &[a, amount], |x| (left(x), None));
            // An immediate may come in a row of the instruction's own width.
            let huge = row(numbers, Type::U64);
            check(&Op::Shl { ty }, &shape(ty, &[ty, Type::U64]), &[a, huge], |x| (left(x), None));
            let short = row(numbers, Type::U16);
            check(&Op::Shr { ty }, &shape(ty, &[ty, Type::U16]), &[a, short], |x| (right(x), None));
        }
    }
    for left in [false, true] {
        for wrap in [false, true] {
            let types = [Type::B32, Type::B32, Type::U32];
            check(&Op::Shf { left, wrap }, &shape(Type::B32, &types), &[a, b, amount], |x| {
                let by = if wrap { x[2] % 32 } else { x[2].min(32) };
                let bits = |i: u64| if i < 32 { x[0] >> i & 1 } else { x[1] >> (i - 32) & 1 };
                let from = if left { 32 - by } else { by };
                ((0..32).fold(0, |d, i| d | bits(from + i) << i), None)
            });
        }
    }
}

fn fields(ty: Type, a: Row, b: Row, start: Row, length: Row) {
    let size = ty.bits();
    let msb = size - 1;
    let types = [ty, Type::U32, Type::U32];
    check(&Op::Bfe { ty }, &shape(ty, &types), &[a, start, length], |x| {
        let (pos, len) = (x[1] as u32 & 0xff, x[2] as u32 & 0xff);
        let sign = if !ty.is_signed() || len == 0 { 0 } else { bit(x[0], (pos + len - 1).min(msb)) };
        let at = |i: u32| if i < len && pos + i <= msb { bit(x[0], pos + i) } else { sign };
        ((0..size).fold(0, |d, i| d | at(i) << i), None)
    });
    if !ty.is_signed() {
        let ty = if size == 32 { Type::B32 } else { Type::B64 };
        check(&Op::Bfi { ty }, &shape(ty, &[ty, ty, Type::U32, Type::U32]), &[a, b, start, length], |x| {
            let (pos, len) = (x[2] as u32 & 0xff, x[3] as u32 & 0xff);
            let mut f = x[1];
            for i in (0..len).take_while(|i| pos + i <= msb) {
                f = f & !(1 << (pos + i)) | bit(x[0], i) << (pos + i);
            }
            (f, None)
        });
        let one = shape(Type::U32, &[ty]);
        let ones = |x: u64| (0..size).map(|i| bit(x, i)).sum::<u64>();
        check(&Op::Popc { ty }, &one, &[a], |x| (ones(x[0]), None));
        check(&Op::Clz { ty }, &one, &[a], |x| {
            ((0..size).rev().take_while(|i| bit(x[0], *i) == 0).count() as u64, None)
        });
        check(&Op::Brev { ty }, &shape(ty, &[ty]), &[a], |x| {
            ((0..size).fold(0, |d, i| d | bit(x[0], msb - i) << i), None)
        });
    }
    for shiftamt in [false, true] {
        check(&Op::Bfind { ty, shiftamt }, &shape(Type::U32, &[ty]), &[a], |x| {
            let sign = if ty.is_signed() { bit(x[0], msb) } else { 0 };
            let found = (0..size).rev().find(|i| bit(x[0], *i) != sign);
            (found.map_or(0xffff_ffff, |i| u64::from(if shiftamt { msb - i } else { i })), None)
        });
    }
}

fn masks(a: Row, b: Row) {
    for wrap in [false, true] {
        let two = shape(Type::B32, &[Type::U32, Type::U32]);
        check(&Op::Bmsk { wrap }, &two, &[a, b], |x| {
            let (start, length) = if wrap { (x[0] % 32, x[1] % 32) } else { (x[0], x[1]) };
            let within = |i: u64| i >= start && i - start < length;
            ((0..32).fold(0, |d, i| d | u64::from(within(i)) << i), None)
        });
        for ty in [Type::U32, Type::S32] {
            check(&Op::Szext { ty, wrap }, &shape(ty, &[ty, Type::U32]), &[a, b], |x| {
                let n = if wrap { x[1] % 32 } else { x[1].min(32) } as u32;
                let top = if n == 0 || !ty.is_signed() { 0 } else { bit(x[0], n - 1) };
                ((0..32).fold(0, |d, i| d | (if i < n { bit(x[0], i) } else { top }) << i), None)
            });
        }
    }
}

/// Selectors of the prmt modes, from the ISA's table: for each value of c, bytes 3 to 0.
fn table(mode: PrmtMode, c: usize) -> [usize; 4] {
    let rows: [[usize; 4]; 4] = match mode {
        PrmtMode::F4e => [[3, 2, 1, 0], [4, 3, 2, 1], [5, 4, 3, 2], [6, 5, 4, 3]],
        PrmtMode::B4e => [[5, 6, 7, 0], [6, 7, 0, 1], [7, 0, 1, 2], [0, 1, 2, 3]],
        PrmtMode::Rc8 => [[0; 4], [1; 4], [2; 4], [3; 4]],
        PrmtMode::Ecl => [[3, 2, 1, 0], [3, 2, 1, 1], [3, 2, 2, 2], [3, 3, 3, 3]],
        PrmtMode::Ecr => [[0, 0, 0, 0], [1, 1, 1, 0], [2, 2, 1, 0], [3, 2, 1, 0]],
        PrmtMode::Rc16 => [[1, 0, 1, 0], [3, 2, 3, 2], [1, 0, 1, 0], [3, 2, 3, 2]],
        PrmtMode::Index => unreachable!("has selectors of its own"),
    };
    rows[c]
}

fn bytes(a: Row, b: Row, c: Row, d: Row) {
    let types = [Type::B32; 4];
    let pair = |x: &[u64]| -> Vec<u64> { (0..8).map(|i| (x[0] | x[1] << 32) >> (8 * i) & 0xff).collect() };
    let modes = [PrmtMode::F4e, PrmtMode::B4e, PrmtMode::Rc8, PrmtMode::Ecl, PrmtMode::Ecr, PrmtMode::Rc16];
    for mode in modes {
        check(&Op::Prmt { mode }, &shape(Type::B32, &types[..3]), &[a, b, c], |x| {
            let selected = table(mode, (x[2] & 3) as usize);
            (selected.iter().fold(0, |d, i| d << 8 | pair(x)[*i]), None)
        });
    }
    check(&Op::Prmt { mode: PrmtMode::Index }, &shape(Type::B32, &types[..3]), &[a, b, c], |x| {
        let byte = |i: u64| {
            let selector = x[2] >> (4 * i) & 15;
            let byte = pair(x)[(selector & 7) as usize];
            if selector < 8 { byte } else { (byte >> 7) * 0xff }
        };
        ((0..4).fold(0, |d, i| d | byte(i) << (8 * i)), None)
    });
    check(&Op::Lop3, &shape(Type::B32, &types), &[a, b, c, d], |x| {
        let at = |i: u32| x[3] >> (bit(x[0], i) << 2 | bit(x[1], i) << 1 | bit(x[2], i)) & 1;
        ((0..32).fold(0, |d, i| d | at(i) << i), None)
    });
    let byte_of = |x: u64, i: u64, ty: Type| {
        let part = x >> (8 * i) & 0xff;
        if ty == Type::S32 { i128::from(part as u8 as i8) } else { i128::from(part) }
    };
    let half_of = |x: u64, i: u64, ty: Type| {
        let part = x >> (16 * i) & 0xffff;
        if ty == Type::S32 { i128::from(part as u16 as i16) } else { i128::from(part) }
    };
    for (s, t) in
        [(Type::U32, Type::U32), (Type::U32, Type::S32), (Type::S32, Type::U32), (Type::S32, Type::S32)]
    {
        check(&Op::Dp4a { a: s, b: t }, &shape(Type::B32, &types[..3]), &[a, b, c], |x| {
            let dot: i128 = (0..4).map(|i| byte_of(x[0], i, s) * byte_of(x[1], i, t)).sum();
            (wrap(i128::from(x[2]) + dot, Type::B32), None)
        });
        for hi in [false, true] {
            check(&Op::Dp2a { a: s, b: t, hi }, &shape(Type::B32, &types[..3]), &[a, b, c], |x| {
                let base = if hi { 2 } else { 0 };
                let dot: i128 = (0..2).map(|i| half_of(x[0], i, s) * byte_of(x[1], base + i, t)).sum();
                (wrap(i128::from(x[2]) + dot, Type::B32), None)
            });
        }
    }
}

fn predicates(p: Row, q: Row) {
    let ty = Type::Pred;
    for flip in 0..4 {
        let negated = [flip & 1 != 0, flip & 2 != 0, false, false];
        let two = OperandShape { negated, ..shape(ty, &[ty, ty]) };
        let side = |x: &[u64], i: usize| x[i] ^ u64::from(negated[i]);
        check(&Op::And { ty }, &two, &[p, q], |x| (side(x, 0) & side(x, 1), None));
        check(&Op::Or { ty }, &two, &[p, q], |x| (side(x, 0) | side(x, 1), None));
        check(&Op::Xor { ty }, &two, &[p, q], |x| (side(x, 0) ^ side(x, 1), None));
        if !negated[1] {
            let one = OperandShape { negated, ..shape(ty, &[ty]) };
            check(&Op::Not { ty }, &one, &[p], |x| (1 - side(x, 0), None));
            check(&Op::Mov { ty }, &one, &[p], |x| (side(x, 0), None));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn logic_and_selection(seed: u64) {
        let mut numbers = Numbers(seed);
        for ty in BITS {
            let (a, b) = (row(&mut numbers, ty), row(&mut numbers, ty));
            let (c, p) = (row(&mut numbers, Type::F32), row(&mut numbers, Type::Pred));
            logic(ty, a, b, c, p);
        }
        let (p, q) = (row(&mut numbers, Type::Pred), row(&mut numbers, Type::Pred));
        predicates(p, q);
    }

    #[test]
    fn shifts_and_fields(seed: u64) {
        let mut numbers = Numbers(seed);
        let (a, b, amount) = (row(&mut numbers, Type::B32), row(&mut numbers, Type::B32), row(&mut numbers, Type::U32));
        shifts(a, b, amount, &mut numbers);
        masks(a, b);
        masks(b, amount);
        for ty in [Type::U32, Type::S32, Type::U64, Type::S64] {
            let (a, b) = (row(&mut numbers, ty), row(&mut numbers, ty));
            let (start, length) = (row(&mut numbers, Type::U32), row(&mut numbers, Type::U32));
            fields(ty, a, b, start, length);
        }
    }

    #[test]
    fn bytes_and_tables(seed: u64) {
        let mut numbers = Numbers(seed);
        let [a, b, c, d] = [(); 4].map(|()| row(&mut numbers, Type::B32));
        bytes(a, b, c, d);
    }
}

#[test]
fn fields_of_every_place_and_length() {
    let mut numbers = Numbers(3);
    for [start, length] in edge_pairs(Type::U32, Type::U32) {
        masks(start, length);
        for ty in [Type::U32, Type::S32, Type::U64, Type::S64] {
            let (a, b) = (row(&mut numbers, ty), row(&mut numbers, ty));
            fields(ty, a, b, start, length);
        }
    }
    for start in 0..34 {
        let lengths = std::array::from_fn(|i| i as u64 + 1);
        masks([start; 32], lengths);
        fields(Type::S32, row(&mut numbers, Type::S32), row(&mut numbers, Type::S32), [start; 32], lengths);
    }
}

#[test]
fn every_shift_amount() {
    let mut numbers = Numbers(4);
    for base in [0, 32, 64, 0xffff_ffe0, 0x1_0000 - 32] {
        let amount = std::array::from_fn(|i| base + i as u64);
        let (a, b) = (row(&mut numbers, Type::B32), row(&mut numbers, Type::B32));
        shifts(a, b, amount, &mut numbers);
    }
}

#[test]
fn every_truth_table() {
    let mut numbers = Numbers(5);
    for group in 0..8 {
        let [a, b, c] = [(); 3].map(|()| row(&mut numbers, Type::B32));
        bytes(a, b, c, std::array::from_fn(|i| group * 32 + i as u64));
    }
}

#[test]
fn widths_that_the_isa_does_not_allow_are_refused() {
    use bugaroo_simulator::alu::{Isa, select};
    let narrow = shape(Type::B16, &[Type::B32, Type::B32]);
    assert!(select(&Op::And { ty: Type::B32 }, &narrow, Isa::Portable).is_none());
    let wide = shape(Type::B64, &[Type::B64, Type::B32]);
    assert!(select(&Op::Xor { ty: Type::B64 }, &wide, Isa::Portable).is_none());
    let negated = OperandShape { negated: [true; 4], ..shape(Type::B32, &[Type::B32]) };
    assert!(select(&Op::Not { ty: Type::B32 }, &negated, Isa::Portable).is_none());
    let extra = OperandShape { dst2: Some(Width::Pred), ..shape(Type::B32, &[Type::B32]) };
    assert!(select(&Op::Not { ty: Type::B32 }, &extra, Isa::Portable).is_none());
    assert!(select(&Op::Exit, &shape(Type::B32, &[]), Isa::Portable).is_none());
}
