//! What tests of several detectors share: the size of a grid, where lanes access, numbers from a seed.

use bugaroo_semantics::event::{Addresses, each};

/// The size of the grid: all blocks are resident.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    pub blocks: u32,
    pub threads: u32,
}

impl Size {
    pub fn warps(self) -> u32 {
        self.threads.div_ceil(32)
    }

    /// Lanes of a warp, by its number in the grid.
    pub fn lanes(self, warp: u32) -> u32 {
        let threads = (self.threads - warp % self.warps() * 32).min(32);
        u32::MAX >> (32 - threads)
    }

    /// A thread's number in the grid.
    pub fn thread(self, warp: u32, lane: u32) -> usize {
        let (block, index) = (warp / self.warps(), warp % self.warps());
        (block * self.threads + index * 32 + lane) as usize
    }
}

/// Where lanes access.
#[derive(Clone, Debug)]
pub enum At {
    Consecutive(u64),
    Same(u64),
    Each(Box<[u64; 32]>),
}

impl At {
    /// Where a lane accesses so many bytes.
    pub fn address(&self, lane: u32, bytes: u32) -> u64 {
        match self {
            At::Consecutive(first) => first + u64::from(lane * bytes),
            At::Same(all) => *all,
            At::Each(each) => each[lane as usize],
        }
    }

    /// As a detector is told.
    pub fn told(&self) -> Addresses<'_> {
        match self {
            At::Consecutive(first) => Addresses::Consecutive(*first),
            At::Same(all) => Addresses::Same(*all),
            At::Each(each) => Addresses::Each(each),
        }
    }
}

/// Numbers from a seed (SplitMix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    pub fn one_in(&mut self, of: u64) -> bool {
        self.below(of) == 0
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }

    /// Some of these lanes, one at least.
    pub fn some(&mut self, lanes: u32) -> u32 {
        let all: Vec<u32> = each(lanes).collect();
        let some = match self.below(4) {
            0 => 1 << self.pick(&all),
            1 => lanes & (u32::MAX << self.pick(&all)),
            _ => lanes & self.next() as u32,
        };
        if some == 0 { lanes } else { some }
    }
}
