//! The things that a launch has shown, counted.

use rustc_hash::FxHashMap;

use crate::seeds::mix;

/// Different things of a launch that are kept.
pub const MOST: usize = 4096;

/// What a thing is. The numbers are part of its hash.
#[derive(Clone, Copy, Debug)]
pub enum Thing {
    /// A read of what another thread wrote.
    Read = 1,
    /// A read that has not seen what another thread wrote.
    Stale = 2,
    /// One read and the next of its thread.
    Reads = 3,
    /// Two accesses of a place, one after the other.
    Order = 4,
    /// Three of them.
    Longer = 5,
}

/// A number for a kernel.
pub fn kernel_hash(kernel: &str) -> u64 {
    kernel.bytes().fold(0, |hash, byte| mix(hash, u64::from(byte) + 1))
}

/// A number for an instruction of a kernel.
pub fn place_hash(kernel: u64, site: u32) -> u32 {
    (mix(kernel, u64::from(site) + 1) >> 32) as u32
}

/// Counts of things.
#[derive(Debug)]
pub struct Features {
    /// The kernel's number.
    pub kernel: u64,
    counts: FxHashMap<u32, u32>,
    /// How often there was one for which there was no room.
    pub more: u64,
}

impl Features {
    /// None yet, of this kernel.
    pub fn new(kernel: &str) -> Features {
        Features { kernel: kernel_hash(kernel), counts: FxHashMap::default(), more: 0 }
    }

    /// Counts one; answers its hash.
    pub fn add(&mut self, thing: Thing, parts: [u32; 3]) -> u32 {
        let start = mix(self.kernel, thing as u64);
        let hash = (parts.iter().fold(start, |hash, part| mix(hash, u64::from(*part) + 1)) >> 32) as u32;
        let full = self.counts.len() >= MOST;
        match self.counts.get_mut(&hash) {
            Some(count) => *count = count.saturating_add(1),
            None if full => self.more += 1,
            None => {
                self.counts.insert(hash, 1);
            }
        }
        hash
    }

    /// All of them, each with how often it was, ascending.
    pub fn hashes(&self) -> Vec<u32> {
        let hash = |(thing, count): (&u32, &u32)| (mix(u64::from(*thing), bucket(*count)) >> 32) as u32;
        let mut all: Vec<u32> = self.counts.iter().map(hash).collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// Counts that are taken for the same.
fn bucket(count: u32) -> u64 {
    match count {
        0..=1 => 1,
        2..=3 => 2,
        4..=15 => 3,
        _ => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::{Features, MOST, Thing};

    #[test]
    fn a_thing_is_told_by_its_kernel_kind_parts_and_count() {
        let of = |kernel, thing, parts, times| {
            let mut features = Features::new(kernel);
            (0..times).for_each(|_| {
                features.add(thing, parts);
            });
            features.hashes()
        };
        let one = of("k", Thing::Read, [1, 2, 0], 1);
        assert_eq!((one.len(), &one), (1, &of("k", Thing::Read, [1, 2, 0], 1)));
        for other in [
            of("l", Thing::Read, [1, 2, 0], 1),
            of("k", Thing::Stale, [1, 2, 0], 1),
            of("k", Thing::Read, [2, 1, 0], 1),
            of("k", Thing::Read, [1, 2, 0], 2),
        ] {
            assert_ne!(one, other);
        }
        assert_eq!(of("k", Thing::Read, [1, 2, 0], 2), of("k", Thing::Read, [1, 2, 0], 3));
    }

    #[test]
    fn what_does_not_fit_is_counted() {
        let mut features = Features::new("k");
        let places = u32::try_from(MOST).expect("it is small") + 10;
        (0..places).for_each(|part| {
            features.add(Thing::Order, [part, 0, 0]);
        });
        assert_eq!((features.counts.len(), features.more), (MOST, 10));
    }
}
