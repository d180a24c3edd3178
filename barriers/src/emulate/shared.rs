//! Shared memory of a CTA: bytes that are known or not.
//!
//! A byte is known when the value last written to it was. That a read gives what this one order of execution wrote is right
//! for every execution if the kernel is free of races in the end; see the module above.

use std::hash::Hasher;

use super::registers::Why;

/// Shared memory of a CTA.
#[derive(Clone)]
pub(super) struct Shared {
    bytes: Vec<u8>,
    known: Vec<bool>,
    why: Vec<Why>,
}

impl Shared {
    /// So many bytes, which nobody has written.
    pub fn new(bytes: u32) -> Shared {
        let bytes = bytes as usize;
        Shared { bytes: vec![0; bytes], known: vec![false; bytes], why: vec![Why::SHARED; bytes] }
    }

    /// Its size.
    pub fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Writes bytes, low ones first. They are inside.
    #[inline]
    pub fn write(&mut self, at: usize, size: usize, value: Result<u64, Why>) {
        match value {
            Ok(value) => {
                self.bytes[at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
                self.known[at..at + size].fill(true);
            }
            Err(why) => {
                self.forget(at, size, why);
            }
        }
    }

    /// Bytes that something unknown was written to; answers whether any was known. They are inside.
    pub fn forget(&mut self, at: usize, size: usize, why: Why) -> bool {
        let news = self.known[at..at + size].contains(&true);
        self.known[at..at + size].fill(false);
        self.why[at..at + size].fill(why);
        news
    }

    /// Reads bytes. They are inside.
    #[inline]
    pub fn read(&self, at: usize, size: usize) -> Result<u64, Why> {
        if let Some(unknown) = self.known[at..at + size].iter().position(|known| !known) {
            return Err(self.why[at + unknown]);
        }
        let mut value = [0; 8];
        value[..size].copy_from_slice(&self.bytes[at..at + size]);
        Ok(u64::from_le_bytes(value))
    }

    /// Leaves known what is the same in another state.
    pub fn join(&mut self, other: &Shared, why: Why) {
        for at in 0..self.bytes.len() {
            if self.known[at] && !(other.known[at] && other.bytes[at] == self.bytes[at]) {
                self.known[at] = false;
                self.why[at] = why;
            }
        }
    }

    /// Whether another state is one of those that this one stands for.
    pub fn covers(&self, other: &Shared) -> bool {
        (0..self.bytes.len()).all(|at| match (self.known[at], other.known[at]) {
            (true, known) => known && other.bytes[at] == self.bytes[at],
            (false, true) => self.why[at].is_tainted(),
            (false, false) => self.why[at].is_tainted() || !other.why[at].is_tainted(),
        })
    }

    /// Tells a hasher what is known.
    pub fn hash_known(&self, hasher: &mut impl Hasher) {
        for at in 0..self.bytes.len() {
            let unknown = 256 + u16::from(self.why[at].is_tainted());
            hasher.write_u16(if self.known[at] { u16::from(self.bytes[at]) } else { unknown });
        }
    }
}
