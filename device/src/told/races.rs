//! What detectors have found, for the report: names in place of numbers.

use std::collections::BTreeMap;

use bugaroo_detectors::{HowFar, MissingOrder, NO_SITE, NotKept, RaceFinding, RacingKind, RacingParty, Who};
use bugaroo_protocol::{
    BlockedThread, Detector, FaultAccess, Forgotten, KnownThread, Message, NearAllocation, Race as Told,
    RaceClass, RaceKind, RaceMissing, RaceParty, Races, SiteId, THE_HOST,
};
use bugaroo_semantics::event::{AccessKind, SiteNumber, WhoseBytes, WorkId};
use bugaroo_semantics::scope::{Scope, Strength};
use bugaroo_simulator as device;
use bugaroo_simulator::SharedVariable;

use crate::state::Gpu;
use crate::trial::diagnosis::{Lines, one_thread};
use crate::trial::injection::Injected;
use crate::trial::race::watched::Watching;

/// Accesses after which it is looked again how much memory the detectors take.
const WEIGHED: u64 = 1 << 20;

/// What makes two findings the same to who reads of them.
type Key = (Detector, RacingKind, HowFar, [(SiteNumber, bool); 2], bool, MissingOrder, Option<NotKept>);

impl Gpu {
    /// Tells the harness what detectors have found since it was told last, and how much they have looked at. `last`: there may
    /// be no later time.
    pub fn tell_races(&mut self, last: bool) {
        let Some(race) = &mut self.trial.race else { return };
        let mut looker = race.looker.borrow_mut();
        let named = self.trial.injection.race();
        // To weigh them may take as long as all that they have seen.
        let weighs = last || looker.accesses - race.counts.weighed >= WEIGHED;
        if weighs {
            race.counts.weighed = looker.accesses;
        }
        let (mut found, mut warnings, mut held) = (Vec::new(), Vec::new(), 0_u64);
        for detector in looker.set.each() {
            let name = named.iter().find(|named| named.name() == detector.name()).or(named.first());
            // There are detectors only where the orders name some.
            let Some(name) = name else { continue };
            let proven = detector.proven();
            found.extend(detector.take_findings().into_iter().map(|finding| (*name, proven, finding)));
            for warning in detector.take_warnings() {
                warnings.push((warning.what, warning.count));
            }
            if weighs {
                held = held.saturating_add(detector.held());
            }
        }
        let mut unknown = 0_u64;
        found.retain(|(_, _, finding)| {
            let across = matches!(finding.class, HowFar::InterGrid | HowFar::Host);
            let talks = |party: &RacingParty| grid_of(party.who).is_some_and(|grid| looker.talks(grid));
            let kept = !across || !(talks(&finding.first) || talks(&finding.second));
            unknown = unknown.saturating_add(if kept { 0 } else { finding.count });
            kept
        });
        let unwatched = std::mem::take(&mut race.counts.unwatched);
        if unwatched > 0 {
            let what = "launches are not looked at: the program has loaded more code than instructions can be numbered";
            warnings.push((what.to_owned(), unwatched));
        }
        warnings.extend(std::mem::take(&mut race.counts.blind));
        let early = std::mem::take(&mut race.counts.early);
        if early > 0 {
            let what = "launches that may begin early (programmatic dependent launch) are taken as launched in the order of their stream";
            warnings.push((what.to_owned(), early));
        }
        let met = race.watching.as_mut().map(Watching::take_met).unwrap_or_default();
        let refused = race.keeper.take_refused();
        warnings.extend(refused.into_iter().map(|(why, count)| (why.to_owned(), count)));
        if unknown > 0 {
            let what = "accesses of a kernel that talks with the host while it runs are not held against those of other work";
            warnings.push((what.to_owned(), unknown));
        }
        let accesses = looker.accesses - race.counts.accesses;
        race.counts.accesses = looker.accesses;
        race.counts.bytes = race.counts.bytes.max(held);
        let bytes = race.counts.bytes;
        drop(looker);
        if !found.is_empty() || !warnings.is_empty() || !met.is_empty() || accesses > 0 {
            let races = self.told(&found);
            self.trial.report.send(&Message::Races(Races { races, warnings, met, accesses, bytes }));
        }
        // What was found with them is told.
        if let (Some(race), Some(order)) = (&mut self.trial.race, &self.running.queue.order) {
            let before = order.retired();
            race.grids.retire(before);
            race.looker.borrow_mut().retire(before);
        }
    }

    /// The findings, each pair of places once.
    fn told(&self, found: &[(Detector, bool, RaceFinding)]) -> Vec<Told> {
        let mut numbers: BTreeMap<Key, usize> = BTreeMap::new();
        let mut told: Vec<Told> = Vec::new();
        for (detector, proven, finding) in found {
            let site = |party: &RacingParty| (party.site, party.kind.writes());
            let shared = finding.memory != WhoseBytes::Global;
            let sites = [site(&finding.first), site(&finding.second)];
            let RaceFinding { kind, class, missing, forgotten, .. } = *finding;
            let key = (*detector, kind, class, sites, shared, missing, forgotten);
            match numbers.get(&key) {
                Some(at) => told[*at].count = told[*at].count.saturating_add(finding.count),
                None => {
                    numbers.insert(key, told.len());
                    told.push(Told { proven: *proven, ..self.told_one(*detector, finding) });
                }
            }
        }
        told
    }

    fn told_one(&self, detector: Detector, finding: &RaceFinding) -> Told {
        let shared = finding.memory != WhoseBytes::Global;
        let kind = match (finding.kind, finding.first.kind.writes(), finding.second.kind.writes()) {
            (RacingKind::BranchOrder, ..) => RaceKind::BranchOrder,
            (RacingKind::BarrierDivergence, ..) => RaceKind::BarrierDivergence,
            (RacingKind::Race, ..) if finding.forgotten == Some(NotKept::Access) => RaceKind::AccessWrite,
            (RacingKind::Race, true, true) => RaceKind::WriteWrite,
            (RacingKind::Race, true, false) => RaceKind::WriteRead,
            (RacingKind::Race, false, _) => RaceKind::ReadWrite,
        };
        Told {
            detector,
            kind,
            class: class(finding.class),
            shared,
            address: finding.address,
            allocation: if shared { self.variable_of(finding) } else { self.allocation_of(finding.address) },
            first: match finding.forgotten.map(not_kept) {
                None => self.party(&self.stated(detector, &finding.first)),
                forgotten => RaceParty { forgotten, scope: String::new(), ..self.party(&finding.first) },
            },
            latest: finding.latest.as_ref().map(|party| self.party(&self.stated(detector, party))),
            second: self.party(&finding.second),
            missing: missing(finding.missing),
            proven: true,
            count: finding.count,
        }
    }

    /// An access with what its instruction says of it, where the detector has not kept that.
    fn stated(&self, detector: Detector, party: &RacingParty) -> RacingParty {
        let race = self.trial.race.as_ref().filter(|_| detector == Detector::Hirace);
        let known = race.and_then(|race| race.programs.at(party.site));
        match known.and_then(|(program, pc)| program.stated(pc)) {
            Some((kind, strength, bytes)) => RacingParty { kind, strength, bytes, ..*party },
            None => *party,
        }
    }

    /// The variable that is there in shared memory; none in its dynamic part.
    fn variable_of(&self, finding: &RaceFinding) -> Option<NearAllocation> {
        let race = self.trial.race.as_ref()?;
        let Who::Thread { grid, .. } = finding.second.who else { return None };
        let (program, _) = race.programs.at(finding.second.site)?;
        let kernel = program.kernel(&race.grids.get(grid)?.kernel)?;
        let SharedVariable { name, offset, size } = kernel.shared_variable_at(finding.address)?;
        Some(NearAllocation {
            base: u64::from(*offset),
            size: u64::from(*size),
            offset: (finding.address - u64::from(*offset)) as i64,
            freed: false,
            variable: Some(name.clone()),
            allocated_at: Vec::new(),
            freed_at: Vec::new(),
        })
    }

    /// The allocation that an address is in, or was in last.
    fn allocation_of(&self, address: u64) -> Option<NearAllocation> {
        let live = self.memory.allocation(address).map(|found| self.near(found, address));
        live.or_else(|| self.held.origins.freed_at(address))
    }

    fn party(&self, party: &RacingParty) -> RaceParty {
        let called =
            |site: SiteNumber| self.running.queue.order.as_ref().map(|order| order.calls.frames(site));
        let access = match party.kind {
            AccessKind::Load => FaultAccess::Load,
            AccessKind::Store => FaultAccess::Store,
            AccessKind::Atomic(_) => FaultAccess::Atomic,
        };
        let mut told = RaceParty {
            kernel: String::new(),
            at: None,
            known: KnownThread::Thread,
            forgotten: None,
            near_line: false,
            site: None,
            access,
            bytes: party.bytes,
            scope: scope(party).to_owned(),
            asynchronous: party.asynchronous,
            called_at: Vec::new(),
        };
        let by_lane = |warp: u32| warp * 32;
        match party.who {
            Who::Thread { grid, block, thread } => self.thread(&mut told, (grid, block, thread), party.site),
            Who::Warp { grid, block, warp } => {
                self.thread(&mut told, (grid, block, by_lane(warp)), party.site);
                // A warp of one thread is that one.
                let threads = self.threads_of(grid).saturating_sub(by_lane(warp));
                told.known = if threads == 1 { KnownThread::Thread } else { KnownThread::Warp(warp) };
            }
            Who::Block { grid, block } => {
                self.thread(&mut told, (grid, block, 0), party.site);
                told.known =
                    if self.threads_of(grid) == 1 { KnownThread::Thread } else { KnownThread::Block };
            }
            Who::Grid(grid) => {
                self.thread(&mut told, (grid, 0, 0), party.site);
                told.known = KnownThread::Nobody;
            }
            Who::Host(_) => {
                let order = self.running.queue.order.as_ref();
                let function = order.and_then(|order| order.calls.function(party.site)).unwrap_or_default();
                // Nothing was called where the host itself has loaded or stored.
                told.kernel = if function.is_empty() { THE_HOST } else { function }.to_owned();
                told.called_at = called(party.site).unwrap_or_default();
            }
        }
        told
    }

    /// Threads of a block of a grid; 0 where it is not known any more.
    fn threads_of(&self, grid: WorkId) -> u32 {
        let launched = self.trial.race.as_ref().and_then(|race| race.grids.get(grid));
        launched.map_or(0, |launched| launched.shape.1.iter().product())
    }

    fn thread(&self, told: &mut RaceParty, (grid, block, thread): (WorkId, u64, u32), site: SiteNumber) {
        let Some(race) = &self.trial.race else { return };
        let Some(launched) = race.grids.get(grid) else { return };
        told.kernel = launched.kernel.to_string();
        let order = self.running.queue.order.as_ref();
        told.called_at = order.map(|order| order.calls.frames(launched.site)).unwrap_or_default();
        if site == NO_SITE {
            // The detector has kept the thread alone.
            let function = launched.kernel.to_string();
            let place =
                device::Place { function, ptx_line: 0, instruction: String::new(), source: Vec::new() };
            let at = one_thread((block, thread), launched.shape, &place, &Lines::of(None));
            told.at = Some(BlockedThread { ptx_line: None, ..at });
            return;
        }
        let Some((program, pc)) = race.programs.at(site) else { return };
        // Only what runs as it stands is looked at: its lines are the program's own.
        let lines = Lines::of(None);
        let mut place = program.place(pc);
        if place.source.is_empty() {
            place.source = program.source_before(pc);
            told.near_line = !place.source.is_empty();
        }
        told.at = Some(one_thread((block, thread), launched.shape, &place, &lines));
        let runs = |module: &crate::objects::module::LoadedModule| {
            std::ptr::eq(module.looked_at(), &raw const **program)
        };
        let module =
            self.code.modules.find(runs).first().and_then(|module| self.code.modules.get(*module).ok());
        let injected: Option<&Injected> = module.and_then(|module| module.injected.as_deref());
        let site = injected.and_then(|injected| injected.site(pc));
        told.site = site.map(|(module, index)| SiteId { module, index });
    }
}

/// The grid of a thread.
fn grid_of(who: Who) -> Option<WorkId> {
    match who {
        Who::Thread { grid, .. } | Who::Warp { grid, .. } | Who::Block { grid, .. } | Who::Grid(grid) => {
            Some(grid)
        }
        Who::Host(_) => None,
    }
}

fn not_kept(forgotten: NotKept) -> Forgotten {
    match forgotten {
        NotKept::Load => Forgotten::Load,
        NotKept::Write => Forgotten::Write,
        NotKept::Atomic => Forgotten::Atomic,
        NotKept::Access => Forgotten::Access,
    }
}

fn class(class: HowFar) -> RaceClass {
    match class {
        HowFar::IntraWarp => RaceClass::IntraWarp,
        HowFar::Divergence => RaceClass::Divergence,
        HowFar::IntraBlock => RaceClass::IntraBlock,
        HowFar::InterBlock => RaceClass::InterBlock,
        HowFar::InterGrid => RaceClass::InterGrid,
        HowFar::Host => RaceClass::Host,
    }
}

fn missing(missing: MissingOrder) -> RaceMissing {
    match missing {
        MissingOrder::Release => RaceMissing::Release,
        MissingOrder::Acquire => RaceMissing::Acquire,
        MissingOrder::Scope => RaceMissing::Scope,
        MissingOrder::Strong => RaceMissing::Strong,
        MissingOrder::AtomicScope => RaceMissing::AtomicScope,
        MissingOrder::Overlap => RaceMissing::Overlap,
        MissingOrder::BlockBarrier => RaceMissing::BlockBarrier,
        MissingOrder::WarpBarrier => RaceMissing::WarpBarrier,
        MissingOrder::CopyWait => RaceMissing::CopyWait,
        MissingOrder::ProxyFence => RaceMissing::ProxyFence,
        MissingOrder::Stream => RaceMissing::Stream,
        MissingOrder::System => RaceMissing::System,
        MissingOrder::HostSync => RaceMissing::HostSync,
        MissingOrder::Launch => RaceMissing::Launch,
        MissingOrder::GridEnd => RaceMissing::GridEnd,
        MissingOrder::BlockFence => RaceMissing::BlockFence,
        MissingOrder::DeviceFence => RaceMissing::DeviceFence,
        MissingOrder::StrongAccess => RaceMissing::StrongAccess,
        MissingOrder::LockOnLoad => RaceMissing::LockOnLoad,
        MissingOrder::LockOnStore => RaceMissing::LockOnStore,
    }
}

/// How strong an access is, in a word.
fn scope(party: &RacingParty) -> &'static str {
    match party.strength {
        Strength::Weak => "weak",
        Strength::Strong(Scope::Cta) => "cta",
        Strength::Strong(Scope::Cluster) => "cluster",
        Strength::Strong(Scope::Gpu) => "gpu",
        Strength::Strong(Scope::Sys) => "sys",
    }
}
