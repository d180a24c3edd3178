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

/// The number that a standard normal one is less than with this probability, from 0 to 1 (M. J. Wichura, "Algorithm AS 241: the percentage
/// points of the normal distribution", 1988, PPND16: 16 digits).
pub fn normal_quantile(probability: f64) -> f64 {
    /// A quotient of polynomials, highest powers first.
    fn quotient(x: f64, above: [f64; 8], below: [f64; 8]) -> f64 {
        let of = |all: [f64; 8]| all.into_iter().fold(0.0, |sum, factor| sum * x + factor);
        of(above) / of(below)
    }
    let from_middle = probability - 0.5;
    if from_middle.abs() <= 0.425 {
        let x = 0.180625 - from_middle * from_middle;
        return from_middle * quotient(x, MIDDLE[0], MIDDLE[1]);
    }
    let outside = if from_middle < 0.0 { probability } else { 1.0 - probability };
    let x = (-outside.ln()).sqrt();
    let found = match x <= 5.0 {
        true => quotient(x - 1.6, SIDE[0], SIDE[1]),
        false => quotient(x - 5.0, TAIL[0], TAIL[1]),
    };
    found.copysign(from_middle)
}

/// Wichura's a and b.
#[expect(clippy::excessive_precision, reason = "the digits are the paper's")]
const MIDDLE: [[f64; 8]; 2] = [
    [
        2.509_080_928_730_122_672_7e3,
        3.343_057_558_358_812_810_5e4,
        6.726_577_092_700_870_085_3e4,
        4.592_195_393_154_987_145_7e4,
        1.373_169_376_550_946_112_5e4,
        1.971_590_950_306_551_442_7e3,
        1.331_416_678_917_843_774_5e2,
        3.387_132_872_796_366_608_0,
    ],
    [
        5.226_495_278_852_854_561_0e3,
        2.872_908_573_572_194_267_4e4,
        3.930_789_580_009_271_061_0e4,
        2.121_379_430_158_659_596_7e4,
        5.394_196_021_424_751_107_7e3,
        6.871_870_074_920_579_083_0e2,
        4.231_333_070_160_091_125_2e1,
        1.0,
    ],
];
/// Wichura's c and d.
#[expect(clippy::excessive_precision, reason = "the digits are the paper's")]
const SIDE: [[f64; 8]; 2] = [
    [
        7.745_450_142_783_414_076_4e-4,
        2.272_384_498_926_918_458_5e-2,
        2.417_807_251_774_506_117_7e-1,
        1.270_458_252_452_368_382_58,
        3.647_848_324_763_204_605_04,
        5.769_497_221_460_691_405_5,
        4.630_337_846_156_545_295_9,
        1.423_437_110_749_683_577_34,
    ],
    [
        1.050_750_071_644_416_843_24e-9,
        5.475_938_084_995_344_946_0e-4,
        1.519_866_656_361_645_719_66e-2,
        1.481_039_764_274_800_745_9e-1,
        6.897_673_349_851_000_045_50e-1,
        1.676_384_830_183_803_849_4,
        2.053_191_626_637_758_821_87,
        1.0,
    ],
];
/// Wichura's e and f.
#[expect(clippy::excessive_precision, reason = "the digits are the paper's")]
const TAIL: [[f64; 8]; 2] = [
    [
        2.010_334_399_292_288_132_65e-7,
        2.711_555_568_743_487_578_15e-5,
        1.242_660_947_388_078_438_60e-3,
        2.653_218_952_657_612_309_30e-2,
        2.965_605_718_285_048_912_30e-1,
        1.784_826_539_917_291_335_80,
        5.463_784_911_164_114_369_90,
        6.657_904_643_501_103_777_20,
    ],
    [
        2.044_263_103_389_939_785_64e-15,
        1.421_511_758_316_445_888_70e-7,
        1.846_318_317_510_054_681_80e-5,
        7.868_691_311_456_132_591_00e-4,
        1.487_536_129_085_061_485_25e-2,
        1.369_298_809_227_358_053_10e-1,
        5.998_322_065_558_879_376_90e-1,
        1.0,
    ],
];
