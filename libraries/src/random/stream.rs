//! What a stream draws of its bits.

use super::shape;

/// Which numbers are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Law {
    /// From 0 (not itself) to 1.
    Uniform,
    /// The standard normal distribution.
    Normal,
}

/// A stream of its own state.
pub trait Stream {
    /// The next 32 bits.
    fn bits(&mut self) -> u32;
    /// The next number of single precision.
    fn uniform(&mut self) -> f32 {
        shape::uniform(self.bits())
    }
    /// The next number of double precision.
    fn uniform_double(&mut self) -> f64 {
        let (low, high) = (self.bits(), self.bits());
        shape::uniform_double(low, high)
    }
    /// The next two.
    fn normal(&mut self) -> [f32; 2] {
        let (x, y) = (self.bits(), self.bits());
        shape::normal(x, y)
    }
    /// The next two.
    fn normal_double(&mut self) -> [f64; 2] {
        let drawn = [(); 4].map(|()| self.bits());
        shape::normal_double(drawn)
    }
}
