//! `evaluation`: regenerates Tables I to IV and Figures 3 and 4 of the Bugaroo paper as Markdown and SVG, with the
//! built `bugaroo` and programs, ours beside the paper's; and the tables of the race detectors' papers ([`races`]).
//!
//! [`catalog`] says what is run, [`paper`] what the paper reports, [`causes`] why the two differ where they do;
//! [`measure`] fills [`results`] by means of [`tools`]; the rest shows them.

mod catalog;
mod causes;
mod compare;
mod figures;
mod findings;
#[cfg(test)]
mod fixture;
mod kind;
mod markdown;
mod measure;
mod memory;
mod options;
mod paper;
mod races;
mod report;
mod results;
mod statistics;
mod tables;
mod tools;
mod verdict;

use std::env;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;
use bugaroo_harness::{Interrupt, block_on};
use clap::Parser as _;

use crate::figures::Which;
use crate::measure::Plan;
use crate::options::Options;
use crate::races::machine;
use crate::races::questions::{self, Paper};
use crate::results::{Evaluation, Settings};
use crate::tools::{Interrupted, Tools};

fn main() -> ExitCode {
    match evaluate(&Options::parse()) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::from(1),
        Err(error) if error.is::<Interrupted>() => {
            eprintln!("\nevaluation: interrupted; the same command goes on");
            ExitCode::from(130)
        }
        Err(error) => {
            eprintln!("\nevaluation: {error:#}");
            ExitCode::from(3)
        }
    }
}

/// Measures and reports. The number of things that are not as they should be comes back.
fn evaluate(options: &Options) -> anyhow::Result<usize> {
    let own = env::current_exe()?;
    let folder = options.bin.as_deref().or(own.parent()).unwrap_or(Path::new("."));
    fs::create_dir_all(&options.out).with_context(|| options.out.display().to_string())?;
    let results = block_on(async {
        let tools = Tools::find(folder, Interrupt::on_signals()?)?;
        let settings = Settings {
            trials: options.trials(),
            seed: options.seed,
            short: options.short,
            timings: options.timings(),
            profile_trials: options.profile_trials(),
            built: tools.built()?,
        };
        let mut results = Evaluation::open(&options.out, settings)?;
        let measured = measure(options, &tools, &mut results).await;
        // Whatever stopped it, what is there is shown.
        write(&options.out, &results)?;
        measured.map(|()| results)
    })??;
    let alarms = report::alarms(&results);
    for alarm in &alarms {
        eprintln!("evaluation: {}", alarm.replace("**", ""));
    }
    eprintln!("evaluation: {}", options.out.join(report::FILE).display());
    Ok(alarms.len())
}

/// Measures what the options ask for.
async fn measure(options: &Options, tools: &Tools, results: &mut Evaluation) -> anyhow::Result<()> {
    let papers = options.papers();
    // What is the same on every machine, and of short programs.
    for paper in &papers {
        if let Some(suite) = paper.suite() {
            let Some(nvcc) = race_suite::tools::nvcc() else {
                eprintln!(
                    "evaluation: no nvcc, so that {suite} is left out: apps/rebuild-ptx --install installs it"
                );
                continue;
            };
            let questions = questions::of(suite, results.settings.short)?;
            let asks = tools.race_suite(nvcc);
            races::measure::suite(questions, asks, tools.interrupt(), results, &options.out).await?;
        }
    }
    if papers.contains(&Paper::Barracuda) {
        for program in options.programs() {
            races::measure::app(program, tools, results, &options.out).await?;
        }
    }
    if papers.contains(&Paper::Bugaroo) {
        let (programs, models) = (options.programs(), options.models());
        Plan { tools, programs, models, out: options.out.clone() }.measure(results).await?;
    }
    Ok(())
}

/// Writes the report, the figures and the state machine.
fn write(out: &Path, evaluation: &Evaluation) -> anyhow::Result<()> {
    for which in [Which::Global, Which::Shared] {
        if let Some(figure) = figures::draw(evaluation, which)? {
            results::replace(&out.join(which.file()), figure.as_bytes())?;
        }
    }
    results::replace(&out.join(machine::FILE), machine::table().as_bytes())?;
    results::replace(&out.join(report::FILE), report::render(evaluation).as_bytes())
}
