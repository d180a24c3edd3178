//! A multiplication and its steps, for each kind of number once: the types of A, B and C are asked for within a step, so that what is
//! compiled does not grow with their product.

use bugaroo_ptx::op::{BitOp, MatrixPart, MatrixType, Mma};

use super::element::{
    BFloats, Bits, Doubles, E4m3, E5m2, Floats, Halves, Integers, SignedBytes, SignedNibbles, Tf32,
    UnsignedBytes, UnsignedNibbles,
};
use super::quads;
use super::registers::Registers;
use super::side::Side;
use super::sums::{self, And, Fused, Product, Rounded, Whole, Xor};
use crate::alu::{Isa, by_isa};

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
    pub fn multiply(&self, registers: &mut dyn Registers) {
        match self.a.elements().max(self.b.elements()) {
            ..=256 => self.within::<256>(registers),
            257..=512 => self.within::<512>(registers),
            513..=1024 => self.within::<1024>(registers),
            _ => self.within::<4096>(registers),
        }
    }

    /// Does it, with room for so many elements of A or B.
    fn within<const N: usize>(&self, registers: &mut dyn Registers) {
        use MatrixType::{B1, BF16, E4M3, E5M2, F16, F32, F64, S4, S8, S32, TF32, U4, U8};
        let mut product = Multiplication { tensor: self, registers };
        match self.mma.a {
            F16 | BF16 | TF32 | E4M3 | E5M2 => product.floats(&mut [0.0; N], &mut [0.0; N]),
            S8 | U8 | S4 | U4 | B1 => product.integers(&mut [0; N], &mut [0; N]),
            F64 => product.doubles(&mut [0.0; N], &mut [0.0; N]),
            // Types of sums; no instruction multiplies them.
            F32 | S32 => {}
        }
    }
}

/// What is multiplied, and the registers that hold it. The methods are given zeros, as room for the elements of A and B.
struct Multiplication<'a> {
    tensor: &'a Tensor,
    registers: &'a mut dyn Registers,
}

impl Multiplication<'_> {
    // Each kind of number is one function for each kind of processor; what it is made of, `…_here` and all that it calls, is inlined there.

    /// Of binary32.
    fn floats(&mut self, a: &mut [f32], b: &mut [f32]) {
        let isa = self.tensor.isa;
        by_isa!(isa, Multiplication::floats_here(self, a: &mut [f32], b: &mut [f32]) -> ());
    }

    /// Of integers of 32 bits.
    fn integers(&mut self, a: &mut [i32], b: &mut [i32]) {
        let isa = self.tensor.isa;
        by_isa!(isa, Multiplication::integers_here(self, a: &mut [i32], b: &mut [i32]) -> ());
    }

    /// Of binary64.
    fn doubles(&mut self, a: &mut [f64], b: &mut [f64]) {
        let isa = self.tensor.isa;
        by_isa!(isa, Multiplication::doubles_here(self, a: &mut [f64], b: &mut [f64]) -> ());
    }

    #[inline(always)]
    fn floats_here(&mut self, a: &mut [f32], b: &mut [f32]) {
        let Tensor { mma, a: of_a, b: of_b, c: of_c, d: of_d, .. } = self.tensor;
        let mut d = [0f32; 256];
        for (side, ty, to) in [(of_c, mma.c, &mut d[..]), (of_a, mma.a, &mut *a), (of_b, mma.b, &mut *b)] {
            match ty {
                MatrixType::F16 => side.spread::<Halves>(self.registers, to),
                MatrixType::BF16 => side.spread::<BFloats>(self.registers, to),
                MatrixType::TF32 => side.spread::<Tf32>(self.registers, to),
                MatrixType::E4M3 => side.spread::<E4m3>(self.registers, to),
                MatrixType::E5M2 => side.spread::<E5m2>(self.registers, to),
                // C of 32 bits.
                _ => side.spread::<Floats>(self.registers, to),
            }
        }
        self.sum::<Rounded>(a, b, &mut d);
        if mma.d != MatrixType::F16 {
            return of_d.collect::<Floats>(self.registers, &d);
        }
        if mma.satfinite {
            // What would round to infinity; a NaN stays one.
            d.iter_mut().for_each(|d| *d = d.clamp(-65504.0, 65504.0));
        }
        of_d.collect::<Halves>(self.registers, &d);
    }

    #[inline(always)]
    fn integers_here(&mut self, a: &mut [i32], b: &mut [i32]) {
        let Tensor { mma, a: of_a, b: of_b, c: of_c, d: of_d, .. } = self.tensor;
        // No sum of products comes near the bounds of 32 bits: that of C and all of them may.
        let (mut c, mut d) = ([0i32; 256], [0i32; 256]);
        for (side, ty, to) in [(of_c, mma.c, &mut c[..]), (of_a, mma.a, &mut *a), (of_b, mma.b, &mut *b)] {
            match ty {
                MatrixType::S8 => side.spread::<SignedBytes>(self.registers, to),
                MatrixType::U8 => side.spread::<UnsignedBytes>(self.registers, to),
                MatrixType::S4 => side.spread::<SignedNibbles>(self.registers, to),
                MatrixType::U4 => side.spread::<UnsignedNibbles>(self.registers, to),
                MatrixType::B1 => side.spread::<Bits>(self.registers, to),
                // C.
                _ => side.spread::<Integers>(self.registers, to),
            }
        }
        match (mma.a, mma.bits) {
            (MatrixType::B1, Some(BitOp::And)) => self.sum::<And>(a, b, &mut d),
            (MatrixType::B1, _) => self.sum::<Xor>(a, b, &mut d),
            _ => self.sum::<Whole>(a, b, &mut d),
        }
        for (d, c) in d.iter_mut().zip(c) {
            *d = if mma.satfinite { d.saturating_add(c) } else { d.wrapping_add(c) };
        }
        of_d.collect::<Integers>(self.registers, &d);
    }

    #[inline(always)]
    fn doubles_here(&mut self, a: &mut [f64], b: &mut [f64]) {
        let Tensor { a: of_a, b: of_b, c: of_c, d: of_d, .. } = self.tensor;
        let mut d = [0f64; 256];
        for (side, to) in [(of_c, &mut d[..]), (of_a, &mut *a), (of_b, &mut *b)] {
            side.spread::<Doubles>(self.registers, to);
        }
        self.sum::<Fused>(a, b, &mut d);
        of_d.collect::<Doubles>(self.registers, &d);
    }

    /// Adds the product of A and B to `d`.
    #[inline(always)]
    fn sum<P: Product>(&self, a: &[P::Number], b: &[P::Number], d: &mut [P::Number; 256]) {
        let Tensor { mma, products, .. } = self.tensor;
        let (m, n, k) = (usize::from(mma.shape.m), usize::from(mma.shape.n), mma.shape.depth());
        for product in 0..*products {
            let (a, b) = (&a[product * m * k..][..m * k], &b[product * k * n..][..k * n]);
            sums::add::<P>(a, b, &mut d[product * m * n..][..m * n], n);
        }
    }
}
