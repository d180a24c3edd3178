//! XORWOW: a linear step of five words, and a counter that is added. Streams are 2^67 steps apart.
//!
//! Steps are matrices over two elements: many steps at once are a power of one.

use std::sync::OnceLock;

use super::stream::Stream;

/// How many streams there are.
pub const STREAMS: usize = 4096;
/// The binary logarithm of how far apart they are.
const APART: u32 = 67;
/// What the counter grows by.
const WEYL: u32 = 362_437;

type Words = [u32; 5];

/// A stream.
#[derive(Clone, Copy, Debug)]
pub struct Xorwow {
    words: Words,
    counter: u32,
}

/// One step of the linear part.
fn step(words: Words) -> Words {
    let [first, a, b, c, last] = words;
    let mixed = first ^ (first >> 2);
    [a, b, c, last, (last ^ (last << 4)) ^ (mixed ^ (mixed << 1))]
}

impl Stream for Xorwow {
    fn bits(&mut self) -> u32 {
        self.words = step(self.words);
        self.counter = self.counter.wrapping_add(WEYL);
        self.words[4].wrapping_add(self.counter)
    }
}

/// What becomes of each bit of a state.
struct Matrix(Vec<Words>);

impl Matrix {
    /// One step.
    fn step() -> Matrix {
        let alone = |bit: usize| {
            let mut words = [0; 5];
            words[bit / 32] = 1 << (bit % 32);
            words
        };
        Matrix((0..160).map(|bit| step(alone(bit))).collect())
    }

    fn apply(&self, words: Words) -> Words {
        let mut sum = [0; 5];
        for (bit, image) in self.0.iter().enumerate() {
            // All ones where the bit is set.
            let mask = (words[bit / 32] >> (bit % 32) & 1).wrapping_neg();
            sum.iter_mut().zip(image).for_each(|(sum, image)| *sum ^= image & mask);
        }
        sum
    }

    fn squared(&self) -> Matrix {
        Matrix(self.0.iter().map(|image| self.apply(*image)).collect())
    }
}

/// From one stream to the next.
fn jump() -> &'static Matrix {
    static JUMP: OnceLock<Matrix> = OnceLock::new();
    JUMP.get_or_init(|| (0..APART).fold(Matrix::step(), |matrix, _| matrix.squared()))
}

/// Skips steps.
fn skipped(stream: Xorwow, steps: u64, powers: &[Matrix]) -> Xorwow {
    let set = powers.iter().enumerate().filter(|(bit, _)| steps >> bit & 1 == 1);
    let words = set.fold(stream.words, |words, (_, matrix)| matrix.apply(words));
    Xorwow { words, counter: stream.counter.wrapping_add(WEYL.wrapping_mul(steps as u32)) }
}

/// All streams of a seed, each of which has drawn so many numbers.
pub fn streams(seed: u64, drawn: impl Fn(usize) -> u64) -> Vec<Xorwow> {
    let (low, high) = (seed as u32 ^ 0xaad2_6b49, (seed >> 32) as u32 ^ 0xf7dc_efdd);
    let (x, y) = (low.wrapping_mul(1_099_087_573), high.wrapping_mul(2_591_861_531));
    let words = [
        123_456_789_u32.wrapping_add(x),
        362_436_069 ^ x,
        521_288_629_u32.wrapping_add(y),
        88_675_123 ^ y,
        5_783_321_u32.wrapping_add(x),
    ];
    let counter = 6_615_241_u32.wrapping_add(y).wrapping_add(x);
    let most = drawn(0);
    let mut powers = Vec::new();
    while most >> powers.len() != 0 && powers.len() < 63 {
        let next = powers.last().map_or_else(Matrix::step, Matrix::squared);
        powers.push(next);
    }
    // So far apart, the counter has come round.
    let mut first = words;
    let mut found = Vec::with_capacity(STREAMS);
    for stream in 0..STREAMS {
        found.push(skipped(Xorwow { words: first, counter }, drawn(stream), &powers));
        first = jump().apply(first);
    }
    found
}
