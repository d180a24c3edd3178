//! ScoRD on the device: what host, injected code and `scord.cu` agree on.
//!
//! The word of metadata is that of the native detector: [`ScordState`] says where its fields are in a launch, and [`flag`]
//! has its flags, which a test of the driver holds against the detector's.

/// The variable (in constant memory) that the host writes a [`ScordState`] to before each launch.
pub const SCORD_VARIABLE: &str = "__bugaroo_scord";

/// `scord.cu` as nvcc 13.0 compiled it (`-ptx -rdc=true -arch=compute_75`), header and all.
pub const SCORD_PTX: &str = include_str!("../scord.ptx");

/// Names of the functions that injected code calls.
pub mod call {
    /// `()`: a thread of a kernel begins.
    pub const BEGIN: &str = "__bugaroo_scord_begin";
    /// `()`: it ends.
    pub const EXIT: &str = "__bugaroo_scord_exit";
    /// `(u64 generic address, u64 what)`: a lane is about to access; see [`super::what`].
    pub const ACCESS: &str = "__bugaroo_scord_access";
    /// `(u64 generic address, u64 what, u32 wrote)`: a lane has compared and swapped.
    pub const SWAPPED: &str = "__bugaroo_scord_swapped";
    /// `(u64 generic address, u32 device)`: a lane is about to compare and swap, and releases by it, for the device or the block.
    pub const RELEASE: &str = "__bugaroo_scord_release";
    /// `(u32 device)`: a lane is about to fence, for the device or the block.
    pub const FENCE: &str = "__bugaroo_scord_fence";
    /// `(u32 barrier) -> u32 phase`: it comes to a barrier of the block, where it waits.
    pub const ARRIVE: &str = "__bugaroo_scord_arrive";
    /// `(u32 barrier, u32 phase)`: it goes on behind it.
    pub const LEAVE: &str = "__bugaroo_scord_leave";
    /// All of them.
    pub const ALL: [&str; 8] = [BEGIN, EXIT, ACCESS, SWAPPED, RELEASE, FENCE, ARRIVE, LEAVE];
}

/// What an access is, in a word: in the low half the number of its place.
pub mod what {
    /// Bytes of it in all, as a power of two: three bits.
    pub const BYTES_AT: u32 = 32;
    /// What [`super::how`] says: four bits.
    pub const HOW_AT: u32 = 36;
    /// It is of the device, or weak; else of the block.
    pub const DEVICE: u64 = 1 << 40;
    /// It releases.
    pub const RELEASE: u64 = 1 << 41;
    /// It acquires.
    pub const ACQUIRE: u64 = 1 << 42;
    /// It is a compare-and-swap.
    pub const SWAPS: u64 = 1 << 43;
    /// It may open a lock.
    pub const OPENS: u64 = 1 << 44;
}

/// What an access is to the rules.
pub mod how {
    /// It writes.
    pub const WRITES: u32 = 1;
    /// It is an atomic.
    pub const ATOMIC: u32 = 2;
    /// Of the device, else of the block.
    pub const DEVICE: u32 = 4;
    /// It is strong.
    pub const STRONG: u32 = 8;
    /// All of these.
    pub const ALL: u32 = 15;
}

/// What has happened since the access that a word tells of.
pub mod since {
    /// A device fence.
    pub const DEV: u32 = 1;
    /// A block fence.
    pub const BLK: u32 = 2;
    /// A barrier.
    pub const BARRIER: u32 = 4;
}

/// Flags of a word, as they are in an entry.
pub mod flag {
    /// It has been written.
    pub const MODIFIED: u32 = 1;
    /// Other warps of the block have read it.
    pub const BLK_SHARED: u32 = 2;
    /// Other blocks have read it.
    pub const DEV_SHARED: u32 = 4;
    /// All three: nobody has accessed it. These are stored inverted.
    pub const FIRST: u32 = 7;
    /// It was last accessed by an atomic.
    pub const IS_ATOM: u32 = 8;
    /// Of the device.
    pub const DEVICE_SCOPE: u32 = 16;
    /// All accesses were strong.
    pub const STRONG: u32 = 32;
    /// The modification is ordered.
    pub const ORDERED: u32 = 64;
}

/// Conditions of table IV, from (a) on; 0: no race.
pub mod condition {
    /// (a)
    pub const BLOCK_FENCE: u32 = 1;
    /// (b)
    pub const DEVICE_FENCE: u32 = 2;
    /// (c)
    pub const NOT_STRONG: u32 = 3;
    /// (d)
    pub const ATOMIC_SCOPE: u32 = 4;
    /// (e)
    pub const LOCK_ON_LOAD: u32 = 5;
    /// (f)
    pub const LOCK_ON_STORE: u32 = 6;
    /// The word has moved.
    pub const MOVED: u32 = 7;
}

/// What the host says of a place, by its number (32 bits).
pub mod place {
    /// The number of the instruction in the program.
    pub const SITE: u32 = COVERED - 1;
    /// An access before it has told all that it could tell.
    pub const COVERED: u32 = 1 << 31;
}

/// Pages of memory, and the words of their elements.
pub mod page {
    pub use crate::looking::page::*;

    /// The largest element, as a power of two.
    pub const LARGEST: u32 = 2;
    /// Words of a unit.
    pub const UNIT: u64 = unit(LARGEST);
}

/// What is counted in a launch; 64-bit words.
pub mod control {
    pub use crate::looking::control::*;

    /// A count of fences or barriers has wrapped.
    pub const WRAPPED: usize = OWN;
    /// A table of locks was full.
    pub const FULL: usize = OWN + 8;
    /// Bytes in all.
    pub const BYTES: u64 = OWN as u64 + 16;
}

/// A word of the fence file.
pub mod file {
    /// The warp has accessed memory since its last fence.
    pub const SINCE_BLK: u64 = 1;
    /// Since its last device fence.
    pub const SINCE_DEV: u64 = 2;
    /// Both.
    pub const TOUCHED: u64 = 3;
    /// How often it has fenced for the block: 31 bits.
    pub const BLK_AT: u32 = 2;
    /// Mask of that.
    pub const BLK_MASK: u32 = (1 << 31) - 1;
    /// For the device: the rest.
    pub const DEV_AT: u32 = 33;
}

/// A barrier of a block: in the low half the block's count behind it.
pub mod barrier {
    /// How often it has completed: the rest.
    pub const PHASE_AT: u32 = 32;
}

/// The lock tables of a warp.
pub mod locks {
    /// Somebody works on them (32 bits).
    pub const BUSY: usize = 0;
    /// The lane whose table is the warp's (32 bits).
    pub const OWNER: usize = 4;
    /// In there: lanes have tables of their own.
    pub const BY_LANE: u32 = 32;
    /// What is said of them: see [`super::summary`] (64 bits).
    pub const SUMMARY: usize = 8;
    /// Lanes whose tables are not empty (32 bits).
    pub const HOLDERS: usize = 16;
    /// Lanes whose tables have locks that are not active (32 bits).
    pub const PENDING: usize = 20;
    /// By lane: the summary of its active locks (32 bits).
    pub const BLOOMS: usize = 24;
    /// By lane: its table.
    pub const TABLES: usize = BLOOMS + 4 * 32;
    /// Locks of a table: 64 bits each.
    pub const COUNT: u32 = 4;
    /// In a table: the next place.
    pub const NEXT: usize = 8 * COUNT as usize;
    /// Bytes of a table.
    pub const TABLE_BYTES: u64 = NEXT as u64 + 8;
    /// Bytes of a warp's.
    pub const BYTES: u64 = TABLES as u64 + 32 * TABLE_BYTES;

    /// A lock: of the device.
    pub const DEVICE: u64 = 1;
    /// There is one.
    pub const VALID: u64 = 2;
    /// It is held.
    pub const ACTIVE: u64 = 4;
    /// Its address.
    pub const ADDRESS_AT: u32 = 3;

    /// What a lane does to them: it opens one.
    pub const OPENS: u32 = 1;
    /// It takes one.
    pub const TAKES: u32 = 2;
    /// It drops those that are not active.
    pub const DROPS: u32 = 4;
    /// It makes them active.
    pub const ACTIVATES: u32 = 8;
    /// By something of device scope.
    pub const BY_DEVICE: u32 = 16;
}

/// What is said of a warp's locks: in the low 16 bits the filter of the warp's table.
pub mod summary {
    /// Lanes have tables of their own.
    pub const BY_LANE: u64 = 1 << 16;
    /// There are some.
    pub const HELD: u64 = 1 << 17;
    /// Some are not active.
    pub const PENDING: u64 = 1 << 18;
}

/// The state of a resident block.
pub mod block {
    pub use crate::looking::block::*;

    /// By warp: its [`super::locks`], where there may be any.
    pub const LOCKS: usize = OWN;

    /// Bytes of the state of blocks of so many warps.
    pub fn bytes(warps: u32, locks: bool) -> u64 {
        LOCKS as u64 + if locks { u64::from(warps) * super::locks::BYTES } else { 0 }
    }
}

/// A race in the report.
pub mod race {
    pub use crate::looking::race::*;

    /// See [`super::raced`] (32 bits).
    pub const WHAT: usize = OWN;
    /// Where the piece of memory begins that the word tells of (64 bits).
    pub const AT: usize = 48;
    /// The block that accesses (64 bits).
    pub const BLOCK: usize = 56;
    /// Its thread (32 bits).
    pub const THREAD: usize = 64;
    /// Bytes.
    pub const BYTES: u64 = 72;
}

/// What race it is.
pub mod raced {
    /// Mask of the [`super::condition`].
    pub const CONDITION: u32 = 7;
    /// The access counts as a write.
    pub const WRITES: u32 = 8;
    /// Bytes of the piece of memory, as a power of two.
    pub const SHIFT_AT: u32 = 4;
}

/// Where a field is in the word: as [`ScordState`] has it.
pub const fn field(shift: u32, bits: u32) -> u32 {
    shift | bits << 8
}

/// The device's view of a launch: `struct Scord` of `scord.cu`, byte for byte. Fields of the word are [`field`]s.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScordState {
    /// Address of [`control`]; 0: nothing is looked at.
    pub control: u64,
    /// Address of the slots of blocks: 32 bits for each block of the grid.
    pub slots: u64,
    /// Address of the states of resident blocks.
    pub blocks: u64,
    /// Address of the keys of pages: 64 bits each.
    pub keys: u64,
    /// Address of their descriptors.
    pub pages: u64,
    /// Address of the words.
    pub words: u64,
    /// Address of the report.
    pub races: u64,
    /// Address of what blocks count, by their numbers in words: 64 bits each.
    pub counts: u64,
    /// Address of the fence file: 64 bits for each warp of these; 0: nobody fences.
    pub file: u64,
    /// Address of what is said of [`place`]s.
    pub places: u64,
    /// Units of words that there are.
    pub units: u64,
    /// Generic addresses below this are no global memory.
    pub global_from: u64,
    /// What a word is whose element was split.
    pub moved: u64,
    /// Address of [`crate::looking::watched`]; 0: everything is looked at.
    pub watched: u64,
    /// Pages, less 1: a power of two less 1.
    pub page_mask: u32,
    /// Entries of the report, less 1: likewise.
    pub race_mask: u32,
    /// Slots of blocks.
    pub ctas: u32,
    /// Warps of a block.
    pub warps: u32,
    /// Bytes of a block's state.
    pub block_bytes: u32,
    /// 1: there may be locks.
    pub locks: u32,
    /// The filter of the locks held.
    pub bloom: u32,
    /// Flags.
    pub flags: u32,
    /// Barriers of the block.
    pub barrier: u32,
    /// Block fences.
    pub blk_fence: u32,
    /// Device fences.
    pub dev_fence: u32,
    /// Warp.
    pub warp: u32,
    /// Block.
    pub block: u32,
    /// Instruction.
    pub site: u32,
    /// Instruction of the last modification.
    pub wrote: u32,
    /// Nothing.
    pub unused: u32,
}

impl ScordState {
    /// Bytes of the device's struct.
    pub const BYTES: usize = size_of::<ScordState>();

    /// What to write to the variable: little-endian, without padding.
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        let two = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let words = [
            self.control,
            self.slots,
            self.blocks,
            self.keys,
            self.pages,
            self.words,
            self.races,
            self.counts,
            self.file,
            self.places,
            self.units,
            self.global_from,
            self.moved,
            self.watched,
            two(self.page_mask, self.race_mask),
            two(self.ctas, self.warps),
            two(self.block_bytes, self.locks),
            two(self.bloom, self.flags),
            two(self.barrier, self.blk_fence),
            two(self.dev_fence, self.warp),
            two(self.block, self.site),
            two(self.wrote, self.unused),
        ];
        let mut bytes = [0; Self::BYTES];
        for (field, word) in bytes.chunks_exact_mut(8).zip(words) {
            field.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }
}
