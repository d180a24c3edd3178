//! Products of matrices whose elements a warp's lanes hold (PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions").
//!
//! Products are exact, and sums are taken one by one in order of `k`, beginning with the element of C: in binary32 for
//! accumulators of 16 and 32 bits (rounded once at the end where the result has 16), in binary64 with fused products for
//! `.f64`, exactly for integers. The ISA leaves order and rounding of the sums open; hardware has other last bits.
//!
//! What does not change is found once, when the instruction is loaded: [`Side`] says where each register's elements belong.
//! Then the operands are widened a register at a time ([`element`]), and D is summed up a row at a time ([`sums`]): the
//! sums of neighbours do not depend on each other, so they share vectors.

mod element;
pub mod places;
mod quads;
mod side;
mod sums;
#[cfg(test)]
mod tests;

use bugaroo_ptx::op::{BitOp, MatrixPart, MatrixType, Mma};

use super::Isa;
use element::{
    BFloats, Bits, Doubles, E4m3, E5m2, Element, Floats, Halves, Integers, SignedBytes, SignedNibbles, Tf32,
    UnsignedBytes, UnsignedNibbles,
};
use side::Side;
use sums::{And, Fused, Product, Rounded, Whole, Xor};

/// The registers of a multiplication's operands, as rows of 32 lanes. Lanes that do not take part have zeros.
pub trait Registers {
    /// A register of A, B or C of 32 bits.
    fn words(&self, part: MatrixPart, register: usize) -> [u32; 32];
    /// One of 64 bits.
    fn doubles(&self, part: MatrixPart, register: usize) -> [u64; 32];
    /// Sets a register of D of 32 bits.
    fn set_words(&mut self, register: usize, row: &[u32; 32]);
    /// Sets one of 64 bits.
    fn set_doubles(&mut self, register: usize, row: &[u64; 32]);
}

/// A multiplication that is ready to be done again and again.
#[derive(Clone, Debug)]
pub struct Tensor {
    mma: Mma,
    isa: Isa,
    /// Products at once, one behind the other in each array of elements.
    products: usize,
    a: Side,
    b: Side,
    c: Side,
    d: Side,
}

impl Tensor {
    /// Lays the operands out.
    pub fn new(mma: &Mma, isa: Isa) -> Tensor {
        let [a, b, c, d] = mma.registers();
        Tensor {
            mma: *mma,
            isa,
            products: if mma.of_quads() { quads::PRODUCTS } else { 1 },
            a: Side::source(mma, MatrixPart::A, mma.a, a),
            b: Side::source(mma, MatrixPart::B, mma.b, b),
            c: Side::source(mma, MatrixPart::C, mma.c, c),
            d: Side::destination(mma, mma.d, d),
        }
    }

    /// What is multiplied.
    pub fn mma(&self) -> &Mma {
        &self.mma
    }

    /// Does it.
    pub fn multiply(&self, registers: &mut impl Registers) {
        match self.isa {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: who chose this `Isa` has found that the processor has it.
            Isa::V3 => unsafe { self.multiply_v3(registers) },
            _ => self.by_type(registers),
        }
    }

    /// # Safety
    /// The processor has x86-64-v3.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx,avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
    unsafe fn multiply_v3(&self, registers: &mut impl Registers) {
        self.by_type(registers);
    }

    /// The number is room for the elements of A or B.
    #[inline(always)]
    fn by_type(&self, registers: &mut impl Registers) {
        use MatrixType::{B1, BF16, E4M3, E5M2, F16, F32, F64, S4, S8, S32, TF32, U4, U8};
        let small = self.a.elements().max(self.b.elements()) <= 256;
        match (self.mma.a, self.mma.b) {
            (F16, _) if small => self.floats::<Halves, Halves, 256>(registers),
            (F16, _) => self.floats::<Halves, Halves, 512>(registers),
            (BF16, _) if small => self.floats::<BFloats, BFloats, 256>(registers),
            (BF16, _) => self.floats::<BFloats, BFloats, 512>(registers),
            (TF32, _) => self.floats::<Tf32, Tf32, 256>(registers),
            (E4M3, E5M2) => self.floats::<E4m3, E5m2, 512>(registers),
            (E4M3, _) => self.floats::<E4m3, E4m3, 512>(registers),
            (E5M2, E4M3) => self.floats::<E5m2, E4m3, 512>(registers),
            (E5M2, _) => self.floats::<E5m2, E5m2, 512>(registers),
            (S8, U8) => self.integers::<SignedBytes, UnsignedBytes, Whole, 512>(registers),
            (S8, _) => self.integers::<SignedBytes, SignedBytes, Whole, 512>(registers),
            (U8, S8) => self.integers::<UnsignedBytes, SignedBytes, Whole, 512>(registers),
            (U8, _) => self.integers::<UnsignedBytes, UnsignedBytes, Whole, 512>(registers),
            (S4, U4) => self.integers::<SignedNibbles, UnsignedNibbles, Whole, 1024>(registers),
            (S4, _) => self.integers::<SignedNibbles, SignedNibbles, Whole, 1024>(registers),
            (U4, S4) => self.integers::<UnsignedNibbles, SignedNibbles, Whole, 1024>(registers),
            (U4, _) => self.integers::<UnsignedNibbles, UnsignedNibbles, Whole, 1024>(registers),
            (B1, _) if self.mma.bits == Some(BitOp::And) => {
                self.integers::<Bits, Bits, And, 4096>(registers);
            }
            (B1, _) => self.integers::<Bits, Bits, Xor, 4096>(registers),
            (F64, _) => {
                let mut d = [0f64; 256];
                self.c.spread::<Doubles>(registers, &mut d);
                self.sum::<Doubles, Doubles, Fused, 256>(registers, &mut d);
                self.d.collect::<Doubles>(registers, &d);
            }
            // Types of sums; no instruction multiplies them.
            (F32 | S32, _) => {}
        }
    }

    #[inline(always)]
    fn floats<A: Element<Number = f32>, B: Element<Number = f32>, const N: usize>(
        &self,
        registers: &mut impl Registers,
    ) {
        let mut d = [0f32; 256];
        match self.mma.c {
            MatrixType::F16 => self.c.spread::<Halves>(registers, &mut d),
            _ => self.c.spread::<Floats>(registers, &mut d),
        }
        self.sum::<A, B, Rounded, N>(registers, &mut d);
        match self.mma.d {
            MatrixType::F16 if self.mma.satfinite => {
                // What would round to infinity; a NaN stays one.
                d.iter_mut().for_each(|d| *d = d.clamp(-65504.0, 65504.0));
                self.d.collect::<Halves>(registers, &d);
            }
            MatrixType::F16 => self.d.collect::<Halves>(registers, &d),
            _ => self.d.collect::<Floats>(registers, &d),
        }
    }

    #[inline(always)]
    fn integers<A, B, P, const N: usize>(&self, registers: &mut impl Registers)
    where
        A: Element<Number = i32>,
        B: Element<Number = i32>,
        P: Product<Number = i32>,
    {
        // No sum of products comes near the bounds of 32 bits: that of C and all of them may.
        let (mut c, mut d) = ([0i32; 256], [0i32; 256]);
        self.c.spread::<Integers>(registers, &mut c);
        self.sum::<A, B, P, N>(registers, &mut d);
        for (d, c) in d.iter_mut().zip(c) {
            *d = if self.mma.satfinite { d.saturating_add(c) } else { d.wrapping_add(c) };
        }
        self.d.collect::<Integers>(registers, &d);
    }

    /// Adds the product of A and B to `d`.
    #[inline(always)]
    fn sum<A, B, P, const N: usize>(&self, registers: &impl Registers, d: &mut [P::Number; 256])
    where
        A: Element<Number = P::Number>,
        B: Element<Number = P::Number>,
        P: Product,
    {
        let (mut a, mut b) = ([P::Number::default(); N], [P::Number::default(); N]);
        self.a.spread::<A>(registers, &mut a);
        self.b.spread::<B>(registers, &mut b);
        let shape = self.mma.shape;
        let (m, n, k) = (usize::from(shape.m), usize::from(shape.n), shape.depth());
        for product in 0..self.products {
            let (a, b) = (&a[product * m * k..][..m * k], &b[product * k * n..][..k * n]);
            sums::add::<P>(a, b, &mut d[product * m * n..][..m * n], n);
        }
    }
}
