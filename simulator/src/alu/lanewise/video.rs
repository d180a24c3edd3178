//! Video instructions (PTX ISA 9.7.18 and 9.7.19), by their pseudo-code there.

use bugaroo_ptx::rare::{Video, VideoOp, VideoThen};
use bugaroo_ptx::types::Compare;

use super::clamp;

/// The parts of an operand that an instruction names behind it (`.b0`, `.h10`, `.b7654`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selector {
    /// Bytes, not halves.
    pub bytes: bool,
    /// The parts' numbers, lowest place first.
    pub parts: [u8; 4],
    /// How many there are.
    pub count: u8,
}

impl Selector {
    /// Reads one, without its dot.
    pub fn parse(text: &str) -> Option<Selector> {
        let (kind, digits) = text.split_at_checked(1)?;
        let bytes = match kind {
            "b" => true,
            "h" => false,
            _ => return None,
        };
        let mut parts = [0; 4];
        let count = digits.len();
        if !(1..=4).contains(&count) || !digits.bytes().all(|digit| (b'0'..=b'7').contains(&digit)) {
            return None;
        }
        for (part, digit) in parts.iter_mut().zip(digits.bytes().rev()) {
            *part = digit - b'0';
        }
        Some(Selector { bytes, parts, count: count as u8 })
    }

    fn bits(self) -> u32 {
        if self.bytes { 8 } else { 16 }
    }
}

/// `size` bits from bit `at` on, extended.
fn extract(pair: u64, at: u32, size: u32, signed: bool) -> i64 {
    let top = pair << (64 - size - at);
    if signed { top.cast_signed() >> (64 - size) } else { (top >> (64 - size)).cast_signed() }
}

fn compare(compare: Compare, a: i64, b: i64) -> bool {
    match compare {
        Compare::Eq => a == b,
        Compare::Ne => a != b,
        Compare::Lt => a < b,
        Compare::Le => a <= b,
        Compare::Gt => a > b,
        _ => a >= b,
    }
}

fn operate(op: VideoOp, a: i64, b: i64) -> i64 {
    match op {
        VideoOp::Add => a + b,
        VideoOp::Sub => a - b,
        VideoOp::AbsDiff => (a - b).abs(),
        VideoOp::Min => a.min(b),
        VideoOp::Max => a.max(b),
        VideoOp::Avrg => (a + b + i64::from(a + b >= 0)) >> 1,
        VideoOp::Set(cmp) => i64::from(compare(cmp, a, b)),
        VideoOp::Shl => a << b,
        VideoOp::Shr => a >> b,
        VideoOp::Mad => a * b,
    }
}

/// Computes one.
pub fn video(video: &Video, selectors: &[Option<Selector>; 3], source: [u32; 3]) -> u32 {
    if video.lanes == 1 { scalar(video, selectors, source) } else { simd(video, selectors, source) }
}

fn scalar(video: &Video, selectors: &[Option<Selector>; 3], [a, b, c]: [u32; 3]) -> u32 {
    let part = |value: u32, selector: Option<Selector>, signed: bool| match selector {
        None => extract(u64::from(value), 0, 32, signed),
        Some(selector) => {
            let bits = selector.bits();
            extract(u64::from(value), u32::from(selector.parts[0]) * bits % 32, bits, signed)
        }
    };
    let x = part(a, selectors[1], video.signed[0]);
    let mut y = part(b, selectors[2], video.signed[1]);
    if let VideoOp::Shl | VideoOp::Shr = video.op {
        y = if video.wrap { y & 31 } else { y.clamp(0, 32) };
    }
    if video.op == VideoOp::Mad {
        let signed = video.signed[0] || video.signed[1];
        let addend = if signed { i128::from(c as i32) } else { i128::from(c) };
        let sum = i128::from(x) * i128::from(y) + addend + i128::from(video.plus_one);
        let shifted = sum >> video.scale;
        let (least, most) = match signed {
            true => (i128::from(i32::MIN), i128::from(i32::MAX)),
            false => (0, i128::from(u32::MAX)),
        };
        return if video.sat { shifted.clamp(least, most) as u32 } else { shifted as u32 };
    }
    let mut value = operate(video.op, x, y);
    let merged = selectors[0];
    let bits = merged.map_or(32, Selector::bits);
    if video.sat {
        value = clamp(value, bits, video.signed_result);
    }
    let value = value as u32;
    if let Some(selector) = merged {
        let at = u32::from(selector.parts[0]) * bits % 32;
        let mask = ((1 << bits) - 1) << at;
        return c & !mask | value << at & mask;
    }
    match video.then {
        None => value,
        Some(VideoThen::Add) => value.wrapping_add(c),
        Some(VideoThen::Min) if video.signed_result => (value as i32).min(c as i32) as u32,
        Some(VideoThen::Max) if video.signed_result => (value as i32).max(c as i32) as u32,
        Some(VideoThen::Min) => value.min(c),
        Some(VideoThen::Max) => value.max(c),
    }
}

fn simd(video: &Video, selectors: &[Option<Selector>; 3], [a, b, c]: [u32; 3]) -> u32 {
    let bits = 32 / u32::from(video.lanes);
    let pair = u64::from(b) << 32 | u64::from(a);
    let from = |selector: Option<Selector>, lane: u8, first: u8| {
        u32::from(selector.map_or(first + lane, |selector| selector.parts[usize::from(lane)]))
    };
    let (mut result, mut sum) = (c, c);
    for lane in 0..video.lanes {
        let chosen = selectors[0].is_none_or(|mask| mask.parts[..usize::from(mask.count)].contains(&lane));
        if !chosen {
            continue;
        }
        let x = extract(pair, from(selectors[1], lane, 0) * bits, bits, video.signed[0]);
        let y = extract(pair, from(selectors[2], lane, video.lanes) * bits, bits, video.signed[1]);
        let mut value = operate(video.op, x, y);
        if video.sat {
            value = clamp(value, bits, video.signed_result);
        }
        sum = sum.wrapping_add(value as u32);
        let (at, ones) = (u32::from(lane) * bits, (1 << bits) - 1);
        result = result & !(ones << at) | (value as u32 & ones) << at;
    }
    if video.then.is_some() { sum } else { result }
}
