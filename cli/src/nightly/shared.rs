//! What the commands of nights have in common.

use std::path::Path;

use bugaroo_nightly::begin::Wanted;
use bugaroo_nightly::history::{Key, Store};
use bugaroo_nightly::merge;
use bugaroo_nightly::morning::morning;
use bugaroo_nightly::night::Night;
use bugaroo_nightly::plan::Plan;

use super::human;
use crate::args::{Format, NightlyArgs};
use crate::exit::UsageError;
use crate::output::{note, print, print_json};

/// A plan, read; what is wrong in it is the user's to put right.
pub fn plan(path: &Path) -> Result<Plan, UsageError> {
    Plan::read(path).map_err(|error| UsageError(error.to_string()))
}

pub fn wanted(args: &NightlyArgs) -> Wanted {
    Wanted { label: args.night.clone(), seed: args.seed, shard: args.shard, results: args.results.clone() }
}

/// What a night came to, with its reports written.
pub async fn report(plan: &Plan, store: &Store, key: &Key) -> anyhow::Result<Night> {
    let morning = morning(plan, store, key).await?;
    note(format_args!("report: {}", morning.written.join("index.html").display()));
    Ok(morning.night)
}

pub fn show(night: &Night, format: Format) -> anyhow::Result<()> {
    match format {
        Format::Human => print(&human::summary(night)),
        Format::Json => print_json(night),
    }
}

pub fn merge_error(error: merge::MergeError) -> anyhow::Error {
    match error {
        merge::MergeError::Store(error) => error.into(),
        other => UsageError(other.to_string()).into(),
    }
}
