//! From the checker's numbers to places of the source.

use rustc_hash::FxHashMap;

use super::found::{
    CommandPlace, Deadlocked, KernelFindings, LineRace, Misused, Point, RaceAccess, Recycled, Refused, Use,
    Waits, at_place, barrier_name, nothing,
};
use crate::emulate::{Emulation, KernelText};
use crate::verdict::{
    BarrierPoint, BarrierReport, Generation, Misuse, RaceGroup, RacingAccess, ThreadsPlace, Verdict,
};

/// Turns origins into places.
pub(super) struct Teller<'a> {
    pub text: &'a KernelText,
    pub block: [u32; 3],
}

impl Teller<'_> {
    fn at(&self, place: &ThreadsPlace) -> CommandPlace {
        let [x, y, _] = self.block;
        let linear = place.threads.first();
        let thread = [linear % x, linear / x % y, linear / x / y];
        at_place(&self.text.place(place.origin), Some(thread), place.threads.count(), place.threads.cta)
    }

    pub fn findings(&self, kernel: &str, report: &BarrierReport, emulation: &Emulation) -> KernelFindings {
        let verdict = match report.verdict {
            Verdict::Verified => "verified",
            Verdict::Deadlock => "deadlock",
            Verdict::Misuse => "misuse",
            Verdict::UnsafeRecycling => "unsafe-recycling",
            Verdict::Race => "race",
            Verdict::BenignRace => "benign-race",
            Verdict::PossibleRace => "possible-race",
        };
        let mut found = KernelFindings {
            block: Some(self.block),
            deadlock: report.deadlock.as_ref().map(|deadlock| Deadlocked {
                waiting: deadlock.waiting.iter().map(|waits| self.waits(waits)).collect(),
                cycle: deadlock.cycle.clone(),
            }),
            misuse: report.misuse.as_ref().map(|misuse| self.misuse(misuse)),
            recycling: report.recycling.iter().map(|recycling| self.recycling(recycling)).collect(),
            races: self.races(&report.races),
            unordered: report
                .unordered
                .iter()
                .map(|origin| at_place(&self.text.place(*origin), None, 0, 0))
                .collect(),
            unfinished: report.unfinished.iter().map(|generation| self.use_of(generation)).collect(),
            unwaited: report.unwaited.iter().map(|generation| self.use_of(generation)).collect(),
            stats: report.stats,
            ..nothing(kernel, verdict)
        };
        let stats = &report.stats;
        found.vacuous = verdict == "verified" && stats.dynamic_barriers == 0 && stats.shared_addresses == 0;
        // The checker sees more orders than there are where lanes wait for each other in shuffles; and it must never say that a
        // kernel is right whose threads did not come to their end.
        if let Some(stuck) = emulation.stuck.as_ref().filter(|_| found.verdict == "verified") {
            let (warp, lanes, pc) = stuck.groups[0];
            let threads = crate::verdict::Threads { cta: 0, warp, lanes };
            let at = self.at(&ThreadsPlace { threads, origin: pc, command: 0 });
            let reason =
                "threads wait for ever for others of their warp in an exchange of the warp".to_string();
            found.verdict = "deadlock";
            found.vacuous = false;
            found.refusal =
                Some(Refused { reason, at: Some(at), cause: None, parameter: None, cause_at: None });
        }
        found
    }

    fn waits(&self, waits: &crate::verdict::Waiting) -> Waits {
        Waits {
            at: self.at(&waits.place),
            barrier: barrier_name(&waits.resource),
            generation: waits.generation,
            arrived: waits.arrived,
            expected: waits.expected,
            bytes_missing: waits.bytes_missing,
            in_warp: waits.in_warp,
            waits_for: waits.waits_for.iter().map(|(index, place)| (*index, self.at(place))).collect(),
        }
    }

    fn misuse(&self, misuse: &Misuse) -> Misused {
        let (what, at, other) = match misuse {
            Misuse::CountsDiffer { resource, generation, first, first_count, second, second_count } => {
                let count = |count: &crate::program::Count| match count {
                    crate::program::Count::All => "all threads".to_string(),
                    crate::program::Count::Threads(n) => format!("{n} threads"),
                };
                let name = barrier_name(resource);
                let (a, b) = (count(first_count), count(second_count));
                (format!("use {generation} of {name} is for {a}, and for {b}"), second, Some(first))
            }
            Misuse::TooManyArrivals { resource, generation, place } => {
                let name = barrier_name(resource);
                (format!("use {generation} of {name} gets more arrivals than it takes"), place, None)
            }
            Misuse::NotInitialised { address, place, init } => {
                let what = format!("the mbarrier at {address:#x} need not be initialised when it is used");
                (what, place, init.as_ref())
            }
            Misuse::InitialisedAgain { address, place, earlier } => {
                let what =
                    format!("the mbarrier at {address:#x} is initialised again while it may be in use");
                (what, place, Some(earlier))
            }
            Misuse::ClusterOrder { place } => {
                let what = "arrivals and waits at the cluster's barrier do not take turns".to_string();
                (what, place, None)
            }
            Misuse::NotStarted { cta, place } => {
                let what =
                    format!("the shared memory of CTA {cta} is touched before the CTA is known to run");
                (what, place, None)
            }
            Misuse::Ended { cta, place } => {
                let what = format!("the shared memory of CTA {cta} is touched when the CTA may have ended");
                (what, place, None)
            }
            Misuse::InitNotFenced { address, place, init } => {
                let what = format!(
                    "an asynchronous copy counts at the mbarrier at {address:#x}, which another thread initialised without \
                     fence.mbarrier_init or fence.proxy.async behind it"
                );
                (what, place, Some(init))
            }
            Misuse::TooManyBytes { address, phase, bytes, place } => {
                let what = format!(
                    "{bytes} bytes more than expected come for phase {phase} of the mbarrier at {address:#x}"
                );
                (what, place, None)
            }
            Misuse::LateExpectTx { address, phase, place } => {
                let what = format!(
                    "bytes are expected for phase {phase} of the mbarrier at {address:#x}, which may be over by then"
                );
                (what, place, None)
            }
        };
        let of = match misuse {
            Misuse::NotStarted { .. } | Misuse::Ended { .. } => "cluster",
            _ => "barrier",
        };
        Misused { of, what, at: self.at(at), other: other.map(|place| self.at(place)) }
    }

    fn recycling(&self, recycling: &crate::verdict::Recycling) -> Recycled {
        Recycled {
            barrier: barrier_name(&recycling.earlier.resource),
            earlier: recycling.earlier.number,
            later: recycling.later,
            rule: recycling.rule,
            at: self.at(&recycling.place),
            knows_from: recycling.knows_from.as_ref().map(|place| self.at(place)),
            unordered: recycling.unordered.iter().map(|part| self.at(&part.place)).collect(),
            count: recycling.count,
        }
    }

    fn use_of(&self, generation: &Generation) -> Use {
        Use {
            barrier: barrier_name(&generation.resource),
            generation: generation.number,
            at: generation.participants.iter().map(|part| self.at(&part.place)).collect(),
        }
    }

    fn access(&self, access: &RacingAccess) -> RaceAccess {
        RaceAccess {
            at: self.at(&access.place),
            kind: access.kind,
            address: access.address,
            size: access.size,
            asynchronous: access.asynchronous,
            value: access.value,
            condition: access.condition.map(|origin| at_place(&self.text.place(origin), None, 0, 0)),
        }
    }

    fn point(&self, point: &BarrierPoint) -> Point {
        let barrier = barrier_name(&point.resource);
        Point { barrier, generation: point.generation, at: self.at(&point.place) }
    }

    /// Groups by pair of PTX instructions become groups by pair of source lines; those of a pair stand together, where the first of them was.
    fn races(&self, groups: &[RaceGroup]) -> Vec<LineRace> {
        let mut races: Vec<(usize, LineRace)> = Vec::new();
        let (mut index, mut order) = (FxHashMap::default(), FxHashMap::default());
        for group in groups {
            let (first, second) = (self.access(&group.first), self.access(&group.second));
            // Whether it is benign tells races apart, too.
            let benign = group.benign == group.pairs;
            let race = LineRace {
                kind: group.kind,
                address: group.address,
                first,
                second,
                after: group.interval.latest_before.as_ref().map(|point| self.point(point)),
                before: group.interval.earliest_after.as_ref().map(|point| self.point(point)),
                pairs: group.pairs,
                benign: group.benign,
                at_least: group.at_least,
                possible: group.possible,
                flag: group.flag.map(|origin| at_place(&self.text.place(origin), None, 0, 0)),
            };
            let lines = race.lines().map(|(file, line)| (file.map(str::to_owned), line));
            let pairs = order.len();
            let pair = *order.entry(lines.clone()).or_insert(pairs);
            let slot = *index
                .entry((lines, race.kind, benign, race.possible, race.flag.is_some()))
                .or_insert(races.len());
            if let Some((_, known)) = races.get_mut(slot) {
                known.pairs += race.pairs;
                known.benign += race.benign;
                known.at_least |= race.at_least;
                continue;
            }
            races.push((pair, race));
        }
        races.sort_by_key(|(pair, _)| *pair);
        races.into_iter().map(|(_, race)| race).collect()
    }
}
