//! Where the values of a batch are (cuFFT, "Data Layout"): basic, without gaps but for real values that are transformed in place;
//! or advanced, by extents of storage, a distance between values and one between transforms.

use super::status::{Outcome, Status};
use crate::driver;
use crate::work::{Memory, Plain};

/// One side of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Side {
    /// How many values each dimension has.
    pub extents: Vec<usize>,
    /// How many it has room for.
    room: Vec<usize>,
    /// From one value of the last dimension to the next.
    stride: usize,
    /// From one transform to the next.
    distance: usize,
}

impl Side {
    /// The basic layout, with so much room in the last dimension.
    pub fn basic(extents: Vec<usize>, last: usize) -> Side {
        let mut room = extents.clone();
        if let Some(place) = room.last_mut() {
            *place = last;
        }
        let distance = room.iter().product();
        Side { extents, room, stride: 1, distance }
    }

    /// The advanced layout.
    ///
    /// # Errors
    /// `CUFFT_INVALID_VALUE` for distances below 1, and for room that an inner dimension does not fit in.
    pub fn advanced(extents: Vec<usize>, room: Vec<usize>, stride: usize, distance: usize) -> Outcome<Side> {
        let fits = extents.iter().zip(&room).skip(1).all(|(extent, room)| extent <= room);
        let all =
            room.iter().chain([&stride, &distance]).try_fold(1_usize, |all, extent| all.checked_mul(*extent));
        if stride == 0 || distance == 0 || !fits || all.is_none() {
            return Err(Status::INVALID_VALUE);
        }
        Ok(Side { extents, room, stride, distance })
    }

    /// The first values of all rows of a transform, counted from its own first.
    fn rows(&self) -> Vec<usize> {
        let outer = self.extents.len() - 1;
        let mut found = vec![0];
        for dimension in 0..outer {
            let step: usize = self.room[dimension + 1..].iter().product::<usize>() * self.stride;
            let extent = self.extents[dimension];
            found =
                found.iter().flat_map(|first| (0..extent).map(move |index| first + index * step)).collect();
        }
        found
    }

    /// Whether a transform's values stand one behind the other.
    fn is_dense(&self) -> bool {
        self.stride == 1 && self.extents[1..] == self.room[1..]
    }

    fn address<T>(&self, first: u64, transform: usize, place: usize) -> u64 {
        let values = (transform as u64).wrapping_mul(self.distance as u64).wrapping_add(place as u64);
        first.wrapping_add(values.wrapping_mul(size_of::<T>() as u64))
    }

    /// Reads a transform's values, row by row.
    ///
    /// # Errors
    /// As [`Memory::rows`].
    pub fn read<T: Plain>(
        &self,
        memory: &Memory<'_>,
        first: u64,
        transform: usize,
    ) -> driver::Outcome<Vec<T>> {
        let (last, count) = (self.extents[self.extents.len() - 1], self.extents.iter().product());
        if self.is_dense() {
            return memory.read(self.address::<T>(first, transform, 0), count);
        }
        let mut values = Vec::with_capacity(count);
        for row in self.rows() {
            values.extend(memory.rows::<T>(
                self.address::<T>(first, transform, row),
                1,
                last,
                self.stride,
            )?);
        }
        Ok(values)
    }

    /// Writes a transform's values.
    ///
    /// # Errors
    /// As [`Memory::rows`].
    pub fn write<T: Plain>(
        &self,
        memory: &Memory<'_>,
        first: u64,
        transform: usize,
        values: &[T],
    ) -> driver::Outcome {
        if self.is_dense() {
            return memory.write(self.address::<T>(first, transform, 0), values);
        }
        let last = self.extents[self.extents.len() - 1];
        for (row, values) in self.rows().into_iter().zip(values.chunks_exact(last)) {
            memory.write_rows(self.address::<T>(first, transform, row), values, 1, self.stride)?;
        }
        Ok(())
    }
}
