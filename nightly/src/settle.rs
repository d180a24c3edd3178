//! Says what a night comes to, by what its plan expects: which findings are known, which cells are red.

use std::collections::{BTreeMap, BTreeSet};

use bugaroo_protocol::Model;
use jiff::civil::Date;

use crate::finding::place_name;
use crate::night::{Cell, Night, NightFinding, NightProgram, NightVerdict, Stage, Status};
use crate::plan::expect::{Expectation, Expected};
use crate::plan::{CellKind, Plan, PlanProgram as Planned};

/// Settles a night: `today` is the day that expectations are good for.
pub fn settle(night: &mut Night, plan: &Plan, today: Date) {
    let mut tested = 0;
    let mut red = false;
    for program in &mut night.programs {
        if night.complete
            && let Some(planned) = plan.program(&program.name)
        {
            unused_rules(program, planned);
        }
        let expect = plan.program(&program.name).map(|program| &program.expect[..]).unwrap_or_default();
        settle_program(program, expect, night.complete, today);
        tested += program.cells.iter().map(told).sum::<u64>();
        tested += program.kernels.iter().filter(|kernel| kernel.status != Status::Nothing).count() as u64;
        red |= program.error.as_ref().is_some_and(|error| error.expected.is_none());
        red |= program.findings.iter().any(|finding| finding.expected.is_none());
        red |= program.kernels.iter().any(|kernel| kernel.status == Status::Fail);
        red |= program.cells.iter().any(|cell| matches!(cell.status, Status::Fail | Status::Nothing));
        red |= program.expectations.iter().any(|line| line.contains(EXPIRED));
    }
    if tested == 0 {
        night.notes.insert(
            0,
            "nothing was tested: no trial passed or failed, and no kernel has a verdict".to_owned(),
        );
    }
    if !night.missing_shards.is_empty() {
        let missing: Vec<String> = night.missing_shards.iter().map(u32::to_string).collect();
        night.notes.push(format!("the results of these shards are missing: {}", missing.join(", ")));
    }
    let good = !red && tested > 0 && night.complete && night.missing_shards.is_empty();
    night.verdict = if good { NightVerdict::Green } else { NightVerdict::Red };
}

const EXPIRED: &str = "has expired";

/// Trials that passed or failed.
fn told(cell: &Cell) -> u64 {
    cell.outcomes.iter().filter(|(outcome, _)| outcome.tells()).map(|(_, count)| count).sum()
}

fn settle_program(program: &mut NightProgram, expect: &[Expectation], complete: bool, today: Date) {
    let mut met: BTreeSet<usize> = BTreeSet::new();
    let models: BTreeMap<_, _> =
        program.cells.iter().map(|cell| (cell.key.clone(), model_of(cell))).collect();
    for finding in &mut program.findings {
        settle_finding(finding, expect, &models, today, &mut met);
    }
    let mut known_baseline = None;
    if let Some(error) = program.error.as_mut().filter(|error| error.stage == Stage::Baseline) {
        for (at, known) in expect.iter().enumerate().filter(|(_, known)| known.finding == Expected::Baseline)
        {
            met.insert(at);
            if known.until >= today && error.expected.is_none() {
                error.expected = Some(known.reason.clone());
            }
        }
        known_baseline.clone_from(&error.expected);
    }
    for kernel in &mut program.kernels {
        let mut about = program.findings.iter().filter(|finding| finding.is_about(kernel)).peekable();
        if kernel.status == Status::Fail
            && about.peek().is_some()
            && about.all(|finding| finding.expected.is_some())
        {
            kernel.status = Status::Expected;
        }
    }
    for (at, known) in expect.iter().enumerate() {
        let what = Expected::ALL.iter().find(|(_, kind)| *kind == known.finding).map_or("", |(name, _)| name);
        let line = known.line;
        if known.until < today {
            program.expectations.push(format!(
                "the expectation of {what} (line {line} of the plan) {EXPIRED} on {}: {}",
                known.until, known.reason
            ));
        } else if !met.contains(&at) {
            program.expectations.push(format!(
                "{what} (line {line} of the plan) was expected and not seen: {}",
                known.reason
            ));
        }
    }
    let NightProgram { cells, findings, error, .. } = program;
    // Unexpected ones first, new ones before known ones.
    findings.sort_by_key(|finding| (finding.expected.is_some(), !finding.new));
    let failed = error.as_ref().map(|error| match error.stage {
        Stage::Build => "the program was not built",
        Stage::Start => "the program could not be started",
        Stage::Baseline => "the program fails without injection",
        Stage::Unsupported => "the program cannot be run by this version",
        Stage::Trials => "trials could not be run to their end",
    });
    let silent = match (failed, complete) {
        (Some(failed), _) => failed,
        (None, true) => "no trial was run: there was no time",
        (None, false) => "no trial was run: the night was stopped",
    };
    for cell in cells {
        settle_cell(cell, findings, silent);
        if let (Status::Nothing, Some(reason)) = (cell.status, &known_baseline) {
            (cell.status, cell.reason) = (Status::Expected, reason.clone());
        }
    }
}

/// Notes the suppressions that no race of the program met.
fn unused_rules(program: &mut NightProgram, planned: &Planned) {
    if program.cells.iter().any(|cell| cell.kind == CellKind::Races && cell.trials > 0) {
        let met =
            |reason: &String| program.findings.iter().any(|found| found.expected.as_ref() == Some(reason));
        let unused = planned.suppressions.texts().filter(|rule| !met(&rule.reason));
        let unused =
            unused.map(|rule| format!("the suppression at {} fits no race: {}", rule.at, rule.reason));
        program.notes.extend(unused.collect::<Vec<_>>());
    }
}

/// The model of a cell's trials; None where they have several.
fn model_of(cell: &Cell) -> Option<Model> {
    (cell.kind == CellKind::Trials).then_some(cell.model)
}

/// A finding is expected if it is so in each cell that shows it: an expectation under one model says nothing of the others, nor of
/// trials that choose their own.
fn settle_finding(
    finding: &mut NightFinding,
    expect: &[Expectation],
    models: &BTreeMap<String, Option<Model>>,
    today: Date,
    met: &mut BTreeSet<usize>,
) {
    let fits = |expectation: &Expectation| {
        let here =
            |text: &String| finding.places.iter().any(|place| place_name(place).contains(text.as_str()));
        expectation.finding.covers(finding.kind) && expectation.place.as_ref().is_none_or(here)
    };
    let under = |expectation: &Expectation, model: Option<Model>| {
        expectation.model.is_none() || expectation.model == model
    };
    let fitting: Vec<(usize, &Expectation)> = expect.iter().enumerate().filter(|(_, it)| fits(it)).collect();
    // What no cell shows has no model.
    let shown: Vec<Option<Model>> = match finding.cells.is_empty() {
        true => vec![None],
        false => finding.cells.iter().map(|key| models.get(key).copied().flatten()).collect(),
    };
    let mut reasons: Vec<&str> = Vec::new();
    let mut covered = true;
    for model in shown {
        let here: Vec<_> = fitting.iter().filter(|(_, it)| under(it, model)).collect();
        met.extend(here.iter().map(|(at, _)| at));
        match here.iter().find(|(_, it)| it.until >= today) {
            Some((_, known)) if !reasons.contains(&known.reason.as_str()) => reasons.push(&known.reason),
            Some(_) => {}
            None => covered = false,
        }
    }
    if covered && finding.expected.is_none() {
        finding.expected = Some(reasons.join("; "));
    }
}

fn settle_cell(cell: &mut Cell, findings: &[NightFinding], silent: &str) {
    let mut of_cell = findings.iter().filter(|finding| finding.cells.contains(&cell.key)).peekable();
    let told = told(cell);
    (cell.status, cell.reason) = match of_cell.peek() {
        Some(_) => match of_cell.clone().find(|finding| finding.expected.is_none()) {
            Some(open) => (Status::Fail, open.title.clone()),
            None => {
                let reason = of_cell.next().and_then(|finding| finding.expected.clone());
                (Status::Expected, reason.unwrap_or_default())
            }
        },
        // A failure always has a finding; were there none, it would still be one. A failing exit of trials that look for races
        // says nothing.
        None if cell.failures > 0 && cell.kind != CellKind::Races => {
            (Status::Fail, "trials failed".to_owned())
        }
        None if cell.trials == 0 => (Status::Nothing, silent.to_owned()),
        None if told == 0 => {
            (Status::Nothing, "all trials were slow, or ended from outside: they say nothing".to_owned())
        }
        None => (Status::Pass, String::new()),
    };
}

#[cfg(test)]
mod tests;
