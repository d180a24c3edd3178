//! `bugaroo race`.

mod compare;
pub mod human;
mod json;
pub mod sarif;
mod shown;

use bugaroo_harness::{
    Campaign, Interrupt, Oracle, Settings, Stop, Suppressions, Turns, Variation, block_on, progress,
};
use bugaroo_protocol::{Detector as Known, RaceSettings};

use crate::args::{Backend, Detector, Model, RaceArgs, RaceFormat};
use crate::exit::{Exit, UsageError};
use crate::output::{note, print, print_json};
use crate::{libraries, run, setup};
use shown::Shown;

/// Looks for races.
pub fn race(args: &RaceArgs) -> anyhow::Result<Exit> {
    let detectors = detectors(args.detector);
    refuse(args, &detectors)?;
    let rules = Suppressions::read(&args.suppressions).map_err(|error| UsageError(error.to_string()))?;
    let looks = looks(args)?;
    let (settings, variation) = (settings(args, rules.clone())?, variation(args, detectors, looks)?);
    let judged = !matches!(settings.oracle, Oracle::None);
    let mut campaign = Campaign {
        target: setup::target(&args.program)?,
        settings,
        seed: args.trial.seed,
        pw: vec![variation.pw],
        variation,
        trials: args.trials,
        time: args.time,
        stop: if args.until_failure { Stop::AtFirstFailure } else { Stop::Never },
        out: args.out.clone(),
    };
    let library = libraries::find()?;
    campaign.settings.input = setup::input()?;
    let reporter = progress::for_standard_error();
    let mut summary = block_on(async {
        let interrupt = Interrupt::on_signals()?;
        anyhow::Ok(campaign.run(library, interrupt, reporter.as_ref()).await?)
    })??;
    drop(reporter);
    // A program that fails without injection under every schedule has no trials that look.
    let mut races = summary.races.take().unwrap_or_default();
    races.suppress(&rules);
    summary.warnings.extend(one_grid(self::detectors(args.detector), args.trial.devices));
    let detector = args.detector.name();
    let shown = Shown { detector, summary: &summary, races: &races, rules: &rules, judged };
    for warning in &summary.warnings {
        note(format_args!("warning: {warning}"));
    }
    let exit = exit(&shown, args.error_exitcode);
    match args.format {
        RaceFormat::Human if summary.without_injection.is_some() => print(&run::human(&summary))?,
        RaceFormat::Human => print(&human::describe(&shown))?,
        RaceFormat::Json => print_json(&json::report(&shown))?,
        RaceFormat::Sarif => print_json(&sarif::log(&shown, exit))?,
    }
    Ok(exit)
}

/// What detectors do not look for where there are several devices: all but the exact one look at one grid at a time.
fn one_grid(detectors: Vec<Known>, devices: u32) -> Option<String> {
    let names: Vec<String> = detectors
        .iter()
        .filter(|detector| **detector != Known::Ptx)
        .map(|detector| format!("{detector:?}").to_lowercase())
        .collect();
    let more = if detectors.contains(&Known::Ptx) { "ptx does" } else { "--detector ptx does" };
    (devices > 1 && !names.is_empty()).then(|| {
        format!(
            "{}: each looks at one kernel at a time, and for no races between devices; {more}",
            names.join(", ")
        )
    })
}

fn exit(shown: &Shown<'_>, findings: u8) -> Exit {
    match shown.is_clean() {
        true if shown.summary.interrupted => Exit::Interrupted,
        // Trials that say nothing leave the question open.
        true if shown.summary.untold() > 0 => Exit::Internal,
        true if shown.is_blind() => Exit::Unsupported,
        true => Exit::Clean,
        false => Exit::Findings(findings),
    }
}

/// The detectors that are meant.
fn detectors(asked: Detector) -> Vec<Known> {
    match asked {
        Detector::All => Known::ALL.to_vec(),
        Detector::Ptx => vec![Known::Ptx],
        Detector::Barracuda => vec![Known::Barracuda],
        Detector::Hirace => vec![Known::Hirace],
        Detector::Scord => vec![Known::Scord],
    }
}

/// Refuses options that would mean nothing.
fn refuse(args: &RaceArgs, detectors: &[Known]) -> Result<(), UsageError> {
    let only = |what: &str| Err(UsageError(what.to_owned()));
    if args.trial.handlers && !matches!(detectors, [Known::Barracuda | Known::Hirace | Known::Scord]) {
        return only(
            "--handlers: device code is there for --detector barracuda, hirace and scord, one at a time: it does not say which write a \
             read has read, as ptx has to know",
        );
    }
    if args.trial.backend == Backend::Cuda {
        return only("--backend cuda: race needs the virtual GPU, which tells what every access does");
    }
    if args.trial.model == Some(Model::Bugaroo) {
        return only("--model bugaroo: race takes store-buffer and ptx, which never show what no GPU may do");
    }
    if matches!(args.trial.oracle, Some(Oracle::Race)) {
        return only("--oracle race is for bisect: bugaroo race looks for races, whatever the oracle");
    }
    let has_settings = |detector: &Known| matches!(detector, Known::Hirace | Known::Scord);
    if args.detector_config.is_some() && !detectors.iter().any(has_settings) {
        return only(
            "--detector-config is for --detector hirace, scord and all: ptx and barracuda look at everything, as what they leave out \
             could be what orders the rest",
        );
    }
    if args.trial.handlers || detectors.iter().all(|detector| detector.counts_on_lockstep()) {
        let meaningless = [("--model", args.trial.model.is_some()), ("--pw", args.pw.is_some())];
        if let Some((name, _)) = meaningless.into_iter().find(|(_, given)| *given) {
            let with = if args.trial.handlers { " with --handlers" } else { "" };
            let detector = format!("{}{with}", args.detector.name());
            let what = "looks at executions without weak memory alone";
            return Err(UsageError(format!("{name}: --detector {detector} {what}")));
        }
    }
    Ok(())
}

fn settings(args: &RaceArgs, suppressions: Suppressions) -> anyhow::Result<Settings> {
    let oracle = args.trial.oracle.clone().unwrap_or(Oracle::None);
    // That a program fails at times is a reason to look.
    Ok(Settings { take_failing: true, suppressions, ..setup::settings_with(&args.trial, oracle)? })
}

/// What the file of settings says.
fn looks(args: &RaceArgs) -> Result<RaceSettings, UsageError> {
    let read = args.detector_config.as_deref().map(bugaroo_harness::race::settings::settings).transpose();
    read.map(Option::unwrap_or_default).map_err(|error| UsageError(error.to_string()))
}

fn variation(
    args: &RaceArgs,
    detectors: Vec<Known>,
    race_settings: RaceSettings,
) -> anyhow::Result<Variation> {
    let base = args.trial.variation(args.pw.unwrap_or(Variation::default().pw))?;
    let turns = Turns {
        detectors,
        model: args.trial.model.map(Into::into),
        scheduler: args.trial.scheduler.map(Into::into),
    };
    Ok(Variation { turns: Some(turns), race_settings, ..base })
}

impl Detector {
    /// As it is written.
    fn name(self) -> &'static str {
        match self {
            Detector::Ptx => Known::Ptx.name(),
            Detector::Barracuda => Known::Barracuda.name(),
            Detector::Hirace => Known::Hirace.name(),
            Detector::Scord => Known::Scord.name(),
            Detector::All => "all",
        }
    }
}

#[cfg(test)]
mod tests;
