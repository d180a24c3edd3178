//! What is done of a program besides trials: its kernels verified, its missing fences searched for, its flush lengths measured.
//!
//! Each comes to facts that are kept as JSON under a name, and are put into the night's program when it is read.

use std::collections::BTreeMap;
use std::path::Path;

use bugaroo_bisect::SearchReport;
use bugaroo_bisect::report::MissingAfter;
use bugaroo_harness::Profile;
use bugaroo_harness::launches::Verified;
use bugaroo_harness::names::demangled;
use serde::{Deserialize, Serialize};

use crate::explore::{ExplorerKnown, Score, Way};
use crate::finding::source;
use crate::hides::{self, HIDES};
use crate::history::rows::UNSEEN;
use crate::night::{
    Exploration, ExploredArm, ExploredFailure, NightFinding, NightKernel, NightPlace, NightProgram, Status,
};
use crate::plan::expect::Expected;
use crate::shard::Shard;
use crate::verified;

/// Kernels that were verified.
pub const VERIFY: &str = "verify";
/// Fences that are missing.
pub const SEARCH: &str = "search";
/// Flush lengths.
pub const PROFILE: &str = "profile";

/// What explorations of a shard know: the shard stands behind it.
pub const EXPLORE: &str = "explore ";

/// Under which name a shard keeps what its exploration knows.
pub fn explored(shard: Shard) -> String {
    format!("{EXPLORE}{shard}")
}

/// What an exploration has come to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Explored {
    /// Names of its arms.
    pub arms: Vec<String>,
    /// What it knows.
    pub known: ExplorerKnown,
}

/// What a search for missing fences found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SearchedFences {
    /// Where they belong.
    pub places: Vec<NightPlace>,
    /// The change of the source, as a unified diff; empty where there is none.
    pub patch: String,
    /// What it rests on, or why there is none, in a line.
    pub note: String,
}

/// Kernels, and what could not be looked at.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Verdicts {
    /// The kernels.
    pub kernels: Vec<NightKernel>,
    /// What the reader should know, a line each.
    pub notes: Vec<String>,
    /// What is wrong with the kernels.
    #[serde(default)]
    pub findings: Vec<NightFinding>,
}

/// Flush lengths by memory space and length.
pub type Lengths = BTreeMap<String, BTreeMap<u64, u64>>;

/// Puts what was found into a night's program. What another version has written, and cannot be read, is left out, and told.
pub fn take(program: &mut NightProgram, study: &str, facts: &str) {
    let read = match study {
        VERIFY => serde_json::from_str(facts).map(|verdicts: Verdicts| {
            program.kernels = verdicts.kernels;
            program.notes.extend(verdicts.notes);
            program.findings.extend(verdicts.findings);
        }),
        SEARCH => serde_json::from_str(facts).map(|fences| cure(program, &fences)),
        PROFILE => serde_json::from_str(facts).map(|lengths| program.flush_lengths = lengths),
        _ if study.starts_with(UNSEEN) => serde_json::from_str(facts).map(|what: String| {
            program.notes.push(format!("the race detectors could not look at everything: {what}"));
        }),
        // What trials hide, which batches add up ([`hidden`]).
        _ if study.starts_with(HIDES) => Ok(()),
        // What explorations know, which shards add up ([`exploration`]).
        study if study.starts_with(EXPLORE) => Ok(()),
        // Run files, which are for replays.
        _ => Ok(()),
    };
    if let Err(error) = read {
        program.notes.push(format!("the results of `{study}` cannot be read: {error}"));
    }
}

/// Puts what explorations of all shards have come to into a night's program.
pub fn exploration<'s>(program: &mut NightProgram, all: impl IntoIterator<Item = (&'s String, &'s String)>) {
    let mut sum: Option<Explored> = None;
    for (study, facts) in all.into_iter().filter(|(study, _)| study.starts_with(EXPLORE)) {
        match serde_json::from_str::<Explored>(facts) {
            Ok(more) => match &mut sum {
                Some(sum) => sum.known.merge(&more.known),
                None => sum = Some(more),
            },
            Err(error) => program.notes.push(format!("the results of `{study}` cannot be read: {error}")),
        }
    }
    program.explored = sum.map(|Explored { arms, known }| {
        let held = |count: fn(&Score) -> u64| known.holds.values().map(count).sum();
        Exploration {
            trials: known.trials,
            things: known.things.len() as u64,
            growth: known.growth,
            arms: (arms.into_iter().zip(&known.arms))
                .map(|(key, score)| ExploredArm {
                    key,
                    trials: score.trials,
                    failures: score.failures,
                    new: score.new,
                })
                .collect(),
            places: known.holds.len() as u64,
            held_trials: held(|score| score.trials),
            held_failures: held(|score| score.failures),
            switched_trials: known.switched.trials,
            switched_failures: known.switched.failures,
            swarm_trials: known.swarm.trials,
            swarm_failures: known.swarm.failures,
            first_failure: known.first_failure.map(|first| ExploredFailure {
                trial: first.trial,
                after: first.after,
                arm: first.arm,
                held: matches!(first.way, Way::Held(_)),
                switched: first.way == Way::Switched,
                swarm: first.swarm,
            }),
            left_out: known.more,
        }
    });
}

/// Puts what passing trials of all batches hide into a night's program.
pub fn hidden<'s>(program: &mut NightProgram, all: impl IntoIterator<Item = (&'s String, &'s String)>) {
    let mut batches = Vec::new();
    for (study, facts) in all.into_iter().filter(|(study, _)| study.starts_with(HIDES)) {
        match serde_json::from_str(facts) {
            Ok(hides) => batches.push(hides),
            Err(error) => program.notes.push(format!("the results of `{study}` cannot be read: {error}")),
        }
    }
    program.notes.extend(hides::lines(batches));
}

/// Failures get the fences that cure them.
fn cure(program: &mut NightProgram, fences: &SearchedFences) {
    for finding in &mut program.findings {
        if !Expected::Failure.covers(finding.kind) {
            continue;
        }
        finding.patch.clone_from(&fences.patch);
        finding.patch_note.clone_from(&fences.note);
        finding.places.splice(0..0, fences.places.iter().cloned());
    }
}

/// What a search says.
pub fn fences(report: &SearchReport, folder: &Path) -> SearchedFences {
    let place = |missing: &MissingAfter| NightPlace {
        kernel: missing.kernel.as_deref().map(demangled).unwrap_or_default(),
        ptx_line: Some(missing.ptx_line),
        ..source(&format!("{} missing {}", missing.call, missing.place), missing.source.as_ref(), folder)
    };
    let verified = &report.verified;
    let note = match (&report.unresolved, report.missing.is_empty()) {
        (Some(why), _) => format!("no fence cures all failures: {why}"),
        (None, true) => match report.diagnosis.first() {
            Some(_) => "no fence is missing, but something else: bugaroo bisect says what".to_owned(),
            None => "no fence was found to be missing".to_owned(),
        },
        (None, false) => format!(
            "with it, {} of {} trials failed; bugaroo bisect says more",
            verified.failures, verified.trials
        ),
    };
    SearchedFences { places: report.missing.iter().map(place).collect(), patch: report.patch.clone(), note }
}

/// What verification says of a program's launches. `folder` is the program's, `again` the command that shows it again.
pub fn verdicts(verified: &Verified, refused: &[String], folder: &Path, again: &str) -> Verdicts {
    let mut kernels: Vec<NightKernel> = Vec::new();
    let mut all: Vec<NightFinding> = Vec::new();
    for row in &verified.rows {
        let findings = &row.findings;
        // Several launches show the same.
        for finding in verified::findings(findings, folder, again) {
            if all.iter().all(|known| known.fingerprint != finding.fingerprint) {
                all.push(finding);
            }
        }
        let status = match () {
            () if findings.is_clean() => Status::Pass,
            () if findings.is_open() => Status::Nothing,
            () => Status::Fail,
        };
        let text = serde_json::to_string_pretty(findings).unwrap_or_default();
        let name = demangled(&findings.kernel);
        let same = |known: &&mut NightKernel| known.name == name && known.verdict == findings.verdict;
        match kernels.iter_mut().find(same) {
            Some(known) => known.launches += row.launches,
            None => kernels.push(NightKernel {
                name,
                verdict: findings.verdict.to_owned(),
                launches: row.launches,
                status,
                text: if status == Status::Pass { String::new() } else { shortened(text) },
            }),
        }
    }
    let mut notes: Vec<String> = verified
        .left_out
        .iter()
        .map(|left| format!("{} launches of {} were not verified", left.launches, demangled(&left.kernel)))
        .collect();
    notes.extend(refused.iter().map(|what| format!("not verified, as it could not be run: {what}")));
    Verdicts { kernels, notes, findings: all }
}

/// Characters of a verdict that are kept: `bugaroo verify` tells all.
const MOST: usize = 20_000;

fn shortened(text: String) -> String {
    match text.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}…\n(bugaroo verify tells all of it)", &text[..at]),
        None => text,
    }
}

/// The flush lengths of a profile.
pub fn lengths(profile: &Profile) -> Lengths {
    let flush = &profile.total.flush_lengths;
    let spaces = [("global", &flush.global), ("shared", &flush.shared)];
    spaces
        .into_iter()
        .map(|(space, lengths)| {
            (space.to_owned(), lengths.iter().map(|(&length, &count)| (u64::from(length), count)).collect())
        })
        .collect()
}
