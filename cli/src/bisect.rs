//! `bugaroo bisect`.

mod human;

use std::fs;

use anyhow::Context;
use bugaroo_bisect::{Order, Report, Step, journal, search_program};
use bugaroo_harness::{DriverLibrary, Error, Finding, Interrupt, campaign, progress, runtime};
use bugaroo_protocol::Model;
use serde::Serialize;

use crate::args::{Format, RunArgs};
use crate::exit::{Exit, UsageError, of_error};
use crate::output::{note, print, print_json, shell_word};
use crate::{findings, setup};

/// Names missing and redundant fences.
pub fn bisect(args: &RunArgs) -> anyhow::Result<Exit> {
    if args.pw.len() != 1 {
        return Err(UsageError("bisect takes one --pw".to_owned()).into());
    }
    let mut settings = setup::settings(&args.trial)?;
    let variation = setup::variation(&args.trial, args.pw[0])?;
    if args.until_failure {
        return Err(UsageError("--until-failure is for run; bisect stops where it may".to_owned()).into());
    }
    let target = setup::target(&args.program)?;
    let library = DriverLibrary::find().map_err(Error::from)?;
    settings.input = setup::input()?;
    let reporter = progress::for_standard_error();
    let directory =
        args.out.clone().unwrap_or_else(|| campaign::fresh_path(&format!("{}-bisect", target.name())));
    let order = Order {
        target: target.clone(),
        settings,
        seed: args.trial.seed,
        variation: variation.clone(),
        trials: args.trials,
        directory: directory.clone(),
    };
    if args.out.is_none() {
        note(format_args!("the trials are kept in {}", directory.display()));
    }
    let searched = runtime::block_on(async {
        let interrupt = Interrupt::on_signals()?;
        anyhow::Ok(search_program(order, library, interrupt, reporter.as_ref(), &tell).await?)
    })?;
    drop(reporter);
    let searched = match searched {
        Err(error) if of_error(&error) == Exit::Interrupted && directory.exists() => {
            let out = shell_word(&directory.display().to_string());
            note(format_args!("interrupted; the same command with --out {out} goes on"));
            return Ok(Exit::Interrupted);
        }
        other => other?,
    };
    let report = &searched.report;
    let json = Json {
        schema: 1,
        app: target.app.to_str().unwrap_or_default(),
        args: &target.args,
        seed: searched.seed,
        model: variation.model,
        pw: variation.pw,
        run_dir: directory.display().to_string(),
        findings: &searched.findings.all,
        report,
    };
    let found = &searched.findings;
    let path = journal::report_path(&directory);
    serde_json::to_string_pretty(&json)
        .map_err(Into::into)
        .and_then(|text| fs::write(&path, text + "\n"))
        .with_context(|| format!("cannot write {}", path.display()))?;
    match args.format {
        Format::Human => {
            print(&findings::describe(found, &target, None))?;
            print(&human::describe(report, &target, variation.model))?;
        }
        Format::Json => print_json(&json)?,
    }
    let narrower = report.scope_advice.iter().any(|advice| advice.needed == "cta" && !advice.inserted);
    let clean = found.is_empty()
        && report.missing.is_empty()
        && report.redundant.is_empty()
        && report.unresolved.is_none();
    Ok(if clean && !narrower && report.untold > 0 {
        Exit::Internal
    } else if clean && !narrower {
        Exit::Clean
    } else {
        Exit::Findings(args.error_exitcode)
    })
}

#[derive(Serialize)]
struct Json<'a> {
    schema: u32,
    app: &'a str,
    args: &'a [String],
    seed: u64,
    model: Model,
    pw: f64,
    run_dir: String,
    /// Errors of launches without injection, each once.
    findings: &'a [Finding],
    #[serde(flatten)]
    report: &'a Report,
}

fn tell(step: &Step) {
    let Step { question, trials, failures, answer } = step;
    note(format_args!("{question} {answer} ({failures} of {trials} trials failed)"));
}
