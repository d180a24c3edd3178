//! `bugaroo nightly`, and what goes with it: `init`, `history`, `merge`.

mod history;
mod human;
mod init;
mod progress;
mod shared;
mod slurm;

pub use history::history;
pub use init::init;

use bugaroo_harness::{Interrupt, block_on};
use bugaroo_nightly::begin::{Begun, begin};
use bugaroo_nightly::history::Store;
use bugaroo_nightly::merge;
use bugaroo_nightly::night::NightVerdict;
use bugaroo_nightly::plan::Plan;
use bugaroo_nightly::work::{self, Job};

use crate::args::{Executor, MergeArgs, NightlyArgs};
use crate::exit::{Exit, UsageError};
use crate::libraries;
use crate::output::{note, print};
use progress::Progress;
use shared::{merge_error, plan, report, show, wanted};

/// Runs a night.
pub fn nightly(args: &NightlyArgs) -> anyhow::Result<Exit> {
    let plan = plan(&args.plan)?;
    if args.dry_run {
        let past = block_on(human::dry_run(&plan))??;
        print(&past)?;
        return Ok(absent(&plan));
    }
    match args.executor {
        Executor::Local => local(args, &plan),
        Executor::Slurm => slurm::slurm(args, &plan),
    }
}

/// Names programs that cannot be started as they are. What a build step makes may be away.
fn absent(plan: &Plan) -> Exit {
    let mut exit = Exit::Clean;
    for program in &plan.programs {
        let Some(why) = work::absent(program) else { continue };
        if program.build.is_some() {
            note(format_args!("{}: {why}; its build step has to make it", program.name));
        } else {
            note(format_args!("{}: {why} (line {} of the plan)", program.name, program.line));
            exit = Exit::Usage;
        }
    }
    exit
}

fn local(args: &NightlyArgs, plan: &Plan) -> anyhow::Result<Exit> {
    let library = libraries::find()?;
    let (night, complete) = block_on(async {
        let interrupt = Interrupt::on_signals()?;
        let begun = begin(plan, &wanted(args)).await.map_err(usage)?;
        tell_begin(&begun);
        let Begun { store, key, seed, shard, began, complete, file, .. } = begun;
        let progress = Progress::new();
        let mut done = complete;
        if !complete {
            let job = Job {
                plan,
                key: key.clone(),
                seed,
                shard,
                jobs: args.jobs.map(usize::from),
                store: &store,
                began,
                progress: file.as_ref().map(|file| file.with_extension("progress")),
            };
            done = work::run(&job, library, interrupt, &progress).await?.complete;
        }
        progress.end();
        let night = report(plan, &store, &key).await?;
        store.close().await;
        if let Some(file) = file.filter(|_| args.shard.is_some()) {
            let other = if shard.of > 1 { " with the other shards' files" } else { "" };
            note(format_args!("results: {}; `bugaroo merge` takes it{other}", file.display()));
        }
        anyhow::Ok((night, done))
    })??;
    show(&night, args.format)?;
    // A shard by itself does not lack the others.
    let findings = match args.shard {
        Some(_) => human::has_findings(&night),
        None => night.verdict == NightVerdict::Red,
    };
    Ok(match (findings, complete) {
        // Whoever runs shards goes on with one that was stopped, whatever it has found so far.
        (_, false) if args.shard.is_some() => Exit::Interrupted,
        (true, _) => Exit::Findings(args.error_exitcode),
        (false, false) => Exit::Interrupted,
        (false, true) => Exit::Clean,
    })
}

fn tell_begin(begun: &Begun) {
    let label = &begun.key.label;
    let part = if begun.shard.of > 1 { format!(", shard {}", begun.shard) } else { String::new() };
    match (begun.complete, begun.resumed) {
        (true, _) => note(format_args!("night {label}{part} is complete: nothing is left to run")),
        (false, true) => note(format_args!("going on with night {label}{part}, seed {}", begun.seed)),
        (false, false) => note(format_args!("night {label}{part}, seed {}", begun.seed)),
    }
}

/// What the user can put right by another command line.
fn usage(error: bugaroo_nightly::begin::BeginError) -> anyhow::Error {
    use bugaroo_nightly::begin::BeginError;
    match error {
        BeginError::Store(error) => error.into(),
        other => UsageError(other.to_string()).into(),
    }
}

/// Puts shards together.
pub fn merge(args: &MergeArgs) -> anyhow::Result<Exit> {
    let plan = plan(&args.plan)?;
    let night = block_on(async {
        let store = match &args.results {
            Some(path) => Store::file(path, bugaroo_nightly::history::store::JournalMode::WriteAhead).await?,
            None => Store::open(&plan.database).await?,
        };
        let keys = merge::merge(&plan, &args.files, &store).await.map_err(merge_error)?;
        let Some(key) = keys.first() else {
            return Err(UsageError("there is nothing to merge: the files hold no night; run the shards first (bugaroo nightly --shard I/N)".to_owned()).into());
        };
        let night = report(&plan, &store, key).await?;
        store.close().await;
        anyhow::Ok(night)
    })??;
    show(&night, args.format)?;
    Ok(match night.verdict {
        NightVerdict::Green => Exit::Clean,
        NightVerdict::Red => Exit::Findings(args.error_exitcode),
    })
}
