//! Products of matrices whose elements a warp's lanes hold (PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions").
//!
//! Products are exact, and sums are taken one by one in order of `k`, beginning with the element of C: in binary32 for
//! accumulators of 16 and 32 bits (rounded once at the end where the result has 16), in binary64 with fused products for
//! `.f64`, exactly for integers. The ISA leaves order and rounding of the sums open; hardware has other last bits.
//!
//! What does not change is found once, when the instruction is loaded: [`side`] says where each register's elements belong.
//! Then the operands are widened a register at a time ([`element`]), and D is summed up a row at a time ([`sums`]): the
//! sums of neighbours do not depend on each other, so they share vectors. [`multiplication`] has it in three forms, by what is computed with.

mod element;
mod multiplication;
pub mod places;
mod quads;
mod registers;
mod side;
mod sums;
#[cfg(test)]
mod tests;

pub use multiplication::Tensor;
pub use registers::Registers;
