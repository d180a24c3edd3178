//! Random numbers of one choice.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};

/// The numbers of one choice: they depend on the seed and its place alone.
pub struct Draw(ChaCha8Rng);

impl Draw {
    /// Of the choice at this place.
    pub fn new(seed: u64, place: u64) -> Draw {
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        generator.set_stream(place);
        Draw(generator)
    }

    /// Below so many.
    pub fn below(&mut self, most: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * u128::from(most)) >> 64) as u64
    }

    /// From 0 to 1, neither included.
    fn unit(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// A rate that so much in so many trials suggests: of the gamma distribution of this shape, over the number.
    pub fn rate(&mut self, (worth, weight): (f64, f64)) -> f64 {
        self.gamma(worth) / weight
    }

    /// The gamma distribution of this shape, above 0 (Marsaglia and Tsang, "A simple method for generating gamma variables", 2000).
    fn gamma(&mut self, shape: f64) -> f64 {
        if shape < 1.0 {
            return self.gamma(shape + 1.0) * self.unit().powf(1.0 / shape);
        }
        let d = shape - 1.0 / 3.0;
        let c = 1.0 / (9.0 * d).sqrt();
        loop {
            let normal = (-2.0 * self.unit().ln()).sqrt() * (std::f64::consts::TAU * self.unit()).cos();
            let cubed = (1.0 + c * normal).powi(3);
            if cubed > 0.0 && self.unit().ln() < 0.5 * normal * normal + d - d * cubed + d * cubed.ln() {
                return d * cubed;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Draw;

    #[test]
    fn draws_depend_on_seed_and_place() {
        let first = |seed, place| Draw::new(seed, place).unit();
        assert_eq!(first(1, 2).to_bits(), first(1, 2).to_bits());
        assert!(first(1, 2) != first(1, 3) && first(1, 2) != first(2, 2));
    }

    #[test]
    fn the_mean_and_the_variance_of_a_gamma_are_its_shape() {
        for shape in [0.05, 0.5, 1.0, 3.0, 40.0] {
            let mut draw = Draw::new(1, 1);
            let all: Vec<f64> = (0..40_000).map(|_| draw.gamma(shape)).collect();
            let mean = all.iter().sum::<f64>() / all.len() as f64;
            let variance = all.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / all.len() as f64;
            assert!((mean / shape - 1.0).abs() < 0.1, "{shape}: {mean}");
            assert!((variance / shape - 1.0).abs() < 0.2, "{shape}: {variance}");
        }
    }
}
