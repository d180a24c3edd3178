//! cvt between all types, in registers of all widths that the ISA allows, against `rustc_apfloat`.

use crate::alu_support::{Numbers, Row, check, edges, integer, limits, row, value};
use bugaroo_ptx::op::Op;
use bugaroo_ptx::types::{Rounding, Type};
use bugaroo_simulator::alu::{Isa, OperandShape, Width, select};
use proptest::prelude::*;
use rustc_apfloat::ieee::{BFloat, Double, Half, Quad, Single};
use rustc_apfloat::{Float, FloatConvert, Round};

const INTEGERS: [Type; 8] =
    [Type::U8, Type::S8, Type::U16, Type::S16, Type::U32, Type::S32, Type::U64, Type::S64];
const FLOATS: [Type; 4] = [Type::F16, Type::BF16, Type::F32, Type::F64];
const MODES: [Rounding; 4] = [Rounding::Nearest, Rounding::Zero, Rounding::Down, Rounding::Up];

fn round(rnd: Rounding) -> Round {
    match rnd {
        Rounding::Nearest => Round::NearestTiesToEven,
        Rounding::NearestAway => Round::NearestTiesToAway,
        Rounding::Zero => Round::TowardZero,
        Rounding::Down => Round::TowardNegative,
        Rounding::Up => Round::TowardPositive,
    }
}

/// A form of the instruction.
#[derive(Clone, Copy)]
struct Form {
    dst: Type,
    src: Type,
    rnd: Option<Rounding>,
    int_rnd: bool,
    ftz: bool,
    sat: bool,
    relu: bool,
}

impl Form {
    fn op(self) -> Op {
        let Form { dst, src, rnd, int_rnd, ftz, sat, relu } = self;
        Op::Cvt { dst, src, rnd, int_rnd, ftz, sat, relu }
    }
}

/// The registers that can hold a type.
fn registers(ty: Type) -> &'static [Width] {
    match (ty, ty.bytes()) {
        (Type::BF16, _) => &[Width::W16],
        (_, 1 | 2) => &[Width::W16, Width::W32, Width::W64],
        (_, 4) => &[Width::W32, Width::W64],
        _ => &[Width::W64],
    }
}

/// A float of any format, exactly, sign of zero and all.
fn quad(ty: Type, bits: u64, ftz: bool) -> Quad {
    fn of<F: Float + FloatConvert<Quad>>(bits: u64, ftz: bool) -> Quad {
        let x = F::from_bits(u128::from(bits));
        let zero = if x.is_negative() { -F::ZERO } else { F::ZERO };
        (if ftz && x.is_denormal() { zero } else { x }).convert(&mut false).value
    }
    match ty {
        Type::F16 => of::<Half>(bits & 0xffff, false),
        Type::BF16 => of::<BFloat>(bits & 0xffff, false),
        Type::F32 => of::<Single>(bits & 0xffff_ffff, ftz),
        _ => of::<Double>(bits, false),
    }
}

/// Rounded to a format; its bits.
fn rounded(form: Form, x: Quad, r: Round, from_float: bool) -> u64 {
    fn of<F: Float>(form: Form, x: Quad, r: Round) -> F
    where
        Quad: FloatConvert<F>,
    {
        let y: F = x.convert_r(r, &mut false).value;
        let zero = if y.is_negative() { -F::ZERO } else { F::ZERO };
        let y = if form.ftz && form.dst == Type::F32 && y.is_denormal() { zero } else { y };
        let one = F::from_u128(1).value;
        if form.sat {
            return if y.is_nan() || y <= F::ZERO {
                F::ZERO
            } else if y > one {
                one
            } else {
                y
            };
        }
        if form.relu && y.is_negative() && !y.is_nan() { F::ZERO } else { y }
    }
    let nan = x.is_nan() && !form.sat;
    match form.dst {
        Type::F16 if nan => 0x7fff,
        Type::BF16 if nan => 0x7fff,
        Type::F32 if nan => 0x7fff_ffff,
        Type::F64 if nan && from_float && form.src != Type::F64 => 0x7fff_ffff_e000_0000,
        Type::F64 if nan => 0xfff8_0000_0000_0000,
        Type::F16 => of::<Half>(form, x, r).to_bits() as u64,
        Type::BF16 => of::<BFloat>(form, x, r).to_bits() as u64,
        Type::F32 => of::<Single>(form, x, r).to_bits() as u64,
        _ => of::<Double>(form, x, r).to_bits() as u64,
    }
}

/// The number's bits in a register of this width, extended as the type wants.
fn held(x: i128, ty: Type, register: Width) -> u64 {
    let extended = integer(x as u64 & (u64::MAX >> (64 - ty.bits())), ty) as u64;
    extended & (u64::MAX >> (64 - register.bytes() / 32 * 8))
}

/// What the form makes of a register's bits.
fn reference(form: Form, bits: u64, register: Width) -> u64 {
    let from_float = FLOATS.contains(&form.src);
    let r = round(form.rnd.unwrap_or(Rounding::Nearest));
    if FLOATS.contains(&form.dst) {
        let x = if from_float {
            quad(form.src, bits, form.ftz)
        } else {
            // 113 bits hold any integer of 64.
            Quad::from_i128(integer(bits, form.src)).value
        };
        let whole = if form.int_rnd { x.round_to_integral(r).value } else { x };
        return rounded(form, whole, r, from_float);
    }
    let (least, greatest) = limits(form.dst);
    if !from_float {
        let x = integer(bits, form.src);
        return held(if form.sat { x.clamp(least, greatest) } else { x }, form.dst, register);
    }
    let x = quad(form.src, bits, form.ftz);
    if x.is_nan() {
        let zero = form.src != Type::F64 && form.dst.bits() <= 32;
        return held(if zero { 0 } else { 1 << (form.dst.bits() - 1) }, form.dst, register);
    }
    let whole = x.round_to_integral(r).value;
    let value = if whole < Quad::from_i128(least).value {
        least
    } else if whole > Quad::from_i128(greatest).value {
        greatest
    } else {
        whole.to_i128(100).value
    };
    held(value, form.dst, register)
}

/// All forms between two types.
fn forms(dst: Type, src: Type) -> Vec<Form> {
    let plain = Form { dst, src, rnd: None, int_rnd: false, ftz: false, sat: false, relu: false };
    let mut forms = Vec::new();
    let precision = |ty| crate::alu_support::format(ty).map_or(0, |(_, fraction)| fraction);
    match (FLOATS.contains(&src), FLOATS.contains(&dst)) {
        (false, false) => forms.push(plain),
        (false, true) => forms.extend(MODES.map(|rnd| Form { rnd: Some(rnd), ..plain })),
        (true, false) => forms.extend(MODES.map(|rnd| Form { rnd: Some(rnd), int_rnd: true, ..plain })),
        (true, true) => {
            let narrows = precision(dst) < precision(src) || (src, dst) == (Type::BF16, Type::F16);
            if narrows {
                forms.extend(MODES.map(|rnd| Form { rnd: Some(rnd), ..plain }));
            } else {
                forms.push(plain);
            }
            if src == dst {
                forms.extend(MODES.map(|rnd| Form { rnd: Some(rnd), int_rnd: true, ..plain }));
            }
        }
    }
    if FLOATS.contains(&dst) || !FLOATS.contains(&src) {
        let saturated: Vec<Form> = forms.iter().map(|form| Form { sat: true, ..*form }).collect();
        forms.extend(saturated);
    }
    if (src == Type::F32 || dst == Type::F32) && FLOATS.contains(&src) {
        let flushed: Vec<Form> = forms.iter().map(|form| Form { ftz: true, ..*form }).collect();
        forms.extend(flushed);
    }
    if src == Type::F32 && matches!(dst, Type::F16 | Type::BF16) {
        forms.extend([Rounding::Nearest, Rounding::Zero].map(|rnd| Form {
            rnd: Some(rnd),
            relu: true,
            ..plain
        }));
    }
    forms
}

/// One source in every register, to every register.
fn between(dst: Type, src: Type, row: &Row, numbers: &mut Numbers) {
    for form in forms(dst, src) {
        for from in registers(src) {
            // Above the type's bits a register holds anything.
            let unused = 64 - src.bits();
            let junk: Row = std::array::from_fn(|i| {
                let noise = if unused == 0 { 0 } else { numbers.next() >> src.bits() << src.bits() };
                (row[i] | noise) & (u64::MAX >> (64 - from.bytes() / 32 * 8))
            });
            for to in registers(dst) {
                let shape = OperandShape {
                    dst: *to,
                    dst2: None,
                    src: [Some(*from), None, None, None],
                    negated: [false; 4],
                };
                check(&form.op(), &shape, &[junk], |x| (reference(form, x[0], *to), None));
            }
        }
    }
}

fn all_types() -> impl Iterator<Item = Type> {
    INTEGERS.into_iter().chain(FLOATS)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn conversions_are_exact(seed: u64) {
        let mut numbers = Numbers(seed);
        for src in all_types() {
            for dst in all_types() {
                let row = row(&mut numbers, src);
                between(dst, src, &row, &mut numbers);
            }
        }
    }

    /// Floats around integers' limits and halves, which rounding to integers decides about.
    #[test]
    fn floats_near_integers(seed: u64) {
        let mut numbers = Numbers(seed);
        for src in [Type::F32, Type::F64] {
            let row = std::array::from_fn(|_| {
                let (least, greatest) = limits(INTEGERS[numbers.below(8) as usize]);
                let base = [0, least, greatest, value(&mut numbers, Type::S8) as i8 as i128][numbers.below(4) as usize];
                let x = base as f64 + (numbers.below(17) as f64 - 8.0) / 4.0;
                if src == Type::F32 { u64::from((x as f32).to_bits()) } else { x.to_bits() }
            });
            for dst in INTEGERS.into_iter().chain([src]) {
                between(dst, src, &row, &mut numbers);
            }
        }
    }

    /// Numbers halfway, or nearly, between two of the narrower format.
    #[test]
    fn halves_of_the_narrower_format(seed: u64) {
        let mut numbers = Numbers(seed);
        for (src, dst, cut) in [
            (Type::F64, Type::F32, 29), (Type::F64, Type::F16, 42), (Type::F64, Type::BF16, 45),
            (Type::F32, Type::F16, 13), (Type::F32, Type::BF16, 16), (Type::F16, Type::BF16, 3),
        ] {
            let row = row(&mut numbers, src).map(|x| {
                let half = 1u64 << (cut - 1);
                (x >> cut << cut | half).wrapping_add(numbers.below(3)).wrapping_sub(1) & (u64::MAX >> (64 - src.bits()))
            });
            between(dst, src, &row, &mut numbers);
        }
    }

    #[test]
    fn pairs_hold_the_first_operand_above(seed: u64) {
        let mut numbers = Numbers(seed);
        let (a, b) = (row(&mut numbers, Type::F32), row(&mut numbers, Type::F32));
        for (dst, half) in [(Type::F16x2, Type::F16), (Type::BF16x2, Type::BF16)] {
            for rnd in [Rounding::Nearest, Rounding::Zero] {
                for relu in [false, true] {
                    let form = Form { dst: half, src: Type::F32, rnd: Some(rnd), int_rnd: false, ftz: false, sat: false, relu };
                    let op = Op::Cvt { dst, src: Type::F32, rnd: Some(rnd), int_rnd: false, ftz: false, sat: false, relu };
                    check(&op, &crate::alu_support::shape(dst, &[Type::F32, Type::F32]), &[a, b], |x| {
                        (reference(form, x[0], Width::W16) << 16 | reference(form, x[1], Width::W16), None)
                    });
                }
            }
        }
    }
}

#[test]
fn every_edge_to_every_type() {
    let mut numbers = Numbers(9);
    for src in all_types() {
        for chunk in edges(src).chunks(32) {
            let row = std::array::from_fn(|i| chunk[i % chunk.len()]);
            for dst in all_types() {
                between(dst, src, &row, &mut numbers);
            }
        }
    }
}

#[test]
fn every_half_to_every_float() {
    for src in [Type::F16, Type::BF16] {
        for base in 0..0x10000 / 32 {
            let row = std::array::from_fn(|i| base * 32 + i as u64);
            for dst in [Type::F32, Type::F64] {
                let form = Form { dst, src, rnd: None, int_rnd: false, ftz: false, sat: false, relu: false };
                check(&form.op(), &crate::alu_support::shape(dst, &[src]), &[row], |x| {
                    (reference(form, x[0], crate::alu_support::width(dst)), None)
                });
            }
        }
    }
}

#[test]
fn registers_narrower_than_the_type_are_refused() {
    let form = Form {
        dst: Type::F32,
        src: Type::F64,
        rnd: Some(Rounding::Nearest),
        int_rnd: false,
        ftz: false,
        sat: false,
        relu: false,
    };
    let narrow = OperandShape {
        dst: Width::W32,
        dst2: None,
        src: [Some(Width::W32), None, None, None],
        negated: [false; 4],
    };
    assert!(select(&form.op(), &narrow, Isa::Portable).is_none());
    let bf16 = Form { dst: Type::BF16, src: Type::F32, ..form };
    assert!(select(&bf16.op(), &narrow, Isa::Portable).is_none(), "a .bf16 needs a register of its own size");
}
