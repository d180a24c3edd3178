//! What several detectors say of the same executions, as a table, and why they differ.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use bugaroo_harness::race::compare::{Comparison, Row};
use bugaroo_harness::race::rule::Rule;
use bugaroo_protocol::{Detector, Race};
use serde::Serialize;

use crate::output::table;
use bugaroo_harness::words::race as words;

/// Pairs that the table for people has.
const SHOWN: usize = 30;
/// Pairs that are named for each reason.
const EXAMPLES: usize = 3;

/// For people. Nothing, where nobody has found anything.
pub fn describe(comparison: &Comparison) -> String {
    if comparison.rows.is_empty() {
        return String::new();
    }
    let Comparison { detectors, trials, rows, more } = comparison;
    let names: Vec<&str> = detectors.iter().map(|detector| detector.name()).collect();
    let header = [&["places", "memory"], &names[..]].concat();
    let right: Vec<usize> = (2..header.len()).collect();
    let cells = |row: &Row| {
        let said = |detector: &Detector| match row.said.get(detector) {
            Some(said) => said.trials.to_string(),
            None => "-".to_owned(),
        };
        let memory = row.example().map_or("", |race| if race.shared { "shared" } else { "global" });
        let counts = detectors.iter().map(said);
        [places(row), memory.to_owned()].into_iter().chain(counts).collect()
    };
    let executions = if *trials == 1 { "1 execution".to_owned() } else { format!("{trials} executions") };
    let mut text = format!("who reports what of the {executions} that all detectors looked at:\n");
    text += &table(&header, &right, rows.iter().take(SHOWN).map(cells));
    let hidden = (rows.len() as u64).saturating_sub(SHOWN as u64) + more;
    // Writing to a string cannot fail.
    if hidden > 0 {
        let _ = writeln!(text, "and {hidden} pairs more");
    }
    text + &reasons(comparison)
}

/// Why detectors differ from the memory model, each reason once.
fn reasons(comparison: &Comparison) -> String {
    let mut reasons: BTreeMap<(Detector, bool, Option<Rule>), BTreeSet<String>> = BTreeMap::new();
    for row in &comparison.rows {
        for one in &row.differences {
            reasons.entry((one.detector, one.reports, one.rule)).or_default().insert(places(row));
        }
    }
    if reasons.is_empty() {
        return "they agree\n".to_owned();
    }
    let mut text =
        "ptx is what the memory model says of these executions; where the others differ:\n".to_owned();
    for ((detector, reports, rule), pairs) in reasons {
        let name = detector.name();
        let what = if reports { "reports, and ptx does not" } else { "does not report, and ptx does" };
        let shown: Vec<&str> = pairs.iter().take(EXAMPLES).map(String::as_str).collect();
        let more = match pairs.len().saturating_sub(EXAMPLES) {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        let _ = writeln!(text, "  {name} {what}: {}{more}", shown.join("; "));
        let _ = writeln!(text, "    {}", why(rule));
    }
    text
}

/// A rule in a sentence, with its name in the documentation.
fn why(rule: Option<Rule>) -> String {
    match rule {
        Some(rule) => format!("{} ({})", words::rule(rule), rule.name()),
        None => "no rule of its own that we know explains it".to_owned(),
    }
}

fn places(row: &Row) -> String {
    let both = |race: &Race| {
        let kept = race.first.at.as_ref().is_none_or(|at| !at.instruction.is_empty());
        let first = if kept { words::place(&race.first) } else { "not kept".to_owned() };
        format!("{first} and {}", words::place(&race.second))
    };
    row.example().map(both).unwrap_or_default()
}

/// As JSON.
#[derive(Serialize)]
pub struct Compared<'a> {
    /// Who looked.
    detectors: &'a [Detector],
    /// Trials at which all of them looked.
    trials: u64,
    rows: Vec<ComparedRow>,
    /// Pairs that are not among the rows.
    more: u64,
}

#[derive(Serialize)]
struct ComparedRow {
    /// The earlier access, as far as it was kept, and the later one.
    places: String,
    space: &'static str,
    /// Trials in which each detector reported it.
    reported: BTreeMap<&'static str, u64>,
    differences: Vec<ComparedDifference>,
}

#[derive(Serialize)]
struct ComparedDifference {
    detector: Detector,
    /// Whether it is the one that reports.
    reports: bool,
    rule: Option<Rule>,
    why: String,
}

impl<'a> Compared<'a> {
    /// Of a comparison.
    pub fn new(comparison: &'a Comparison) -> Self {
        let row = |row: &Row| ComparedRow {
            places: places(row),
            space: if row.example().is_some_and(|race| race.shared) { "shared" } else { "global" },
            reported: row.said.iter().map(|(detector, said)| (detector.name(), said.trials)).collect(),
            differences: row
                .differences
                .iter()
                .map(|one| ComparedDifference {
                    detector: one.detector,
                    reports: one.reports,
                    rule: one.rule,
                    why: why(one.rule),
                })
                .collect(),
        };
        Compared {
            detectors: &comparison.detectors,
            trials: comparison.trials,
            rows: comparison.rows.iter().map(row).collect(),
            more: comparison.more,
        }
    }
}
