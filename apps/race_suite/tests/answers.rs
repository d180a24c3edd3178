//! The labels can be believed: each program builds and runs to its end, and the lines that its label names access memory. And
//! detectors say about it what its label demands.

mod support;

use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use anyhow::{Result, ensure};
use race_suite::accesses;
use race_suite::ask::ask_built;
use race_suite::label::{LabelPlace, LabelVerdict};
use race_suite::suite::{LabelledProgram, programs, programs_of};
use race_suite::tools::{BuiltProgram, RaceTools};
use support::tools;

/// Fewer than the command looks at by itself: all but a few of the races show in the first.
const TRIALS: u32 = 8;
/// Detectors that go by barriers and locks find all from one execution. (On the device one pair shows in the second alone.)
const FIRST: u32 = 1;
const ON_THE_DEVICE: u32 = 2;

/// Looks for the label's lines in the PTX, and runs the program.
fn holds(tools: &RaceTools, program: &LabelledProgram, built: &BuiltProgram) -> Result<()> {
    let lines = accesses::lines(&built.ptx(program)?, &program.file());
    for verdict in &program.label.verdicts {
        let LabelVerdict::Races { expected, .. } = verdict else { continue };
        for place in expected.iter().flat_map(|race| [race.first, race.second]) {
            let LabelPlace::Line(line) = place else { continue };
            ensure!(lines.contains(&line), "line {line} accesses no memory; these do: {lines:?}");
        }
    }
    let own = if program.takes_graph { &["1".to_owned()][..] } else { &[] };
    let done = tools.run(built, &["run", "--trials", "3", "--pw", "0", "--seed", "1"], own)?;
    let said = String::from_utf8_lossy(&done.stderr);
    let passes = done.status.success();
    let ends = match &program.label.switch {
        _ if program.label.fault => !passes,
        None => passes,
        // What is planted may make the result wrong.
        Some(_) => passes || matches!(done.status.code(), Some(1 | 3)),
    };
    ensure!(ends, "{}: {said}", done.status);
    Ok(())
}

/// One way of looking: with these tools, by these detectors.
struct Way {
    name: &'static str,
    tools: RaceTools,
    detectors: &'static [&'static str],
    trials: u32,
}

/// Natively.
fn natively(tools: &RaceTools, detectors: &'static [&'static str], trials: u32) -> Way {
    Way { name: "", tools: tools.clone(), detectors, trials }
}

/// By device code. One detector at a time looks.
fn on_the_device(tools: &RaceTools) -> Way {
    let tools = RaceTools { handlers: true, ..tools.clone() };
    Way { name: ", on the device", tools, detectors: &["hirace", "scord"], trials: ON_THE_DEVICE }
}

/// Builds programs, checks their labels, and asks about them in these ways. The compiler takes most of the time, so that each program
/// is built once for all of them.
fn answer(programs: &[LabelledProgram], ways: &[Way]) {
    let next = AtomicUsize::new(0);
    let wrong = Mutex::new(Vec::new());
    let differs = |what: String| wrong.lock().unwrap_or_else(PoisonError::into_inner).push(what);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(program) = programs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let tools = &ways[0].tools;
                    let built = tools.build(program);
                    if let Ok(built) = &built
                        && let Err(why) = holds(tools, program, built)
                    {
                        differs(format!("{}: {why:#}", program.name));
                    }
                    for way in ways {
                        for answer in ask_built(&way.tools, program, &built, way.detectors, way.trials) {
                            if !answer.as_known() {
                                let gap = if answer.gap { "the gap is closed" } else { "" };
                                let told = answer.differences.join("; ");
                                let of = format!("{} ({}{})", answer.program, answer.detector, way.name);
                                differs(format!("{of}: {gap}{told}"));
                            }
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

#[test]
fn detectors_answer_as_labels_demand() {
    let Some(tools) = tools() else { return };
    let programs = programs().expect("all labels can be read");
    answer(&programs, &[natively(&tools, &["ptx", "barracuda"], TRIALS)]);
}

#[test]
fn rules_of_detectors() {
    let Some(tools) = tools() else { return };
    let programs = programs_of("rules").expect("all labels can be read");
    answer(&programs, &[natively(&tools, &["ptx", "barracuda", "hirace", "scord"], TRIALS)]);
}

#[test]
fn scoped_programs() {
    let Some(tools) = tools() else { return };
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.write_all(b"[scord]\ncache = 4\n").expect("it is there");
    let by_a_cache = Way {
        name: ", by a cache",
        tools: RaceTools { settings: Some(file.path().to_owned()), ..tools.clone() },
        detectors: &["scord"],
        trials: TRIALS,
    };
    let programs = programs_of("scor").expect("all labels can be read");
    answer(&programs, &[natively(&tools, &["hirace", "scord"], TRIALS), by_a_cache, on_the_device(&tools)]);
}

/// One variant of each pattern: the command asks about all.
fn one_of_each_pattern() -> Vec<LabelledProgram> {
    let mut programs = programs_of("indigo").expect("all labels can be read");
    let choice =
        |program: &LabelledProgram| program.name.split_once(']').map(|(choice, _)| choice.to_owned());
    let mut last = None;
    let mut first = None;
    programs.retain(|program| {
        if last.as_ref() != Some(&program.path) {
            (last, first) = (Some(program.path.clone()), choice(program));
        }
        choice(program) == first
    });
    assert!(programs.len() >= 16, "{} programs", programs.len());
    programs
}

#[test]
fn irregular_programs() {
    let Some(tools) = tools() else { return };
    answer(&one_of_each_pattern(), &[natively(&tools, &["hirace", "scord"], FIRST), on_the_device(&tools)]);
}
