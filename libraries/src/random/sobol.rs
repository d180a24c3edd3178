//! Sobol's sequences (I. M. Sobol, 1967) with the direction numbers of S. Joe and F. Y. Kuo ("Constructing Sobol sequences with better
//! two-dimensional projections", 2008; their set D6), in Gray code order (Antonov and Saleev, 1979), as cuRAND has them.
//!
//! Results are laid out dimension by dimension. What the direction numbers are is Joe and Kuo's table, from the crate `sobol`;
//! the recurrence from it to direction vectors of 32 and 64 bits is theirs, too.
//!
//! **Departure.** None in bits and uniform numbers. Normal numbers differ in the last bits: cuRAND inverts `erfc`, and this the normal distribution
//! itself (M. J. Wichura, "Algorithm AS 241", 1988).

use std::sync::OnceLock;

use sobol::params::{JoeKuoD6, JoeKuoD6Dim};

use super::shape::{self, normal_quantile};
use super::stream::Law;

/// Most dimensions that cuRAND has.
pub const MOST: usize = 20_000;
/// Dimensions of the table's small part, which takes a millisecond to read and not thirty.
const SMALL: usize = 1000;
/// 2^-32
const UNIT: f64 = 1.0 / (1_u64 << 32) as f64;
/// 2^-53
const UNIT_WIDE: f64 = 1.0 / (1_u64 << 53) as f64;

/// A width of results, with so many direction vectors of as many bits a dimension.
pub trait Word: Copy + Send + Sync + 'static {
    /// The vectors of a dimension.
    type Vectors: Copy + AsRef<[Self]> + Send + Sync;

    /// The vectors of a dimension, from those of 64 bits.
    fn cut(wide: [u64; 64]) -> Self::Vectors;

    /// The tables of the small part and of the whole.
    fn tables() -> &'static [OnceLock<Vec<Self::Vectors>>; 2];

    /// Exclusive or with a vector.
    fn plus(self, vector: Self) -> Self;

    /// Zero.
    const ZERO: Self;
}

impl Word for u32 {
    type Vectors = [u32; 32];
    const ZERO: u32 = 0;

    fn cut(wide: [u64; 64]) -> [u32; 32] {
        std::array::from_fn(|bit| (wide[bit] >> 32) as u32)
    }

    fn tables() -> &'static [OnceLock<Vec<[u32; 32]>>; 2] {
        static TABLES: [OnceLock<Vec<[u32; 32]>>; 2] = [OnceLock::new(), OnceLock::new()];
        &TABLES
    }

    fn plus(self, vector: u32) -> u32 {
        self ^ vector
    }
}

impl Word for u64 {
    type Vectors = [u64; 64];
    const ZERO: u64 = 0;

    fn cut(wide: [u64; 64]) -> [u64; 64] {
        wide
    }

    fn tables() -> &'static [OnceLock<Vec<[u64; 64]>>; 2] {
        static TABLES: [OnceLock<Vec<[u64; 64]>>; 2] = [OnceLock::new(), OnceLock::new()];
        &TABLES
    }

    fn plus(self, vector: u64) -> u64 {
        self ^ vector
    }
}

/// The direction vectors of so many dimensions, or of some more.
pub fn vectors<W: Word>(dimensions: usize) -> &'static [W::Vectors] {
    let whole = dimensions > SMALL;
    W::tables()[usize::from(whole)].get_or_init(|| {
        let known = if whole { JoeKuoD6::extended() } else { JoeKuoD6::standard() };
        // The first dimension is van der Corput's sequence.
        let first = std::array::from_fn(|bit| 1 << (63 - bit));
        let others = known.dim_params.iter().map(vectors_of);
        let count = if whole { MOST } else { SMALL };
        std::iter::once(first).chain(others).take(count).map(W::cut).collect()
    })
}

/// The vectors of a dimension, by its polynomial and first numbers.
fn vectors_of(dimension: &JoeKuoD6Dim) -> [u64; 64] {
    let degree = dimension.m.len();
    let mut vectors = [0_u64; 64];
    for bit in 0..64 {
        vectors[bit] = match dimension.m.get(bit) {
            Some(number) => u64::from(*number) << (63 - bit),
            None => {
                let before = vectors[bit - degree];
                let terms = (1..degree).filter(|term| dimension.a >> (degree - 1 - term) & 1 == 1);
                terms.fold(before ^ before >> degree, |sum, term| sum ^ vectors[bit - term])
            }
        };
    }
    vectors
}

/// Where a generator is in its sequences, which are all equally far.
#[derive(Clone, Copy, Debug)]
pub struct Sobol {
    /// Results have 64 bits.
    wide: bool,
    dimensions: usize,
    position: u64,
}

impl Sobol {
    /// At a place of the sequences.
    pub fn new(wide: bool, dimensions: usize, position: u64) -> Sobol {
        Sobol { wide, dimensions, position }
    }

    /// From now on there are so many dimensions; the place stays.
    pub fn spread(&mut self, dimensions: usize) {
        self.dimensions = dimensions;
    }

    /// The next results, of which there are as many for each dimension.
    fn draw<W: Word, T>(&mut self, count: usize, shape: impl Fn(W) -> T) -> Vec<T> {
        let each = count / self.dimensions;
        let mut found = Vec::with_capacity(count);
        for vectors in &vectors::<W>(self.dimensions)[..self.dimensions] {
            let vectors = vectors.as_ref();
            // The sequences begin anew when they are through.
            let vector = |bit: u32| vectors[bit as usize % vectors.len()];
            let gray = self.position ^ self.position >> 1;
            let mut value = (0..vectors.len() as u32)
                .filter(|bit| gray >> bit & 1 == 1)
                .fold(W::ZERO, |value, bit| value.plus(vector(bit)));
            for step in 0..each as u64 {
                found.push(shape(value));
                value = value.plus(vector(self.position.wrapping_add(step).trailing_ones()));
            }
        }
        self.position = self.position.wrapping_add(each as u64);
        found
    }

    /// Results of 32 bits.
    pub fn bits(&mut self, count: usize) -> Vec<u32> {
        self.draw(count, |bits: u32| bits)
    }

    /// Results of 64 bits.
    pub fn wide_bits(&mut self, count: usize) -> Vec<u64> {
        self.draw(count, |bits: u64| bits)
    }

    /// Results of single precision.
    pub fn single(&mut self, law: Law, count: usize) -> Vec<f32> {
        let shape = move |bits: u32| match law {
            Law::Uniform => shape::uniform(bits),
            Law::Normal => {
                let (mirrored, sign) = if bits > 1 << 31 { (!bits, -1.0) } else { (bits, 1.0) };
                sign * normal_quantile(shape::uniform(mirrored).into()) as f32
            }
        };
        match self.wide {
            true => self.draw(count, |bits: u64| shape((bits >> 32) as u32)),
            false => self.draw(count, shape),
        }
    }

    /// Results of double precision.
    pub fn double(&mut self, law: Law, count: usize) -> Vec<f64> {
        match (self.wide, law) {
            (true, Law::Uniform) => self.draw(count, wide_unit),
            (true, Law::Normal) => self.draw(count, |bits: u64| {
                let (mirrored, sign) = if bits > 1 << 63 { (!bits, -1.0) } else { (bits, 1.0) };
                sign * normal_quantile(wide_unit(mirrored))
            }),
            (false, Law::Uniform) => self.draw(count, |bits: u32| f64::from(bits) * UNIT + UNIT),
            (false, Law::Normal) => self.draw(count, |bits: u32| {
                let (mirrored, sign) = if bits > 1 << 31 { (!bits, -1.0) } else { (bits, 1.0) };
                sign * normal_quantile(f64::from(mirrored) * UNIT + UNIT / 2.0)
            }),
        }
    }
}

/// From the upper 53 bits.
fn wide_unit(bits: u64) -> f64 {
    (bits >> 11) as f64 * UNIT_WIDE + UNIT_WIDE / 2.0
}
