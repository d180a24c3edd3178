//! Rarely used arithmetic, see [`crate::rare`].

use super::modifiers::Modifiers;
use crate::rare::{FloatOp, Fp8, PairOp, Rare, Video, VideoOp, VideoThen};
use crate::types::{Rounding, Type};

pub(super) fn decode(opcode: &str, m: &mut Modifiers<'_>) -> Option<Rare> {
    match opcode {
        "cvt" => cvt(m),
        "add" => match pair(m) {
            Some(signed) => Some(Rare::Pair { op: PairOp::Add, signed, relu: false }),
            None => floats(FloatOp::Add, m),
        },
        "sub" => floats(FloatOp::Sub, m),
        "mul" => floats(FloatOp::Mul, m),
        "fma" => floats(FloatOp::Fma, m),
        "min" | "max" => extreme(opcode == "max", m),
        "fns" => m.ty_in(&[Type::B32]).map(|_| Rare::Fns),
        "lop3" => {
            let combine = m.combine()?;
            m.ty_in(&[Type::B32]).map(|_| Rare::Lop3 { combine })
        }
        _ => video(opcode, m).map(Rare::Video),
    }
}

/// `.u16x2` or `.s16x2`: signed?
fn pair(m: &mut Modifiers<'_>) -> Option<bool> {
    m.one_of(&[("u16x2", false), ("s16x2", true)])
}

/// Pairs of floats, and sums of numbers of 16 bits and floats (ISA 9.7.3, 9.7.5).
fn floats(op: FloatOp, m: &mut Modifiers<'_>) -> Option<Rare> {
    let rounding = m.rounding().filter(|rnd| *rnd != Rounding::NearestAway);
    let rnd = if op == FloatOp::Fma { rounding? } else { rounding.unwrap_or(Rounding::Nearest) };
    let (ftz, sat) = (m.flag("ftz"), m.flag("sat"));
    if m.flag("f32x2") {
        return (!sat).then_some(Rare::FloatPair { op, rnd, ftz });
    }
    m.ty_in(&[Type::F32])?;
    let half = m.ty_in(&[Type::F16, Type::BF16])?;
    (op != FloatOp::Mul && !ftz).then_some(Rare::Mixed { op, half, rnd, sat })
}

fn extreme(max: bool, m: &mut Modifiers<'_>) -> Option<Rare> {
    let relu = m.flag("relu");
    if let Some(signed) = pair(m) {
        let op = if max { PairOp::Max } else { PairOp::Min };
        return (!relu || signed).then_some(Rare::Pair { op, signed, relu });
    }
    if relu {
        return m.ty_in(&[Type::S32]).map(|_| Rare::Relu { max });
    }
    let (ftz, nan) = (m.flag("ftz"), m.flag("NaN"));
    let ty = m.ty_in(&[Type::F32, Type::F16, Type::F16x2, Type::BF16, Type::BF16x2])?;
    let fits = m.flag("xorsign") && m.flag("abs") && !(ftz && matches!(ty, Type::BF16 | Type::BF16x2));
    fits.then_some(Rare::Xorsign { max, ty, ftz, nan })
}

fn cvt(m: &mut Modifiers<'_>) -> Option<Rare> {
    if m.flag("pack") {
        let sat = m.flag("sat");
        let dst = m.ty_in(&[Type::U16, Type::S16, Type::U8, Type::S8])?;
        m.ty_in(&[Type::S32])?;
        let narrow = dst.bytes() == 1;
        return (sat && (!narrow || m.ty_in(&[Type::B32]).is_some())).then_some(Rare::Pack { dst });
    }
    let rnd = m.rounding()?;
    let (relu, satfinite) = (m.flag("relu"), m.flag("satfinite"));
    if m.flag("tf32") {
        m.ty_in(&[Type::F32])?;
        let fits = match rnd {
            Rounding::NearestAway => !relu,
            Rounding::Nearest | Rounding::Zero => true,
            _ => false,
        };
        return fits.then_some(Rare::ToTf32 { rnd, relu, satfinite });
    }
    let fp8 = m.one_of(&[("e4m3x2", Fp8::E4m3), ("e5m2x2", Fp8::E5m2)])?;
    let ty = m.ty_in(&[Type::F32, Type::F16x2]).filter(|_| rnd == Rounding::Nearest)?;
    match (satfinite, ty) {
        (true, src) => Some(Rare::ToFp8 { fp8, src, relu }),
        (false, Type::F16x2) => Some(Rare::FromFp8 { fp8, relu }),
        _ => None,
    }
}

/// `.u32` or `.s32`: signed?
fn sign(m: &mut Modifiers<'_>) -> Option<bool> {
    m.one_of(&[("u32", false), ("s32", true)])
}

fn video(opcode: &str, m: &mut Modifiers<'_>) -> Option<Video> {
    let (name, lanes) = match opcode.strip_suffix('2').map(|name| (name, 2)) {
        Some(found) => found,
        None => opcode.strip_suffix('4').map_or((opcode, 1), |name| (name, 4)),
    };
    let op = match (name, lanes) {
        ("vadd", _) => VideoOp::Add,
        ("vsub", _) => VideoOp::Sub,
        ("vabsdiff", _) => VideoOp::AbsDiff,
        ("vmin", _) => VideoOp::Min,
        ("vmax", _) => VideoOp::Max,
        ("vavrg", 2 | 4) => VideoOp::Avrg,
        ("vshl", 1) => VideoOp::Shl,
        ("vshr", 1) => VideoOp::Shr,
        ("vmad", 1) => VideoOp::Mad,
        ("vset", _) => VideoOp::Set(m.compare()?.0),
        _ => return None,
    };
    let signed_result = if let VideoOp::Set(_) = op { false } else { sign(m)? };
    let signed = [sign(m)?, sign(m)?];
    let sat = m.flag("sat");
    let mut wrap = false;
    if let VideoOp::Shl | VideoOp::Shr = op {
        wrap = m.one_of(&[("clamp", false), ("wrap", true)])?;
    }
    let mad = op == VideoOp::Mad;
    let plus_one = mad && m.flag("po");
    let scale = if mad { m.one_of(&[("shr7", 7), ("shr15", 15)]).unwrap_or(0) } else { 0 };
    let seconds = [("add", VideoThen::Add), ("min", VideoThen::Min), ("max", VideoThen::Max)];
    let seconds = if lanes == 1 { &seconds[..] } else { &seconds[..1] };
    let then = if mad { None } else { m.one_of(seconds) };
    Some(Video { op, lanes, signed, signed_result, sat, wrap, plus_one, scale, then })
}
