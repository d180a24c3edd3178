//! Races as JSON.

use std::collections::BTreeMap;

use bugaroo_harness::names::demangled;
use bugaroo_harness::race::{Looked, RaceWarning};
use bugaroo_harness::suppressions::RuleText;
use bugaroo_harness::{Finding, ForkServerUse, FoundRace};
use bugaroo_protocol::{
    Detector, FaultAccess, Forgotten, HostFrame, KnownThread, NearAllocation, RaceClass, RaceKind,
    RaceMissing, RaceParty, SiteId, SourceLine,
};
use serde::Serialize;

use super::compare::Compared;
use super::shown::Shown;
use bugaroo_harness::words::race as words;

/// The whole object.
#[derive(Serialize)]
pub struct Report<'a> {
    schema: u32,
    app: &'a str,
    args: &'a [String],
    seed: u64,
    /// As it was asked for.
    detector: &'static str,
    /// Trials that ended.
    trials: u64,
    /// How they looked.
    looked: &'a [Looked],
    /// Accesses of warps that were looked at.
    accesses: u64,
    /// Most host memory that detectors took in a trial.
    detector_bytes: u64,
    /// The most telling first.
    races: Vec<Race<'a>>,
    /// How often there were others, as there were too many kinds.
    more_races: u64,
    /// Different races of other kernels or memory than was asked for.
    outside: u64,
    /// Those that a rule suppresses.
    suppressed: Vec<Race<'a>>,
    /// Rules that have suppressed nothing.
    unused_suppressions: Vec<&'a RuleText>,
    /// What several detectors say of the same trials.
    #[serde(skip_serializing_if = "Option::is_none")]
    comparison: Option<Compared<'a>>,
    /// What could not be looked at.
    warnings: &'a [RaceWarning],
    /// Errors of launches, each once.
    findings: &'a [Finding],
    more_findings: u64,
    /// Trials whose end is a finding.
    failures: u64,
    first_failing_trial: Option<String>,
    /// How the program's processes ended, by `exit code 0` and the like.
    exits: BTreeMap<String, u64>,
    fork_server: &'a ForkServerUse,
    run_dir: String,
    interrupted: bool,
    /// What else there is to know.
    notes: &'a [String],
}

#[derive(Serialize)]
struct Race<'a> {
    detector: Detector,
    kind: RaceKind,
    class: RaceClass,
    space: &'static str,
    address: u64,
    allocation: Option<&'a NearAllocation>,
    first: Party<'a>,
    /// The latest access that the detector has kept, where `first` is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    latest: Option<Party<'a>>,
    second: Party<'a>,
    missing: RaceMissing,
    /// The same for a person: the edge, and what adds it.
    missing_edge: String,
    cure: String,
    proven: bool,
    /// How often, over all trials.
    count: u64,
    /// Trials that showed it.
    trials: u64,
    /// Trials in which its detector looked.
    of: u64,
    /// How `replay` is told which trial is meant.
    first_failing_trial: &'a str,
    /// The rule that suppresses it.
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<&'a RuleText>,
}

/// What an access does, as far as it is known.
#[derive(Serialize)]
#[serde(untagged)]
enum Does {
    Kept(FaultAccess),
    Forgotten(Forgotten),
}

fn is_true(kept: &bool) -> bool {
    *kept
}

#[derive(Serialize)]
struct Party<'a> {
    /// Demangled.
    kernel: String,
    kernel_mangled: &'a str,
    ptx_line: Option<u32>,
    source: Option<&'a SourceLine>,
    /// The compiler gave the instruction no line: `source` is that of the nearest before it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    near_line: bool,
    thread: Option<[u32; 3]>,
    /// The warp in the block, where the thread is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    warp: Option<u32>,
    block: Option<[u32; 3]>,
    /// False: the detector knows that there was such an access, and has not kept it.
    #[serde(skip_serializing_if = "is_true")]
    kept: bool,
    /// `load`, `store` or `atomic`; of one that is not kept, what is known of it: `write` and `access`, too.
    access: Does,
    bytes: Option<u32>,
    scope: Option<&'a str>,
    asynchronous: bool,
    site: Option<SiteId>,
    instruction: Option<&'a str>,
    called_at: &'a [HostFrame],
}

impl<'a> Party<'a> {
    fn new(party: &'a RaceParty) -> Self {
        let at = party.at.as_ref();
        Self {
            kernel: demangled(&party.kernel),
            kernel_mangled: &party.kernel,
            ptx_line: at.and_then(|at| at.ptx_line),
            source: words::source(party),
            near_line: party.near_line,
            thread: at.filter(|_| party.known == KnownThread::Thread).map(|at| at.thread),
            warp: if let KnownThread::Warp(warp) = party.known { Some(warp) } else { None },
            block: at.filter(|_| party.known != KnownThread::Nobody).map(|at| at.block),
            kept: party.forgotten.is_none(),
            access: party.forgotten.map_or(Does::Kept(party.access), Does::Forgotten),
            bytes: party.forgotten.is_none().then_some(party.bytes),
            scope: Some(party.scope.as_str()).filter(|scope| !scope.is_empty()),
            asynchronous: party.asynchronous,
            site: party.site,
            instruction: at.map(|at| at.instruction.trim()),
            called_at: &party.called_at,
        }
    }
}

impl<'a> Race<'a> {
    fn new(found: &'a FoundRace, rules: &[&'a RuleText]) -> Self {
        let race = &found.race;
        let [missing_edge, cure] = words::missing(race);
        Self {
            detector: race.detector,
            kind: race.kind,
            class: race.class,
            space: if race.shared { "shared" } else { "global" },
            address: race.address,
            allocation: race.allocation.as_ref(),
            first: Party::new(&race.first),
            latest: race.latest.as_ref().map(Party::new),
            second: Party::new(&race.second),
            missing: race.missing,
            missing_edge,
            cure,
            proven: race.proven,
            count: race.count,
            trials: found.trials.seen,
            of: found.trials.of,
            first_failing_trial: &found.first_trial,
            rule: found.suppressed.and_then(|at| rules.get(at).copied()),
        }
    }
}

/// All that was found.
pub fn report<'a>(shown: &Shown<'a>) -> Report<'a> {
    let Shown { detector, summary, races, rules, .. } = *shown;
    let configuration = &summary.configuration;
    let texts: Vec<&RuleText> = rules.texts().collect();
    let (suppressed, open): (Vec<&FoundRace>, Vec<&FoundRace>) =
        races.races.iter().partition(|found| found.suppressed.is_some());
    let all = |races: Vec<&'a FoundRace>| races.into_iter().map(|found| Race::new(found, &texts)).collect();
    let is_unused = |at: usize| races.races.iter().all(|found| found.suppressed != Some(at));
    let failing = summary.first_failure().filter(|_| shown.failures() > 0);
    Report {
        schema: 1,
        app: configuration.target.app.to_str().unwrap_or_default(),
        args: &configuration.target.args,
        seed: configuration.seed,
        detector,
        trials: races.trials(),
        looked: &races.looked,
        accesses: races.accesses,
        detector_bytes: races.bytes,
        races: all(open),
        more_races: races.more,
        outside: races.outside,
        suppressed: all(suppressed),
        unused_suppressions: (0..)
            .zip(&texts)
            .filter(|(at, _)| is_unused(*at))
            .map(|(_, rule)| *rule)
            .collect(),
        comparison: races.comparison.as_ref().map(Compared::new),
        warnings: &races.warnings,
        findings: &summary.findings.all,
        more_findings: summary.findings.more,
        failures: shown.failures(),
        first_failing_trial: failing.map(|(cell, record)| summary.address(cell, record.trial)),
        exits: races.exits.iter().map(|(exit, count)| (exit.to_string(), *count)).collect(),
        fork_server: &summary.fork_server,
        run_dir: summary.run_dir.display().to_string(),
        interrupted: summary.interrupted,
        notes: &summary.warnings,
    }
}
