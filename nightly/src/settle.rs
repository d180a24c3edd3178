//! Says what a night comes to, by what its plan expects: which findings are known, which cells are red.

use std::collections::BTreeSet;

use jiff::civil::Date;

use crate::finding::place_name;
use crate::night::{Cell, Finding, Night, Program, Stage, Status, Verdict};
use crate::plan::expect::{Expectation, Expected};
use crate::plan::{Kind, Plan};

/// Settles a night: `today` is the day that expectations are good for.
pub fn settle(night: &mut Night, plan: &Plan, today: Date) {
    let mut tested = 0;
    let mut red = false;
    for program in &mut night.programs {
        let expect = plan.program(&program.name).map(|program| &program.expect[..]).unwrap_or_default();
        settle_program(program, expect, today);
        tested += program.cells.iter().map(told).sum::<u64>() + program.kernels.len() as u64;
        red |= program.error.as_ref().is_some_and(|error| error.expected.is_none());
        red |= program.findings.iter().any(|finding| finding.expected.is_none());
        red |= program.kernels.iter().any(|kernel| kernel.status == Status::Fail);
        red |= program.cells.iter().any(|cell| matches!(cell.status, Status::Fail | Status::Nothing));
        red |= program.expectations.iter().any(|line| line.contains(EXPIRED));
    }
    if tested == 0 {
        night.notes.insert(
            0,
            "nothing was tested: no trial passed or failed, and no kernel was verified".to_owned(),
        );
    }
    if !night.missing_shards.is_empty() {
        let missing: Vec<String> = night.missing_shards.iter().map(u32::to_string).collect();
        night.notes.push(format!("the results of these shards are missing: {}", missing.join(", ")));
    }
    let good = !red && tested > 0 && night.complete && night.missing_shards.is_empty();
    night.verdict = if good { Verdict::Green } else { Verdict::Red };
}

const EXPIRED: &str = "has expired";

/// Trials that passed or failed.
fn told(cell: &Cell) -> u64 {
    cell.outcomes.iter().filter(|(outcome, _)| outcome.tells()).map(|(_, count)| count).sum()
}

fn settle_program(program: &mut Program, expect: &[Expectation], today: Date) {
    let mut met: BTreeSet<usize> = BTreeSet::new();
    let models: Vec<_> = program.cells.iter().map(|cell| (cell.key.clone(), cell.model)).collect();
    for finding in &mut program.findings {
        let model = |wanted| {
            finding
                .cells
                .iter()
                .all(|key| models.iter().any(|(known, model)| known == key && *model == wanted))
        };
        for (at, expectation) in expect.iter().enumerate() {
            let place = expectation.place.as_ref();
            let here =
                |text: &String| finding.places.iter().any(|place| place_name(place).contains(text.as_str()));
            if expectation.finding.covers(finding.kind)
                && place.is_none_or(here)
                && expectation.model.is_none_or(model)
            {
                met.insert(at);
                if expectation.until >= today && finding.expected.is_none() {
                    finding.expected = Some(expectation.reason.clone());
                }
            }
        }
    }
    let baseline = expect.iter().enumerate().find(|(_, known)| known.finding == Expected::Baseline);
    if let (Some(error), Some((at, known))) = (&mut program.error, baseline) {
        met.insert(at);
        error.expected = (known.until >= today).then(|| known.reason.clone());
    }
    for kernel in &mut program.kernels {
        let known = expect.iter().enumerate().find(|(_, known)| known.finding == Expected::Verify);
        if let (Status::Fail, Some((at, known))) = (kernel.status, known) {
            met.insert(at);
            if known.until >= today {
                kernel.status = Status::Expected;
            }
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
    let Program { cells, findings, error, .. } = program;
    // Unexpected ones first, new ones before known ones.
    findings.sort_by_key(|finding| (finding.expected.is_some(), !finding.new));
    let failed = error.as_ref().map(|error| match error.stage {
        Stage::Build => "the program was not built",
        Stage::Start => "the program could not be started",
        Stage::Baseline => "the program fails without injection",
        Stage::Unsupported => "the program cannot be run by this version",
        Stage::Trials => "trials could not be run to their end",
    });
    for cell in cells {
        settle_cell(cell, findings, failed);
    }
}

fn settle_cell(cell: &mut Cell, findings: &[Finding], error: Option<&str>) {
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
        None if cell.failures > 0 && cell.kind != Kind::Races => (Status::Fail, "trials failed".to_owned()),
        None if cell.trials == 0 => match error {
            Some(error) => (Status::Nothing, error.to_owned()),
            None => (Status::Nothing, "no trial was run: there was no time".to_owned()),
        },
        None if told == 0 => {
            (Status::Nothing, "all trials were slow, or ended from outside: they say nothing".to_owned())
        }
        None => (Status::Pass, String::new()),
    };
}

#[cfg(test)]
mod tests;
