//! The labels can be believed: each program builds and runs to its end, and the lines that its label names access memory. And
//! both detectors say about it what its label demands.

mod support;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use anyhow::{Result, ensure};
use race_suite::accesses;
use race_suite::ask::ask_built;
use race_suite::label::{DETECTORS, Place, Verdict};
use race_suite::suite::{Program, programs};
use race_suite::tools::{Built, Tools};
use support::tools;

/// Fewer than the command looks at by itself: all but a few of the races show in the first.
const TRIALS: u32 = 8;

/// Looks for the label's lines in the PTX, and runs the program.
fn holds(tools: &Tools, program: &Program, built: &Built) -> Result<()> {
    let lines = accesses::lines(&built.ptx(program)?, &program.file());
    for verdict in &program.label.verdicts {
        let Verdict::Races { expected, .. } = verdict else { continue };
        for place in expected.iter().flat_map(|race| [race.first, race.second]) {
            let Place::Line(line) = place else { continue };
            ensure!(lines.contains(&line), "line {line} accesses no memory; these do: {lines:?}");
        }
    }
    let done = tools.run(built, &["run", "--trials", "3", "--pw", "0", "--seed", "1"], &[])?;
    let said = String::from_utf8_lossy(&done.stderr);
    ensure!(done.status.success() != program.label.fault, "{}: {said}", done.status);
    Ok(())
}

#[test]
fn detectors_answer_as_labels_demand() {
    let Some(tools) = tools() else { return };
    let programs = programs().expect("all labels can be read");
    let next = AtomicUsize::new(0);
    let wrong = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(program) = programs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let built = tools.build(program);
                    if let Ok(built) = &built
                        && let Err(why) = holds(&tools, program, built)
                    {
                        let why = format!("{}: {why:#}", program.name);
                        wrong.lock().unwrap_or_else(PoisonError::into_inner).push(why);
                    }
                    for answer in ask_built(&tools, program, &built, &DETECTORS, TRIALS) {
                        if !answer.as_known() {
                            let gap = if answer.gap { "the gap is closed" } else { "" };
                            let differences = answer.differences.join("; ");
                            let told =
                                format!("{} ({}): {gap}{differences}", answer.program, answer.detector);
                            wrong.lock().unwrap_or_else(PoisonError::into_inner).push(told);
                        }
                    }
                }
            });
        }
    });
    let mut wrong = wrong.into_inner().unwrap_or_else(PoisonError::into_inner);
    wrong.sort();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
