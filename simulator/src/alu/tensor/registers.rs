//! Where the elements of operands are.

use bugaroo_ptx::op::MatrixPart;

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
