//! A detector for tests that knows the order of pieces of work alone: two accesses of different pieces, one of them a write, that
//! no chain of edges orders. What threads of one grid do to each other it does not look at.

use std::collections::{BTreeMap, BTreeSet};

use bugaroo_detectors::{
    HowFar, MissingOrder, RaceDetector, RaceFinding, RacingKind, RacingParty, Warning, Who,
};
use bugaroo_semantics::event::{Access, AccessKind, Event, WhoseBytes, WorkId};
use bugaroo_semantics::scope::Strength;
use bugaroo_semantics::{Observer, Wants};

/// See the head.
#[derive(Default)]
pub struct Plain {
    /// All pieces that a piece comes behind.
    before: BTreeMap<WorkId, BTreeSet<WorkId>>,
    tips: BTreeMap<u32, WorkId>,
    seen: Vec<RacingParty>,
    found: Vec<RaceFinding>,
}

pub fn make() -> Vec<Box<dyn RaceDetector>> {
    vec![Box::new(Plain::default())]
}

impl Plain {
    fn work(who: Who) -> WorkId {
        match who {
            Who::Thread { grid, .. } | Who::Warp { grid, .. } | Who::Block { grid, .. } | Who::Grid(grid) => {
                grid
            }
            Who::Host(work) => work,
        }
    }

    fn accessed(&mut self, second: RacingParty) {
        let work = Plain::work(second.who);
        let before = &self.before[&work];
        for first in &self.seen {
            let other = Plain::work(first.who);
            let start = first.address.max(second.address);
            let end = (first.address + u64::from(first.bytes)).min(second.address + u64::from(second.bytes));
            let writes = first.kind.writes() || second.kind.writes();
            if other == work || before.contains(&other) || start >= end || !writes {
                continue;
            }
            self.found.push(RaceFinding {
                kind: RacingKind::Race,
                class: HowFar::InterGrid,
                memory: WhoseBytes::Global,
                address: start,
                first: *first,
                forgotten: None,
                latest: None,
                second,
                missing: MissingOrder::Stream,
                count: 1,
            });
        }
        self.seen.push(second);
    }

    fn forget(&mut self, address: u64, bytes: u64) {
        self.seen.retain(|seen| {
            seen.address + u64::from(seen.bytes) <= address || seen.address >= address + bytes
        });
    }
}

impl Observer for Plain {
    fn wants(&self) -> Wants {
        Wants::default()
    }

    fn access(&mut self, access: &Access<'_>) {
        if access.memory != WhoseBytes::Global {
            return;
        }
        for lane in access.by.each() {
            self.accessed(RacingParty {
                who: Who::Thread {
                    grid: access.by.grid,
                    block: access.by.block,
                    thread: access.by.first + lane,
                },
                site: access.site,
                kind: access.kind,
                strength: access.strength,
                address: access.address(lane),
                bytes: access.bytes(),
                asynchronous: false,
            });
        }
    }

    fn event(&mut self, event: &Event<'_>) {
        match *event {
            Event::Work { id, chain, after, .. } => {
                let mut before: BTreeSet<WorkId> = BTreeSet::new();
                let last = self.tips.insert(chain, id);
                for other in after.iter().chain(&last) {
                    assert!(*other < id, "{other} is not known when {id} is told");
                    before.extend(&self.before[other]);
                    before.insert(*other);
                }
                self.before.insert(id, before);
            }
            Event::HostAccess { work, range, writes, site } => self.accessed(RacingParty {
                who: Who::Host(work),
                site,
                kind: if writes { AccessKind::Store } else { AccessKind::Load },
                strength: Strength::Weak,
                address: range.address,
                bytes: u32::try_from(range.bytes).expect("tests copy little"),
                asynchronous: false,
            }),
            Event::Allocated(range) | Event::Freed(range) => self.forget(range.address, range.bytes),
            _ => {}
        }
    }
}

impl RaceDetector for Plain {
    fn name(&self) -> &'static str {
        "plain"
    }

    fn take_findings(&mut self) -> Vec<RaceFinding> {
        std::mem::take(&mut self.found)
    }

    fn take_warnings(&mut self) -> Vec<Warning> {
        Vec::new()
    }

    fn held(&self) -> u64 {
        0
    }
}
