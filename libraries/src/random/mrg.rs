//! MRG32k3a: two linear recurrences of three words, modulo two primes, and their difference. Streams are 2^76 steps apart.

use super::shape;
use super::stream::Stream;

/// The primes.
const PRIMES: [u64; 2] = [4_294_967_087, 4_294_944_443];
/// What a step multiplies by: the last row of each matrix.
const ROWS: [[u64; 3]; 2] = [[PRIMES[0] - 810_728, 1_403_580, 0], [PRIMES[1] - 1_370_589, 0, 527_612]];
/// The binary logarithm of how far apart streams are.
const APART: u32 = 76;
/// From a number to one from 0 to 1.
const UNIT: f64 = 2.328_306_549_837_829e-10;
/// From a number below the first prime to 32 bits.
const BITS: f64 = 1.000_000_048_662;

/// A stream: the words of both recurrences.
#[derive(Clone, Copy, Debug)]
pub struct Mrg([[u64; 3]; 2]);

impl Mrg {
    /// The next number, from 1 to the first prime.
    fn number(&mut self) -> u64 {
        for ((words, row), prime) in self.0.iter_mut().zip(ROWS).zip(PRIMES) {
            let sum: u128 = row.iter().zip(&*words).map(|(a, b)| u128::from(*a) * u128::from(*b)).sum();
            *words = [words[1], words[2], (sum % u128::from(prime)) as u64];
        }
        let [first, second] = self.0.map(|words| words[2]);
        if first <= second { first + PRIMES[0] - second } else { first - second }
    }
}

impl Stream for Mrg {
    fn bits(&mut self) -> u32 {
        (self.number() as f64 * BITS) as u32
    }

    fn uniform(&mut self) -> f32 {
        self.uniform_double() as f32
    }

    fn uniform_double(&mut self) -> f64 {
        self.number() as f64 * UNIT
    }

    fn normal_double(&mut self) -> [f64; 2] {
        let (uniform, angle) = (self.uniform_double(), self.uniform_double());
        shape::polar(uniform, angle * 2.0)
    }
}

type Matrix = [[u64; 3]; 3];

fn times(a: &Matrix, b: &Matrix, prime: u64) -> Matrix {
    let entry = |row: usize, column: usize| {
        let sum: u128 = (0..3).map(|step| u128::from(a[row][step]) * u128::from(b[step][column])).sum();
        (sum % u128::from(prime)) as u64
    };
    [0, 1, 2].map(|row| [0, 1, 2].map(|column| entry(row, column)))
}

fn apply(a: &Matrix, words: [u64; 3], prime: u64) -> [u64; 3] {
    let sum =
        |row: &[u64; 3]| row.iter().zip(words).map(|(a, b)| u128::from(*a) * u128::from(b)).sum::<u128>();
    [0, 1, 2].map(|row: usize| (sum(&a[row]) % u128::from(prime)) as u64)
}

/// A step, squared so many times.
fn squared(times_squared: u32) -> [Matrix; 2] {
    [0, 1].map(|which: usize| {
        let step = [[0, 1, 0], [0, 0, 1], ROWS[which]];
        (0..times_squared).fold(step, |matrix, _| times(&matrix, &matrix, PRIMES[which]))
    })
}

fn both(matrices: &[Matrix; 2], Mrg(words): Mrg) -> Mrg {
    Mrg([0, 1].map(|which: usize| apply(&matrices[which], words[which], PRIMES[which])))
}

/// So many streams of a seed, each of which has drawn so many numbers.
pub fn streams(count: usize, seed: u64, drawn: impl Fn(usize) -> u64) -> Vec<Mrg> {
    let mut first = Mrg([[12345; 3]; 2]);
    if seed != 0 {
        let (x, y) = (u64::from(seed as u32 ^ 0x5555_5555), u64::from((seed >> 32) as u32 ^ 0xaaaa_aaaa));
        let factors = [[x, y, x], [y, x, y]];
        for ((words, factors), prime) in first.0.iter_mut().zip(factors).zip(PRIMES) {
            words.iter_mut().zip(factors).for_each(|(word, factor)| *word = factor * *word % prime);
        }
    }
    let powers: Vec<_> = (0..u64::BITS - drawn(0).leading_zeros()).map(squared).collect();
    let jump = squared(APART);
    let mut found = Vec::with_capacity(count);
    for stream in 0..count {
        let steps = drawn(stream);
        let set = powers.iter().enumerate().filter(|(bit, _)| steps >> bit & 1 == 1);
        found.push(set.fold(first, |stream, (_, matrices)| both(matrices, stream)));
        first = both(&jump, first);
    }
    found
}
