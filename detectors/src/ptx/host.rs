//! Accesses of transfers and the host. They may be of gigabytes that no kernel touches: so they stand in a list, and
//! go into the shadow's rows where these are there, or when they come to be.

use bugaroo_semantics::event::{AccessKind, Range, SiteNumber, WhoseBytes, WorkId};
use bugaroo_semantics::scope::Strength;

use super::check::{Actor, Check};
use super::detector::ExactDetector;
use super::host_log::shared;
use super::record::{HOST, Kind, ONE, Record, WRITES};
use super::rows::Row;
use crate::shadow::{Bytes, ROW_SHIFT};

impl ExactDetector {
    /// A transfer or the host accesses global memory.
    pub(super) fn host_access(&mut self, work: WorkId, range: Range, writes: bool, site: SiteNumber) {
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
            let ordered = check.works.ordered(old.grid, work) || check.works.talked_between(old.grid, work);
            if let Some(part) = shared(other, &range)
                && (writes || old.is(WRITES))
                && !ordered
            {
                check.report.here = (WhoseBytes::Global, part.address);
                check.report.race(check.works, None, (old, &record), (0, 0), 0, false);
            }
        }
        let spare = &mut self.spare;
        self.shadow.each_global(range, |row, there: &mut Row, mask| {
            check.report.here = (WhoseBytes::Global, row << ROW_SHIFT);
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
        self.devices.forget(range);
        let links = &mut self.links;
        self.shadow.each_global(*range, |_, row: &mut Row, gone| row.forget(gone, links));
    }
}
