//! HiRace on the device: what host, injected code and `hirace.cu` agree on.
//!
//! The shadow word is that of the native detector: [`bugaroo_semantics::history::word`] for what does not follow the grid, and
//! [`HiraceState`] says where the fields are that do. The machine is a table in the generated header
//! ([`bugaroo_semantics::history::table`]).

/// The variable (in constant memory) that the host writes a [`HiraceState`] to before each launch.
pub const HIRACE_VARIABLE: &str = "__bugaroo_hirace";

/// `hirace.cu` as nvcc 13.0 compiled it (`-ptx -rdc=true -arch=compute_75`), header and all.
pub const HIRACE_PTX: &str = include_str!("../hirace.ptx");

/// Names of the functions that injected code calls.
pub mod call {
    /// `()`: a thread of a kernel begins.
    pub const BEGIN: &str = "__bugaroo_hirace_begin";
    /// `()`: it ends.
    pub const EXIT: &str = "__bugaroo_hirace_exit";
    /// `(u64 generic address, u64 what)`: a lane is about to access; see [`super::what`].
    pub const ACCESS: &str = "__bugaroo_hirace_access";
    /// `(u32 barrier) -> u32 phase`: it comes to a barrier of the block, where it waits.
    pub const ARRIVE: &str = "__bugaroo_hirace_arrive";
    /// `(u32 barrier, u32 phase)`: it goes on behind it.
    pub const LEAVE: &str = "__bugaroo_hirace_leave";
    /// `(u32 mask)`: it comes to `bar.warp.sync`.
    pub const MEET: &str = "__bugaroo_hirace_meet";
    /// All of them.
    pub const ALL: [&str; 6] = [BEGIN, EXIT, ACCESS, ARRIVE, LEAVE, MEET];
}

/// What an access is, in a word: in the low half the number of its place.
pub mod what {
    /// Bytes of an element, as a power of two: three bits.
    pub const SIZE_AT: u32 = 32;
    /// How many elements: four bits.
    pub const ELEMENTS_AT: u32 = 36;
    /// The number of its action: two bits.
    pub const ACTION_AT: u32 = 40;
    /// It is a load, however strong.
    pub const KEPT_AT: u32 = 42;
}

/// Pages of memory, and the words of their elements.
pub mod page {
    pub use crate::looking::page::*;

    /// The largest element, as a power of two.
    pub const LARGEST: u32 = 3;
    /// Words of a unit.
    pub const UNIT: u64 = unit(LARGEST);
}

/// What is counted in a launch; 64-bit words.
pub mod control {
    pub use crate::looking::control::*;

    /// A clock has become too late: nothing is looked at any more.
    pub const OVER: usize = OWN;
    /// Bytes in all.
    pub const BYTES: u64 = OWN as u64 + 8;
}

/// The state of a resident block. A barrier's word: phases that have completed, and the clock since the last one, low half.
pub mod block {
    pub use crate::looking::block::*;

    /// The latest block clock (32 bits).
    pub const LATEST: usize = OWN;
    /// By warp: the latest clock of its lanes (64 bits).
    pub const WARPS: usize = LATEST + 8;
    /// By warp: lanes that have not ended (32 bits).
    pub const ALIVE: usize = WARPS + 8 * WARP_COUNT as usize;
    /// By thread: its clocks, then what it meets others with (64 bits each).
    pub const THREAD: usize = ALIVE + 4 * WARP_COUNT as usize;

    /// Bytes of the state of blocks of so many warps.
    pub fn bytes(warps: u32) -> u64 {
        THREAD as u64 + u64::from(warps) * 32 * 16
    }
}

/// A race in the report.
pub mod race {
    pub use crate::looking::race::*;

    /// 1: of shared memory (32 bits).
    pub const SHARED: usize = OWN;
    /// The word of the access, without a state (64 bits).
    pub const NEW: usize = 48;
    /// Bytes.
    pub const BYTES: u64 = 56;
}

/// The device's view of a launch: `struct Hirace` of `hirace.cu`, byte for byte.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HiraceState {
    /// Address of [`control`]; 0: nothing is looked at.
    pub control: u64,
    /// Address of the slots of blocks: 32 bits for each block of the grid.
    pub slots: u64,
    /// Address of the states of resident blocks.
    pub blocks: u64,
    /// Address of the keys of global pages: 64 bits each.
    pub keys: u64,
    /// Address of their descriptors.
    pub pages: u64,
    /// Address of the descriptors of shared pages, by slot.
    pub shared: u64,
    /// Address of the words.
    pub words: u64,
    /// Address of the report.
    pub races: u64,
    /// Units of words that there are.
    pub units: u64,
    /// Generic addresses below this are no global memory.
    pub global_from: u64,
    /// Bytes of a block's state.
    pub block_bytes: u64,
    /// Address of [`crate::looking::watched`]; 0: everything is looked at.
    pub watched: u64,
    /// Global pages, less 1: a power of two less 1.
    pub page_mask: u32,
    /// Entries of the report, less 1: likewise.
    pub race_mask: u32,
    /// Slots of blocks.
    pub ctas: u32,
    /// Pages of a block's shared memory.
    pub shared_pages: u32,
    /// Bits of the word's fields: thread.
    pub thread: u32,
    /// Block.
    pub block: u32,
    /// Warp clock.
    pub warp_clock: u32,
    /// Block clock.
    pub block_clock: u32,
    /// Site.
    pub site: u32,
    /// 1: the threads of a warp are one.
    pub lockstep: u32,
}

impl HiraceState {
    /// Bytes of the device's struct.
    pub const BYTES: usize = size_of::<HiraceState>();

    /// What to write to the variable: little-endian, without padding.
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        let two = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let words = [
            self.control,
            self.slots,
            self.blocks,
            self.keys,
            self.pages,
            self.shared,
            self.words,
            self.races,
            self.units,
            self.global_from,
            self.block_bytes,
            self.watched,
            two(self.page_mask, self.race_mask),
            two(self.ctas, self.shared_pages),
            two(self.thread, self.block),
            two(self.warp_clock, self.block_clock),
            two(self.site, self.lockstep),
        ];
        let mut bytes = [0; Self::BYTES];
        for (field, word) in bytes.chunks_exact_mut(8).zip(words) {
            field.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }
}

#[cfg(test)]
mod tests;
