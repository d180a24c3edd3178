//! Where strong accesses are.

use bugaroo_semantics::event::{Range, WhoseBytes};

/// Where a strong access is: the first byte's address, and how many.
pub(super) type Place = (u8, u32, u64, u32);

/// Where an access is, as a key.
pub(super) fn place_of(memory: WhoseBytes, address: u64, size: u32) -> Place {
    match memory {
        WhoseBytes::Global => (0, 0, address, size),
        WhoseBytes::Shared(slot) => (1, slot, address, size),
    }
}

/// Whether an element of a range begins at this address, or a part of it is there.
pub(super) fn overlap(range: &Range, address: u64, size: u32) -> Option<(u64, u64)> {
    let from = range.address.max(address);
    let to = (range.address.saturating_add(range.bytes)).min(address.saturating_add(u64::from(size)));
    (from < to).then_some((from, to))
}
