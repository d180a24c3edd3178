//! `bugaroo litmus`.

mod human;

use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bugaroo_harness::{Interrupt, block_on};
use bugaroo_litmus::{LitmusReport, Options, Strategy, Suite, TestModel};

use crate::args::{Backend, Format, LitmusArgs, LitmusModel, Scheduler};
use crate::exit::{Exit, NotInThisVersion, UsageError};
use crate::output::{note, print, print_json};

/// Runs litmus tests.
pub fn litmus(args: &LitmusArgs) -> anyhow::Result<Exit> {
    if args.backend == Backend::Cuda {
        return Err(NotInThisVersion("litmus --backend cuda").into());
    }
    let options = options(args);
    let suite = Suite::read(&args.paths, args.outcomes.as_deref()).map_err(UsageError)?;
    let stop = Arc::new(AtomicBool::new(false));
    stop_on_signals(Arc::clone(&stop));
    let report = suite.run(&options, &stop, &progress(suite.cases.len()));
    let interrupted = stop.load(Ordering::Relaxed);
    for skipped in &report.skipped {
        note(format_args!("error: {}", skipped.error));
    }
    match args.format {
        Format::Human => print(&human::human(&report, args))?,
        Format::Json => print_json(&report)?,
    }
    if interrupted {
        note("interrupted: this is what was seen until then");
    }
    Ok(exit(&report, args.error_exitcode, interrupted))
}

fn options(args: &LitmusArgs) -> Options {
    let default = Options::default();
    Options {
        model: match args.model {
            LitmusModel::Sc => TestModel::Sc,
            LitmusModel::Bugaroo => TestModel::Bugaroo,
            LitmusModel::StoreBuffer if args.handlers => TestModel::StoreBufferHandlers,
            LitmusModel::StoreBuffer => TestModel::StoreBuffer,
            LitmusModel::Ptx => TestModel::Ptx,
        },
        trials: args.trials,
        pw: args.pw.clone(),
        pr: args.pr,
        strategy: match args.scheduler {
            Scheduler::Random => Strategy::Random,
            Scheduler::Pct => Strategy::Pct,
        },
        seed: args.seed,
        jobs: args.jobs.map_or(default.jobs, usize::from),
        ..default
    }
}

/// Findings first; then what kept tests from being run.
fn exit(report: &LitmusReport, findings: u8, interrupted: bool) -> Exit {
    if report.fails() {
        Exit::Findings(findings)
    } else if interrupted {
        Exit::Interrupted
    } else if report.skipped.iter().any(|skipped| !skipped.unsupported) {
        Exit::Usage
    } else if !report.skipped.is_empty() {
        Exit::Unsupported
    } else {
        Exit::Clean
    }
}

/// From the first signal on, no more trials are begun. The thread ends with the process.
fn stop_on_signals(stop: Arc<AtomicBool>) {
    std::thread::spawn(move || {
        let waited = block_on(async {
            let mut interrupt = Interrupt::on_signals()?;
            interrupt.wait().await;
            std::io::Result::Ok(())
        });
        // Where signals cannot be listened to, they end the process as ever.
        if matches!(waited, Ok(Ok(()))) {
            stop.store(true, Ordering::Relaxed);
        }
    });
}

/// A counter of tests on a terminal.
fn progress(tests: usize) -> impl Fn(usize) + Sync {
    let shown = std::io::stderr().is_terminal();
    move |through| {
        if shown && (through.is_multiple_of(10) || through == tests) {
            let end = if through == tests { "\r\x1b[K" } else { "" };
            // Nobody looks: no reason to stop.
            let _ = write!(std::io::stderr().lock(), "\r{through} of {tests} tests{end}");
        }
    }
}
