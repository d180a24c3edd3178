//! `bugaroo replay`.

use std::collections::BTreeMap;
use std::fmt::Write;

use bugaroo_harness::capture::Output;
use bugaroo_harness::race::Look;
use bugaroo_harness::words::failure;
use bugaroo_harness::{
    Error, FullTrial, RaceSummary, RunDir, TrialRecord, Variation, block_on, replay as harness,
};
use bugaroo_harness::{Findings, Interrupt};
use bugaroo_protocol::Detector;

use crate::args::ReplayArgs;
use crate::exit::{Exit, UsageError};
use crate::output::{indent, note, print};
use crate::{findings, libraries, race};

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
    let library = libraries::find()?;
    let replay = harness::Replay::new(&args.run_dir, recorded, cell, args.trial.trial)?;
    if replay.app_changed() {
        note("warning: the program's file is not the one that the run was made with");
    }
    let target = replay.target().clone();
    let (record, variation) = (replay.record().clone(), replay.variation());
    let again = block_on(async {
        let interrupt = Interrupt::on_signals()?;
        anyhow::Ok(replay.run(library, interrupt).await?)
    })??;
    print(&human(&record, &variation, &again))?;
    let races = RaceSummary::new(&variation, [&again.record], |trial| trial.to_string());
    print(&race::human::of_trial(&races, &target))?;
    let mut findings = Findings::default();
    let trials = BTreeMap::from([((0, again.record.trial), again.record.clone())]);
    findings.add_trials(&trials, |_, trial| trial.to_string());
    print(&findings::describe(&findings, &target, None))?;
    Ok(match record.agrees_with(&again.record) {
        false => Exit::Internal,
        true if record.outcome.is_failure() || !record.incidents.is_empty() || record.has_races() => {
            Exit::FINDINGS
        }
        true if !record.outcome.tells() => Exit::Internal,
        true => Exit::Clean,
    })
}

fn human(record: &TrialRecord, variation: &Variation, again: &FullTrial) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "trial {}, {}, seed {}: {}",
        record.trial,
        how(variation),
        record.seed,
        failure::outcome(&again.record)
    );
    text += &failure::describe(&again.record);
    for (name, output) in [("standard output", &again.stdout), ("standard error", &again.stderr)] {
        text += &shown(name, output);
    }
    if record.agrees_with(&again.record) {
        let memory = if record.digest.is_some() { ", device memory" } else { "" };
        let races = match &record.races {
            Some(found) if found.races.len() == 1 => ", 1 race".to_owned(),
            Some(found) => format!(", {} races", found.races.len()),
            None => String::new(),
        };
        let _ = writeln!(text, "as recorded: outcome, {}{memory}{races}", again.record.exit);
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
        if let (Some(then), Some(now)) = (&record.races, &again.record.races) {
            for line in then.differences(now) {
                let _ = writeln!(text, "  {line}");
            }
        }
    }
    text
}

/// How the trial was run.
fn how(variation: &Variation) -> String {
    if variation.race.is_empty() {
        return format!("p_w {}", variation.pw);
    }
    let Look { detectors, model, scheduler } = Look::of(variation);
    let names: Vec<&str> = detectors.into_iter().map(Detector::name).collect();
    let model = if model == "none" { "no weak memory".to_owned() } else { format!("model {model}") };
    format!("detector {}, {model}, scheduler {scheduler}", names.join(", "))
}

fn shown(name: &str, output: &Output) -> String {
    let lines = output.last_lines(LINES, usize::MAX);
    if lines.is_empty() {
        return String::new();
    }
    let end = if lines.len() as u64 + 1 < output.bytes { ", its end" } else { "" };
    format!("{name}{end}:\n{}", indent(&lines, "  | "))
}
