//! ScoRD's Table VI, races found in each workload, and its Table VII, false positives; ours beside the paper's.
//!
//! The races of an application are planted one at a time, by a switch each: one is found where a detector reports what the label
//! of ScoRD demands. What is reported about a program without a race is a false positive.

use race_suite::judge::{differences, seen};
use race_suite::label::LabelVerdict;

use crate::markdown::{NOTHING, Table, or_nothing, thousands};
use crate::races::asked::{Asked, Said};
use crate::races::causes::{self, Odd};
use crate::races::papers::{WORKLOADS, Workload};
use crate::races::questions::{Paper, Question, SCOR, SCORD_CACHE};
use crate::races::shown;
use crate::results::Evaluation;

/// Our detectors, ScoRD first, with what they are called.
const DETECTORS: [(&str, &str); 5] = [
    ("scord", "ScoRD"),
    (SCORD_CACHE, "ScoRD, cache"),
    ("ptx", "ptx"),
    ("barracuda", "BARRACUDA"),
    ("hirace", "HiRace"),
];

/// A program with the answers about it.
type Answered<'a> = (Question, &'a Asked);

/// Those of a workload.
fn of<'a, 'b>(answered: &'a [Answered<'b>], workload: &Workload) -> Vec<&'a Answered<'b>> {
    let is_app =
        |question: &Question| question.program.path.parent().is_some_and(|path| path.ends_with("apps"));
    let is = |(question, _): &&Answered<'_>| match workload.program {
        Some(name) => question.program.path.file_stem().is_some_and(|stem| stem == name),
        None => !is_app(question),
    };
    answered.iter().filter(is).collect()
}

fn is_racy(question: &Question) -> bool {
    matches!(question.program.label.verdict("scord"), LabelVerdict::Races { .. })
}

/// What a detector said, if it answered.
fn said<'a>(answered: &Answered<'a>, detector: &str) -> Option<&'a Said> {
    answered.1.said(&[], detector).filter(|said| said.refused.is_none())
}

/// Races that a detector found of those of ScoRD.
fn found(answered: &[&Answered<'_>], detector: &str) -> u64 {
    let finds = |one: &&&Answered<'_>| {
        let verdict = one.0.program.label.verdict("scord");
        is_racy(&one.0) && said(one, detector).is_some_and(|said| seen(verdict, &said.races))
    };
    answered.iter().filter(finds).count() as u64
}

/// Reports about programs without a race, and how many such programs answered.
fn false_positives(answered: &[&Answered<'_>], detector: &str) -> (u64, u64) {
    let clean = answered.iter().filter(|one| !is_racy(&one.0)).filter_map(|one| said(one, detector));
    clean.fold((0, 0), |(reports, programs), said| (reports + said.races.len() as u64, programs + 1))
}

/// The text of both tables.
pub fn section(results: &Evaluation) -> [String; 2] {
    let answered = match shown::answered(results, SCOR) {
        Ok(answered) if answered.is_empty() => return [(); 2].map(|()| shown::NOT_ASKED.to_owned()),
        Ok(answered) => answered,
        Err(why) => return [(); 2].map(|()| format!("{why:#}\n\n")),
    };
    let races = table_vi(&answered) + TABLE_VI + &causes::told(&odd(&answered));
    [races, table_vii(&answered) + TABLE_VII]
}

fn table_vi(answered: &[Answered<'_>]) -> String {
    let mut numbers = vec!["ours: races present", "ScoRD", "ScoRD, cache"];
    numbers.extend(["paper: present", "base design", "ScoRD (cache)"]);
    numbers.extend(DETECTORS[2..].iter().map(|(_, told)| *told));
    let mut table = Table::new(&["workload", "our program"], &numbers);
    let mut sums = [0; 9];
    for workload in &WORKLOADS {
        let of = of(answered, workload);
        if of.is_empty() {
            continue;
        }
        let present = of.iter().filter(|one| is_racy(&one.0)).count() as u64;
        let [first, cached, others @ ..] = DETECTORS.map(|(name, _)| found(&of, name));
        let mut row = vec![present, first, cached, workload.present, workload.base, workload.scord];
        row.extend(others);
        for (sum, number) in sums.iter_mut().zip(&row) {
            *sum += number;
        }
        let names = [workload.name, workload.program.unwrap_or("scor/micro")].map(str::to_owned);
        table.row(names.into_iter().chain(row.into_iter().map(thousands)));
    }
    let total = ["Total".to_owned(), String::new()];
    table.row(total.into_iter().chain(sums.map(thousands)));
    table.render()
}

const TABLE_VI: &str = "Races found of those that are there. Ours looks for each race in a build of its own, with that race alone. ScoRD is \
    the base design, and the same with its cache of metadata, one entry for 16 words. The three detectors on the right are asked for ScoRD's races: scopes of atomics are \
    unknown to BARRACUDA, and in PTX strong accesses do not race.\n\n";

fn table_vii(answered: &[Answered<'_>]) -> String {
    let mut numbers = vec!["ours: programs without a race", "4-byte", "4-byte, cache"];
    numbers.extend(["paper: 4-byte", "8-byte", "16-byte", "ScoRD (cache)"]);
    numbers.extend(DETECTORS[2..].iter().map(|(_, told)| *told));
    let mut table = Table::new(&["workload"], &numbers);
    for workload in &WORKLOADS {
        let of = of(answered, workload);
        if of.is_empty() {
            continue;
        }
        let [first, cached, others @ ..] = DETECTORS.map(|(name, _)| false_positives(&of, name));
        let mut row =
            vec![workload.name.to_owned(), thousands(first.1), thousands(first.0), thousands(cached.0)];
        let papers = workload.false_positives.map(|numbers| numbers.map(Some)).unwrap_or([None; 4]);
        row.extend(papers.map(|number| or_nothing(number, thousands)));
        row.extend(others.map(
            |(reports, programs)| {
                if programs == 0 { NOTHING.to_owned() } else { thousands(reports) }
            },
        ));
        table.row(row);
    }
    table.render()
}

const TABLE_VII: &str = "Races reported about programs that have none by ScoRD's rules. Our metadata is of four bytes, or less where accesses are \
    narrower: there is no coarser one to compare with the paper's 8 and 16 bytes. What the other \
    three report is no race to ScoRD, but may be one by their own rules: HiRace knows neither fences nor locks, and the labels of these \
    programs demand its reports.\n\n";

fn said_with_cache<'a>(answered: &Answered<'a>) -> Option<&'a Said> {
    said(answered, SCORD_CACHE)
}

/// Races that the paper's ScoRD misses by its cache, of 44.
const MISSED_BY_CACHE: usize = 1;

/// What differs in kind from the paper's: its base design finds all races, with the cache all but one, and neither makes any up.
fn odd(answered: &[Answered<'_>]) -> Vec<Odd> {
    let mut odd = shown::unbuilt(Paper::Scord, answered);
    for one in answered.iter().filter(|one| one.1.unbuilt.is_none()) {
        let program = &one.0.program;
        let mut differs = |what: String| odd.push(Odd::new(Paper::Scord, &program.name, what));
        let Some(said) = said(one, "scord") else {
            differs(format!("ScoRD does not answer about {}", program.name));
            continue;
        };
        let wrong = differences(program.label.verdict("scord"), &said.races);
        if !wrong.is_empty() {
            differs(format!("ScoRD on {}: {}", program.name, wrong.join(", ")));
        }
        if said_with_cache(one).is_none() {
            differs(format!("ScoRD with its cache does not answer about {}", program.name));
        }
    }
    let wrong = answered.iter().filter_map(|one| {
        let (verdict, said) = (one.0.program.label.verdict("scord"), said_with_cache(one)?);
        let wrong = differences(verdict, &said.races);
        (!wrong.is_empty()).then(|| (one, seen(verdict, &said.races), wrong))
    });
    let (missed, made_up): (Vec<_>, Vec<_>) =
        wrong.partition(|(one, is_seen, _)| is_racy(&one.0) && !is_seen);
    for (at, (one, _, wrong)) in missed.into_iter().enumerate().chain((MISSED_BY_CACHE..).zip(made_up)) {
        if at >= MISSED_BY_CACHE {
            let name = &one.0.program.name;
            let what = format!("ScoRD with its cache on {name}: {}", wrong.join(", "));
            odd.push(Odd::new(Paper::Scord, name, what));
        }
    }
    odd
}

/// What has no known cause.
pub fn alarms(results: &Evaluation) -> Vec<String> {
    let answered = shown::answered(results, SCOR).unwrap_or_default();
    causes::unexplained(&odd(&answered))
}

#[cfg(test)]
mod tests;
