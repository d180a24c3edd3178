//! From random bits to distributions (cuRAND's `curand_uniform.h` and `curand_normal.h` say how). No uniform number is 0, some
//! are 1. Normal ones come in pairs (Box and Muller, 1958).

use std::f64::consts::PI;

/// 2^-32, as far as single precision has it there.
const UNIT: f32 = 2.328_306_4e-10;
/// The same for angles.
const TURN: f32 = UNIT * 6.283_185_5;
/// 2^-53
const UNIT_DOUBLE: f64 = 1.0 / (1_u64 << 53) as f64;

/// A number of single precision.
pub fn uniform(bits: u32) -> f32 {
    bits as f32 * UNIT + UNIT / 2.0
}

/// 53 bits of two numbers.
fn wide(low: u32, high: u32) -> f64 {
    (u64::from(low) ^ (u64::from(high) << 21)) as f64
}

/// A number of double precision.
pub fn uniform_double(low: u32, high: u32) -> f64 {
    wide(low, high) * UNIT_DOUBLE + UNIT_DOUBLE / 2.0
}

/// Two normal numbers of single precision.
pub fn normal(x: u32, y: u32) -> [f32; 2] {
    let angle = y as f32 * TURN + TURN / 2.0;
    let length = (-2.0 * uniform(x).ln()).sqrt();
    [angle.sin() * length, angle.cos() * length]
}

/// Two of double precision.
pub fn normal_double([x_low, x_high, y_low, y_high]: [u32; 4]) -> [f64; 2] {
    let half_turns = wide(y_low, y_high) * (UNIT_DOUBLE * 2.0) + UNIT_DOUBLE;
    polar(uniform_double(x_low, x_high), half_turns)
}

/// Two normal numbers from a uniform one and an angle in half turns.
pub fn polar(uniform: f64, half_turns: f64) -> [f64; 2] {
    let (length, angle) = ((-2.0 * uniform.ln()).sqrt(), half_turns * PI);
    [angle.sin() * length, angle.cos() * length]
}
