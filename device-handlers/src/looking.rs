//! What kits that look for races on the device have in common: slots of resident blocks, pages of metadata, and a report
//! (`blocks.cuh`, `pages.cuh`, `report.cuh`).

/// Pages of memory, and the words of their elements.
pub mod page {
    /// Bytes of a page, as a power of two.
    pub const SHIFT: u32 = 12;
    /// In a page's descriptor: the element's size, as a power of two (two bits); then that for which there are words (two bits).
    pub const ROOM_AT: u32 = 2;
    /// Somebody makes the page, or splits its words.
    pub const BUSY: u64 = 1 << 4;
    /// The first unit.
    pub const UNIT_AT: u32 = 5;
    /// Bits of that.
    pub const UNIT_BITS: u32 = 25;
    /// Whose page it is: 0, nobody's; of global memory 1; of shared memory the block and one.
    pub const OWNER_AT: u32 = UNIT_AT + UNIT_BITS;
    /// Places that are looked at for a page.
    pub const PROBES: u32 = 128;

    /// Words of a unit, by which pages get their words: those of a page with the largest elements, of two to the power of
    /// `largest` bytes.
    pub const fn unit(largest: u32) -> u64 {
        1 << (SHIFT - largest)
    }
}

/// What is counted in a launch; 64-bit words.
pub mod control {
    /// Accesses of elements that got no word.
    pub const REFUSED: usize = 0;
    /// Races for which there was no room in the report.
    pub const LOST: usize = 8;
    /// Barriers at which not all threads were that could have been.
    pub const PARTIAL: usize = 16;
    /// Units that have been handed out.
    pub const UNITS: usize = 24;
    /// Races in the report.
    pub const RACES: usize = 32;
    /// What a kit counts besides.
    pub const OWN: usize = 40;
}

/// The state of a resident block.
pub mod block {
    /// Somebody has this slot (32 bits).
    pub const TAKEN: usize = 0;
    /// Threads that have not ended (32 bits).
    pub const THREADS: usize = 4;
    /// Accesses of warps, of all blocks that have been here (64 bits).
    pub const ACCESSES: usize = 8;
    /// By barrier: what the kit keeps of it (64 bits).
    pub const BARRIERS: usize = 16;
    /// How many barriers.
    pub const BARRIER_COUNT: u32 = 16;
    /// What a kit keeps besides.
    pub const OWN: usize = BARRIERS + 8 * BARRIER_COUNT as usize;
    /// Most warps.
    pub const WARP_COUNT: u32 = 32;
}

/// A race in the report.
pub mod race {
    /// What is alike in races that are one entry; 0: none (64 bits).
    pub const KEY: usize = 0;
    /// How often (64 bits).
    pub const COUNT: usize = 8;
    /// The number of the entry, from 1, in the order in which they came to be; 0: it is not whole (64 bits).
    pub const NUMBER: usize = 16;
    /// The word that the element had (64 bits).
    pub const OLD: usize = 24;
    /// An address; of shared memory its offset (64 bits).
    pub const ADDRESS: usize = 32;
    /// The place of the access (32 bits).
    pub const PLACE: usize = 40;
    /// What a kit keeps besides.
    pub const OWN: usize = 44;
    /// Places that are looked at for an entry.
    pub const PROBES: u32 = 64;
}

/// A block without a slot, and one whose slot is being made; from here on slots.
pub const FIRST_SLOT: u32 = 2;

/// What of a launch is looked at (`watched.cuh`): a table of 64-bit words. First how many ranges there are of each kind, then how
/// blocks are sampled, then the ranges, kind by kind, in order: the first number of each, and the one behind its last.
pub mod watched {
    /// Ranges of bytes of global memory.
    pub const GLOBAL: usize = 0;
    /// Of bytes of a block's shared memory.
    pub const SHARED: usize = 8;
    /// Of blocks, by linear index in the grid.
    pub const BLOCKS: usize = 16;
    /// Of warps, by index in the block.
    pub const WARPS: usize = 24;
    /// Of the blocks one in so many.
    pub const ONE_BLOCK_IN: usize = 32;
    /// By what they are chosen.
    pub const SEED: usize = 40;
    /// The ranges.
    pub const RANGES: usize = 48;
    /// Bytes of a range.
    pub const RANGE_BYTES: u64 = 16;
}
