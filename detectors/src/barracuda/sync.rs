//! Synchronisation locations (S of the paper): what was released at an address, for each block (figure 3).

use std::collections::BTreeMap;
use std::rc::Rc;

use bugaroo_semantics::inferred::Reach;
use rustc_hash::FxHashMap;

use super::sparse::{Sparse, join};

/// What was released at one location.
#[derive(Debug, Default)]
struct Location {
    /// For all blocks but those below.
    all: Option<Rc<Sparse>>,
    /// For these blocks.
    blocks: BTreeMap<u32, Rc<Sparse>>,
}

/// All of a memory's locations, by address.
#[derive(Debug, Default)]
pub(super) struct Locations(FxHashMap<u64, Location>);

impl Locations {
    /// ACQBLOCK, ACQGLOBAL: what a thread of a block learns. `blocks`: how many the grid has.
    pub fn acquired(&self, address: u64, block: u32, reach: Reach, blocks: u64) -> Option<Rc<Sparse>> {
        let location = self.0.get(&address)?;
        if reach == Reach::Block {
            return location.blocks.get(&block).or(location.all.as_ref()).cloned();
        }
        let mut known = if location.blocks.len() as u64 == blocks { None } else { location.all.clone() };
        for clock in location.blocks.values() {
            join(&mut known, clock);
        }
        known
    }

    /// RELBLOCK, RELGLOBAL.
    pub fn release(&mut self, address: u64, block: u32, reach: Reach, clock: Rc<Sparse>) {
        let location = self.0.entry(address).or_default();
        match reach {
            Reach::Block => {
                location.blocks.insert(block, clock);
            }
            Reach::Grid => {
                location.blocks.clear();
                location.all = Some(clock);
            }
        }
    }

    /// A release that takes nothing away from those before.
    pub fn add(&mut self, address: u64, clock: &Rc<Sparse>) {
        join(&mut self.0.entry(address).or_default().all, clock);
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Bytes that they take, about.
    pub fn bytes(&self) -> u64 {
        let of = |clock: &Rc<Sparse>| clock.bytes();
        let location = |l: &Location| {
            size_of::<Location>() as u64
                + l.all.as_ref().map_or(0, of)
                + l.blocks.values().map(of).sum::<u64>()
        };
        self.0.values().map(location).sum()
    }
}
