//! Digests of texts, which name modules and their cached instrumentation.
//!
//! FNV-1a with 128 bits (Fowler, Noll and Vo): short, the same on every machine and in every version of
//! Rust, and far from colliding by accident. It does not resist an adversary, which a cache of one's own
//! work need not.

use std::fmt;

const OFFSET_BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;

/// A digest; prints as 32 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Digest(u128);

impl Digest {
    /// The digest of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Digest(OFFSET_BASIS).and(bytes)
    }

    /// The digest of what was digested so far, followed by these bytes.
    #[must_use]
    pub fn and(self, bytes: &[u8]) -> Self {
        Digest(bytes.iter().fold(self.0, |hash, byte| (hash ^ u128::from(*byte)).wrapping_mul(PRIME)))
    }

    /// Its lower half.
    pub fn low(self) -> u64 {
        self.0 as u64
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

#[cfg(test)]
mod tests;
