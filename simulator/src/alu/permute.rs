//! Bytes and truth tables: prmt (PTX ISA 9.7.9.7), lop3 (9.7.8.6), dp4a and dp2a (9.7.1.23 and 9.7.1.24).

use bugaroo_ptx::op::{Op, PrmtMode};
use bugaroo_ptx::types::Type;

use super::RowFn;
use super::row::{Picker, lane_ops};

/// Puts together the bytes of `b:a` that the four selectors name, lowest first.
#[inline(always)]
fn gather(a: u32, b: u32, selectors: [u32; 4]) -> u32 {
    let pair = u64::from(b) << 32 | u64::from(a);
    let byte = |selector: u32| (pair >> ((selector & 7) * 8)) as u32 & 0xff;
    byte(selectors[0]) | byte(selectors[1]) << 8 | byte(selectors[2]) << 16 | byte(selectors[3]) << 24
}

lane_ops! {
    /// `prmt` without a mode: a selector per byte, whose top bit asks for eight copies of the byte's sign.
    PrmtIndex<>(a: u32, b: u32, c: u32) -> u32 {
        let bytes = gather(a, b, [c, c >> 4, c >> 8, c >> 12]);
        let signs = (bytes >> 7 & 0x0101_0101) * 0xff;
        let replicate = ((c >> 3 & 1) | (c >> 7 & 1) << 8 | (c >> 11 & 1) << 16 | (c >> 15 & 1) << 24) * 0xff;
        bytes & !replicate | signs & replicate
    }
    /// `prmt.f4e`: four bytes upwards from the selected one.
    PrmtF4e<>(a: u32, b: u32, c: u32) -> u32 { let n = c & 3; gather(a, b, [n, n + 1, n + 2, n + 3]) }
    /// `prmt.b4e`: four bytes downwards, around the pair.
    PrmtB4e<>(a: u32, b: u32, c: u32) -> u32 { let n = c & 3; gather(a, b, [n, n + 7, n + 6, n + 5]) }
    /// `prmt.rc8`: the selected byte four times.
    PrmtRc8<>(a: u32, b: u32, c: u32) -> u32 { let n = c & 3; gather(a, b, [n; 4]) }
    /// `prmt.ecl`: bytes of `a`, none below the selected one.
    PrmtEcl<>(a: u32, b: u32, c: u32) -> u32 { let n = c & 3; gather(a, b, [n, n.max(1), n.max(2), 3]) }
    /// `prmt.ecr`: bytes of `a`, none above the selected one.
    PrmtEcr<>(a: u32, b: u32, c: u32) -> u32 { let n = c & 3; gather(a, b, [0, n.min(1), n.min(2), n]) }
    /// `prmt.rc16`: the selected half twice.
    PrmtRc16<>(a: u32, b: u32, c: u32) -> u32 { let n = c & 1; gather(a, b, [2 * n, 2 * n + 1, 2 * n, 2 * n + 1]) }
    /// `lop3`: the truth table's bit at index `a:b:c` (a is the highest).
    Lop3<>(a: u32, b: u32, c: u32, table: u32) -> u32 {
        let row = |i: u32| 0u32.wrapping_sub(table >> i & 1);
        let of_c = |low: u32, high: u32| low & !c | high & c;
        let of_b = |low: u32, high: u32| low & !b | high & b;
        let without_a = of_b(of_c(row(0), row(1)), of_c(row(2), row(3)));
        let with_a = of_b(of_c(row(4), row(5)), of_c(row(6), row(7)));
        without_a & !a | with_a & a
    }
    /// `dp4a`
    Dp4a<const SIGNED_A: bool, const SIGNED_B: bool>(a: u32, b: u32, c: u32) -> u32 {
        let mut sum = c;
        for i in 0..4 {
            let product = part::<SIGNED_A>(a, i * 8, 8).wrapping_mul(part::<SIGNED_B>(b, i * 8, 8));
            sum = sum.wrapping_add(product);
        }
        sum
    }
    /// `dp2a`: the 16-bit halves of `a` with the lower or upper two bytes of `b`.
    Dp2a<const SIGNED_A: bool, const SIGNED_B: bool, const HI: bool>(a: u32, b: u32, c: u32) -> u32 {
        let base = if HI { 16 } else { 0 };
        let low = part::<SIGNED_A>(a, 0, 16).wrapping_mul(part::<SIGNED_B>(b, base, 8));
        let high = part::<SIGNED_A>(a, 16, 16).wrapping_mul(part::<SIGNED_B>(b, base + 8, 8));
        c.wrapping_add(low).wrapping_add(high)
    }
}

/// `size` bits of `x` from bit `at`, extended.
#[inline(always)]
fn part<const SIGNED: bool>(x: u32, at: u32, size: u32) -> u32 {
    let top = x << (32 - size - at);
    if SIGNED { (top as i32 >> (32 - size)) as u32 } else { top >> (32 - size) }
}

/// Whether a type of `dp4a`/`dp2a` is signed.
fn signed(ty: Type) -> Option<bool> {
    match ty {
        Type::U32 => Some(false),
        Type::S32 => Some(true),
        _ => None,
    }
}

/// The byte and truth-table instructions.
pub fn select(op: &Op, p: Picker<'_>) -> Option<RowFn> {
    match *op {
        Op::Prmt { mode } => match mode {
            PrmtMode::Index => p.pick::<PrmtIndex>(),
            PrmtMode::F4e => p.pick::<PrmtF4e>(),
            PrmtMode::B4e => p.pick::<PrmtB4e>(),
            PrmtMode::Rc8 => p.pick::<PrmtRc8>(),
            PrmtMode::Ecl => p.pick::<PrmtEcl>(),
            PrmtMode::Ecr => p.pick::<PrmtEcr>(),
            PrmtMode::Rc16 => p.pick::<PrmtRc16>(),
        },
        Op::Lop3 => p.pick::<Lop3>(),
        Op::Dp4a { a, b } => match (signed(a)?, signed(b)?) {
            (false, false) => p.pick::<Dp4a<false, false>>(),
            (false, true) => p.pick::<Dp4a<false, true>>(),
            (true, false) => p.pick::<Dp4a<true, false>>(),
            (true, true) => p.pick::<Dp4a<true, true>>(),
        },
        Op::Dp2a { a, b, hi } => match (signed(a)?, signed(b)?, hi) {
            (false, false, false) => p.pick::<Dp2a<false, false, false>>(),
            (false, true, false) => p.pick::<Dp2a<false, true, false>>(),
            (true, false, false) => p.pick::<Dp2a<true, false, false>>(),
            (true, true, false) => p.pick::<Dp2a<true, true, false>>(),
            (false, false, true) => p.pick::<Dp2a<false, false, true>>(),
            (false, true, true) => p.pick::<Dp2a<false, true, true>>(),
            (true, false, true) => p.pick::<Dp2a<true, false, true>>(),
            (true, true, true) => p.pick::<Dp2a<true, true, true>>(),
        },
        _ => None,
    }
}
