//! The 16-bit formats and their packed pairs (PTX ISA 5.2.3 and 5.2.5).

use core::marker::PhantomData;

use super::row::{Inputs, LaneOp, LaneValue};

/// The bits of an `.f16`.
#[derive(Clone, Copy)]
pub struct F16(pub u16);

/// The bits of a `.bf16`.
#[derive(Clone, Copy)]
pub struct Bf16(pub u16);

impl F16 {
    /// The same number.
    #[inline(always)]
    pub fn to_f32(self) -> f32 {
        let magnitude = u32::from(self.0 & 0x7fff) << 13;
        // The exponent's bias differs by 112; multiplication sets subnormals right too.
        let number = (f32::from_bits(magnitude) * f32::from_bits((127 + 112) << 23)).to_bits();
        let unsigned = if magnitude >= 0x7c00 << 13 { magnitude | 0x7f80_0000 } else { number };
        f32::from_bits(unsigned | u32::from(self.0 & 0x8000) << 16)
    }

    /// The nearest one, ties to even; NaN becomes the canonical one. There are no branches, so that loops over a row become
    /// vectors.
    #[inline(always)]
    pub fn nearest(value: f32) -> F16 {
        let bits = value.to_bits();
        let magnitude = bits & 0x7fff_ffff;
        let normal = without(magnitude.wrapping_sub(112 << 23), 13);
        // Subnormal: adding 0.5 puts the unit of 2^-24 at the last bit of binary32, correctly rounded.
        let subnormal = (f32::from_bits(magnitude) + 0.5).to_bits().wrapping_sub(0x3f00_0000);
        // From 65520 on everything rounds to infinity.
        let finite = if magnitude >= 0x3880_0000 { normal } else { subnormal };
        let number = if magnitude >= 0x477f_f000 { 0x7c00 } else { finite };
        let signed = bits >> 16 & 0x8000 | number & 0x7fff;
        F16(if magnitude > 0x7f80_0000 { 0x7fff } else { signed as u16 })
    }
}

impl Bf16 {
    /// The same number.
    #[inline(always)]
    pub fn to_f32(self) -> f32 {
        f32::from_bits(u32::from(self.0) << 16)
    }
}

/// `value` without its last `drop` bits, to nearest, ties to even.
#[inline(always)]
pub fn without(value: u32, drop: u32) -> u32 {
    let half = (1 << (drop - 1)) - 1 + (value >> drop & 1);
    value.wrapping_add(half) >> drop
}

macro_rules! sixteen_bits {
    ($($t:ident),*) => {$(
        impl LaneValue for $t {
            type Word = u16;
            #[inline(always)]
            fn from_word(word: u16) -> Self {
                $t(word)
            }
            #[inline(always)]
            fn to_word(self) -> u16 {
                self.0
            }
        }
    )*};
}
sixteen_bits!(F16, Bf16);

/// `O` on both halves of a 32-bit lane.
pub struct Packed<O>(PhantomData<O>);

/// The sources of a packed operation.
pub trait Halves: Inputs {
    /// The same number of 32-bit lanes.
    type Pairs: Inputs;
    /// The lower halves.
    fn low(pairs: Self::Pairs) -> Self;
    /// The upper halves.
    fn high(pairs: Self::Pairs) -> Self;
}

macro_rules! halves {
    ($($half:ident $pair:ty, $index:tt);*) => {
        impl<H: LaneValue<Word = u16>> Halves for ($($half,)*) {
            type Pairs = ($($pair,)*);
            #[inline(always)]
            fn low(pairs: Self::Pairs) -> Self {
                ($($half::from_word(pairs.$index as u16),)*)
            }
            #[inline(always)]
            fn high(pairs: Self::Pairs) -> Self {
                ($($half::from_word((pairs.$index >> 16) as u16),)*)
            }
        }
    };
}
halves!(H u32, 0);
halves!(H u32, 0; H u32, 1);
halves!(H u32, 0; H u32, 1; H u32, 2);

impl<O: LaneOp<In: Halves, Out: LaneValue<Word = u16>>> LaneOp for Packed<O> {
    type In = <O::In as Halves>::Pairs;
    type Out = u32;
    #[inline(always)]
    fn apply(pairs: Self::In) -> u32 {
        let low = O::apply(O::In::low(pairs)).to_word();
        let high = O::apply(O::In::high(pairs)).to_word();
        u32::from(low) | u32::from(high) << 16
    }
}
