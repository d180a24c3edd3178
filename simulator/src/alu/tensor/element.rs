//! Types of elements: what registers hold, and the numbers that are computed with.

use bugaroo_ptx::op::MatrixPart;

use super::registers::Registers;
use crate::alu::half::F16;

/// A type of elements.
pub trait Element {
    /// What is computed with. It holds each element exactly.
    type Number: Copy;
    /// The elements of a register's 32 lanes, in order of the lanes.
    type Row: AsRef<[Self::Number]> + AsMut<[Self::Number]>;
    /// Elements of a lane's register.
    const PER: usize;
    /// A row of zeros.
    const EMPTY: Self::Row;
    /// The elements of a register.
    fn widen(registers: &dyn Registers, part: MatrixPart, register: usize) -> Self::Row;
}

/// A type that D can have.
pub trait Sum: Element {
    /// Sets a register of D.
    fn narrow(registers: &mut dyn Registers, register: usize, row: &Self::Row);
}

/// Types of elements that share registers of 32 bits: name, number, how many of so many bits, and the number of one.
macro_rules! packed {
    ($($(#[$doc:meta])* $name:ident: $number:ty, $per:literal of $bits:literal, $widen:expr;)*) => {$(
        $(#[$doc])*
        pub struct $name;
        impl Element for $name {
            type Number = $number;
            type Row = [$number; 32 * $per];
            const PER: usize = $per;
            const EMPTY: Self::Row = [0 as $number; 32 * $per];
            #[inline(always)]
            fn widen(registers: &dyn Registers, part: MatrixPart, register: usize) -> Self::Row {
                let words = registers.words(part, register);
                let mut row = Self::EMPTY;
                for (row, word) in row.chunks_exact_mut($per).zip(words) {
                    for (e, to) in row.iter_mut().enumerate() {
                        let element: u32 = word >> (e as u32 * $bits) & (u32::MAX >> (32 - $bits));
                        *to = $widen(element);
                    }
                }
                row
            }
        }
    )*};
}

packed! {
    /// `.f16`
    Halves: f32, 2 of 16, |bits| F16(bits as u16).to_f32();
    /// `.bf16`
    BFloats: f32, 2 of 16, |bits: u32| f32::from_bits(bits << 16);
    /// `.tf32`, whose low bits do not count.
    Tf32: f32, 1 of 32, |bits: u32| f32::from_bits(bits & 0xffff_e000);
    /// `.f32`
    Floats: f32, 1 of 32, f32::from_bits;
    /// `.e4m3`, which has no infinities, and one NaN of either sign.
    E4m3: f32, 4 of 8, e4m3;
    /// `.e5m2`: the upper half of a binary16.
    E5m2: f32, 4 of 8, |bits| F16((bits as u16) << 8).to_f32();
    /// `.s8`
    SignedBytes: i32, 4 of 8, |bits| i32::from(bits as i8);
    /// `.u8`
    UnsignedBytes: i32, 4 of 8, |bits| bits as i32;
    /// `.s4`
    SignedNibbles: i32, 8 of 4, |bits| (bits as i32) << 28 >> 28;
    /// `.u4`
    UnsignedNibbles: i32, 8 of 4, |bits| bits as i32;
    /// `.b1`
    Bits: i32, 32 of 1, |bits| bits as i32;
    /// `.s32`
    Integers: i32, 1 of 32, |bits| bits as i32;
}

/// The number of an `.e4m3`: a binary16's bits but for an exponent that is 8 less.
#[inline(always)]
fn e4m3(bits: u32) -> f32 {
    let half = F16(((bits & 0x80) << 8 | (bits & 0x7f) << 7) as u16);
    if bits & 0x7f == 0x7f { f32::NAN } else { half.to_f32() * 256.0 }
}

impl Sum for Halves {
    #[inline(always)]
    fn narrow(registers: &mut dyn Registers, register: usize, row: &Self::Row) {
        let mut halves = [0u16; 64];
        halves.iter_mut().zip(row).for_each(|(half, value)| *half = F16::nearest(*value).0);
        let mut words = [0; 32];
        for (word, pair) in words.iter_mut().zip(halves.chunks_exact(2)) {
            *word = u32::from(pair[0]) | u32::from(pair[1]) << 16;
        }
        registers.set_words(register, &words);
    }
}

impl Sum for Floats {
    #[inline(always)]
    fn narrow(registers: &mut dyn Registers, register: usize, row: &Self::Row) {
        registers.set_words(register, &row.map(|sum| if sum.is_nan() { 0x7fff_ffff } else { sum.to_bits() }));
    }
}

impl Sum for Integers {
    #[inline(always)]
    fn narrow(registers: &mut dyn Registers, register: usize, row: &Self::Row) {
        registers.set_words(register, &row.map(|sum| sum as u32));
    }
}

/// `.f64`
pub struct Doubles;

impl Element for Doubles {
    type Number = f64;
    type Row = [f64; 32];
    const PER: usize = 1;
    const EMPTY: Self::Row = [0.0; 32];
    #[inline(always)]
    fn widen(registers: &dyn Registers, part: MatrixPart, register: usize) -> Self::Row {
        registers.doubles(part, register).map(f64::from_bits)
    }
}

impl Sum for Doubles {
    #[inline(always)]
    fn narrow(registers: &mut dyn Registers, register: usize, row: &Self::Row) {
        let nan = 0xfff8_0000_0000_0000;
        registers.set_doubles(register, &row.map(|sum| if sum.is_nan() { nan } else { sum.to_bits() }));
    }
}
