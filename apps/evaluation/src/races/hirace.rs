//! HiRace's Table II, ours beside the paper's: programs with races, found and missed with each graph, and false positives.
//!
//! A program has a race if its label demands one of HiRace: a bug was planted that is one. A detector has found it if it reports
//! anything at all, as in the paper. What it has missed is taken apart by the labels: the graph need not show the race, or it is none by
//! the detector's own rules.

use race_suite::label::LabelVerdict;

use crate::markdown::{NOTHING, Table, thousands};
use crate::races::asked::{Asked, Run, Said};
use crate::races::causes::{self, Odd};
use crate::races::papers::{self, Found, GRAPHS, Graph};
use crate::races::questions::{INDIGO, Paper, Question};
use crate::races::shown;
use crate::results::Evaluation;

/// Our detectors, HiRace first, with what they are called.
const DETECTORS: [(&str, &str); 4] =
    [("hirace", "HiRace"), ("ptx", "ptx"), ("barracuda", "BARRACUDA"), ("scord", "ScoRD")];

/// One program run with one graph.
struct Test<'a> {
    question: &'a Question,
    run: &'a Run,
    graph: usize,
    racy: bool,
}

impl Test<'_> {
    fn said(&self, detector: &str) -> Option<&Said> {
        self.run.said.get(detector)
    }

    /// Whether a detector reports anything; None where it was not asked or has not answered.
    fn reported(&self, detector: &str) -> Option<bool> {
        self.said(detector).filter(|said| said.refused.is_none()).map(|said| !said.races.is_empty())
    }

    /// Whether the check of the program finds its result wrong.
    fn wrong_result(&self) -> Option<bool> {
        self.said("hirace").filter(|said| said.refused.is_none()).map(Said::failed)
    }

    /// Whether a race that a detector must tell need not show with this graph.
    fn may_be_silent(&self) -> bool {
        self.question.program.may_be_silent(&self.run.arguments)
    }

    fn is_race_to(&self, detector: &str) -> bool {
        matches!(self.question.program.label.verdict(detector), LabelVerdict::Races { .. })
    }

    fn named(&self) -> String {
        format!("{} with {}", self.question.program.name, GRAPHS[self.graph].name)
    }
}

fn tests<'a>(answered: &'a [(Question, &'a Asked)]) -> Vec<Test<'a>> {
    let of = |(question, asked): &'a (Question, &'a Asked)| {
        let racy = matches!(question.program.label.verdict("hirace"), LabelVerdict::Races { .. });
        asked.runs.iter().filter_map(move |run| {
            let graph = run.arguments.first()?.parse().ok().filter(|graph| *graph < GRAPHS.len())?;
            Some(Test { question, run, graph, racy })
        })
    };
    answered.iter().flat_map(of).collect()
}

/// Races found and missed, among those that were answered.
fn found<'a, 'b: 'a>(
    tests: impl Iterator<Item = &'a Test<'b>>,
    by: impl Fn(&Test<'b>) -> Option<bool>,
) -> Found {
    let answers = tests.filter(|test| test.racy).filter_map(by);
    answers.fold((0, 0), |(yes, no), found| (yes + u64::from(found), no + u64::from(!found)))
}

fn pair((found, missed): Found) -> String {
    format!("{} / {}", thousands(found), thousands(missed))
}

/// The section's text.
pub fn section(results: &Evaluation) -> String {
    let answered = shown::answered(results, INDIGO);
    let answered = match answered {
        Ok(answered) if answered.is_empty() => return shown::NOT_ASKED.to_owned(),
        Ok(answered) => answered,
        Err(why) => return format!("{why:#}\n\n"),
    };
    let tests = tests(&answered);
    let mut text = by_graph(&tests);
    text += NOTE;
    text += &matrix(&tests);
    text += MATRIX;
    text += &by_bug(&tests);
    text += &causes::told(&odd(&answered));
    text
}

/// Table II.
fn by_graph(tests: &[Test<'_>]) -> String {
    let columns = ["graph".to_owned()];
    let numbers = [
        "ours: tests",
        "with races",
        "HiRace",
        "paper: HiRace",
        "ptx",
        "BARRACUDA",
        "ScoRD",
        "paper: iGUARD",
        "paper: racecheck",
        "wrong results",
        "paper: wrong results",
    ];
    let mut table = Table::new(&columns, &numbers.map(str::to_owned));
    for (at, papers) in GRAPHS.iter().enumerate() {
        let of = || tests.iter().filter(move |test| test.graph == at);
        if of().next().is_none() {
            continue;
        }
        let by = |detector: &str| pair(found(of(), |test| test.reported(detector)));
        table.row([
            papers.name.to_owned(),
            thousands(of().count() as u64),
            thousands(of().filter(|test| test.racy).count() as u64),
            by("hirace"),
            pair(papers.hirace),
            by("ptx"),
            by("barracuda"),
            by("scord"),
            pair(papers.iguard),
            pair(papers.racecheck),
            pair(found(of(), Test::wrong_result)),
            pair(papers.sequential),
        ]);
    }
    table.render()
}

const NOTE: &str = "Programs with a race: found / missed. The paper's row has 580 programs, 346 of them with races; ours has the programs in \
    the manner of Indigo of `apps/race_suite/indigo`, and graphs of the same kinds and sizes. Each program is run once with each \
    graph, an execution for each detector. *Wrong results* are those that the program's own check finds, in the execution that HiRace looks \
    at; the paper's column *Sequential Comparison*. iGUARD and racecheck need NVIDIA's hardware and are not run here.\n\n";

/// The confusion matrix.
fn matrix(tests: &[Test<'_>]) -> String {
    let numbers = [
        "true positives",
        "false negatives",
        "of them: the graph need not show it",
        "no race by its own rules",
        "others",
        "false positives",
        "true negatives",
        "no answer",
    ];
    let mut table = Table::new(&["detector"], &numbers);
    for (name, told) in DETECTORS {
        let of = |racy: bool, reported: bool| {
            let is = move |test: &&Test<'_>| test.racy == racy && test.reported(name) == Some(reported);
            tests.iter().filter(is)
        };
        let count = |number: usize| thousands(number as u64);
        let missed = of(true, false).count();
        let ruled_out = of(true, false).filter(|test| !test.is_race_to(name)).count();
        let silent = of(true, false).filter(|test| test.is_race_to(name) && test.may_be_silent()).count();
        let unanswered = tests.iter().filter(|test| test.reported(name).is_none()).count();
        table.row([
            format!("ours: {told}"),
            count(of(true, true).count()),
            count(missed),
            count(silent),
            count(ruled_out),
            count(missed - silent - ruled_out),
            count(of(false, true).count()),
            count(of(false, false).count()),
            count(unanswered),
        ]);
    }
    let clean: u64 = GRAPHS.iter().map(|graph| graph.tests - papers::RACY).sum();
    /// A detector's figures of a graph.
    type Figures = fn(&Graph) -> Found;
    let rows: [(&str, Figures, bool); 3] = [
        ("the paper's HiRace", |graph| graph.hirace, true),
        ("the paper's iGUARD", |graph| graph.iguard, true),
        ("the paper's racecheck", |graph| graph.racecheck, false),
    ];
    for (name, which, told) in rows {
        let all = GRAPHS.iter().map(which);
        let (found, missed) = all.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        let [none, right] =
            if told { ["0".to_owned(), thousands(clean)] } else { [NOTHING; 2].map(str::to_owned) };
        let unknown = || NOTHING.to_owned();
        table.row([
            name.to_owned(),
            thousands(found),
            thousands(missed),
            unknown(),
            unknown(),
            unknown(),
            none,
            right,
            unknown(),
        ]);
    }
    table.render()
}

const MATRIX: &str = "A test is a program and a graph. The paper finds no false positives of HiRace and iGUARD, and says nothing of those of \
    racecheck. It says of HiRace's 215 misses that all happened with the smallest graphs, where the race is likely not come to; for ours \
    the labels say it of each graph and bug.\n\n";

/// By planted bug, which the paper does not tell apart.
fn by_bug(tests: &[Test<'_>]) -> String {
    let mut bugs: Vec<Option<&String>> =
        tests.iter().map(|test| test.question.program.label.switch.as_ref()).collect();
    bugs.sort();
    bugs.dedup();
    let mut numbers = vec!["tests", "with races"];
    numbers.extend(DETECTORS.map(|(_, told)| told));
    let mut table = Table::new(&["planted bug"], &numbers);
    for bug in bugs {
        let of: Vec<&Test<'_>> =
            tests.iter().filter(|test| test.question.program.label.switch.as_ref() == bug).collect();
        let mut row = vec![
            bug.map_or("none", String::as_str).to_owned(),
            thousands(of.len() as u64),
            thousands(of.iter().filter(|test| test.racy).count() as u64),
        ];
        row.extend(DETECTORS.map(|(name, _)| {
            thousands(of.iter().filter(|test| test.reported(name) == Some(true)).count() as u64)
        }));
        table.row(row);
    }
    table.render() + BUGS
}

const BUGS: &str = "Tests about which each detector reports a race, by the bug that is planted. The paper does not tell bugs apart. \
    `BUG_BOUNDS` is an error of memory, and no race.\n\n";

/// What differs in kind from the paper's: HiRace has false positives, or misses what it should see.
fn odd(answered: &[(Question, &Asked)]) -> Vec<Odd> {
    let mut odd = shown::unbuilt(Paper::Hirace, answered);
    for test in &tests(answered) {
        let what = match (test.racy, test.reported("hirace")) {
            (_, None) => "does not answer about",
            (false, Some(true)) => "has a false positive in",
            (true, Some(false)) if !test.may_be_silent() => "misses the race of",
            _ => continue,
        };
        let program = &test.question.program.name;
        odd.push(Odd::new(Paper::Hirace, program, format!("HiRace {what} {}", test.named())));
    }
    odd
}

/// What has no known cause.
pub fn alarms(results: &Evaluation) -> Vec<String> {
    let answered = shown::answered(results, INDIGO).unwrap_or_default();
    causes::unexplained(&odd(&answered))
}

#[cfg(test)]
mod tests;
