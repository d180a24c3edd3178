//! Whether the warps of a warpgroup multiply alike.
//!
//! Source: PTX ISA, "wgmma.mma_async": all threads of a warpgroup execute the same instruction (`.aligned`), and the contents of a matrix
//! descriptor are the same across its warps. Warps run one after another here, so the first one to come says what the others have to do.
//!
//! # What it can miss
//! Multiplications in the arms of branches on unknown values are not looked at. That a warp does less than others is found where
//! somebody waits for its part.

use std::collections::VecDeque;

/// Warps of a warpgroup.
const WARPS: usize = 4;

/// One multiplication: the instruction, and the descriptors of matrices in shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Product {
    pub pc: u32,
    pub a: Option<u64>,
    pub b: u64,
}

/// What a warpgroup has multiplied that not all of its warps have done yet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Products {
    ahead: VecDeque<Product>,
    /// How many of these each warp has done.
    done: [usize; WARPS],
}

impl Products {
    /// The next multiplication of a warp; the one that another warp did in its place, if that is not the same.
    pub fn next(&mut self, warp: usize, product: Product) -> Result<(), Product> {
        let done = &mut self.done[warp % WARPS];
        match self.ahead.get(*done) {
            Some(other) if *other != product => return Err(*other),
            Some(_) => {}
            None => self.ahead.push_back(product),
        }
        *done += 1;
        let all = self.done.iter().copied().min().unwrap_or(0);
        self.ahead.drain(..all);
        self.done.iter_mut().for_each(|done| *done -= all);
        Ok(())
    }
}
