//! Any bytes: an error, or entries that lie within them and unpack to the size that they state.

use bugaroo_device::images::fatbin::{FatBinary, HEADER, HEADER_MAGIC, choose};

/// Panics where that does not hold.
pub fn check(bytes: &[u8]) {
    check_one(bytes);
    // The fuzzer need not find the header by itself: the same bytes as its entries.
    let mut whole = HEADER_MAGIC.to_le_bytes().to_vec();
    whole.extend([1, 0, HEADER as u8, 0]);
    whole.extend((bytes.len() as u64).to_le_bytes());
    whole.extend(bytes);
    check_one(&whole);
}

fn check_one(bytes: &[u8]) {
    let Ok(binary) = FatBinary::parse(bytes) else { return };
    for entry in &binary.entries {
        if let Ok(unpacked) = entry.unpack() {
            assert_eq!(unpacked.len() as u64, entry.unpacked_size);
        }
    }
    let _ = choose(&binary, (9, 0));
}
