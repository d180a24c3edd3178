//! Asks `bugaroo race` about the programs of the suite, and compares its answers with the labels.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use anyhow::{Context, Result, ensure};
use clap::Parser;
use race_suite::ask::ask;
use race_suite::label::DETECTORS;
use race_suite::suite::{LabelledProgram, SUITES, programs_of};
use race_suite::table::{DetectorAnswer, table, totals};
use race_suite::tools::{RaceTools, bugaroo, nvcc};
use regex::Regex;

/// Builds each program, asks the detectors about it, and tells what differs from the program's label. Exits with 1 where
/// something does.
#[derive(Parser)]
struct Options {
    /// Which programs
    #[arg(long, value_name = "NAME", default_value = "programs", value_parser = SUITES)]
    suite: String,
    /// Programs with matching names only
    #[arg(long, value_name = "REGEX")]
    only: Option<Regex>,
    /// Executions that each detector looks at; more where a label asks for more
    #[arg(long, value_name = "N", default_value_t = 100)]
    trials: u32,
    /// This detector only; may be repeated
    #[arg(long, value_name = "NAME", value_parser = DETECTORS)]
    detector: Vec<String>,
    /// Feed the detector by device code, which there is for barracuda (the default), hirace and scord. Programs that it does not know differ
    #[arg(long)]
    handlers: bool,
    /// What the detector is set to, as for `race`
    #[arg(long, value_name = "FILE")]
    detector_config: Option<PathBuf>,
    /// Programs that are looked at at the same time
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    jobs: u16,
    /// Writes all answers and whole reports into this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

fn main() -> Result<ExitCode> {
    let options = Options::parse();
    let nvcc = nvcc().context("there is no nvcc: run apps/rebuild-ptx --install")?;
    // Programs run in folders of their own.
    let settings = match &options.detector_config {
        Some(file) => Some(fs::canonicalize(file).with_context(|| file.display().to_string())?),
        None => None,
    };
    let tools = RaceTools { nvcc, bugaroo: bugaroo()?, handlers: options.handlers, settings };
    let mut programs = programs_of(&options.suite)?;
    programs.retain(|program| options.only.as_ref().is_none_or(|only| only.is_match(&program.name)));
    ensure!(!programs.is_empty(), "no program has such a name");

    let answers = all(&tools, &programs, &options);
    println!("{}\n{}", table(&answers), totals(&answers));
    if let Some(file) = &options.json {
        fs::write(file, serde_json::to_string_pretty(&answers)?)
            .with_context(|| file.display().to_string())?;
    }
    Ok(if answers.iter().all(DetectorAnswer::right) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Asks about all programs, some at a time; the answers stand in the order of the programs.
fn all(tools: &RaceTools, programs: &[LabelledProgram], options: &Options) -> Vec<DetectorAnswer> {
    let detectors: Vec<&str> = match &options.detector[..] {
        [] if options.handlers => vec!["barracuda"],
        [] => DETECTORS.to_vec(),
        some => some.iter().map(String::as_str).collect(),
    };
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    let work = || {
        while let Some((at, program)) = programs.iter().enumerate().nth(next.fetch_add(1, Ordering::Relaxed))
        {
            let answers = ask(tools, program, &detectors, options.trials);
            let wrong: Vec<&str> =
                answers.iter().filter(|one| !one.as_known()).map(|one| one.detector.as_str()).collect();
            let verdict =
                if wrong.is_empty() { "right".to_owned() } else { format!("WRONG: {}", wrong.join(", ")) };
            let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
            done.push((at, answers));
            eprintln!("[{}/{}] {}: {verdict}", done.len(), programs.len(), program.name);
        }
    };
    thread::scope(|scope| {
        for _ in 0..options.jobs {
            scope.spawn(work);
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().flat_map(|(_, answers)| answers).collect()
}
