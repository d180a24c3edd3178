//! Measures what `bugaroo bisect` advises about the programs of the suite against what an expert would do.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use anyhow::{Context, Result, ensure};
use clap::Parser;
use fence_suite::expert::{ExpertProgram, programs};
use fence_suite::measure::{Measured, measure};
use fence_suite::table::{SuiteTotals, table};
use fence_suite::tools::{AdviceTools, bugaroo, nvcc};
use regex::Regex;
use serde_json::json;

/// Builds each program, asks `bugaroo bisect` about it, applies its patch, builds and runs that, and compares it with the
/// expert's. Exits with 1 where a program is not as it should be.
#[derive(Parser)]
struct Options {
    /// Programs with matching names only
    #[arg(long, value_name = "REGEX")]
    only: Option<Regex>,
    /// How thorough each search is to be
    #[arg(long, value_name = "N", default_value_t = 1000)]
    trials: u32,
    /// Programs that are measured at the same time; more than one makes the searches' times longer
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    jobs: u16,
    /// Writes all that was measured into this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

fn main() -> Result<ExitCode> {
    let options = Options::parse();
    let nvcc = nvcc().context("there is no nvcc: run apps/rebuild-ptx --install")?;
    let tools = AdviceTools { nvcc, bugaroo: bugaroo()? };
    let mut programs = programs()?;
    programs.retain(|program| options.only.as_ref().is_none_or(|only| only.is_match(&program.name)));
    ensure!(!programs.is_empty(), "no program has such a name");

    let measured = all(&tools, &programs, &options);
    let totals = SuiteTotals::of(&measured);
    println!("{}\n{}", table(&measured), totals.told());
    if let Some(file) = &options.json {
        let text = serde_json::to_string_pretty(&json!({"totals": totals, "programs": measured}))?;
        fs::write(file, text).with_context(|| file.display().to_string())?;
    }
    Ok(if measured.iter().all(Measured::right) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Measures all programs, some at a time; the answers stand in the order of the programs.
fn all(tools: &AdviceTools, programs: &[ExpertProgram], options: &Options) -> Vec<Measured> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    let work = || {
        while let Some((at, program)) = programs.iter().enumerate().nth(next.fetch_add(1, Ordering::Relaxed))
        {
            let measured = measure(tools, program, options.trials);
            let verdict = if measured.right() { "right" } else { "NOT right" };
            let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
            done.push((at, measured));
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
    done.into_iter().map(|(_, measured)| measured).collect()
}
