//! Something kept for every number of a wide range, mostly found without a search.
//!
//! Values lie in chunks of neighbours, which come with the first of them. A value of zeroes means that nobody has put anything there.

use bytemuck::Zeroable;
use rustc_hash::FxHashMap;

/// Chunks that are found without looking for them, as a power of two.
const NEAR_BITS: u32 = 8;
/// Chunks that are found without looking for them.
const NEAR: usize = 1 << NEAR_BITS;
const NOWHERE: (u64, u32) = (u64::MAX, 0);

/// Values by number, in chunks of two to the `SHIFT`.
#[derive(Debug)]
pub(crate) struct Table<R, const SHIFT: u32> {
    near: Box<[(u64, u32); NEAR]>,
    places: FxHashMap<u64, u32>,
    chunks: Vec<Box<[R]>>,
}

impl<R, const SHIFT: u32> Default for Table<R, SHIFT> {
    fn default() -> Table<R, SHIFT> {
        Table { near: Box::new([NOWHERE; NEAR]), places: FxHashMap::default(), chunks: Vec::new() }
    }
}

impl<R: Zeroable, const SHIFT: u32> Table<R, SHIFT> {
    /// The value of a number.
    #[inline(always)]
    pub fn at(&mut self, number: u64) -> &mut R {
        let chunk = number >> SHIFT;
        let (near, place) = self.near[nearby(chunk)];
        let place = if near == chunk { place } else { self.find(chunk) };
        &mut self.chunks[place as usize][within::<SHIFT>(number)]
    }

    /// The value of a number whose chunk is near.
    #[inline(always)]
    pub fn near(&mut self, number: u64) -> Option<&mut R> {
        let chunk = number >> SHIFT;
        let (near, place) = self.near[nearby(chunk)];
        if near != chunk {
            return None;
        }
        Some(&mut self.chunks[place as usize][within::<SHIFT>(number)])
    }

    /// The value of a number whose chunk is there.
    pub fn existing(&self, number: u64) -> Option<&R> {
        let place = *self.places.get(&(number >> SHIFT))?;
        Some(&self.chunks[place as usize][within::<SHIFT>(number)])
    }

    /// The chunk of this number, which is not near.
    #[cold]
    #[inline(never)]
    fn find(&mut self, chunk: u64) -> u32 {
        let chunks = &mut self.chunks;
        let place = *self.places.entry(chunk).or_insert_with(|| {
            chunks.push(bytemuck::zeroed_slice_box(1 << SHIFT));
            (chunks.len() - 1) as u32
        });
        self.near[nearby(chunk)] = (chunk, place);
        place
    }
}

/// Where a chunk is looked for among those near. Numbers that are used together often are a power of two apart: their lowest bits are
/// alike.
#[inline(always)]
fn nearby(chunk: u64) -> usize {
    (chunk.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (u64::BITS - NEAR_BITS)) as usize
}

/// Where a number is in its chunk.
#[inline(always)]
fn within<const SHIFT: u32>(number: u64) -> usize {
    (number & ((1 << SHIFT) - 1)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_has_a_value_of_its_own() {
        let mut table = Table::<u64, 4>::default();
        // More chunks than are near.
        let numbers: Vec<u64> = (0..2000).map(|at| at * 37).chain([1 << 60, u64::MAX]).collect();
        for (value, &number) in (1..).zip(&numbers) {
            assert_eq!(*table.at(number), 0, "{number}");
            *table.at(number) = value;
        }
        for (value, &number) in (1..).zip(&numbers) {
            assert_eq!((*table.at(number), table.existing(number)), (value, Some(&value)), "{number}");
        }
        assert_eq!((table.existing(1), table.existing(1 << 40)), (Some(&0), None));
    }
}
