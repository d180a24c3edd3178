//! The list of accesses of transfers and the host ([`super::host`]).

use bugaroo_semantics::event::{Range, WhoseBytes, WorkId};

use super::record::{Record, WRITES};
use super::rows::Row;
use crate::shadow::{PAGE, ROW, ROW_SHIFT, bytes};

/// Host accesses, older ones first.
#[derive(Debug, Default)]
pub(super) struct HostLog {
    pub(super) all: Vec<(Range, Record)>,
}

/// The bytes that two ranges share.
pub(super) fn shared(a: &Range, b: &Range) -> Option<Range> {
    let address = a.address.max(b.address);
    let end = a.address.saturating_add(a.bytes).min(b.address.saturating_add(b.bytes));
    (address < end).then_some(Range { memory: a.memory, address, bytes: end - address })
}

impl HostLog {
    /// Fills a new page with what is known of it.
    pub fn fill(&self, first: u64, rows: &mut [Row; PAGE]) {
        let page =
            Range { memory: WhoseBytes::Global, address: first << ROW_SHIFT, bytes: PAGE as u64 * ROW };
        for (range, record) in &self.all {
            let Some(here) = shared(range, &page) else { continue };
            for (row, there) in (first..).zip(rows.iter_mut()) {
                let row = Range { memory: WhoseBytes::Global, address: row << ROW_SHIFT, bytes: ROW };
                let Some(part) = shared(&here, &row) else { continue };
                let from = (part.address & (ROW - 1)) as u32;
                let record = Record { mask: bytes(from, from + part.bytes as u32), ..*record };
                let lists = &mut there.lists;
                if record.is(WRITES) { lists.writes.push(record) } else { lists.reads.push(record) }
            }
        }
    }

    /// Nothing is known of these bytes any more.
    pub fn forget(&mut self, gone: &Range) {
        let mut kept = Vec::with_capacity(self.all.len());
        for (range, record) in self.all.drain(..) {
            let Some(part) = shared(&range, gone) else {
                kept.push((range, record));
                continue;
            };
            let end = range.address.saturating_add(range.bytes);
            let part_end = part.address.saturating_add(part.bytes);
            if range.address < part.address {
                kept.push((Range { bytes: part.address - range.address, ..range }, record));
            }
            if part_end < end {
                kept.push((Range { address: part_end, bytes: end - part_end, ..range }, record));
            }
        }
        self.all = kept;
    }

    /// What work before this one has accessed comes before all that is to come.
    pub fn retire(&mut self, before: WorkId) {
        self.all.retain(|(_, record)| record.grid >= before);
    }

    pub fn held(&self) -> u64 {
        (self.all.capacity() * size_of::<(Range, Record)>()) as u64
    }
}
