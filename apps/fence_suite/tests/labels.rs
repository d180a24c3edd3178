//! The labels hold: each program fails where its expert says so, the expert's patch applies, builds and cures it, and what it
//! leaves alone is needed.

mod support;

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use anyhow::{Context, Result, ensure};
use fence_suite::expert::{ExpertKind, ExpertLine, ExpertModel, ExpertProgram, programs};
use fence_suite::tools::{AdviceTools, Copy};
use fence_suite::trials::{SCHEDULERS, SuiteTrials, failures, still_fails};
use support::tools;

/// Fewer trials than a measurement has: the labels were checked with more when they were written.
const TRIALS: [(ExpertModel, u32); 2] = [(ExpertModel::StoreBuffer, 60), (ExpertModel::Ptx, 60)];

/// A copy of the program, changed by one of its patches, and built.
fn built(tools: &AdviceTools, program: &ExpertProgram, patch: Option<&Path>) -> Result<Copy> {
    let copy = Copy::of(&program.folder)?;
    if let Some(patch) = patch {
        copy.patch(&fs::read_to_string(patch)?)?;
    }
    copy.build(&tools.nvcc)?;
    Ok(copy)
}

/// It has to fail under one of the schedulers.
fn fails(tools: &AdviceTools, program: &ExpertProgram, copy: &Copy, what: &str) -> Result<()> {
    let model = program.expert.model.context("a model shows it")?;
    let trials = program.expert.trials;
    for scheduler in SCHEDULERS {
        let trials = SuiteTrials { model, scheduler, trials, until_failure: true, jobs: Some(1) };
        if failures(tools, copy, trials)? > 0 {
            return Ok(());
        }
    }
    anyhow::bail!("{what} never fails under {}", model.name())
}

fn passes(tools: &AdviceTools, copy: &Copy, what: &str) -> Result<()> {
    let failing = still_fails(tools, copy, TRIALS, Some(1))?;
    ensure!(failing.is_none(), "{what}: {}", failing.unwrap_or_default());
    Ok(())
}

fn holds(tools: &AdviceTools, program: &ExpertProgram) -> Result<()> {
    let original = built(tools, program, None)?;
    match program.expert.kind {
        ExpertKind::Missing | ExpertKind::TooNarrow | ExpertKind::NotAFence => {
            fails(tools, program, &original, "the program")?
        }
        ExpertKind::Redundant | ExpertKind::TooWide => passes(tools, &original, "the program")?,
    }
    if let Some(patch) = program.patch() {
        passes(tools, &built(tools, program, Some(&patch))?, "with expert.patch")?;
    }
    if let Some(patch) = program.without() {
        fails(tools, program, &built(tools, program, Some(&patch))?, "with without.patch, it")?;
    }
    Ok(())
}

#[test]
fn every_label_holds() {
    let Some(tools) = tools() else { return };
    let programs = programs().expect("the programs can be read");
    let next = AtomicUsize::new(0);
    let wrong = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(program) = programs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(why) = holds(&tools, program) {
                        let why = format!("{}: {why:#}", program.name);
                        wrong.lock().unwrap_or_else(PoisonError::into_inner).push(why);
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap_or_else(PoisonError::into_inner);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The text of a line that an expert names.
fn text(program: &ExpertProgram, line: &ExpertLine) -> String {
    let source = fs::read_to_string(program.folder.join(&line.file)).expect("the file that the line is of");
    let text = source.lines().nth(line.line as usize - 1).expect("a line of the file");
    text.trim().to_owned()
}

#[test]
fn the_suite_has_all_kinds_and_forms() {
    let programs = programs().expect("the programs can be read");
    assert!(programs.len() >= 64, "{} programs", programs.len());
    let of = |kind| programs.iter().filter(|program| program.expert.kind == kind).count();
    assert!(of(ExpertKind::NotAFence) >= 10 && of(ExpertKind::Redundant) >= 4);
    assert!(of(ExpertKind::TooNarrow) >= 2 && of(ExpertKind::TooWide) >= 2);
    let forms: HashSet<&str> = programs.iter().map(|program| program.expert.form.as_str()).collect();
    assert!(forms.len() >= 30, "{forms:?}");
    let kept = programs.iter().filter(|program| program.without().is_some());
    assert!(kept.count() >= 2, "some fences look redundant and are not");
}

#[test]
fn lines_that_experts_name_hold_accesses() {
    for program in programs().expect("the programs can be read") {
        for line in [&program.expert.first, &program.expert.second].into_iter().flatten() {
            let text = text(&program, line);
            assert!(text.contains(['=', '(', '[']), "{} {line:?}: {text}", program.name);
        }
    }
}
