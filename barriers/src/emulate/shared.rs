//! Shared memory of a CTA: bytes that are known or not.
//!
//! A byte is known when the value last written to it was. That a read gives what this one order of execution wrote is right
//! for every execution if the kernel is free of races in the end; see the module above.

use std::hash::Hasher;

use bugaroo_simulator::SHARED_WINDOW;
use rustc_hash::FxHashMap;

use super::registers::Why;
use super::symbol::{Source, Symbol};

/// Shared memory of a CTA.
#[derive(Clone)]
pub(super) struct Shared {
    bytes: Vec<u8>,
    known: Vec<bool>,
    why: Vec<Why>,
    /// Values that are not known and stand there as one thread wrote them: by offset, the bytes, and what they are.
    contents: FxHashMap<usize, (usize, Symbol)>,
}

impl Shared {
    /// So many bytes, which nobody has written.
    pub fn new(bytes: u32) -> Shared {
        let bytes = bytes as usize;
        Shared {
            bytes: vec![0; bytes],
            known: vec![false; bytes],
            why: vec![Why::SHARED; bytes],
            contents: FxHashMap::default(),
        }
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
                self.forget_contents(at, size);
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
        self.forget_contents(at, size);
        let news = self.known[at..at + size].contains(&true);
        self.known[at..at + size].fill(false);
        self.why[at..at + size].fill(why);
        news
    }

    /// Whether a generic address of shared memory may be in any of these bytes.
    pub fn may_point(&self, at: usize, size: usize) -> bool {
        (at / 8 * 8..at + size).step_by(8).any(|word| match self.read(word, 8.min(self.bytes.len() - word)) {
            Ok(value) => value.wrapping_sub(SHARED_WINDOW) < 1 << 32,
            Err(why) => why.is_tainted(),
        })
    }

    fn forget_contents(&mut self, at: usize, size: usize) {
        if !self.contents.is_empty() {
            self.contents.retain(|from, (bytes, _)| *from + *bytes <= at || at + size <= *from);
        }
    }

    /// Says what bytes are that are not known.
    pub fn set_content(&mut self, at: usize, size: usize, symbol: Symbol) {
        self.forget_contents(at, size);
        self.contents.insert(at, (size, symbol));
    }

    /// What exactly these bytes are, if they are not known and one thread wrote them.
    pub fn content(&self, at: usize, size: usize) -> Option<Symbol> {
        self.contents.get(&at).filter(|(bytes, _)| *bytes == size).map(|(_, symbol)| *symbol)
    }

    /// The same as a source, known or not.
    pub fn held(&self, at: usize, size: usize) -> Option<Source> {
        let known = self.read(at, size).ok().map(Source::Known);
        known.or_else(|| self.content(at, size).map(Source::Symbol))
    }

    /// Where there are such values, ascending, and their bytes.
    pub fn places(&self) -> Vec<(usize, usize)> {
        let mut places: Vec<(usize, usize)> =
            self.contents.iter().map(|(at, (size, _))| (*at, *size)).collect();
        places.sort_unstable();
        places
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
            let points = || self.may_point(at, 1) || other.may_point(at, 1);
            if self.known[at] && !(other.known[at] && other.bytes[at] == self.bytes[at]) {
                self.why[at] = why.tainted(points());
                self.known[at] = false;
            } else if !self.known[at] && !other.known[at] {
                self.why[at] = self.why[at].tainted(other.why[at].is_tainted());
            }
        }
        self.contents.retain(|at, content| other.contents.get(at) == Some(content));
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
        for (at, size) in self.places() {
            hasher.write_usize(at);
            hasher.write_u32(self.content(at, size).map_or(0, Symbol::bits));
        }
    }
}
