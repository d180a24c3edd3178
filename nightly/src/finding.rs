//! What a trial has found: its failure, errors of its kernels, its races, each with a fingerprint that stays the same as long as
//! the program's lines do.

use std::fs;
use std::path::Path;

use bugaroo_harness::findings::Share;
use bugaroo_harness::incident::Incident;
use bugaroo_harness::names::{demangled, readable};
use bugaroo_harness::race::RacePlace;
use bugaroo_harness::words::{failure, race as race_words};
use bugaroo_harness::{Outcome, Suppressions, TrialRecord};
use bugaroo_protocol::{BlockedThread, FaultKind, LaunchEnd, Race, RaceParty, SourceLine};

use crate::night::{Excerpt, NightFinding, NightPlace};
use crate::plan::expect::Expected;

/// Lines of the source on either side of a place.
const AROUND: u32 = 3;
/// Bytes of a source file that are read.
const MOST: u64 = 4 << 20;

/// All that a trial of the program in `folder` has found.
pub fn of_trial(record: &TrialRecord, rules: &Suppressions, folder: &Path) -> Vec<NightFinding> {
    let mut found = Vec::new();
    let failed = record.outcome.is_failure();
    found.extend(record.incidents.iter().filter_map(|incident| kernel_error(incident, record, folder)));
    // An error of a kernel that made the trial fail says more than that it failed.
    if failed && found.is_empty() {
        found.push(failing(record, folder));
    }
    let races = record.races.iter().flat_map(|races| &races.races);
    for race in races {
        let finding = self::race(race, rules, folder);
        if found.iter().all(|known| known.fingerprint != finding.fingerprint) {
            found.push(finding);
        }
    }
    found
}

fn new(kind: Expected, fingerprint: String, title: String) -> NightFinding {
    NightFinding {
        fingerprint,
        kind,
        title,
        message: String::new(),
        places: Vec::new(),
        cells: Vec::new(),
        trials: Share::default(),
        replay: String::new(),
        patch: String::new(),
        patch_note: String::new(),
        new: false,
        expected: None,
    }
}

/// What outcomes are expected as.
fn kind(outcome: Outcome) -> Expected {
    match outcome {
        Outcome::WrongResult => Expected::WrongResult,
        Outcome::Crash => Expected::Crash,
        Outcome::Deadlock => Expected::Deadlock,
        Outcome::Timeout => Expected::Timeout,
        Outcome::Pass | Outcome::Slow | Outcome::Killed => Expected::Failure,
    }
}

fn failing(record: &TrialRecord, folder: &Path) -> NightFinding {
    let outcome = record.outcome.name();
    let kernel = record.failure.as_ref().and_then(|failure| failure.launch.as_ref());
    let kernel = kernel.map(|launch| demangled(&launch.kernel));
    let fingerprint = match &kernel {
        Some(kernel) => format!("{outcome} {kernel}"),
        None => outcome.to_owned(),
    };
    let title = match &kernel {
        Some(kernel) => format!("{outcome} in kernel {kernel}"),
        None => outcome.to_owned(),
    };
    let mut finding = new(kind(record.outcome), fingerprint, title);
    finding.message =
        format!("{}\n{}", failure::outcome(record), failure::describe(record)).trim_end().to_owned();
    let known = record.failure.as_ref();
    if let Some(first) = known.and_then(|failure| failure.stale_reads.first()) {
        finding.places.push(at("load of an older value", &first.load, folder));
        finding.places.push(at("write that it did not see", &first.write, folder));
    }
    let waiting = known.and_then(|failure| failure.diagnosis()).map(|diagnosis| &diagnosis.waiting);
    finding
        .places
        .extend(waiting.into_iter().flatten().take(4).map(|group| at("threads stand here", group, folder)));
    finding
}

/// As records write it.
fn kind_name(kind: FaultKind) -> String {
    let name = serde_json::to_value(kind).ok();
    name.as_ref().and_then(|name| name.as_str()).unwrap_or("fault").replace('-', " ")
}

fn kernel_error(incident: &Incident, record: &TrialRecord, folder: &Path) -> Option<NightFinding> {
    let kernel = demangled(&incident.launch.kernel);
    let (what, summary) = match &incident.launch.end {
        LaunchEnd::Fault(fault) => (kind_name(fault.kind), readable(&fault.summary)),
        LaunchEnd::Deadlock(found) => ("deadlock".to_owned(), readable(&found.summary)),
        LaunchEnd::StepBudget(_) | LaunchEnd::Complete => return None,
    };
    let place = incident.at().map(|group| at(&what, group, folder));
    // Which threads of a deadlock come first depends on the schedule.
    let line = place.as_ref().filter(|_| !incident.is_deadlock()).map(place_name).unwrap_or_default();
    let kind = if record.outcome.is_failure() { kind(record.outcome) } else { Expected::KernelError };
    let title = format!("{what} in kernel {kernel}");
    let mut finding = new(kind, format!("{what} {kernel} {line}").trim_end().to_owned(), title);
    finding.message = format!("{summary}\n{}", failure::describe(record)).trim_end().to_owned();
    finding.places.extend(place);
    Some(finding)
}

fn race(race: &Race, rules: &Suppressions, folder: &Path) -> NightFinding {
    let mut places = [race_words::place(&race.first), race_words::place(&race.second)];
    places.sort();
    let fingerprint = format!("race {} {} {}", race.kind.name(), places[0], places[1]);
    let mut finding = new(Expected::Race, fingerprint, race_words::title(race));
    let [edge, cure] = race_words::missing(race);
    finding.message = format!(
        "{}; then {}\n{}\nmissing: {edge}\nwhat adds it: {cure}\n{}",
        race_words::does(&race.first),
        race_words::does(&race.second),
        race_words::memory(race),
        race_words::rests_on(race)
    );
    finding.places =
        vec![party("second access", &race.second, folder), party("first access", &race.first, folder)];
    let rule = rules.of(race).and_then(|rule| rules.texts().nth(rule));
    finding.expected = rule.map(|rule| rule.reason.clone());
    finding
}

fn party(role: &str, party: &RaceParty, folder: &Path) -> NightPlace {
    match &party.at {
        Some(group) => at(role, group, folder),
        None => NightPlace {
            role: role.to_owned(),
            kernel: match RacePlace::of(party) {
                RacePlace::Call { function, .. } => demangled(&function),
                _ => demangled(&party.kernel),
            },
            ptx_line: None,
            ..source(role, race_words::source(party), folder)
        },
    }
}

fn at(role: &str, group: &BlockedThread, folder: &Path) -> NightPlace {
    NightPlace {
        kernel: demangled(&group.function),
        ptx_line: group.ptx_line,
        ..source(role, group.source.as_ref(), folder)
    }
}

/// A place by its line of the source.
pub fn source(role: &str, line: Option<&SourceLine>, folder: &Path) -> NightPlace {
    NightPlace {
        role: role.to_owned(),
        kernel: String::new(),
        file: line.map(|line| line.file.clone()),
        line: line.map(|line| line.line),
        ptx_line: None,
        excerpt: line.and_then(|line| excerpt(folder, line)),
    }
}

/// `kernel.cu:12`, or what else names the place.
pub fn place_name(place: &NightPlace) -> String {
    match (&place.file, place.line, place.ptx_line) {
        (Some(file), Some(line), _) => format!("{}:{line}", file.rsplit(['/', '\\']).next().unwrap_or(file)),
        (_, _, Some(line)) => format!("PTX line {line}"),
        _ => String::new(),
    }
}

/// The lines around a place, where its file is there.
fn excerpt(folder: &Path, at: &SourceLine) -> Option<Excerpt> {
    let path = folder.join(&at.file);
    if fs::metadata(&path).ok().filter(|meta| meta.is_file())?.len() > MOST {
        return None;
    }
    let text = fs::read(&path).ok()?;
    let text = String::from_utf8_lossy(&text);
    let first = at.line.saturating_sub(AROUND).max(1);
    let lines: Vec<String> = text
        .lines()
        .skip(first as usize - 1)
        .take((at.line - first + 1 + AROUND) as usize)
        .map(str::to_owned)
        .collect();
    (!lines.is_empty()).then_some(Excerpt { first, lines })
}
