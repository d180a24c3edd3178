//! A lookup: from coordinates to the values of a texel, or of several with their weights (CUDA Programming Guide,
//! "Texture Fetching"; PTX ISA, "tex").
//!
//! Sums of linear filtering are made in double precision and rounded once. Hardware's own rounding of sums is not documented.
//! A texel with a weight of 0 takes no part, be it infinite or no number.

use super::wrap::{Between, STEPS, linear, nearest, scaled, texel};
use super::{AddressMode, Level, Object, Sampling, Shape, Texel};

/// A texture as one lookup sees it.
#[derive(Clone, Copy, Debug)]
pub struct Lookup<'o> {
    object: &'o Object,
    sampling: &'o Sampling,
}

/// Where a lookup goes within a level: what lies along each dimension, and the slice.
struct Spot {
    along: [Between; 3],
    slice: u64,
}

impl<'o> Lookup<'o> {
    /// None for a surface.
    pub fn new(object: &'o Object) -> Option<Lookup<'o>> {
        Some(Lookup { object, sampling: object.sampling.as_ref()? })
    }

    /// A fetch by texel numbers: never filtered, never normalised. Repeating modes count as clamping, as they go with normalised
    /// coordinates alone.
    ///
    /// # Errors
    /// What `read` gives, which is asked for the bytes of texels that are inside of the level.
    pub fn fetch<E>(
        &self,
        layer: i64,
        index: [i64; 3],
        read: impl Fn(&Level, [u64; 3]) -> Result<[u8; 16], E>,
    ) -> Result<Texel, E> {
        let along = index.map(|first| Between { first, weight: 0 });
        let modes = self.sampling.address.map(|mode| match mode {
            AddressMode::Border => AddressMode::Border,
            _ => AddressMode::Clamp,
        });
        let level = &self.object.levels[0];
        self.nearest(level, &Spot { along, slice: self.slice(level, layer) }, modes, &read)
    }

    /// A lookup by coordinates in a level of detail.
    ///
    /// # Errors
    /// As for [`Self::fetch`].
    pub fn sample<E>(
        &self,
        level: usize,
        layer: i64,
        coordinates: [f32; 3],
        read: impl Fn(&Level, [u64; 3]) -> Result<[u8; 16], E>,
    ) -> Result<Texel, E> {
        let Sampling { linear: filters, normalized, address, .. } = *self.sampling;
        let level = &self.object.levels[level];
        let mut along = [Between { first: 0, weight: 0 }; 3];
        for (at, between) in along.iter_mut().enumerate().take(self.object.shape.dimensions()) {
            let coordinate = scaled(coordinates[at], level.extent[at], normalized, address[at]);
            *between = if filters { linear(coordinate) } else { nearest(coordinate) };
        }
        let spot = Spot { along, slice: self.slice(level, layer) };
        if filters {
            self.filtered(level, &spot, address, &read)
        } else {
            self.nearest(level, &spot, address, &read)
        }
    }

    /// The slice of a layer: the nearest one that there is (CUDA Programming Guide, "Layered Textures").
    fn slice(&self, level: &Level, layer: i64) -> u64 {
        match self.object.shape {
            Shape::A1 | Shape::A2 => layer.clamp(0, level.extent[2] as i64 - 1).cast_unsigned(),
            _ => 0,
        }
    }

    /// A texel's place in its level; None for the border.
    fn place(
        &self,
        level: &Level,
        spot: &Spot,
        second: [bool; 3],
        modes: [AddressMode; 3],
    ) -> Option<[u64; 3]> {
        let mut place = [0, 0, spot.slice];
        for (at, coordinate) in place.iter_mut().enumerate().take(self.object.shape.dimensions()) {
            // Linear memory has no modes: outside is the border.
            let mode = if self.object.shape == Shape::Line { AddressMode::Border } else { modes[at] };
            let index = spot.along[at].first + i64::from(second[at]);
            *coordinate = texel(index, level.extent[at], mode)?;
        }
        Some(place)
    }

    fn nearest<E>(
        &self,
        level: &Level,
        spot: &Spot,
        modes: [AddressMode; 3],
        read: &impl Fn(&Level, [u64; 3]) -> Result<[u8; 16], E>,
    ) -> Result<Texel, E> {
        let Some(place) = self.place(level, spot, [false; 3], modes) else {
            return Ok(self.outside());
        };
        let raw = self.object.format.raw(&read(level, place)?);
        if self.sampling.as_float && self.object.format.channel.is_promoted() {
            let floats = self.object.format.floats(raw, self.sampling.srgb);
            return Ok(floats.map(|value| (value as f32).to_bits()));
        }
        Ok(raw)
    }

    /// What a lookup outside gives.
    fn outside(&self) -> Texel {
        if self.object.shape == Shape::Line {
            return [0; 4];
        }
        let count = usize::from(self.object.format.count);
        std::array::from_fn(|at| if at < count { self.sampling.border[at].to_bits() } else { 0 })
    }

    fn filtered<E>(
        &self,
        level: &Level,
        spot: &Spot,
        modes: [AddressMode; 3],
        read: &impl Fn(&Level, [u64; 3]) -> Result<[u8; 16], E>,
    ) -> Result<Texel, E> {
        let mut sums = [0.0; 4];
        for corner in 0..1 << self.object.shape.dimensions() {
            let second = std::array::from_fn(|at| corner >> at & 1 != 0);
            let mut weight = 1.0;
            for (between, second) in spot.along.iter().zip(second) {
                let part = f64::from(between.weight) / STEPS;
                weight *= if second { part } else { 1.0 - part };
            }
            if weight == 0.0 {
                continue;
            }
            let values = match self.place(level, spot, second, modes) {
                Some(place) => {
                    let raw = self.object.format.raw(&read(level, place)?);
                    self.object.format.floats(raw, self.sampling.srgb)
                }
                None => self.outside().map(|bits| f32::from_bits(bits).into()),
            };
            for (sum, value) in sums.iter_mut().zip(values) {
                *sum += weight * value;
            }
        }
        Ok(sums.map(|sum| (sum as f32).to_bits()))
    }
}
