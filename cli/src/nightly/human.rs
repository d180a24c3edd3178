//! A night for people, and what a plan would run.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

use bugaroo_nightly::history::{Store, StoreError};
use bugaroo_nightly::night::{
    Cell, Change, Night, NightFinding, NightKernel, NightProgram, NightVerdict, Status,
};
use bugaroo_nightly::plan::Plan;

use crate::output::{indent, table, thousands};

/// Findings of a program that are shown in full.
const SHOWN: usize = 10;

/// What a night came to: what is wrong first, all cells, what to do.
pub fn summary(night: &Night) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(text, "night {} of {}, seed {}", night.label, night.plan, night.seed);
    for program in &night.programs {
        if let Some(error) = &program.error {
            let known = error.expected.as_ref().map(|why| format!(" (expected: {why})")).unwrap_or_default();
            let _ = writeln!(text, "\n{}: not tested{known}", program.name);
            text += &indent(&error.message, "  ");
        }
        findings(&mut text, program);
    }
    text.push('\n');
    text += &cells(night);
    let mut notes = Vec::new();
    for program in &night.programs {
        let said = program.notes.iter().chain(&program.expectations);
        notes.extend(said.map(|note| format!("{}: {note}", program.name)));
        if let Some(why) = &program.without_fork_server {
            notes.push(format!("{}: each trial was a process of its own: {why}", program.name));
        }
        let forgetful: u64 = program.cells.iter().map(|cell| cell.forgetful).sum();
        if forgetful > 0 {
            notes.push(format!(
                "{}: in {forgetful} trials the model's memory was full, and writes were forgotten",
                program.name
            ));
        }
    }
    notes.extend(night.notes.iter().cloned());
    if !night.complete && night.missing_shards.is_empty() {
        notes.push("the night is not complete: it was stopped, or still runs".to_owned());
    }
    if !notes.is_empty() {
        text.push('\n');
        for line in notes {
            let _ = writeln!(text, "note: {line}");
        }
    }
    let _ = writeln!(text, "\n{}", verdict(night));
    text
}

/// Whether something was found that is not expected.
pub fn has_findings(night: &Night) -> bool {
    let open = |program: &NightProgram| {
        program.error.as_ref().is_some_and(|error| error.expected.is_none())
            || program.findings.iter().any(|finding| finding.expected.is_none())
            || program.cells.iter().any(|cell| cell.status == Status::Fail)
            || program.kernels.iter().any(|kernel| kernel.status == Status::Fail)
    };
    night.programs.iter().any(open)
}

fn findings(text: &mut String, program: &NightProgram) {
    let open: Vec<&NightFinding> =
        program.findings.iter().filter(|finding| finding.expected.is_none()).collect();
    for finding in open.iter().take(SHOWN) {
        let new = if finding.new { "new: " } else { "" };
        let share = &finding.trials;
        // Who verifies needs no trial.
        let seen = match finding.cells.is_empty() {
            true => String::new(),
            false => format!(" ({} of {} trials)", share.seen, share.of),
        };
        let _ = writeln!(text, "\n{}: {new}{}{seen}", program.name, finding.title);
        *text += &indent(&finding.message, "  ");
        if !finding.replay.is_empty() {
            let _ = writeln!(text, "  replay it: {}", finding.replay);
        }
        if !finding.patch_note.is_empty() {
            let _ = writeln!(text, "  {}", finding.patch_note);
        }
        *text += &indent(&finding.patch, "  | ");
    }
    if open.len() > SHOWN {
        let _ = writeln!(
            text,
            "\n{}: and {} more findings: the report has them",
            program.name,
            open.len() - SHOWN
        );
    }
}

fn cells(night: &Night) -> String {
    let header =
        ["program", "cell", "trials", "failures", "rate", "95 % interval", "", "since the nights before"];
    let mut rows = Vec::new();
    for program in &night.programs {
        for cell in &program.cells {
            let [low, high] = cell.ci95;
            rows.push(vec![
                program.name.clone(),
                cell.key.clone(),
                thousands(cell.trials),
                thousands(cell.failures),
                cell.rate.map_or("-".to_owned(), |rate| format!("{rate:.4}")),
                format!("{low:.4}–{high:.4}"),
                status(cell),
                change(&cell.change),
            ]);
        }
        for kernel in &program.kernels {
            let name = format!("verify {}", kernel.name);
            let blank = String::new;
            rows.push(vec![
                program.name.clone(),
                name,
                blank(),
                blank(),
                blank(),
                blank(),
                verdict_of(kernel),
                blank(),
            ]);
        }
    }
    table(&header, &[2, 3, 4], rows)
}

fn verdict_of(kernel: &NightKernel) -> String {
    match kernel.status {
        Status::Pass => kernel.verdict.clone(),
        Status::Fail => format!("FAIL: {}", kernel.verdict),
        Status::Expected => format!("expected: {}", kernel.verdict),
        Status::Nothing => format!("says nothing: {}", kernel.verdict),
    }
}

fn status(cell: &Cell) -> String {
    match cell.status {
        Status::Pass => "pass".to_owned(),
        Status::Fail => "FAIL".to_owned(),
        Status::Expected => format!("expected: {}", cell.reason),
        Status::Nothing => format!("says nothing: {}", cell.reason),
    }
}

fn change(change: &Change) -> String {
    match change {
        Change::First => String::new(),
        Change::None => "-".to_owned(),
        Change::New { passed } => format!("new: {} trials passed before", thousands(*passed)),
        Change::Changed { before, .. } => format!("changed: {before:.4} before"),
        Change::Cured { before, .. } => format!("cured: {before:.4} before"),
    }
}

fn verdict(night: &Night) -> String {
    let trials: u64 = night.programs.iter().flat_map(|program| &program.cells).map(|cell| cell.trials).sum();
    let tested =
        night.programs.iter().filter(|program| program.cells.iter().any(|cell| cell.trials > 0)).count();
    let launches: u64 =
        night.programs.iter().flat_map(|program| &program.kernels).map(|it| it.launches).sum();
    let verified = match launches {
        0 => String::new(),
        1 => ", 1 launch looked at for its barriers".to_owned(),
        _ => format!(", {} launches looked at for their barriers", thousands(launches)),
    };
    let what = match night.verdict {
        NightVerdict::Green => "green",
        // What the others have found is not there yet.
        NightVerdict::Red if !night.missing_shards.is_empty() && !has_findings(night) => {
            "not whole, and nothing found so far"
        }
        NightVerdict::Red => "RED",
    };
    let all = night.programs.len();
    format!("{what}: {} trials of {tested} of {all} programs{verified}", thousands(trials))
}

/// What a plan would run, and how long it would take by what trials took before.
pub async fn dry_run(plan: &Plan) -> Result<String, StoreError> {
    let exists = plan.database.contains("://") || std::path::Path::new(&plan.database).exists();
    let past = match exists {
        true => Store::open(&plan.database).await?.paces(&plan.name).await?,
        false => BTreeMap::new(),
    };
    let mut rows = Vec::new();
    let mut total = Duration::ZERO;
    let mut unknown = 0;
    for program in &plan.programs {
        for cell in &program.cells {
            let pace = past.get(&(program.name.clone(), cell.key.clone()));
            let time = match (cell.budget, cell.trials, pace) {
                (Some(budget), _, _) => Some(budget),
                (None, Some(trials), Some(pace)) => Some(pace.mul_f64(trials as f64)),
                _ => None,
            };
            match time {
                Some(time) => total += time,
                None => unknown += 1,
            }
            let among = cell.space.as_ref().map(|space| space.variations(&cell.variation).len());
            let key = match among {
                Some(ways) => format!("{}, among {ways} ways", cell.key),
                None => cell.key.clone(),
            };
            rows.push(vec![
                program.name.clone(),
                key,
                cell.trials.map_or("as fit".to_owned(), thousands),
                time.map_or("not known".to_owned(), seconds),
            ]);
        }
        if program.verify.is_some() {
            let blank = String::new;
            rows.push(vec![
                program.name.clone(),
                "verify its kernels".to_owned(),
                blank(),
                "not known".to_owned(),
            ]);
        }
    }
    let mut text = table(&["program", "cell", "trials", "time"], &[2, 3], rows);
    let _ = match (plan.budget, unknown) {
        (Some(budget), _) => writeln!(text, "\nthe night has {}", seconds(budget)),
        (None, 0) => writeln!(text, "\nabout {} in all", seconds(total)),
        (None, unknown) => {
            let cells = if unknown == 1 { "1 cell takes" } else { &format!("{unknown} cells take") };
            writeln!(text, "\nabout {} and what {cells} that no night has run yet", seconds(total))
        }
    };
    Ok(text)
}

fn seconds(time: Duration) -> String {
    match time.as_secs() {
        0 => format!("{} ms", time.as_millis()),
        s @ 1..=119 => format!("{s} s"),
        s @ 120..=7199 => format!("{} min", s / 60),
        s => format!("{:.1} h", s as f64 / 3600.0),
    }
}
