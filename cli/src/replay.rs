//! `bugaroo replay`.

use std::collections::BTreeMap;
use std::fmt::Write;

use bugaroo_harness::capture::Output;
use bugaroo_harness::{DriverLibrary, Findings, Interrupt};
use bugaroo_harness::{Error, FullTrial, RunDir, TrialRecord, replay as harness, runtime};

use crate::args::ReplayArgs;
use crate::exit::{Exit, UsageError};
use crate::output::{indent, note, print};
use crate::{failure, findings};

/// Lines of each output that are shown.
const LINES: usize = 100;

/// Runs a recorded trial again.
pub fn replay(args: &ReplayArgs) -> anyhow::Result<Exit> {
    let recorded = RunDir::read(&args.run_dir).map_err(Error::from)?;
    let cells = recorded.run.cells().len();
    let cell = match args.trial.cell {
        Some(cell) => cell,
        None if cells == 1 => 0,
        None => {
            let trial = args.trial.trial;
            let wanted = format!(
                "the run has {cells} cells: name the trial CELL:{trial}, CELL from 0 to {}",
                cells - 1
            );
            return Err(UsageError(wanted).into());
        }
    };
    let library = DriverLibrary::find().map_err(Error::from)?;
    let replay = harness::Replay::new(&args.run_dir, recorded, cell, args.trial.trial)?;
    if replay.app_changed() {
        note("warning: the program's file is not the one that the run was made with");
    }
    let target = replay.target().clone();
    let (record, pw) = (replay.record().clone(), replay.pw());
    let again = runtime::block_on(async {
        let interrupt = Interrupt::on_signals()?;
        anyhow::Ok(replay.run(library, interrupt).await?)
    })??;
    print(&human(&record, pw, &again))?;
    let mut findings = Findings::default();
    let trials = BTreeMap::from([((0, again.record.trial), again.record.clone())]);
    findings.add_trials(&trials, |_, trial| trial.to_string());
    print(&findings::describe(&findings, &target, None))?;
    Ok(match record.agrees_with(&again.record) {
        false => Exit::Internal,
        true if record.outcome.is_failure() || !record.incidents.is_empty() => Exit::FINDINGS,
        true if !record.outcome.tells() => Exit::Internal,
        true => Exit::Clean,
    })
}

fn human(record: &TrialRecord, pw: f64, again: &FullTrial) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "trial {}, p_w {pw}, seed {}: {}",
        record.trial,
        record.seed,
        failure::outcome(&again.record)
    );
    text += &failure::describe(&again.record);
    for (name, output) in [("standard output", &again.stdout), ("standard error", &again.stderr)] {
        text += &shown(name, output);
    }
    if record.agrees_with(&again.record) {
        let memory = if record.digest.is_some() { ", device memory" } else { "" };
        let _ = writeln!(text, "as recorded: outcome, {}{memory}", again.record.exit);
    } else {
        text += "NOT as recorded:\n";
        let mut differ = |what: &str, then: String, now: String| {
            if then != now {
                let _ = writeln!(text, "  {what}: {then} then, {now} now");
            }
        };
        let digest = |record: &TrialRecord| record.digest.clone().unwrap_or_else(|| "unknown".to_owned());
        differ("outcome", record.outcome.to_string(), again.record.outcome.to_string());
        differ("exit", record.exit.to_string(), again.record.exit.to_string());
        differ("digest of device memory", digest(record), digest(&again.record));
    }
    text
}

fn shown(name: &str, output: &Output) -> String {
    let lines = output.last_lines(LINES, usize::MAX);
    if lines.is_empty() {
        return String::new();
    }
    let end = if lines.len() as u64 + 1 < output.bytes { ", its end" } else { "" };
    format!("{name}{end}:\n{}", indent(&lines, "  | "))
}
