//! `bugaroo run`.

use std::fmt::Write;

use bugaroo_harness::findings::Share;
use bugaroo_harness::words::failure;
use bugaroo_harness::{
    Campaign, CellSummary, Finding, ForkServerUse, Interrupt, Outcome, RunSummary, Stop, block_on, progress,
};
use bugaroo_protocol::{Backend, Model, Scheduler};
use serde::Serialize;

use crate::args::{Format, RunArgs};
use crate::exit::Exit;
use crate::output::{note, print, print_json, shell_word, table};
use crate::{findings, libraries, setup};

/// Runs trials of a program.
pub fn run(args: &RunArgs) -> anyhow::Result<Exit> {
    let settings = setup::settings(&args.trial)?;
    let variation = args.trial.variation(args.pw[0])?;
    let mut campaign = Campaign {
        target: setup::target(&args.program)?,
        settings,
        seed: args.trial.seed,
        variation,
        pw: args.pw.clone(),
        trials: args.trials,
        time: args.time,
        stop: if args.until_failure { Stop::AtFirstFailure } else { Stop::Never },
        out: args.out.clone(),
    };
    let library = libraries::find()?;
    campaign.settings.input = setup::input()?;
    let reporter = progress::for_standard_error();
    let summary = block_on(async {
        let interrupt = Interrupt::on_signals()?;
        anyhow::Ok(campaign.run(library, interrupt, reporter.as_ref()).await?)
    })??;
    drop(reporter);
    for warning in &summary.warnings {
        note(format_args!("warning: {warning}"));
    }
    match args.format {
        Format::Human => print(&human(&summary))?,
        Format::Json => print_json(&Json::new(&summary))?,
    }
    let found = summary.failures() > 0 || !summary.findings.is_empty();
    Ok(match u8::from(found) {
        0 if summary.interrupted => Exit::Interrupted,
        // Trials that say nothing leave the question open.
        0 if summary.untold() > 0 => Exit::Internal,
        0 => Exit::Clean,
        _ => Exit::Findings(args.error_exitcode),
    })
}

#[derive(Serialize)]
struct Json<'a> {
    schema: u32,
    app: &'a str,
    args: &'a [String],
    seed: u64,
    model: Model,
    scheduler: Scheduler,
    backend: Backend,
    trials_per_second: Option<f64>,
    fork_server: &'a ForkServerUse,
    cells: &'a [CellSummary],
    /// Errors of launches, each once.
    findings: &'a [Finding],
    /// Launches whose error is not among them.
    more_findings: u64,
    /// None: the program passes without injection.
    fails_without_injection: Option<Share>,
    run_dir: String,
    interrupted: bool,
    warnings: &'a [String],
}

impl<'a> Json<'a> {
    fn new(summary: &'a RunSummary) -> Self {
        let configuration = &summary.configuration;
        Self {
            schema: 1,
            app: configuration.target.app.to_str().unwrap_or_default(),
            args: &configuration.target.args,
            seed: configuration.seed,
            model: configuration.variation.model,
            scheduler: configuration.variation.scheduler,
            backend: configuration.backend,
            trials_per_second: summary.trials_per_second(),
            fork_server: &summary.fork_server,
            cells: &summary.cells,
            findings: &summary.findings.all,
            more_findings: summary.findings.more,
            fails_without_injection: summary.without_injection,
            run_dir: summary.run_dir.display().to_string(),
            interrupted: summary.interrupted,
            warnings: &summary.warnings,
        }
    }
}

/// A run for people.
pub fn human(summary: &RunSummary) -> String {
    let configuration = &summary.configuration;
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "seed {}, model {}, {}{}",
        configuration.seed,
        model(configuration.variation.model),
        if configuration.variation.scheduler.is_random() { "" } else { "scheduler pct, " },
        speed(summary)
    );
    if let Some(why) = &summary.fork_server.why_not {
        let which = if summary.fork_server.used { "some trials were" } else { "each trial was" };
        let _ = writeln!(text, "{which} a process of its own: {why}");
    }
    let mut header = vec!["p_w", "trials", "failures", "rate", "95 % interval"];
    header.extend(Outcome::ALL.map(Outcome::name));
    // Of a program that fails without injection the cells differ in their schedulers.
    let schedulers = summary.without_injection.is_some();
    if schedulers {
        header.insert(0, "scheduler");
    }
    let right: Vec<usize> = (usize::from(schedulers)..header.len()).collect();
    text += &table(&header, &right, summary.cells.iter().map(|cell| row(cell, schedulers)));
    if let Some(share) = summary.without_injection {
        text += &without_injection(share);
    }
    text += &hiding(summary);
    if !summary.findings.is_empty() {
        let directory = summary.run_dir.display().to_string();
        text.push('\n');
        text += findings::describe(&summary.findings, &configuration.target, Some(&directory)).trim_end();
        text.push('\n');
    }
    if let Some((cell, record)) = summary.first_failure() {
        let pw = summary.cells[cell].pw;
        let address = summary.address(cell, record.trial);
        let _ = writeln!(text, "\nfirst failing trial: {address} (p_w {pw}): {}", failure::outcome(record));
        text += &failure::describe(record);
        let directory = shell_word(&summary.run_dir.display().to_string());
        let _ = writeln!(text, "replay it:\n  bugaroo replay {directory} {address}");
    } else {
        let what = if summary.findings.is_empty() { "no failures" } else { "no failures besides" };
        let _ = writeln!(text, "\n{what}; records: {}", summary.run_dir.display());
    }
    if summary.interrupted {
        let out = shell_word(&summary.run_dir.display().to_string());
        let _ = writeln!(text, "interrupted; the same command with --out {out} goes on");
    }
    text
}

/// What trials hide that pass by their exit code, and the oracle that would make them fail.
fn hiding(summary: &RunSummary) -> String {
    let mut text = String::new();
    let cells = summary.cells.iter().enumerate();
    for (at, CellSummary { pw, hiding, outcomes, .. }) in cells {
        let (Some(first), Some(what)) = (hiding.first, &hiding.what) else { continue };
        let passing = outcomes.of(Outcome::Pass);
        let mut found = Vec::new();
        if hiding.say_failure > 0 {
            found.push(format!("{} print that something failed", hiding.say_failure));
        }
        if hiding.differ > 0 {
            found.push(format!("{} print something else than without injection", hiding.differ));
        }
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "\nnote (p_w {pw}): {passing} trials pass by their exit code, but of these {}",
            found.join(", and ")
        );
        let address = summary.address(at, first);
        if let Some(line) = &what.says {
            let _ = writeln!(text, "  trial {address} prints: {line}");
        }
        if let Some(line) = &what.lacks {
            let _ = writeln!(text, "  trial {address} lacks:  {line}");
        }
        let _ = match &what.oracle {
            Some(oracle) => writeln!(text, "  to have such trials fail: --oracle {}", shell_word(oracle)),
            None => writeln!(
                text,
                "  no --oracle is proposed: none is known that the program passes without injection; --oracle cmd:COMMAND can \
                 judge it"
            ),
        };
    }
    text
}

/// What it says of a program that it fails without injection.
fn without_injection(Share { seen, of }: Share) -> String {
    if seen < of {
        format!(
            "\nthe program fails without injection under {seen} of {of} schedules, and passes under the others: a race or a \
             missing barrier that needs no weak memory\n"
        )
    } else {
        format!("\nthe program fails without injection under each of {of} schedules\n")
    }
}

fn row(cell: &CellSummary, scheduler: bool) -> Vec<String> {
    let [low, high] = cell.ci95;
    let scheduler = scheduler.then(|| if cell.scheduler.is_random() { "random" } else { "pct" }.to_owned());
    let mut row: Vec<String> = scheduler.into_iter().collect();
    row.extend([
        cell.pw.to_string(),
        cell.trials.to_string(),
        cell.failures.to_string(),
        cell.rate.map_or("-".to_owned(), |rate| format!("{rate:.4}")),
        format!("{low:.4}–{high:.4}"),
    ]);
    row.extend(Outcome::ALL.map(|outcome| cell.outcomes.of(outcome).to_string()));
    row
}

fn speed(summary: &RunSummary) -> String {
    if let Some(Share { of, .. }) = summary.without_injection {
        return format!("nothing delayed in {of} runs");
    }
    match summary.trials_per_second() {
        None => "no trial left to run".to_owned(),
        Some(rate) => {
            let seconds = summary.elapsed.as_secs_f64();
            let trials = if summary.ran == 1 { "trial" } else { "trials" };
            format!("{} {trials} in {seconds:.1} s ({rate:.1} a second)", summary.ran)
        }
    }
}

/// A model as it is written.
pub fn model(model: Model) -> &'static str {
    match model {
        Model::Bugaroo => "bugaroo",
        Model::StoreBuffer => "store-buffer",
        Model::Ptx => "ptx",
    }
}
