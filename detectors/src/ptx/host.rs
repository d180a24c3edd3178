//! Accesses of transfers and the host. They may be of gigabytes that no kernel touches: so they stand in a list, and
//! go into the shadow's rows where these are there, or when they come to be.

use bugaroo_semantics::event::{AccessKind, Memory, Range, Site, WorkId};
use bugaroo_semantics::scope::Strength;

use super::Ptx;
use super::check::{Actor, Check};
use super::record::{HOST, Kind, ONE, Record, WRITES};
use super::rows::Row;
use crate::shadow::{Bytes, PAGE, ROW, ROW_SHIFT, bytes};

/// Host accesses, older ones first.
#[derive(Debug, Default)]
pub(super) struct HostLog {
    all: Vec<(Range, Record)>,
}

/// The bytes that two ranges share.
fn shared(a: &Range, b: &Range) -> Option<Range> {
    let address = a.address.max(b.address);
    let end = a.address.saturating_add(a.bytes).min(b.address.saturating_add(b.bytes));
    (address < end).then_some(Range { memory: a.memory, address, bytes: end - address })
}

impl HostLog {
    /// Fills a new page with what is known of it.
    pub fn fill(&self, first: u64, rows: &mut [Row; PAGE]) {
        let page = Range { memory: Memory::Global, address: first << ROW_SHIFT, bytes: PAGE as u64 * ROW };
        for (range, record) in &self.all {
            let Some(here) = shared(range, &page) else { continue };
            for (row, there) in (first..).zip(rows.iter_mut()) {
                let row = Range { memory: Memory::Global, address: row << ROW_SHIFT, bytes: ROW };
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

impl Ptx {
    /// A transfer or the host accesses global memory.
    pub(super) fn host_access(&mut self, work: WorkId, range: Range, writes: bool, site: Site) {
        if range.bytes == 0 {
            return;
        }
        let kind = Kind {
            site,
            kind: if writes { AccessKind::Store } else { AccessKind::Load },
            strength: Strength::Weak,
            size: u32::try_from(range.bytes).unwrap_or(u32::MAX),
            asynchronous: false,
        };
        let record = Record {
            mask: Bytes::MAX,
            lanes: 0,
            warps: 0,
            grid: work,
            cta: 0,
            time: 0,
            kind: self.report.kinds.number(kind),
            link: 0,
            base: 0,
            shape: ONE,
            flags: HOST | if writes { WRITES } else { 0 },
        };
        let mut check = Check {
            works: &self.works,
            links: &mut self.links,
            grid: None,
            actor: Actor::Host,
            settled: 0,
            report: &mut self.report,
            candidates: None,
        };
        // With others of the list, by ranges: rows that are there would tell of the same again.
        for (other, old) in &self.host.all {
            let ordered = check.works.ordered(old.grid, work);
            if let Some(part) = shared(other, &range)
                && (writes || old.is(WRITES))
                && !ordered
            {
                check.report.here = (Memory::Global, part.address);
                check.report.race(check.works, None, (old, &record), (0, 0), 0, false);
            }
        }
        let spare = &mut self.spare;
        self.shadow.each_global(range, |row, there: &mut Row, mask| {
            check.report.here = (Memory::Global, row << ROW_SHIFT);
            there.plain(&Record { mask, ..record }, &mut check, mask, spare);
        });
        // What comes before it and lies within it is stood for.
        let works = &self.works;
        let within = |other: &Range| shared(other, &range).is_some_and(|part| part.bytes == other.bytes);
        self.host.all.retain(|(other, old)| {
            !((writes || !old.is(WRITES)) && within(other) && works.ordered(old.grid, work))
        });
        self.host.all.push((range, record));
    }

    /// What a range had is forgotten.
    pub(super) fn forget(&mut self, range: &Range) {
        self.host.forget(range);
        let links = &mut self.links;
        self.shadow.each_global(*range, |_, row: &mut Row, gone| row.forget(gone, links));
    }
}
