//! Integer and floating-point arithmetic, comparison, conversion (PTX ISA 9.7.1 to 9.7.7, and `cvt`).

use crate::op::{Op, Part, Precision, TestpKind};
use crate::types::{Compare, Rounding, Type};

use super::modifiers::Modifiers;

use Type::{B16, B32, B64, BF16, BF16x2, F16, F16x2, F32, F64, S16, S32, S64, U16, U32, U64};

const INTEGERS: [Type; 6] = [U16, U32, U64, S16, S32, S64];
const HALVES: [Type; 4] = [F16, F16x2, BF16, BF16x2];

fn is_integer(ty: Type) -> bool {
    INTEGERS.contains(&ty)
}

/// `.ftz` exists for f32 and the halves.
fn ftz_fits(ty: Type, ftz: bool) -> bool {
    !ftz || (ty.is_float() && ty != F64)
}

pub(super) fn decode(opcode: &str, m: &mut Modifiers<'_>) -> Option<Op> {
    match opcode {
        "add" | "addc" | "sub" | "subc" => sum(opcode, m),
        "mul" => mul(m),
        "mad" | "madc" => mad(opcode == "madc", m),
        "fma" => fma(m),
        "mul24" | "mad24" => {
            let hi = m.one_of(&[("lo", false), ("hi", true)])?;
            let sat = opcode == "mad24" && m.flag("sat");
            let ty = m.ty_in(&[U32, S32])?;
            Some(if opcode == "mul24" { Op::Mul24 { ty, hi } } else { Op::Mad24 { ty, hi, sat } })
                .filter(|_| !sat || (hi && ty == S32))
        }
        "div" => div(m),
        "rem" => Some(Op::Rem { ty: m.ty_in(&INTEGERS)? }),
        "sad" => Some(Op::Sad { ty: m.ty_in(&INTEGERS)? }),
        "abs" | "neg" => {
            let ftz = m.flag("ftz");
            let ty = m.ty().filter(|ty| ty.is_float() || ty.is_signed()).filter(|ty| *ty != Type::S8)?;
            let op = if opcode == "abs" { Op::Abs { ty, ftz } } else { Op::Neg { ty, ftz } };
            ftz_fits(ty, ftz).then_some(op)
        }
        "min" | "max" => {
            let (ftz, nan) = (m.flag("ftz"), m.flag("NaN"));
            let ty = m.ty().filter(|ty| ty.is_float() || is_integer(*ty))?;
            let op = if opcode == "min" { Op::Min { ty, ftz, nan } } else { Op::Max { ty, ftz, nan } };
            (ftz_fits(ty, ftz) && (!nan || (ty.is_float() && ty != F64))).then_some(op)
        }
        "rcp" | "sqrt" => {
            let precision = approximate_or_rounded(m)?;
            let ftz = m.flag("ftz");
            let ty = m.ty_in(&[F32, F64])?;
            // Of the approximations only `rcp.approx.ftz.f64` is for doubles.
            let fits = if ty == F32 {
                true
            } else if precision == Precision::Approx {
                opcode == "rcp" && ftz
            } else {
                !ftz
            };
            let op = if opcode == "rcp" {
                Op::Rcp { ty, precision, ftz }
            } else {
                Op::Sqrt { ty, precision, ftz }
            };
            fits.then_some(op)
        }
        "rsqrt" => {
            let (approx, ftz) = (m.flag("approx"), m.flag("ftz"));
            let ty = m.ty_in(&[F32, F64])?;
            approx.then_some(Op::Rsqrt { ty, ftz })
        }
        "sin" | "cos" | "lg2" => {
            let (approx, ftz) = (m.flag("approx"), m.flag("ftz"));
            m.ty_in(&[F32])?;
            approx.then_some(match opcode {
                "sin" => Op::Sin { ftz },
                "cos" => Op::Cos { ftz },
                _ => Op::Lg2 { ftz },
            })
        }
        "ex2" => {
            let (approx, ftz) = (m.flag("approx"), m.flag("ftz"));
            let ty = m.ty_in(&[F32, F16, F16x2, BF16, BF16x2])?;
            approx.then_some(Op::Ex2 { ty, ftz })
        }
        "tanh" => {
            let approx = m.flag("approx");
            let ty = m.ty_in(&[F32, F16, F16x2, BF16, BF16x2])?;
            approx.then_some(Op::Tanh { ty })
        }
        "copysign" => Some(Op::Copysign { ty: m.ty_in(&[F32, F64])? }),
        "testp" => {
            let kind = m.one_of(&[
                ("finite", TestpKind::Finite),
                ("infinite", TestpKind::Infinite),
                ("number", TestpKind::Number),
                ("notanumber", TestpKind::NotANumber),
                ("normal", TestpKind::Normal),
                ("subnormal", TestpKind::Subnormal),
            ])?;
            Some(Op::Testp { ty: m.ty_in(&[F32, F64])?, kind })
        }
        "setp" => {
            let (compare, unsigned) = m.compare()?;
            let combine = m.combine();
            let ftz = m.flag("ftz");
            let ty = m.ty()?;
            comparable(compare, unsigned, ty, ftz).then_some(Op::Setp { cmp: compare, ty, ftz, combine })
        }
        "set" => {
            let (compare, unsigned) = m.compare()?;
            let combine = m.combine();
            let ftz = m.flag("ftz");
            let dst = m.ty_in(&[U16, S16, U32, S32, F32, F16, F16x2, BF16, BF16x2])?;
            let ty = m.ty()?;
            let op = Op::Set { cmp: compare, dst, ty, ftz, combine };
            comparable(compare, unsigned, ty, ftz).then_some(op)
        }
        "selp" => Some(Op::Selp { ty: m.ty_in(&[B16, B32, B64, U16, U32, U64, S16, S32, S64, F32, F64])? }),
        "slct" => {
            let ftz = m.flag("ftz");
            let ty = m.ty_in(&[B16, B32, B64, U16, U32, U64, S16, S32, S64, F32, F64])?;
            let selector = m.ty_in(&[S32, F32])?;
            (!ftz || selector == F32).then_some(Op::Slct { ty, selector, ftz })
        }
        "cvt" => cvt(m),
        _ => None,
    }
}

fn sum(opcode: &str, m: &mut Modifiers<'_>) -> Option<Op> {
    let carry_in = opcode.ends_with('c');
    let carry_out = m.flag("cc");
    let rounding = m.rounding();
    let (ftz, sat) = (m.flag("ftz"), m.flag("sat"));
    let ty = m.ty().filter(|ty| is_integer(*ty) || ty.is_float())?;
    let carry = carry_in || carry_out;
    let fits = (!carry || matches!(ty, U32 | S32 | U64 | S64))
        && (rounding.is_none() || ty.is_float())
        && ftz_fits(ty, ftz)
        && (!sat || (!carry && (ty == S32 || (ty.is_float() && ty != F64))));
    let rnd = rounding.unwrap_or(Rounding::Nearest);
    let op = if opcode.starts_with("add") {
        Op::Add { ty, rnd, ftz, sat, carry_in, carry_out }
    } else {
        Op::Sub { ty, rnd, ftz, sat, carry_in, carry_out }
    };
    fits.then_some(op)
}

fn part(m: &mut Modifiers<'_>) -> Option<Part> {
    m.one_of(&[("lo", Part::Lo), ("hi", Part::Hi), ("wide", Part::Wide)])
}

/// The wide product of two 64-bit numbers does not exist.
fn part_fits(part: Part, ty: Type) -> bool {
    part != Part::Wide || ty.bits() < 64
}

fn mul(m: &mut Modifiers<'_>) -> Option<Op> {
    let part = part(m);
    let rounding = m.rounding();
    let (ftz, sat) = (m.flag("ftz"), m.flag("sat"));
    let ty = m.ty()?;
    let fits = match part {
        Some(part) => is_integer(ty) && part_fits(part, ty) && rounding.is_none() && !ftz && !sat,
        None => ty.is_float() && ftz_fits(ty, ftz) && (!sat || ty != F64),
    };
    fits.then_some(Op::Mul { ty, part, rnd: rounding.unwrap_or(Rounding::Nearest), ftz, sat })
}

fn mad(carry_in: bool, m: &mut Modifiers<'_>) -> Option<Op> {
    let Some(part) = part(m) else {
        if carry_in {
            return None;
        }
        // Floating point; on everything that still exists it rounds once.
        let mut rounded = m.clone();
        if let Some(op) = fma(&mut rounded).filter(|op| matches!(op, Op::Fma { ty: F32 | F64, .. })) {
            *m = rounded;
            return Some(op);
        }
        // Without a rounding it is of sm_1x, and later devices take it for `fma.rn.ftz` (PTX ISA, `mad` of floating point).
        let sat = m.flag("sat");
        m.ty_in(&[F32])?;
        return Some(Op::Fma { ty: F32, rnd: Rounding::Nearest, ftz: true, sat, relu: false });
    };
    let (carry_out, sat) = (m.flag("cc"), m.flag("sat"));
    let ty = m.ty_in(&INTEGERS)?;
    let carry = carry_in || carry_out;
    let fits = part_fits(part, ty)
        && (!sat || (part == Part::Hi && ty == S32 && !carry))
        && (!carry || (part != Part::Wide && ty.bits() >= 32));
    fits.then_some(Op::Mad { ty, part, sat, carry_in, carry_out })
}

fn fma(m: &mut Modifiers<'_>) -> Option<Op> {
    let rnd = m.rounding().filter(|rnd| *rnd != Rounding::NearestAway)?;
    let (ftz, sat, relu) = (m.flag("ftz"), m.flag("sat"), m.flag("relu"));
    let ty = m.ty().filter(|ty| ty.is_float())?;
    let half = HALVES.contains(&ty);
    let fits = ftz_fits(ty, ftz)
        && (!sat || ty != F64)
        && (!relu || (half && !sat))
        && (!half || rnd == Rounding::Nearest);
    fits.then_some(Op::Fma { ty, rnd, ftz, sat, relu })
}

fn approximate_or_rounded(m: &mut Modifiers<'_>) -> Option<Precision> {
    if m.flag("approx") { Some(Precision::Approx) } else { m.rounding().map(Precision::Rounded) }
}

fn div(m: &mut Modifiers<'_>) -> Option<Op> {
    let precision = if m.flag("full") { Some(Precision::Full) } else { approximate_or_rounded(m) };
    let ftz = m.flag("ftz");
    let ty = m.ty()?;
    let precision = match precision {
        None if is_integer(ty) && !ftz => Precision::Integer,
        Some(precision) if ty == F32 => precision,
        Some(Precision::Rounded(rnd)) if ty == F64 && !ftz => Precision::Rounded(rnd),
        _ => return None,
    };
    Some(Op::Div { ty, precision, ftz })
}

/// Whether the type has this comparison.
fn comparable(compare: Compare, unsigned: bool, ty: Type, ftz: bool) -> bool {
    use Compare as C;
    let kind_fits = match compare {
        C::Eq | C::Ne => true,
        C::Lt | C::Le | C::Gt | C::Ge => !matches!(ty, B16 | B32 | B64),
        _ => ty.is_float(),
    };
    let known = is_integer(ty) || ty.is_float() || matches!(ty, B16 | B32 | B64);
    known && kind_fits && ftz_fits(ty, ftz) && (!unsigned || matches!(ty, U16 | U32 | U64))
}

fn cvt(m: &mut Modifiers<'_>) -> Option<Op> {
    let integer_rounding = m.integer_rounding();
    let rounding = m.rounding();
    let (ftz, sat, relu) = (m.flag("ftz"), m.flag("sat"), m.flag("relu"));
    let dst = m.ty()?;
    let src = m.ty()?;
    let known = |ty: Type| is_integer(ty) || ty.is_float() || matches!(ty, Type::U8 | Type::S8);
    let packed = |ty| matches!(ty, F16x2 | BF16x2);
    let fits = known(dst)
        && known(src)
        && !packed(src)
        && (!packed(dst) || src == F32)
        && !(integer_rounding.is_some() && rounding.is_some())
        && (integer_rounding.is_none() || src.is_float())
        // Into an integer only the integral roundings; between floats of one size too.
        && (rounding.is_none() || dst.is_float())
        && (!ftz || dst == F32 || src == F32)
        && (!relu || HALVES.contains(&dst));
    let op = Op::Cvt {
        dst,
        src,
        rnd: integer_rounding.or(rounding),
        int_rnd: integer_rounding.is_some(),
        ftz,
        sat,
        relu,
    };
    fits.then_some(op)
}
