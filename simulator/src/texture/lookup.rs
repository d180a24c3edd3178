//! A lookup: from coordinates to the values of a texel, or of several with their weights (CUDA Programming Guide,
//! "Texture Fetching"; PTX ISA, "tex").
//!
//! Sums of linear filtering are made in double precision and rounded once. Hardware's own rounding of sums is not documented.
//! A texel with a weight of 0 takes no part, be it infinite or no number.

use super::cube::face;
use super::detail::asked;
use super::wrap::{Between, STEPS, linear, nearest, scaled, texel};
use super::{AddressMode, Level, Object, Sampling, Texel, TexelShape};

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
        self.nearest(level, &Spot { along, slice: self.slice(level, layer, 0) }, modes, &read)
    }

    /// A lookup by coordinates; in a level of detail where one is asked for, else in the first.
    ///
    /// # Errors
    /// As for [`Self::fetch`].
    pub fn sample<E>(
        &self,
        detail: Option<f32>,
        layer: i64,
        coordinates: [f32; 3],
        read: impl Fn(&Level, [u64; 3]) -> Result<[u8; 16], E>,
    ) -> Result<Texel, E> {
        let levels = &self.object.levels;
        let chosen = detail.map(|asked| self.sampling.detail.levels(asked, levels.len()));
        let (first, weight) = chosen.unwrap_or((0, 0));
        let one = self.in_level(&levels[first], layer, coordinates, &read)?;
        let next = levels.get(first + 1).filter(|_| weight != 0 && self.gives_floats());
        let Some(next) = next else { return Ok(one) };
        let other = self.in_level(next, layer, coordinates, &read)?;
        let weight = f64::from(weight) / STEPS;
        let mixed = |at: usize| {
            let [one, other] = [one[at], other[at]].map(|bits| f64::from(f32::from_bits(bits)));
            (if weight == 1.0 { other } else { one * (1.0 - weight) + other * weight }) as f32
        };
        Ok(std::array::from_fn(|at| mixed(at).to_bits()))
    }

    /// The level of detail that derivatives of the coordinates ask for.
    pub fn asked(&self, by_x: [f32; 3], by_y: [f32; 3]) -> f32 {
        let level = &self.object.levels[0];
        let texels = |of: [f32; 3]| {
            std::array::from_fn(|at| match at < self.object.shape.dimensions() {
                true if self.sampling.normalized => f64::from(of[at]) * level.extent[at] as f64,
                true => f64::from(of[at]),
                false => 0.0,
            })
        };
        asked(texels(by_x), texels(by_y))
    }

    /// One component of the four texels that filtering in two dimensions would look at, in the order of the ISA: from the lower
    /// left on, counter-clockwise, where rows go up.
    ///
    /// # Errors
    /// As for [`Self::fetch`].
    pub fn gather<E>(
        &self,
        component: usize,
        layer: i64,
        coordinates: [f32; 3],
        read: impl Fn(&Level, [u64; 3]) -> Result<[u8; 16], E>,
    ) -> Result<Texel, E> {
        let level = &self.object.levels[0];
        let spot = self.spot(level, layer, coordinates, true);
        let mut texel = [0; 4];
        for (result, [x, y]) in texel.iter_mut().zip([[0, 1], [1, 1], [1, 0], [0, 0]]) {
            let mut along = spot.along;
            along[0].first += x;
            along[1].first += y;
            let spot = Spot { along, slice: spot.slice };
            *result = self.nearest(level, &spot, self.sampling.address, &read)?[component];
        }
        Ok(texel)
    }

    fn gives_floats(&self) -> bool {
        let channel = self.object.format.channel;
        channel.is_float() || channel.is_promoted() && self.sampling.as_float
    }

    fn in_level<E>(
        &self,
        level: &Level,
        layer: i64,
        coordinates: [f32; 3],
        read: &impl Fn(&Level, [u64; 3]) -> Result<[u8; 16], E>,
    ) -> Result<Texel, E> {
        let filters = self.sampling.linear;
        let spot = self.spot(level, layer, coordinates, filters);
        let modes = if self.is_cube() { [AddressMode::Clamp; 3] } else { self.sampling.address };
        if filters {
            self.filtered(level, &spot, modes, read)
        } else {
            self.nearest(level, &spot, modes, read)
        }
    }

    fn is_cube(&self) -> bool {
        matches!(self.object.shape, TexelShape::Cube | TexelShape::CubeArray)
    }

    /// Where coordinates lead: between texels, or to the nearest one.
    fn spot(&self, level: &Level, layer: i64, coordinates: [f32; 3], filters: bool) -> Spot {
        let cube = self.is_cube();
        let (side, coordinates) = if cube { face(coordinates) } else { (0, coordinates) };
        let mut along = [Between { first: 0, weight: 0 }; 3];
        for (at, between) in along.iter_mut().enumerate().take(self.object.shape.dimensions()) {
            let mode = if cube { AddressMode::Clamp } else { self.sampling.address[at] };
            let normalized = cube || self.sampling.normalized;
            let coordinate = scaled(coordinates[at], level.extent[at], normalized, mode);
            *between = if filters { linear(coordinate) } else { nearest(coordinate) };
        }
        Spot { along, slice: self.slice(level, layer, side) }
    }

    /// The slice of a layer, or of a face of it: of the nearest layer that there is (CUDA Programming Guide, "Layered
    /// Textures").
    fn slice(&self, level: &Level, layer: i64, side: u64) -> u64 {
        let nearest = |layers: u64| layer.clamp(0, layers.saturating_sub(1) as i64).cast_unsigned();
        match self.object.shape {
            TexelShape::A1 | TexelShape::A2 => nearest(level.extent[2]),
            TexelShape::Cube => side,
            TexelShape::CubeArray => 6 * nearest(level.extent[2] / 6) + side,
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
            let mode = if self.object.shape == TexelShape::Line { AddressMode::Border } else { modes[at] };
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
        if self.object.shape == TexelShape::Line {
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
        let parts = spot.along.map(|between| {
            let second = f64::from(between.weight) * (1.0 / STEPS);
            [1.0 - second, second]
        });
        for corner in 0..1 << self.object.shape.dimensions() {
            let second: [bool; 3] = std::array::from_fn(|at| corner >> at & 1 != 0);
            let weight: f64 =
                parts.iter().zip(second).map(|(part, second)| part[usize::from(second)]).product();
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
            for (sum, value) in sums.iter_mut().zip(values).take(self.object.format.count.into()) {
                *sum += weight * value;
            }
        }
        Ok(sums.map(|sum| (sum as f32).to_bits()))
    }
}
