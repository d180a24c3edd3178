//! The table of flags of a module's sites: which fences the orders want inserted, left out or narrowed.

use bugaroo_device_handlers::{Layout, flags};
use bugaroo_protocol::Orders;
use bugaroo_simulator::{AllocationKind, Memory};

use crate::error::{CallResult, Status};

/// Writes the flags of a module's sites into device memory, if any is set.
pub fn write_flags(table: &[u32], memory: &mut Memory) -> CallResult<Option<u64>> {
    if table.iter().all(|word| *word == 0) {
        return Ok(None);
    }
    let bytes: Vec<u8> = table.iter().flat_map(|word| word.to_le_bytes()).collect();
    place(memory, &bytes).map(Some)
}

/// The words of a module's site flags table.
pub fn site_flags(orders: &Orders, module: u32, sites: usize) -> Vec<u32> {
    let mut table = vec![0; sites];
    let without = orders.variation.without_fence.iter().map(|site| (site, flags::OMIT));
    let with = orders.variation.with_fence.iter().map(|site| (site, flags::INSERT));
    let narrow = orders.variation.narrow_fence.iter().map(|site| (site, flags::NARROW));
    for (site, flag) in without.chain(with).chain(narrow).filter(|(site, _)| site.module == module) {
        match table.get_mut(site.index as usize) {
            Some(word) => *word |= flag,
            None => eprintln!("bugaroo: there is no site {site}: the module has {sites}"),
        }
    }
    table
}

/// Puts bytes into fresh device memory.
fn place(memory: &mut Memory, bytes: &[u8]) -> CallResult<u64> {
    let allocated = memory.alloc(bytes.len() as u64, Layout::ALIGN, AllocationKind::Tool);
    let address = allocated.map_err(|_| Status::OutOfMemory)?;
    memory.write(address, bytes).map_err(|_| Status::Unknown)?;
    Ok(address)
}
