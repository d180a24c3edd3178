//! Matrices: `ldmatrix`, `stmatrix`, `movmatrix`, `mma`, `wmma` (PTX ISA, "Warp Level Matrix Instructions"), `wgmma` ("Asynchronous
//! Warpgroup Level Matrix Instructions"). Sparse multiplication and what came after compute capability 9.0 are not known.

use crate::op::{BitOp, MatrixPart, MatrixShape, MatrixType, Mma, Op, Wgmma, WmmaMatrix};
use crate::types::{Space, Type};

use super::modifiers::Modifiers;

use MatrixType::{B1, BF16, E4M3, E5M2, F16, F32, F64, S4, S8, S32, TF32, U4, U8};

pub(super) fn decode(opcode: &str, m: &mut Modifiers<'_>) -> Option<Op> {
    if opcode == "wgmma" {
        return warpgroup(m);
    }
    if !matches!(opcode, "ldmatrix" | "stmatrix" | "movmatrix" | "mma" | "wmma") {
        return None;
    }
    let kind = match opcode {
        "wmma" => m.one_of(&[("load", "load"), ("store", "store"), ("mma", "mma")])?,
        other => other,
    };
    // `wmma.mma` of bits says how before it says `.sync`.
    let bits = m.one_of(&[("xor", BitOp::Xor), ("and", BitOp::And)]);
    let counts = m.flag("popc");
    if !(m.flag("sync") && m.flag("aligned")) || bits.is_some() != counts {
        return None;
    }
    match (opcode, kind) {
        ("movmatrix", _) => {
            let fits = m.flag("m8n8") && m.flag("trans");
            m.ty_in(&[Type::B16])?;
            fits.then_some(Op::Movmatrix)
        }
        ("ldmatrix" | "stmatrix", _) => {
            let square = m.flag("m8n8");
            let count = m.one_of(&[("x1", 1), ("x2", 2), ("x4", 4)])?;
            let trans = m.flag("trans");
            let space = m.space();
            m.ty_in(&[Type::B16])?;
            let fits = square && matches!(space, Space::Generic | Space::Shared);
            fits.then_some(if opcode == "ldmatrix" {
                Op::Ldmatrix { space, count, trans }
            } else {
                Op::Stmatrix { space, count, trans }
            })
        }
        (_, "load" | "store") => move_matrix(kind == "load", m),
        _ => multiply(opcode == "wmma", bits, m),
    }
}

fn ty(m: &mut Modifiers<'_>) -> Option<MatrixType> {
    m.one_of(&[
        ("f16", F16),
        ("bf16", BF16),
        ("tf32", TF32),
        ("f32", F32),
        ("f64", F64),
        ("s4", S4),
        ("u4", U4),
        ("s8", S8),
        ("u8", U8),
        ("s32", S32),
        ("b1", B1),
        ("e4m3", E4M3),
        ("e5m2", E5M2),
    ])
}

/// `.mMnNkK`
fn shape(m: &mut Modifiers<'_>) -> Option<MatrixShape> {
    m.take(|word| {
        let (rows, rest) = word.strip_prefix('m')?.split_once('n')?;
        let (columns, depth) = rest.split_once('k')?;
        let number = |text: &str| text.parse::<u16>().ok().filter(|n| *n <= 256);
        let k = number(depth)?;
        // 256 is a depth of bits only; it is kept as 0.
        Some(MatrixShape { m: number(rows)? as u8, n: number(columns)? as u8, k: k as u8 })
    })
}

/// Row-major?
fn layout(m: &mut Modifiers<'_>) -> Option<bool> {
    m.one_of(&[("row", true), ("col", false)])
}

fn move_matrix(load: bool, m: &mut Modifiers<'_>) -> Option<Op> {
    let part =
        m.one_of(&[("a", MatrixPart::A), ("b", MatrixPart::B), ("c", MatrixPart::C), ("d", MatrixPart::C)])?;
    let row = layout(m)?;
    let shape = shape(m)?;
    let space = m.space();
    let ty = ty(m)?;
    let matrix = WmmaMatrix { shape, row, space, ty };
    let input = part != MatrixPart::C;
    let type_fits = wmma_depth(shape, ty, input);
    let fits = type_fits && matches!(space, Space::Generic | Space::Global | Space::Shared);
    fits.then_some(if load { Op::WmmaLoad { part, matrix } } else { Op::WmmaStore { matrix } })
        .filter(|_| load || part == MatrixPart::C)
}

/// Whether `wmma` has this shape for inputs, or accumulators, of this type.
fn wmma_depth(shape: MatrixShape, ty: MatrixType, input: bool) -> bool {
    let MatrixShape { m, n, k } = shape;
    let large = matches!((m, n, k), (16, 16, 16) | (32, 8, 16) | (8, 32, 16));
    match (ty, input) {
        (F16 | BF16 | S8 | U8, true) | (F16, false) => large,
        (TF32, true) => (m, n, k) == (16, 16, 8),
        (F32, false) => large || (m, n, k) == (16, 16, 8),
        (F64, _) => (m, n, k) == (8, 8, 4),
        (S4 | U4, true) => (m, n, k) == (8, 8, 32),
        (B1, true) => (m, n, k) == (8, 8, 128),
        (S32, false) => large || matches!((m, n, k), (8, 8, 32 | 128)),
        _ => false,
    }
}

fn multiply(wmma: bool, bits: Option<BitOp>, m: &mut Modifiers<'_>) -> Option<Op> {
    let shape = shape(m)?;
    let (a_row, b_row) = (layout(m)?, layout(m)?);
    let satfinite = m.flag("satfinite");
    m.flag("kind::f8f6f4");
    if m.flag("rn") && !m.has("f64") {
        return None;
    }
    let d = ty(m)?;
    let second = ty(m)?;
    let (a, b, c) = match ty(m) {
        // Of halves `wmma` names the accumulators only.
        None if wmma => (F16, F16, second),
        None => return None,
        Some(third) => (second, third, ty(m)?),
    };
    let fits = if wmma {
        wmma_depth(shape, a, true) && wmma_depth(shape, d, false) && wmma_depth(shape, c, false)
    } else {
        mma_fits(shape, a, a_row, b_row)
    };
    let kinds = match a {
        F16 | E4M3 | E5M2 => matches!(d, F16 | F32) && matches!(c, F16 | F32),
        BF16 | TF32 => d == F32 && c == F32,
        F64 => d == F64 && c == F64,
        _ => d == S32 && c == S32,
    };
    let family = |ty: MatrixType| match ty {
        S8 | U8 => S8,
        S4 | U4 => S4,
        E4M3 | E5M2 => E4M3,
        other => other,
    };
    let integer = matches!(a, S8 | U8 | S4 | U4);
    // Of quads, an accumulator of 16 bits does not become one of 32 nor the other way round.
    let quads = !wmma && a == F16 && (shape.m, shape.k) == (8, 4);
    let good = fits
        && kinds
        && (!quads || d == c || d == F32)
        && family(a) == family(b)
        && (a == B1) == bits.is_some()
        && (!satfinite || integer || (wmma && a == F16));
    good.then_some(Op::Mma(Mma { wmma, shape, a_row, b_row, a, b, c, d, satfinite, bits }))
}

/// Whether `mma.sync` has this shape for these inputs.
fn mma_fits(shape: MatrixShape, a: MatrixType, a_row: bool, b_row: bool) -> bool {
    let shape = (shape.m, shape.n, shape.k);
    let usual = a_row && !b_row;
    match a {
        F16 if shape == (8, 8, 4) => true,
        F16 | BF16 => usual && matches!(shape, (16, 8, 8 | 16)),
        TF32 => usual && matches!(shape, (16, 8, 4 | 8)),
        F64 => usual && matches!(shape, (8, 8, 4) | (16, 8, 4 | 8 | 16)),
        S8 | U8 => usual && matches!(shape, (8, 8, 16) | (16, 8, 16 | 32)),
        S4 | U4 => usual && matches!(shape, (8, 8, 32) | (16, 8, 32 | 64)),
        B1 => usual && matches!(shape, (8, 8, 128) | (16, 8, 128 | 0)),
        E4M3 | E5M2 => usual && matches!(shape, (16, 8, 16 | 32)),
        F32 | S32 => false,
    }
}

/// `wgmma`
fn warpgroup(m: &mut Modifiers<'_>) -> Option<Op> {
    let what = m.one_of(&[
        ("fence", "fence"),
        ("commit_group", "commit"),
        ("wait_group", "wait"),
        ("mma_async", "multiply"),
    ])?;
    if !(m.flag("sync") && m.flag("aligned")) {
        return None;
    }
    match what {
        "fence" => return Some(Op::WgmmaFence),
        "commit" => return Some(Op::WgmmaCommit),
        "wait" => return Some(Op::WgmmaWait),
        _ => {}
    }
    let (n, k) = m.take(|word| {
        let (n, k) = word.strip_prefix("m64n")?.split_once('k')?;
        Some((n.parse::<u16>().ok()?, k.parse::<u32>().ok()?))
    })?;
    let (d, a, b) = (ty(m)?, ty(m)?, ty(m)?);
    let satfinite = m.flag("satfinite");
    let bits = m.flag("and") && m.flag("popc");
    let wgmma = Wgmma { n, d, a, b, satfinite };
    let accumulates = match a {
        F16 => matches!(d, F16 | F32),
        BF16 | TF32 => d == F32,
        E4M3 | E5M2 => matches!(d, F16 | F32),
        S8 | U8 | B1 => d == S32,
        _ => false,
    };
    let alike = a == b || matches!((a, b), (E4M3 | E5M2, E4M3 | E5M2) | (S8 | U8, S8 | U8));
    let fits = (8..=256).contains(&n) && n.is_multiple_of(8) && k == wgmma.depth() && bits == (a == B1);
    let saturates = !satfinite || matches!(a, S8 | U8);
    (fits && accumulates && alike && saturates).then_some(Op::Wgmma(wgmma))
}
