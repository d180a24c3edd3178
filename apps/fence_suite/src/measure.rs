//! One program through the whole of it: built, asked about, patched, built again, run, and compared with the expert's.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use serde::Serialize;

use crate::advice::SuiteAdvice;
use crate::compare;
use crate::expert::{ExpertKind, ExpertModel, ExpertProgram};
use crate::tools::{AdviceTools, Copy};
use crate::trials::still_fails;

/// Trials that a cured program has to pass, under each scheduler.
pub const TRIALS: [(ExpertModel, u32); 2] = [(ExpertModel::StoreBuffer, 1000), (ExpertModel::Ptx, 300)];

/// What became of the advice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "is", content = "why")]
pub enum AdviceOutcome {
    /// Applied, built and run, it does not fail.
    Cured,
    /// Nothing was to be advised, and nothing was.
    NothingToDo,
    /// There is no patch, and there does not have to be one: the cause was named.
    Named,
    /// It said why it has no patch, and the expert takes that for an answer.
    Refused(String),
    /// What is wrong.
    Wrong(String),
}

/// What was measured of a program.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measured {
    /// Its name.
    pub program: String,
    /// What is wrong with it.
    pub kind: ExpertKind,
    /// What became of the advice.
    pub outcome: AdviceOutcome,
    /// Whether our patch makes the expert's program; none where one of them has no patch.
    pub same_line: Option<bool>,
    /// Fences that our patch adds, or takes away.
    pub ours: Option<i64>,
    /// Fences that the expert's adds, or takes away.
    pub expert: i64,
    /// How long `bisect` took.
    pub search_seconds: f64,
}

impl Measured {
    /// Whether it has more fences than it needs.
    pub fn too_many(&self) -> bool {
        self.ours.is_some_and(|ours| ours > self.expert)
    }

    /// Whether it is as it should be: cured, at the expert's place, with no more fences.
    pub fn right(&self) -> bool {
        !matches!(self.outcome, AdviceOutcome::Wrong(_)) && !self.too_many() && self.same_line != Some(false)
    }

    /// A program about which nothing could be found out.
    fn failed(program: &ExpertProgram, why: &anyhow::Error) -> Measured {
        Measured {
            program: program.name.clone(),
            kind: program.expert.kind,
            outcome: AdviceOutcome::Wrong(format!("{why:#}")),
            same_line: None,
            ours: None,
            expert: 0,
            search_seconds: 0.0,
        }
    }
}

/// Measures a program; `trials` says how thorough the search is to be.
pub fn measure(tools: &AdviceTools, program: &ExpertProgram, trials: u32) -> Measured {
    searched(tools, program, trials).unwrap_or_else(|why| Measured::failed(program, &why))
}

fn searched(tools: &AdviceTools, program: &ExpertProgram, trials: u32) -> Result<Measured> {
    let original = Copy::of(&program.folder)?;
    original.build(&tools.nvcc)?;
    let (advice, took) = SuiteAdvice::ask(tools, &original, trials)?;
    judge(tools, program, &advice, took)
}

/// What the advice is worth.
pub fn judge(
    tools: &AdviceTools,
    program: &ExpertProgram,
    advice: &SuiteAdvice,
    took: Duration,
) -> Result<Measured> {
    let before = compare::fences(&program.folder)?;
    let experts = Copy::of(&program.folder)?;
    if let Some(patch) = program.patch() {
        experts.patch(&read(&patch)?)?;
    }
    let mut measured = Measured {
        program: program.name.clone(),
        kind: program.expert.kind,
        outcome: without_patch(program, advice),
        same_line: None,
        ours: None,
        expert: compare::fences(experts.path())? - before,
        search_seconds: took.as_secs_f64(),
    };
    if let Some(patch) = &advice.patch {
        let ours = Copy::of(&program.folder)?;
        if let Err(why) = ours.patch(patch) {
            measured.outcome = AdviceOutcome::Wrong(format!("{why:#}"));
            return Ok(measured);
        }
        measured.ours = Some(compare::fences(ours.path())? - before);
        measured.same_line = Some(compare::same(ours.path(), experts.path())?);
        measured.outcome =
            match ours.build(&tools.nvcc).and_then(|()| still_fails(tools, &ours, TRIALS, None)) {
                Err(why) => AdviceOutcome::Wrong(format!("{why:#}")),
                Ok(Some(failing)) => AdviceOutcome::Wrong(failing),
                Ok(None) => with_cure(program, advice),
            };
    }
    Ok(measured)
}

/// What an answer without a patch is.
fn without_patch(program: &ExpertProgram, advice: &SuiteAdvice) -> AdviceOutcome {
    let expert = &program.expert;
    let refusal = advice.refusal();
    if expert.kind == ExpertKind::NotAFence {
        return match named(program, advice) {
            true => AdviceOutcome::Named,
            false => AdviceOutcome::Wrong(format!("not named; it names {:?}", advice.diagnosis)),
        };
    }
    match refusal {
        None if program.patch().is_none() => AdviceOutcome::NothingToDo,
        Some(why) if expert.may_refuse.is_some() => AdviceOutcome::Refused(why),
        Some(why) => AdviceOutcome::Wrong(format!("no patch: {why}")),
        None => AdviceOutcome::Wrong("no patch".to_owned()),
    }
}

/// What an answer with a patch is after which nothing failed.
fn with_cure(program: &ExpertProgram, advice: &SuiteAdvice) -> AdviceOutcome {
    if program.expert.kind == ExpertKind::NotAFence && !named(program, advice) {
        return AdviceOutcome::Wrong(format!("cured but not named; it names {:?}", advice.diagnosis));
    }
    if program.patch().is_none() {
        return AdviceOutcome::Wrong("a patch where nothing is to be changed".to_owned());
    }
    AdviceOutcome::Cured
}

/// Whether the expert's cause and lines are among the diagnoses.
fn named(program: &ExpertProgram, advice: &SuiteAdvice) -> bool {
    let expert = &program.expert;
    match (expert.cause, &expert.first, &expert.second) {
        (Some(cause), Some(first), Some(second)) => advice.names(cause, first, second),
        _ => false,
    }
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| path.display().to_string())
}

#[cfg(test)]
#[path = "measure/tests.rs"]
mod tests;
