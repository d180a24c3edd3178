//! Numbers that host, injected code and handlers agree on.

/// Answers of the store handler.
pub mod choice {
    /// Run the original store.
    pub const RUN: u64 = 0;
    /// The store is delayed (or done): the original must not run.
    pub const DELAYED: u64 = 1;
    /// Run the original, then call the restore handler (model bugaroo).
    pub const RUN_AND_RESTORE: u64 = 2;
}

/// Why buffers drain: the drain handler's second argument.
pub mod event {
    /// A fence of any kind: both buffers, under both models.
    pub const FENCE: u32 = 0;
    /// A CTA barrier: both buffers; under model bugaroo only the shared one.
    pub const BARRIER: u32 = 1;
    /// `bar.warp.sync`: both; nothing under model bugaroo (the paper does not name it).
    pub const WARP_BARRIER: u32 = 2;
    /// The thread ends: both buffers, under both models.
    pub const EXIT: u32 = 3;
    /// An access or instruction that the injector does not take apart, or a call out of the module: both
    /// buffers, under both models (the paper does not name them).
    pub const UNKNOWN: u32 = 4;
    /// `shfl`, `vote`, `match`: they order nothing, but they wait, so strong stores must not stay behind;
    /// nothing under model bugaroo.
    pub const COLLECTIVE: u32 = 5;
    /// A fence of scope cta: under model bugaroo as any fence.
    pub const CTA_FENCE: u32 = 6;
    /// Not an event: the fence at this site is omitted.
    pub const OMITTED: u32 = 0xffff_ffff;
}

/// Bits of a thread's word of counts: entries of the global buffer, of the shared buffer, strong
/// entries of both, handler calls since there are strong ones. Zero when there are no entries.
pub mod pending {
    /// Width of each field.
    pub const COUNT_BITS: u32 = 16;
    /// Mask of one field.
    pub const COUNT_MASK: u32 = 0xffff;
    /// Where the number of strong entries stands.
    pub const STRONG_SHIFT: u32 = 32;
    /// Where the calls stand.
    pub const CALLS_SHIFT: u32 = 48;
    /// Everything but the calls.
    pub const COUNTS_MASK: u64 = 0x0000_ffff_ffff_ffff;
}

/// Strong stores drain after so many further handler calls of their thread.
pub const STRONG_CALLS: u64 = 32;

/// Entries of a chunk, the unit in which threads take room from the pool.
pub const CHUNK: u32 = 16;

/// Bytes of an entry: address word and value.
pub const ENTRY_BYTES: u64 = 16;

/// What a CTA holds back from the rest of the device.
pub mod cta {
    /// Stores that it holds at most.
    pub const SLOTS: u32 = 32;
    /// Entries that a thread moves into slots at a barrier, at most.
    pub const HOLDS: u32 = 2;
    /// Slots drain after so many handler calls of the CTA's threads while one is held.
    pub const CALLS: u32 = 4096;
    /// Bytes of its state: counts, a mark for each slot, then the slots.
    pub const BYTES: u64 = 32 + SLOTS as u64 * (1 + super::ENTRY_BYTES);
}

/// Bits of an entry's address word. Device addresses have at most 57 bits.
pub mod entry {
    /// Mask of the address.
    pub const ADDRESS_MASK: u64 = 0x1fff_ffff_ffff_ffff;
    /// Where log2 of the width in bytes stands (two bits).
    pub const WIDTH_SHIFT: u32 = 61;
    /// Where the strength stands (one bit).
    pub const STRONG_SHIFT: u32 = 63;
}

/// Multipliers of the coin's hash.
pub mod hash {
    pub use bugaroo_semantics::splitmix::{GOLDEN, MIX_1, MIX_2};
}
