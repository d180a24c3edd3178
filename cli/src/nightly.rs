//! `bugaroo nightly`, and what goes with it: `init`, `history`, `merge`.

mod history;
mod human;
mod init;
mod progress;
mod slurm;

pub use history::history;
pub use init::init;

use bugaroo_harness::{Interrupt, runtime};
use bugaroo_nightly::begin::{Begun, Wanted, begin};
use bugaroo_nightly::history::{Key, Store};
use bugaroo_nightly::merge;
use bugaroo_nightly::morning::morning;
use bugaroo_nightly::night::{Night, Verdict};
use bugaroo_nightly::plan::Plan;
use bugaroo_nightly::work::{self, Job};

use crate::args::{Executor, Format, MergeArgs, NightlyArgs};
use crate::exit::{Exit, UsageError};
use crate::libraries;
use crate::output::{note, print, print_json};
use progress::Progress;

/// A plan, read; what is wrong in it is the user's to put right.
fn plan(path: &std::path::Path) -> Result<Plan, UsageError> {
    Plan::read(path).map_err(|error| UsageError(error.to_string()))
}

/// Runs a night.
pub fn nightly(args: &NightlyArgs) -> anyhow::Result<Exit> {
    let plan = plan(&args.plan)?;
    if args.dry_run {
        let past = runtime::block_on(human::dry_run(&plan))??;
        print(&past)?;
        return Ok(Exit::Clean);
    }
    match args.executor {
        Executor::Local => local(args, &plan),
        Executor::Slurm => slurm::slurm(args, &plan),
    }
}

fn wanted(args: &NightlyArgs) -> Wanted {
    Wanted { label: args.night.clone(), seed: args.seed, shard: args.shard, results: args.results.clone() }
}

fn local(args: &NightlyArgs, plan: &Plan) -> anyhow::Result<Exit> {
    let library = libraries::find()?;
    let (night, complete) = runtime::block_on(async {
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
        None => night.verdict == Verdict::Red,
    };
    Ok(match (findings, complete) {
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

/// What a night came to, with its reports written.
async fn report(plan: &Plan, store: &Store, key: &Key) -> anyhow::Result<Night> {
    let morning = morning(plan, store, key).await?;
    note(format_args!("report: {}", morning.written.join("index.html").display()));
    Ok(morning.night)
}

fn show(night: &Night, format: Format) -> anyhow::Result<()> {
    match format {
        Format::Human => print(&human::summary(night)),
        Format::Json => print_json(night),
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
    let night = runtime::block_on(async {
        let store = match &args.results {
            Some(path) => Store::file(path, bugaroo_nightly::history::store::Journal::WriteAhead).await?,
            None => Store::open(&plan.database).await?,
        };
        let keys = merge::merge(&args.files, &store).await.map_err(merge_error)?;
        let Some(key) = keys.first() else {
            return Err(UsageError("there is nothing to merge: the files hold no night; run the shards first (bugaroo nightly --shard I/N)".to_owned()).into());
        };
        if key.plan != plan.name {
            let what = format!("the results are of plan {}, and not of {}", key.plan, plan.name);
            return Err(UsageError(what).into());
        }
        let night = report(&plan, &store, key).await?;
        store.close().await;
        anyhow::Ok(night)
    })??;
    show(&night, args.format)?;
    Ok(match night.verdict {
        Verdict::Green => Exit::Clean,
        Verdict::Red => Exit::Findings(args.error_exitcode),
    })
}

fn merge_error(error: merge::MergeError) -> anyhow::Error {
    match error {
        merge::MergeError::Store(error) => error.into(),
        other => UsageError(other.to_string()).into(),
    }
}
