//! Where races say which trial fails (`--oracle race`).
//!
//! Not in the paper, which has failing executions alone. A race is there in nearly every execution, delayed stores or not, and
//! fences remove it as well as barriers do: a fence lets a thread release or acquire, a barrier does so for all that wait at it.
//! So what the search does first without delays is another thing here. Races between threads of one block are looked at by
//! themselves, and barriers are tried for these ([`crate::barriers`]); for what is left, fences are.
//!
//! What no fence removes is named from the races that are left with a fence at every place: a plain access beside an atomic,
//! an atomic of too narrow a scope.
//!
//! What it can miss: races within blocks of which some need a barrier and others a fence; and a race that shows in few
//! executions, as [`crate::rates`] says.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use bugaroo_harness::names::demangled;
use bugaroo_harness::race::{RaceKey, is_within_a_block};
use bugaroo_harness::{Error, Variation};
use bugaroo_protocol::{FaultAccess, Inserted, Race, RaceClass, RaceMissing, RaceParty};

use crate::barriers::{LOOK, LOOKED_AT, PlainLook, barriers, undelayed};
use crate::bench::Bench;
use crate::diagnosis::{AccessPlace, Diagnosed, DiagnosisKind, FaultDiagnosis, ShownIn};
use crate::locate::with_all;

use crate::round::MissingFence;
use crate::subject::Subject;
use crate::trials::Trials;

/// Diagnoses that are given at most.
const MOST: usize = 8;

/// Adds the barriers to `answer` that races within blocks want for.
///
/// # Errors
/// When trials cannot be run.
pub async fn plain<T: Trials>(
    bench: &Bench<'_, T>,
    subject: &Subject,
    answer: &mut Vec<MissingFence>,
) -> Result<PlainLook, Error> {
    let near = Variation { within_blocks: true, ..undelayed(&subject.whole) };
    bench.measure(&near, 2, bench.limits.full().div_ceil(LOOK)).await?;
    let seen = bench.evidence(&near).all;
    let question = "are there races between threads of one block?".to_owned();
    if seen.failures == 0 {
        bench.note(question, seen, "no trial has one");
        return Ok(PlainLook::Passes);
    }
    bench.note(question, seen, "there are");
    let found = diagnosed(bench, &near).await?;
    if let Some(barriers) = barriers(bench, subject, &near, &found).await? {
        answer.extend(barriers);
        return Ok(PlainLook::Cured(Diagnosed::default()));
    }
    Ok(PlainLook::Passes)
}

/// What is left of a variation's races with a fence at every place; all of them, where that leaves none.
///
/// # Errors
/// When trials cannot be run.
pub async fn uncured<T: Trials>(
    bench: &Bench<'_, T>,
    subject: &Subject,
    known: &Variation,
) -> Result<Diagnosed, Error> {
    let fenced = with_all(known, &subject.places, Inserted::Fence);
    bench.measure(&fenced, LOOKED_AT as u64, bench.limits.full().div_ceil(LOOK)).await?;
    let left = diagnosed(bench, &fenced).await?;
    if left.diagnosis.is_empty() { diagnosed(bench, known).await } else { Ok(left) }
}

/// The races of some failing trials of a variation.
///
/// # Errors
/// When trials cannot be run.
pub async fn diagnosed<T: Trials>(bench: &Bench<'_, T>, variation: &Variation) -> Result<Diagnosed, Error> {
    let mut trials = Vec::new();
    for index in bench.evidence(variation).failing.into_iter().take(LOOKED_AT) {
        trials.push(bench.look(variation, index).await?.races);
    }
    Ok(diagnose(&trials))
}

/// Names the races of failing trials, those of more trials first.
pub fn diagnose(trials: &[Vec<Race>]) -> Diagnosed {
    let mut all: BTreeMap<RaceKey, (&Race, u64)> = BTreeMap::new();
    for trial in trials {
        // A trial has each race once.
        for race in trial {
            all.entry(RaceKey::of(race)).or_insert((race, 0)).1 += 1;
        }
    }
    let mut all: Vec<(&Race, u64)> = all.into_values().collect();
    all.sort_by_key(|(race, seen)| (Reverse(*seen), kind(race)));
    let mut pairs = Vec::new();
    let mut diagnosis = Vec::new();
    let mut more = 0;
    for (race, seen) in all {
        let pair = RaceKey::of(race).pair();
        if pairs.contains(&pair) {
            continue;
        }
        pairs.push(pair);
        if diagnosis.len() < MOST {
            diagnosis.push(one(race, seen, trials.len() as u64));
        } else {
            more += 1;
        }
    }
    let notes = if more > 0 {
        vec![format!("{more} more races are left: bugaroo race tells them all")]
    } else {
        Vec::new()
    };
    Diagnosed { diagnosis, notes }
}

fn is_strong(party: &RaceParty) -> bool {
    !matches!(party.scope.as_str(), "weak" | "")
}

fn kind(race: &Race) -> DiagnosisKind {
    match (race.missing, is_strong(&race.first), is_strong(&race.second)) {
        (RaceMissing::AtomicScope, ..) | (_, true, true) => DiagnosisKind::AtomicScope,
        (_, true, false) | (_, false, true) => DiagnosisKind::PlainBesideAtomic,
        (RaceMissing::WarpBarrier, ..) => DiagnosisKind::MissingWarpBarrier,
        (RaceMissing::BlockBarrier, ..) => DiagnosisKind::MissingBarrier,
        _ => match race.class {
            RaceClass::IntraWarp | RaceClass::Divergence => DiagnosisKind::MissingWarpBarrier,
            RaceClass::IntraBlock => DiagnosisKind::MissingBarrier,
            RaceClass::InterBlock | RaceClass::InterGrid | RaceClass::Host => DiagnosisKind::Unordered,
        },
    }
}

fn one(race: &Race, seen: u64, of: u64) -> FaultDiagnosis {
    FaultDiagnosis {
        kind: kind(race),
        first: place(&race.first),
        second: place(&race.second),
        between: None,
        shared: race.shared,
        trials: ShownIn { failing: seen, of_failing: of, passing: 0, of_passing: 0 },
        sentence: sentence(race, seen, of),
    }
}

fn place(party: &RaceParty) -> AccessPlace {
    let at = party.at.as_ref();
    AccessPlace {
        kernel: demangled(at.map_or(&party.kernel, |at| &at.function)),
        source: at.and_then(|at| at.source.clone()),
        ptx_line: at.and_then(|at| at.ptx_line),
        site: party.site,
        thread: at.map(|at| at.thread).unwrap_or_default(),
        block: at.map(|at| at.block).unwrap_or_default(),
        access: party.access,
    }
}

/// "k.cu:12", or the line of the PTX.
fn at(party: &RaceParty) -> String {
    let place = place(party);
    match (&place.source, place.ptx_line) {
        (Some(source), _) => {
            let name = source.file.rsplit(['/', '\\']).next().unwrap_or(&source.file);
            format!("{name}:{}", source.line)
        }
        (None, Some(line)) => format!("PTX line {line}"),
        (None, None) => place.kernel,
    }
}

fn does(party: &RaceParty) -> &'static str {
    match party.access {
        FaultAccess::Load => "loads",
        FaultAccess::Store => "stores to",
        FaultAccess::Atomic => "changes atomically",
    }
}

fn sentence(race: &Race, seen: u64, of: u64) -> String {
    let Race { first, second, .. } = race;
    let memory = if race.shared { "shared" } else { "global" };
    let (a, b) = (at(first), at(second));
    let trials = format!("a race in {seen} of {of} trials that were looked into");
    let function = demangled(&second.kernel);
    let near = is_within_a_block(race);
    match kind(race) {
        DiagnosisKind::PlainBesideAtomic => {
            let (plain, other) = if is_strong(first) { (second, first) } else { (first, second) };
            format!(
                "plain access beside an atomic: {function} {} {memory} memory at {} without an atomic, and another thread does \
                 atomically, or by a volatile or relaxed access, at {} ({trials}): no fence cures that; make the access at {} \
                 atomic",
                does(plain),
                at(plain),
                at(other),
                at(plain)
            )
        }
        DiagnosisKind::AtomicScope => format!(
            "atomic of too narrow scope: {function} reaches the same {memory} memory at {a} and at {b}, and the scope of one of \
             the two leaves the other thread out, or they overlap in part ({trials}): device scope is what is missing there"
        ),
        kind => {
            let (name, cure) = match kind {
                DiagnosisKind::MissingWarpBarrier => {
                    ("missing warp barrier", "a __syncwarp() between the two is what is missing")
                }
                DiagnosisKind::MissingBarrier => {
                    ("missing barrier", "a __syncthreads() between the two is what is missing")
                }
                _ if near => ("unordered accesses", "they have to wait for each other"),
                _ => (
                    "unordered accesses",
                    "no fence alone orders them: they have to wait for each other by an atomic, or stand in two kernels",
                ),
            };
            format!(
                "{name}: {function} {} {memory} memory at {a}, another thread {} it at {b}, and nothing orders the two \
                 ({trials}): {cure}",
                does(first),
                does(second)
            )
        }
    }
}

#[cfg(test)]
mod tests;
