use bugaroo_ptx::ast::Operand;
use bugaroo_ptx::op::Op;
use bugaroo_ptx::rare::Rare;
use proptest::prelude::*;

use super::{F16, Lanewise, Selector, from_fp8, nth_set, to_fp8, to_tf32};
use bugaroo_ptx::rare::Fp8;
use bugaroo_ptx::types::Rounding;

/// The instruction of this text, on these values; operands are registers, with selectors where they have some.
fn run(text: &str, values: [u32; 3]) -> u32 {
    let source = format!(
        ".version 8.5 .target sm_90 .address_size 64 .func f() {{ .reg .b32 d, a, b, c; .reg .pred p; {text} }}"
    );
    let module = bugaroo_ptx::parse(&source).unwrap_or_else(|error| panic!("{text}: {error}"));
    let instruction = module.function("f").expect("declared above").instructions()[0].clone();
    let selector = |operand: Option<&Operand>| match operand {
        Some(Operand::Register(name)) => name.split_once('.').and_then(|(_, part)| Selector::parse(part)),
        _ => None,
    };
    let selectors = [0, 1, 2].map(|i| selector(instruction.operands.get(i)));
    let lanewise = match instruction.op {
        Op::Rare(rare) => Lanewise::Rare(rare, selectors),
        ref op => Lanewise::comparison(op).unwrap_or_else(|| panic!("{text}: {op:?}")),
    };
    let [a, b, c] = values.map(u64::from);
    lanewise.apply(&[a, b, c, 0, 0]).0 as u32
}

fn bytes(x: u32) -> [u8; 4] {
    x.to_le_bytes()
}

fn halves(x: u32) -> [u16; 2] {
    [x as u16, (x >> 16) as u16]
}

fn pair(low: u16, high: u16) -> u32 {
    u32::from(low) | u32::from(high) << 16
}

proptest! {
    #[test]
    fn bytes_and_halves_by_themselves(a: u32, b: u32, c: u32) {
        let each = |f: &dyn Fn(u8, u8) -> u8| u32::from_le_bytes([0, 1, 2, 3].map(|i| f(bytes(a)[i], bytes(b)[i])));
        prop_assert_eq!(run("vabsdiff4.u32.u32.u32 d, a, b, c;", [a, b, c]), each(&|a, b| a.abs_diff(b)));
        prop_assert_eq!(run("vadd4.u32.u32.u32.sat d, a, b, c;", [a, b, c]), each(&|a, b| a.saturating_add(b)));
        prop_assert_eq!(run("vadd4.s32.s32.s32.sat d, a, b, c;", [a, b, c]), {
            each(&|a, b| (a as i8).saturating_add(b as i8) as u8)
        });
        prop_assert_eq!(run("vsub4.u32.u32.u32 d, a, b, c;", [a, b, c]), each(&|a, b| a.wrapping_sub(b)));
        prop_assert_eq!(run("vavrg4.u32.u32.u32 d, a, b, c;", [a, b, c]), {
            each(&|a, b| (u16::from(a) + u16::from(b)).div_ceil(2) as u8)
        });
        prop_assert_eq!(run("vset4.u32.u32.lt d, a, b, c;", [a, b, c]), each(&|a, b| u8::from(a < b)));
        let sad: u32 = (0..4).map(|i| u32::from(bytes(a)[i].abs_diff(bytes(b)[i]))).sum();
        prop_assert_eq!(run("vabsdiff4.u32.u32.u32.add d, a, b, c;", [a, b, c]), c.wrapping_add(sad));
        let low = u32::from_le_bytes([bytes(a)[0].max(bytes(b)[0]), bytes(c)[1], bytes(c)[2], bytes(c)[3]]);
        prop_assert_eq!(run("vmax4.u32.u32.u32 d.b0, a, b, c;", [a, b, c]), low);
        let ([a0, a1], [b0, b1]) = (halves(a), halves(b));
        prop_assert_eq!(run("vmin2.s32.s32.s32 d, a, b, c;", [a, b, c]), {
            pair((a0 as i16).min(b0 as i16) as u16, (a1 as i16).min(b1 as i16) as u16)
        });
        prop_assert_eq!(run("vadd2.u32.u32.u32 d, a.h01, b.h23, c;", [a, b, c]), {
            pair(a1.wrapping_add(b1), a0.wrapping_add(b0))
        });
        prop_assert_eq!(run("add.u16x2 d, a, b;", [a, b, 0]), pair(a0.wrapping_add(b0), a1.wrapping_add(b1)));
        prop_assert_eq!(run("max.relu.s16x2 d, a, b;", [a, b, 0]), {
            pair((a0 as i16).max(b0 as i16).max(0) as u16, (a1 as i16).max(b1 as i16).max(0) as u16)
        });
        prop_assert_eq!(run("min.relu.s32 d, a, b;", [a, b, 0]), (a as i32).min(b as i32).max(0) as u32);
    }

    #[test]
    fn scalar_video(a: u32, b: u32, c: u32) {
        prop_assert_eq!(run("vadd.u32.u32.u32.sat d, a, b;", [a, b, c]), a.saturating_add(b));
        prop_assert_eq!(run("vsub.s32.s32.s32.sat d, a, b;", [a, b, c]), (a as i32).saturating_sub(b as i32) as u32);
        prop_assert_eq!(run("vabsdiff.u32.s32.s32.add d, a, b, c;", [a, b, c]), {
            (a as i32).abs_diff(b as i32).wrapping_add(c)
        });
        prop_assert_eq!(run("vadd.u32.u32.u32 d, a.b2, b.h1;", [a, b, c]), u32::from(bytes(a)[2]) + (b >> 16));
        prop_assert_eq!(run("vmin.s32.s32.s32.max d, a.b3, b, c;", [a, b, c]), {
            i32::from(bytes(a)[3] as i8).min(b as i32).max(c as i32) as u32
        });
        prop_assert_eq!(run("vmax.u32.u32.u32 d.h1, a.h0, b.h0, c;", [a, b, c]), {
            pair(halves(c)[0], halves(a)[0].max(halves(b)[0]))
        });
        prop_assert_eq!(run("vset.u32.u32.ge d, a, b;", [a, b, c]), u32::from(a >= b));
        prop_assert_eq!(run("vshl.u32.u32.u32.clamp d, a, b.b0;", [a, b, c]), {
            a.checked_shl(u32::from(bytes(b)[0])).unwrap_or(0)
        });
        prop_assert_eq!(run("vshr.s32.s32.u32.wrap d, a, b;", [a, b, c]), (a as i32 >> (b & 31)) as u32);
        prop_assert_eq!(run("vmad.s32.s32.s32 d, a.h0, b.h1, c;", [a, b, c]), {
            let product = i32::from(a as i16).wrapping_mul(i32::from((b >> 16) as i16));
            product.wrapping_add(c as i32) as u32
        });
    }

    #[test]
    fn packed_comparisons(a: u32, b: u32) {
        let half = |x: u32, i: usize| F16(halves(x)[i]).to_f32();
        let mask = |held: bool| if held { 0xffff } else { 0 };
        let one = |held: bool| if held { 0x3c00 } else { 0 };
        prop_assert_eq!(run("set.lt.u32.f16x2 d, a, b;", [a, b, 0]), {
            pair(mask(half(a, 0) < half(b, 0)), mask(half(a, 1) < half(b, 1)))
        });
        #[allow(clippy::neg_cmp_op_on_partial_ord, reason = "NaN is what this is about")]
        let expected = pair(one(!(half(a, 0) <= half(b, 0))), one(!(half(a, 1) <= half(b, 1))));
        prop_assert_eq!(run("set.gtu.f16x2.f16x2 d, a, b;", [a, b, 0]), expected);
        let number = |x: u32, i: usize| f32::from_bits(u32::from(halves(x)[i]) << 16);
        let one = |held: bool| if held { 0x3f80 } else { 0 };
        prop_assert_eq!(run("set.eq.bf16x2.bf16x2 d, a, b;", [a, b, 0]), {
            pair(one(number(a, 0) == number(b, 0)), one(number(a, 1) == number(b, 1)))
        });
    }

    /// The nearest of all numbers of the format, the even one of two.
    #[test]
    fn eight_bit_floats_are_the_nearest(x in prop_oneof![any::<f32>(), -600.0f32..600.0, -0.02f32..0.02]) {
        for (fp8, last) in [(Fp8::E4m3, 0x7eu8), (Fp8::E5m2, 0x7b)] {
            let value = |byte: u8| f64::from(F16(from_fp8(byte, fp8, false)).to_f32());
            let found = to_fp8(f64::from(x), fp8, false) as u8;
            if x.is_nan() {
                prop_assert_eq!(found, 0x7f);
                continue;
            }
            prop_assert_eq!(found >> 7 != 0, x.is_sign_negative());
            // Far above the greatest number, where distances are still exact.
            let wide = f64::from(x).abs().min(1e6);
            let distance = |byte: u8| (value(byte) - wide).abs();
            let best = (0..=last).min_by(|a, b| distance(*a).total_cmp(&distance(*b)).then((a & 1).cmp(&(b & 1))));
            prop_assert_eq!(Some(found & 0x7f), best);
        }
    }

    #[test]
    fn tf32_is_the_nearest(bits: u32) {
        let x = f32::from_bits(bits);
        prop_assume!(x.is_finite());
        let found = to_tf32(bits, Rounding::NearestAway, false, false);
        let (below, wide) = (bits & !0x1fff, |bits: u32| f64::from(f32::from_bits(bits)));
        prop_assume!(below & 0x7fff_ffff < 0x7f7f_e000);
        let above = below + 0x2000;
        let up = (wide(above) - f64::from(x)).abs() <= (f64::from(x) - wide(below)).abs();
        prop_assert_eq!(found, if up { above } else { below });
        prop_assert_eq!(to_tf32(bits, Rounding::Zero, false, false), below);
    }
}

#[test]
fn eight_bit_floats_there_and_back() {
    for byte in 0..=255u8 {
        for fp8 in [Fp8::E4m3, Fp8::E5m2] {
            let half = from_fp8(byte, fp8, false);
            let number = f64::from(F16(half).to_f32());
            if number.is_finite() {
                assert_eq!(to_fp8(number, fp8, false) as u8, byte, "{fp8:?}");
            }
        }
    }
    assert_eq!(F16(from_fp8(0x7e, Fp8::E4m3, false)).to_f32(), 448.0);
    assert_eq!(F16(from_fp8(0x01, Fp8::E4m3, false)).to_f32(), 0.001_953_125);
    assert_eq!(F16(from_fp8(0x7b, Fp8::E5m2, false)).to_f32(), 57344.0);
    assert_eq!(from_fp8(0xff, Fp8::E4m3, false), 0x7fff);
    assert_eq!(to_fp8(-3.0, Fp8::E4m3, true), 0);
}

#[test]
fn the_rest() {
    assert_eq!(nth_set(0b1011_0000, 4, 2), 5);
    assert_eq!(nth_set(0b1011_0000, 7, -3), 4);
    assert_eq!(nth_set(0b1011_0000, 5, 0), 5);
    assert_eq!(nth_set(0b1011_0000, 6, 0), u32::MAX);
    assert_eq!(nth_set(1, 1, 1), u32::MAX);
    assert_eq!(run("cvt.pack.sat.u8.s32.b32 d, a, b, c;", [300, (-5i32) as u32, 0xabcd]), 0xabcd_ff00);
    assert_eq!(run("cvt.pack.sat.s16.s32 d, a, b;", [70_000, (-5i32) as u32, 0]), 0x7fff_fffb);
    assert_eq!(
        run("min.xorsign.abs.f32 d, a, b;", [(-3f32).to_bits(), 2f32.to_bits(), 0]),
        (-2f32).to_bits()
    );
    let lop3 = Lanewise::Rare(Rare::Lop3 { combine: bugaroo_ptx::types::BoolOp::And }, [None; 3]);
    assert_eq!(lop3.apply(&[0b1100, 0b1010, 0b1001, 0x80, 1]), (0b1000, true));
    assert_eq!(lop3.apply(&[0b1100, 0b1010, 0b0001, 0x80, 1]), (0, false));
}

/// The instruction of this text, on operands of up to 64 bits.
fn run_wide(text: &str, values: [u64; 3]) -> u64 {
    let source = format!(
        ".version 9.0 .target sm_100 .address_size 64 .func f() {{ .reg .b64 d, a, b, c; .reg .f32 f, g; .reg .b16 h, i; {text} }}"
    );
    let module = bugaroo_ptx::parse(&source).unwrap_or_else(|error| panic!("{text}: {error}"));
    let instruction = &module.function("f").expect("declared above").instructions()[0];
    let Op::Rare(rare) = instruction.op else { panic!("{text}: {:?}", instruction.op) };
    let [a, b, c] = values;
    Lanewise::Rare(rare, [None; 3]).apply(&[a, b, c, 0, 0]).0
}

/// Two floats in 64 bits.
fn floats(low: f32, high: f32) -> u64 {
    u64::from(low.to_bits()) | u64::from(high.to_bits()) << 32
}

#[test]
fn pairs_of_floats() {
    let [a, b, c] = [floats(1.5, -2.0), floats(0.25, 1e30), floats(10.0, 3.0)];
    assert_eq!(run_wide("add.rn.f32x2 d, a, b;", [a, b, c]), floats(1.75, 1e30));
    assert_eq!(run_wide("sub.f32x2 d, a, b;", [a, b, c]), floats(1.25, -1e30));
    assert_eq!(run_wide("mul.f32x2 d, a, b;", [a, b, c]), floats(0.375, -2e30));
    assert_eq!(run_wide("fma.rn.f32x2 d, a, b, c;", [a, b, c]), floats(10.375, -2e30 + 3.0));
    // One and a bit that is lost: towards zero it stays one, upwards it does not.
    let (one, bit) = (floats(1.0, 1.0), floats(1e-30, -1e-30));
    let (next, previous) = (f32::from_bits(0x3f80_0001), f32::from_bits(0x3f7f_ffff));
    assert_eq!(run_wide("add.rz.f32x2 d, a, b;", [one, bit, 0]), floats(1.0, previous));
    assert_eq!(run_wide("add.rp.f32x2 d, a, b;", [one, bit, 0]), floats(next, 1.0));
    assert_eq!(run_wide("add.rm.f32x2 d, a, b;", [one, bit, 0]), floats(1.0, previous));
    // Each by itself: a NaN in one half, a subnormal number that is flushed in the other.
    let odd = floats(f32::NAN, f32::from_bits(7));
    let zero = floats(0.0, 0.0);
    assert_eq!(run_wide("add.f32x2 d, a, b;", [odd, zero, 0]), 7 << 32 | 0x7fff_ffff);
    assert_eq!(run_wide("add.ftz.f32x2 d, a, b;", [odd, zero, 0]), 0x7fff_ffff);
}

#[test]
fn numbers_of_sixteen_bits_and_floats() {
    let single = |x: f32| u64::from(x.to_bits());
    let (half, brain) = (u64::from(F16::nearest(-1.5).0), u64::from(1.5_f32.to_bits() >> 16));
    assert_eq!(run_wide("add.f32.f16 f, h, g;", [half, single(0.25), 0]), single(-1.25));
    assert_eq!(run_wide("sub.rn.f32.bf16 f, h, g;", [brain, single(0.25), 0]), single(1.25));
    assert_eq!(run_wide("fma.rn.f32.f16 f, h, i, g;", [half, half, single(100.0)]), single(102.25));
    assert_eq!(
        run_wide("fma.rz.f32.bf16 f, h, i, g;", [brain, brain, single(-1e-30)]),
        single(2.25).wrapping_sub(1)
    );
    // Clamped to one and zero.
    assert_eq!(run_wide("fma.rn.sat.f32.f16 f, h, i, g;", [half, half, single(0.0)]), single(1.0));
    assert_eq!(run_wide("add.sat.f32.f16 f, h, g;", [half, single(0.25), 0]), 0);
    // The least subnormal binary16 is a normal float.
    assert_eq!(run_wide("add.f32.f16 f, h, g;", [1, 0, 0]), single(2.0_f32.powi(-24)));
}
