//! Races for people: both accesses in the source, the memory, what would order them, and how often it showed.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write;

use annotate_snippets::{AnnotationKind, Element, Group, Level, Renderer, Snippet};
use bugaroo_bisect::SourceText;
use bugaroo_harness::outcome::Exit as Ended;
use bugaroo_harness::race::{Looked, RacePlace};
use bugaroo_harness::{FoundRace, RaceSummary, Target};
use bugaroo_protocol::{Detector, Race, RaceClass, RaceParty, SourceLine};

use super::compare;
use super::shown::Shown;
use crate::findings;
use crate::output::{shell_word, thousands};
use bugaroo_harness::words::{failure, race as words};

/// Races between two places of which each is told in full; of more their lines are told.
const SHOWN: usize = 50;

/// All that was found.
pub fn describe(shown: &Shown<'_>) -> String {
    let Shown { summary, races, .. } = *shown;
    let target = &summary.configuration.target;
    let directory = summary.run_dir.display().to_string();
    let mut text = String::new();
    let groups = groups(races.open());
    for group in groups.iter().take(SHOWN) {
        text += &told(group, target, Some(&directory));
        text.push('\n');
    }
    for group in groups.iter().skip(SHOWN) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}", in_short(group[0]));
    }
    if races.more > 0 {
        let _ = writeln!(text, "{} races more of other places or kinds are not told\n", races.more);
    }
    text += &findings::describe(&summary.findings, target, Some(&directory));
    text += &failing(shown, &directory);
    text += &races.comparison.as_ref().map(compare::describe).unwrap_or_default();
    text += &suppressed(shown);
    for warning in &races.warnings {
        let times = if warning.count == 1 { "once".to_owned() } else { format!("{} times", warning.count) };
        let _ = writeln!(text, "warning: {}: {times} in {}", warning.what, trials(warning.trials));
    }
    text += &summing_up(shown, groups.len());
    let out = shell_word(&directory);
    let _ = writeln!(text, "records: {directory}");
    if summary.interrupted {
        let _ = writeln!(text, "interrupted; the same command with --out {out} goes on");
    }
    text
}

/// The races of one trial that was run again.
pub fn of_trial(races: &RaceSummary, target: &Target) -> String {
    let told = |group: &Vec<&FoundRace>| told(group, target, None) + "\n";
    groups(races.races.iter()).iter().map(told).collect()
}

/// Races of the same two places, whoever came first and whoever found them; the most telling group first. Within one, those of threads
/// that are further apart come first: what cures them cures the others too.
fn groups<'a>(races: impl Iterator<Item = &'a FoundRace>) -> Vec<Vec<&'a FoundRace>> {
    let mut at: BTreeMap<([RacePlace; 2], bool), usize> = BTreeMap::new();
    let mut groups: Vec<Vec<&FoundRace>> = Vec::new();
    for found in races {
        let group = *at.entry((found.pair(), found.race.shared)).or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[group].push(found);
    }
    for group in &mut groups {
        group.sort_by_key(|found| (!found.race.proven, Reverse(words::reach(found.race.class))));
    }
    groups
}

/// One pair of places.
fn told(group: &[&FoundRace], target: &Target, directory: Option<&str>) -> String {
    let race = &group[0].race;
    let title = words::title(race);
    let notes = notes(group, directory);
    let labels = [&race.first, &race.second].map(words::does);
    let places = [&race.first, &race.second].map(|party| Excerpt::find(party, target));
    if places.iter().all(Option::is_none) {
        let mut text = format!("error: {title}\n");
        for (party, label) in [&race.first, &race.second].into_iter().zip(&labels) {
            let _ = writeln!(text, "  {}: {label}", words::place(party));
        }
        for note in notes {
            let _ = writeln!(text, "  note: {}", note.replace('\n', "\n    "));
        }
        return text;
    }
    let mut elements: Vec<Element<'_>> = Vec::new();
    match &places {
        [Some(first), Some(second)] if first.path == second.path && first.span == second.span => {
            let both = format!("{}; then {}", labels[0], labels[1]);
            let mark = AnnotationKind::Primary.span(second.span.clone()).label(both);
            elements.push(Snippet::source(&second.text).path(&second.path).annotation(mark).into());
        }
        [Some(first), Some(second)] if first.path == second.path => {
            let earlier =
                AnnotationKind::Context.span(first.span.clone()).label(format!("first: {}", labels[0]));
            let later =
                AnnotationKind::Primary.span(second.span.clone()).label(format!("then: {}", labels[1]));
            let snippet = Snippet::source(&second.text).path(&second.path);
            elements.push(snippet.annotation(later).annotation(earlier).into());
        }
        _ => {
            for (at, (excerpt, label)) in places.iter().zip(&labels).enumerate() {
                let when = ["first", "then"][at];
                match excerpt {
                    Some(found) => {
                        let kind = if at == 0 { AnnotationKind::Context } else { AnnotationKind::Primary };
                        let mark = kind.span(found.span.clone()).label(format!("{when}: {label}"));
                        elements.push(Snippet::source(&found.text).path(&found.path).annotation(mark).into());
                    }
                    None => {
                        let party = [&race.first, &race.second][at];
                        let said = format!("{when}: {}: {label}", words::place(party));
                        elements.push(Level::NOTE.message(said).into());
                    }
                }
            }
        }
    }
    let group: Group<'_> = Level::ERROR.primary_title(title.as_str()).elements(elements);
    let group = notes.iter().fold(group, |group, note| group.element(Level::NOTE.message(note.as_str())));
    Renderer::plain().render(&[group]) + "\n"
}

/// A line of the source.
struct Excerpt {
    text: String,
    path: String,
    span: std::ops::Range<usize>,
}

impl Excerpt {
    fn find(party: &RaceParty, target: &Target) -> Option<Excerpt> {
        let SourceLine { file, line } = words::source(party)?;
        let found = SourceText::find(file, *line, &target.app)?;
        let (start, end) = found.line_span(*line)?;
        let span = start + found.indentation(*line).len()..end;
        Some(Excerpt { path: found.path.display().to_string(), text: found.text, span })
    }
}

fn notes(group: &[&FoundRace], directory: Option<&str>) -> Vec<String> {
    let found = group[0];
    let race = &found.race;
    let mut notes = Vec::new();
    // Where both are of one launch, its place says nothing.
    let apart = matches!(race.class, RaceClass::InterGrid | RaceClass::Host);
    let same = race.first.at.is_some() && words::stands(&race.first) == words::stands(&race.second);
    for (when, party) in [("first", &race.first), ("then", &race.second)] {
        match (party.at.is_some(), same) {
            (true, true) if when == "then" => {}
            (true, true) => notes.push(format!("both: {}", words::stands(party))),
            (true, false) => notes.push(format!("{when}: {}", words::stands(party))),
            (false, _) => {}
        }
        let what = match (party.at.is_some(), party.is_the_hosts_own()) {
            (true, _) => "launched",
            (false, true) => "done",
            (false, false) => "called",
        };
        if apart {
            notes.extend(findings::frames(&format!("{when}: {what}"), &party.called_at));
        }
    }
    notes.extend(words::latest(race));
    notes.push(words::memory(race));
    if let Some(near) = &race.allocation {
        notes.extend(findings::frames("allocated", &near.allocated_at));
    }
    let [edge, cure] = words::missing(race);
    notes.push(format!("missing: {edge}; what adds it: {cure}"));
    if let Some(plain) = words::plain_beside_strong(race) {
        notes.push(format!(
            "the {} at {} is plain beside an access that is not: an atomic (or volatile, or cuda::atomic_ref) there is no race",
            words::noun(plain),
            words::place(plain)
        ));
    }
    notes.push(words::rests_on(race).to_owned());
    notes.push(seen(found));
    for other in &group[1..] {
        let seen = seen(other);
        notes.push(match variant(race, &other.race).as_str() {
            "" => format!("also {seen}"),
            variant => format!("also as {variant}: {seen}"),
        });
    }
    if let Some(directory) = directory {
        notes.push(format!("replay it: bugaroo replay {} {}", shell_word(directory), found.first_trial));
    }
    notes
}

/// What another race of the same places is, where it differs.
fn variant(race: &Race, other: &Race) -> String {
    let mut parts = Vec::new();
    if (race.kind, words::place(&race.first)) != (other.kind, words::place(&other.first)) {
        parts.push(format!("{} ({} first)", other.kind.name(), words::place(&other.first)));
    }
    if race.class != other.class {
        parts.push(words::title(other).rsplit(", ").next().unwrap_or_default().to_owned());
    }
    parts.join(", ")
}

fn seen(found: &FoundRace) -> String {
    let times = if found.race.count == 1 { "once".to_owned() } else { format!("{} times", found.race.count) };
    format!(
        "seen by {} in {} of {}, {times}; first in trial {}",
        found.race.detector.name(),
        found.trials.seen,
        trials(found.trials.of),
        found.first_trial
    )
}

/// A race on one line.
fn in_short(found: &FoundRace) -> String {
    let race = &found.race;
    let places = format!("{} and {}", words::place(&race.first), words::place(&race.second));
    format!("error: {}: {places} ({})", words::title(race), seen(found))
}

/// Trials that ended badly: what the program makes of its races.
fn failing(shown: &Shown<'_>, directory: &str) -> String {
    let mut text = String::new();
    let summary = shown.summary;
    if shown.failures() > 0
        && let Some((cell, record)) = summary.first_failure()
    {
        let address = summary.address(cell, record.trial);
        let _ = writeln!(text, "first failing trial: {address}: {}", failure::outcome(record));
        text += &failure::describe(record);
        let _ = writeln!(text, "replay it:\n  bugaroo replay {} {address}\n", shell_word(directory));
    }
    let bad: Vec<String> = shown
        .races
        .exits
        .iter()
        .filter(|(exit, _)| *exit != Ended::Code(0))
        .map(|(exit, count)| format!("{exit} in {}", trials(*count)))
        .collect();
    if !bad.is_empty() {
        let _ = writeln!(text, "the program ended with {}", bad.join(", "));
    }
    text
}

/// What somebody has suppressed, and rules that suppressed nothing.
fn suppressed(shown: &Shown<'_>) -> String {
    let mut text = String::new();
    let rules: Vec<_> = shown.rules.texts().collect();
    let count = shown.races.races.iter().filter(|found| found.suppressed.is_some()).count();
    if count > 0 {
        let _ = writeln!(text, "suppressed: {}", races(count));
    }
    for (at, rule) in rules.iter().enumerate() {
        let by: Vec<_> = shown.races.races.iter().filter(|found| found.suppressed == Some(at)).collect();
        match by.as_slice() {
            [] => {
                let _ = writeln!(
                    text,
                    "warning: {}: this rule has suppressed nothing ({})",
                    rule.at, rule.reason
                );
            }
            several => {
                let first = &several[0].race;
                let places = format!("{} and {}", words::place(&first.first), words::place(&first.second));
                let more = match several.len() {
                    1 => String::new(),
                    all => format!(", and {} more", all - 1),
                };
                let _ = writeln!(text, "  {}: {places}{more}: {}", rule.at, rule.reason);
            }
        }
    }
    if shown.races.outside > 0 {
        let count = races(usize::try_from(shown.races.outside).unwrap_or(usize::MAX));
        let _ = writeln!(text, "not told, of other kernels or memory than asked for: {count}");
    }
    text
}

fn races(count: usize) -> String {
    if count == 1 { "1 race".to_owned() } else { format!("{count} races") }
}

fn trials(count: u64) -> String {
    if count == 1 { "1 trial".to_owned() } else { format!("{count} trials") }
}

/// What was looked at, and what came of it.
fn summing_up(shown: &Shown<'_>, pairs: usize) -> String {
    let Shown { summary, races: found, .. } = shown;
    let open = found.open().count();
    let ran = trials(found.trials());
    let by = by_detector(&found.looked);
    let accesses = thousands(found.accesses);
    let seed = summary.configuration.seed;
    let hidden = found.outside > 0 || found.races.iter().any(|race| race.suppressed.is_some());
    let other = if hidden { "other " } else { "" };
    let mut text = match open {
        0 => format!(
            "no {other}race was found in {ran} ({by}; {accesses} accesses of warps looked at; seed {seed}): that is said of these \
             executions, and does not prove that there is none\n"
        ),
        _ => format!(
            "{} between {} in {ran} ({by}; {accesses} accesses of warps looked at; seed {seed})\n",
            races(open),
            if pairs == 1 { "1 pair of places".to_owned() } else { format!("{pairs} pairs of places") },
        ),
    };
    if found.trials() > 0 && found.accesses == 0 {
        text += "warning: the detectors were told of no access at all, so that nothing can be said\n";
    }
    if let Some(why) = &summary.fork_server.why_not {
        let which = if summary.fork_server.used { "some trials were" } else { "each trial was" };
        let _ = writeln!(text, "{which} a process of its own: {why}");
    }
    text
}

/// `ptx: 34 without weak memory, 33 store-buffer, 33 ptx; 50 random and 50 pct schedules`.
fn by_detector(looked: &[Looked]) -> String {
    let mut sets: BTreeMap<&[Detector], Vec<&Looked>> = BTreeMap::new();
    for look in looked {
        sets.entry(look.detectors.as_slice()).or_default().push(look);
    }
    let mut said = Vec::new();
    for (detectors, looks) in sets {
        let count = |holds: &dyn Fn(&Looked) -> bool| -> u64 {
            looks.iter().filter(|look| holds(look)).map(|look| look.trials).sum()
        };
        let part = |name: &str, count: u64| (count > 0).then(|| format!("{count} {name}"));
        let models: Vec<String> =
            [("none", "without weak memory"), ("store-buffer", "store-buffer"), ("ptx", "ptx")]
                .into_iter()
                .filter_map(|(model, name)| part(name, count(&|look| look.model == model)))
                .collect();
        let schedulers: Vec<String> = ["random", "pct"]
            .into_iter()
            .filter_map(|name| part(name, count(&|look| look.scheduler == name)))
            .collect();
        let names: Vec<&str> = detectors.iter().map(|detector| detector.name()).collect();
        said.push(format!(
            "{}: {}; schedules {}",
            names.join(", "),
            models.join(", "),
            schedulers.join(", ")
        ));
    }
    said.join("; ")
}
