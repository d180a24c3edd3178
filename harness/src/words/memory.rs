//! Memory in words.

use bugaroo_protocol::NearAllocation;

use crate::names::demangled;

/// Where an address lies, by its nearest allocation.
pub fn close_to(near: &NearAllocation) -> String {
    let NearAllocation { base, size, offset, .. } = near;
    let allocation = match &near.variable {
        Some(name) => format!("the {size}-byte variable {} at {base:#x}", demangled(name)),
        None => format!("the {size}-byte allocation at {base:#x}"),
    };
    let freed = if near.freed { ", which was freed" } else { "" };
    match u64::try_from(*offset) {
        Err(_) => format!("{} bytes before {allocation}{freed}", offset.unsigned_abs()),
        Ok(offset) if offset >= *size => format!("{} bytes behind {allocation}{freed}", offset - size),
        Ok(offset) => format!("{offset} bytes into {allocation}{freed}"),
    }
}
