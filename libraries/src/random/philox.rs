//! Philox4x32-10: four numbers of a block, by its counter and a key. Streams are counters of their own; each gives four results
//! in turn, from one block, or from two where results need more bits.

use super::shape;
use super::stream::Law;

/// How many streams there are.
const STREAMS: u64 = 65_536;
/// How many results each gives at a time.
const LANES: u64 = 4;

/// A generator.
#[derive(Debug)]
pub struct Philox {
    key: [u32; 2],
    /// The next block of each stream.
    blocks: Vec<u64>,
    /// The next result, by stream and lane.
    next: u64,
}

/// The numbers of a counter.
fn numbers(mut counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    for _ in 0..10 {
        let wide = |factor: u32, word: u32| u64::from(factor) * u64::from(word);
        let (a, b) = (wide(0xd251_1f53, counter[0]), wide(0xcd9e_8d57, counter[2]));
        counter = [
            (b >> 32) as u32 ^ counter[1] ^ key[0],
            b as u32,
            (a >> 32) as u32 ^ counter[3] ^ key[1],
            a as u32,
        ];
        key = [key[0].wrapping_add(0x9e37_79b9), key[1].wrapping_add(0xbb67_ae85)];
    }
    counter
}

impl Philox {
    /// At a place of a seed's sequence.
    pub fn new(seed: u64, offset: u64) -> Philox {
        let (rounds, next) = (offset / (STREAMS * LANES), offset % (STREAMS * LANES));
        let blocks = (0..STREAMS).map(|stream| rounds + u64::from(stream < next / LANES)).collect();
        Philox { key: [seed as u32, (seed >> 32) as u32], blocks, next }
    }

    /// Deals results: by the numbers of a block of a stream, counted from its next one, and the lane.
    fn deal<T>(
        &mut self,
        count: usize,
        used: u64,
        draw: impl Fn(&dyn Fn(u64) -> [u32; 4], usize) -> T,
    ) -> Vec<T> {
        let mut found = Vec::with_capacity(count);
        for _ in 0..count {
            let (stream, lane) = (self.next / LANES, self.next % LANES);
            let (block, key) = (self.blocks[stream as usize], self.key);
            let of = |further: u64| {
                let block = block.wrapping_add(further);
                numbers([block as u32, (block >> 32) as u32, stream as u32, 0], key)
            };
            found.push(draw(&of, lane as usize));
            if lane == LANES - 1 {
                self.blocks[stream as usize] = block.wrapping_add(used);
            }
            self.next = (self.next + 1) % (STREAMS * LANES);
        }
        found
    }

    /// The next results of 32 bits.
    pub fn bits(&mut self, count: usize) -> Vec<u32> {
        self.deal(count, 1, |of, lane| of(0)[lane])
    }

    /// Those of single precision.
    pub fn single(&mut self, law: Law, count: usize) -> Vec<f32> {
        self.deal(count, 1, |of, lane| {
            let (numbers, pair) = (of(0), lane / 2 * 2);
            match law {
                Law::Normal => shape::normal(numbers[pair], numbers[pair + 1])[lane % 2],
                Law::Uniform => shape::uniform(numbers[lane]),
            }
        })
    }

    /// Those of double precision.
    pub fn double(&mut self, law: Law, count: usize) -> Vec<f64> {
        self.deal(count, 2, |of, lane| {
            let (numbers, pair) = (of(lane as u64 / 2), lane % 2 * 2);
            match law {
                Law::Normal => shape::normal_double(numbers)[lane % 2],
                Law::Uniform => shape::uniform_double(numbers[pair], numbers[pair + 1]),
            }
        })
    }
}
