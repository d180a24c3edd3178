//! What device code reports (`race --handlers`) about the labelled programs is what the native detector reports.
//!
//! Schedules differ, as device code takes turns of its own, so a race that shows in some executions only may show in those of one
//! form alone. What one form reports in every execution, the other has to report in some; and where the native form answers as
//! the label demands, so has device code.

mod support;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use anyhow::{Context, Result};
use race_suite::judge::differences;
use race_suite::report::Reported;
use race_suite::suite::{Program, programs, programs_of};
use race_suite::tools::{Built, Tools};
use support::tools;

const TRIALS: u32 = 8;

/// What is one race to who reads of it, and in how many executions it showed. Which of the two came first is the schedule's.
fn shown(reported: &[Reported]) -> BTreeMap<String, u64> {
    let mut shown = BTreeMap::new();
    for one in reported {
        let mut places = [&one.first, &one.second]
            .map(|party| if party.anywhere { "anywhere".to_owned() } else { party.told.clone() });
        places.sort();
        let trials = shown.entry(format!("{:?} {:?}", one.class, places)).or_default();
        *trials = one.trials.max(*trials);
    }
    shown
}

/// Whether device code knows the program at all; and what differs.
fn compare(tools: &Tools, program: &Program, built: &Built) -> Result<(bool, Vec<String>)> {
    let device = Tools { handlers: true, ..tools.clone() };
    let verdict = program.label.verdict("hirace");
    let trials = u64::from(TRIALS.max(program.label.trials));
    let own = program.runs().pop().context("it runs in one way at least")?;
    let native = tools.race(program, built, &own, ("hirace", TRIALS))?.0;
    let found = match device.race(program, built, &own, ("hirace", TRIALS)) {
        Ok((found, _)) => found,
        Err(why) if format!("{why:#}").contains("on the device does not know") => {
            return Ok((false, Vec::new()));
        }
        Err(why) => return Err(why),
    };
    let (one, other) = (shown(&native), shown(&found));
    let mut differs = Vec::new();
    for (of, all, others) in [("device code", &one, &other), ("the native form", &other, &one)] {
        let missing = all.iter().filter(|(what, shown)| **shown == trials && !others.contains_key(*what));
        differs.extend(missing.map(|(what, _)| format!("{of} does not report {what}")));
    }
    if differences(verdict, &native).is_empty() && !program.may_be_silent(&own) {
        differs.extend(differences(verdict, &found));
    }
    Ok((true, differs))
}

fn all(programs: &[Program], known_at_least: usize) {
    let Some(tools) = tools() else { return };
    let (next, known) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let wrong = Mutex::new(Vec::new());
    let differs = |what: String| wrong.lock().unwrap_or_else(PoisonError::into_inner).push(what);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(program) = programs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    match tools.build(program).and_then(|built| compare(&tools, program, &built)) {
                        Ok((knows, what)) => {
                            known.fetch_add(usize::from(knows), Ordering::Relaxed);
                            what.into_iter().for_each(|what| differs(format!("{}: {what}", program.name)));
                        }
                        Err(why) => differs(format!("{}: {why:#}", program.name)),
                    }
                }
            });
        }
    });
    let mut wrong = wrong.into_inner().unwrap_or_else(PoisonError::into_inner);
    wrong.sort();
    let known = known.into_inner();
    println!("{known} of {} programs are known to device code", programs.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(known >= known_at_least, "device code knows {known} of {} programs", programs.len());
}

#[test]
fn small_programs() {
    all(&programs().expect("all labels can be read"), 100);
}

#[test]
fn scoped_programs() {
    all(&programs_of("scor").expect("all labels can be read"), 20);
}

/// One variant of each pattern.
#[test]
fn irregular_programs() {
    let mut programs = programs_of("indigo").expect("all labels can be read");
    let choice = |program: &Program| program.name.split_once(']').map(|(choice, _)| choice.to_owned());
    let mut last = None;
    let mut first = None;
    programs.retain(|program| {
        if last.as_ref() != Some(&program.path) {
            (last, first) = (Some(program.path.clone()), choice(program));
        }
        choice(program) == first
    });
    all(&programs, 16);
}
