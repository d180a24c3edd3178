//! `bugaroo bisect`.

mod human;

use std::fs;
use std::path::PathBuf;

use anyhow::Context;
use bugaroo_bisect::report::CompiledIn;
use bugaroo_bisect::{
    NeededScope, SearchOrder, SearchReport, SearchStep, Searched, compiled, journal, search_program,
};
use bugaroo_harness::{
    Finding, Interrupt, Oracle, Settings, Suppressions, Variation, block_on, campaign, progress,
};
use bugaroo_protocol::{Detector, Model};
use serde::Serialize;

use crate::args::{Backend, BisectArgs, Format, Model as ModelArg, TrialArgs};
use crate::exit::{Exit, UsageError, of_error};
use crate::output::{note, print, print_json, shell_word};
use crate::{findings, libraries, setup};

/// Names missing and redundant fences.
pub fn bisect(args: &BisectArgs) -> anyhow::Result<Exit> {
    let BisectArgs { run: args, patch, build, apply, suppressions } = args;
    if args.pw.len() != 1 {
        return Err(UsageError("bisect takes one --pw: give the probability to search at".to_owned()).into());
    }
    let races = matches!(args.trial.oracle, Some(Oracle::Race));
    let mut settings = match races {
        true => race_settings(&args.trial, suppressions)?,
        false if !suppressions.is_empty() => {
            return Err(
                UsageError("--suppressions: bisect takes them with --oracle race alone".to_owned()).into()
            );
        }
        false => Settings { take_failing: true, ..setup::settings(&args.trial)? },
    };
    let by_turns = args.trial.scheduler.is_none();
    let race = if races { vec![Detector::Ptx] } else { Vec::new() };
    let variation = Variation { by_turns, race, ..args.trial.variation(args.pw[0])? };
    if args.time.is_some() {
        let why = "--for is for run and race; bisect stops when its questions are answered, and --trials says how thorough it is";
        return Err(UsageError(why.to_owned()).into());
    }
    if args.until_failure {
        return Err(UsageError("--until-failure is for run; bisect stops where it may".to_owned()).into());
    }
    let models = models(&args.trial);
    let target = setup::target(&args.program)?;
    let library = libraries::find()?;
    settings.input = setup::input()?;
    let reporter = progress::for_standard_error();
    let directory =
        args.out.clone().unwrap_or_else(|| campaign::fresh_path(&format!("{}-bisect", target.name())));
    let order = SearchOrder {
        target: target.clone(),
        settings: settings.clone(),
        seed: args.trial.seed,
        variation: variation.clone(),
        models: models.clone(),
        trials: args.trials,
        directory: directory.clone(),
    };
    if args.out.is_none() {
        note(format_args!("the trials are kept in {}", directory.display()));
    }
    let mut not_built = None;
    let searched = block_on(async {
        let interrupt = Interrupt::on_signals()?;
        let mut searched =
            search_program(order, library, interrupt.clone(), reporter.as_ref(), &tell).await?;
        if let Some(command) = build.as_ref().filter(|_| !searched.patch.files.is_empty()) {
            note(format_args!("building the patched source: {command}"));
            let folder = std::env::current_dir().context("cannot tell the current folder")?;
            match compiled::build(&searched.patch, command, &folder, &target.app) {
                // What was found is told all the same.
                Err(error) => not_built = Some(error.to_string()),
                Ok(built) => {
                    let settings = Settings { seed: searched.seed, digest: false, ..settings.clone() };
                    let trials = searched.report.assurance.full;
                    let library = libraries::find()?;
                    let ran = built
                        .run((&target, settings), (&variation, &models), trials, library, interrupt)
                        .await?;
                    searched.report.verified.compiled_in = Some(ran);
                }
            }
        }
        anyhow::Ok(searched)
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
        models: &models,
        pw: variation.pw,
        run_dir: directory.display().to_string(),
        findings: &searched.findings.all,
        error: not_built.as_deref(),
        report,
    };
    let found = &searched.findings;
    let path = journal::report_path(&directory);
    serde_json::to_string_pretty(&json)
        .map_err(Into::into)
        .and_then(|text| fs::write(&path, text + "\n"))
        .with_context(|| format!("cannot write {}", path.display()))?;
    if let Some(path) = patch {
        fs::write(path, &report.patch).with_context(|| format!("cannot write {}", path.display()))?;
    }
    match args.format {
        Format::Human => {
            print(&findings::describe(found, &target, None))?;
            print(&human::describe(report, &target, variation.model, races))?;
        }
        Format::Json => print_json(&json)?,
    }
    if let Some(error) = not_built {
        note(format_args!("error: {error}"));
        return Ok(Exit::Usage);
    }
    if *apply {
        self::apply(&searched)?;
    }
    let narrower =
        report.scope_advice.iter().any(|advice| advice.needed == NeededScope::Cta && !advice.inserted);
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

/// Settings of a search whose trials fail when they have a race.
fn race_settings(args: &TrialArgs, suppressions: &[PathBuf]) -> anyhow::Result<Settings> {
    let only = |what: &str| {
        Err(UsageError(format!("{what}: --oracle race needs the virtual GPU's own models; leave {what} out"))
            .into())
    };
    if args.handlers {
        return only("--handlers");
    }
    if args.backend == Backend::Cuda {
        return only("--backend cuda");
    }
    if args.model == Some(ModelArg::Bugaroo) {
        return only("--model bugaroo");
    }
    let suppressions = Suppressions::read(suppressions).map_err(|error| UsageError(error.to_string()))?;
    Ok(Settings { take_failing: true, suppressions, ..setup::settings_with(args, Oracle::Race)? })
}

/// The models that are asked: the one that is named, or `store-buffer` and, where it runs, `ptx`.
fn models(args: &TrialArgs) -> Vec<Model> {
    let simulated = args.backend != Backend::Cuda && !args.handlers && !args.warp_synchronous;
    match args.model {
        Some(model) => vec![model.into()],
        None if simulated => vec![Model::StoreBuffer, Model::Ptx],
        None => vec![Model::StoreBuffer],
    }
}

/// Writes the patch to the source, where nothing speaks against it.
fn apply(searched: &Searched) -> anyhow::Result<()> {
    let compiled_in = searched.report.verified.compiled_in.as_ref();
    if searched.patch.files.is_empty() {
        note("there is nothing to apply");
    } else if let Some(failing) = compiled_in.filter(|ran| ran.failures > 0) {
        let CompiledIn { trials, failures, .. } = failing;
        note(format_args!("not applied: compiled in, {failures} of {trials} trials fail"));
    } else {
        searched.patch.write()?;
        for file in &searched.patch.files {
            note(format_args!("applied to {}", file.path.display()));
        }
    }
    Ok(())
}

#[derive(Serialize)]
struct Json<'a> {
    schema: u32,
    app: &'a str,
    args: &'a [String],
    seed: u64,
    /// The first of `models`, and all.
    model: Model,
    models: &'a [Model],
    pw: f64,
    run_dir: String,
    /// Errors of launches without injection, each once.
    findings: &'a [Finding],
    /// Why the patched source was not built.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    #[serde(flatten)]
    report: &'a SearchReport,
}

fn tell(step: &SearchStep) {
    let SearchStep { question, trials, failures, answer } = step;
    note(format_args!("{question} {answer} ({failures} of {trials} trials failed)"));
}
