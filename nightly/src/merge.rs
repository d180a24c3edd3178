//! Puts the results of shards together. The same results twice count once; those of another plan, or of another night, are
//! refused, and so are those of another plan than the one that is given.

use std::fs;
use std::path::{Path, PathBuf};

use crate::history::store::JournalMode;
use crate::history::{Key, NightRow, Store, StoreError};
use crate::plan::Plan;

/// Why results cannot be put together.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// A database cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// There is nothing of that name.
    #[error("{}: there is no such file", .0.display())]
    Missing(PathBuf),
    /// It holds no night.
    #[error("{}: there are no results in it", .0.display())]
    Empty(PathBuf),
    /// It is where the results go.
    #[error(
        "{}: the results of the shards go into this database: name the files that the shards have written instead",
        .0.display()
    )]
    Own(PathBuf),
    /// It is of a plan of another name.
    #[error("{}: the results are of plan {there}, and not of {here}", path.display())]
    Other {
        /// The file.
        path: PathBuf,
        /// Its plan.
        there: String,
        /// The plan that is given.
        here: String,
    },
    /// The plan was changed.
    #[error(
        "{} has changed since {} was written: its SHA-256 was {there} and is {here}; \
         undo the change, or run the shards again",
        plan.display(),
        path.display()
    )]
    Changed {
        /// The plan.
        plan: PathBuf,
        /// The file.
        path: PathBuf,
        /// The digest of the plan that it is of.
        there: String,
        /// The digest of the plan that is given.
        here: String,
    },
    /// Two that do not belong together.
    #[error("{} is of another {what} than {}: {there} there, {here} here", path.display(), first.display())]
    Differs {
        /// The file.
        path: PathBuf,
        /// The first one.
        first: PathBuf,
        /// In what they differ.
        what: &'static str,
        /// What the first one has.
        there: String,
        /// What this one has.
        here: String,
    },
}

/// Puts the results of these files, which are of this plan, into a database.
///
/// # Errors
/// When they do not belong together or to the plan, or cannot be read or written. Nothing of a night is taken in part.
pub async fn merge(plan: &Plan, files: &[PathBuf], into: &Store) -> Result<Vec<Key>, MergeError> {
    let own = fs::canonicalize(into.name()).ok();
    let mut first: Option<(PathBuf, NightRow)> = None;
    let mut stores = Vec::new();
    for path in files {
        if !path.is_file() {
            return Err(MergeError::Missing(path.clone()));
        }
        // Who opens it waits for itself.
        if own.is_some() && fs::canonicalize(path).ok() == own {
            return Err(MergeError::Own(path.clone()));
        }
        // Opened, it would have the tables of a database.
        if fs::metadata(path).is_ok_and(|facts| facts.len() == 0) {
            return Err(MergeError::Empty(path.clone()));
        }
        let store = Store::file(path, JournalMode::Rollback).await?;
        let nights = store.nights(None).await?;
        let Some(night) = nights.first().cloned() else { return Err(MergeError::Empty(path.clone())) };
        for other in &nights {
            let (there, at) = first.as_ref().map_or((&night, path), |(at, night)| (night, at));
            same((at, there), (path, other))?;
        }
        of_plan(plan, path, &night)?;
        first.get_or_insert_with(|| (path.clone(), night));
        stores.push(store);
    }
    let Some((path, night)) = first else { return Ok(Vec::new()) };
    let there = into.begin(&NightRow { complete: false, ..night.clone() }).await?;
    same((Path::new(into.name()), &there), (&path, &night))?;
    for store in stores {
        into.take_from(&store, &night.key).await?;
        if let Some(ended) = store.night_row(&night.key).await?.and_then(|night| night.ended) {
            into.ended(&night.key, ended).await?;
        }
        store.close().await;
    }
    Ok(vec![night.key])
}

/// Whether results are of the plan as it stands.
fn of_plan(plan: &Plan, path: &Path, night: &NightRow) -> Result<(), MergeError> {
    let path = path.to_owned();
    if night.key.plan != plan.name {
        return Err(MergeError::Other { path, there: night.key.plan.clone(), here: plan.name.clone() });
    }
    if night.plan_sha256 != plan.sha256 {
        let (there, here) = (night.plan_sha256.clone(), plan.sha256.clone());
        return Err(MergeError::Changed { plan: plan.path.clone(), path, there, here });
    }
    Ok(())
}

fn same(there: (&Path, &NightRow), here: (&Path, &NightRow)) -> Result<(), MergeError> {
    let facts = |night: &NightRow| {
        [
            ("plan", night.plan_sha256.clone()),
            ("night", format!("{} {}", night.key.plan, night.key.label)),
            ("seed", night.seed.to_string()),
            ("division", format!("{} shards", night.shards)),
        ]
    };
    for ((what, there_is), (_, here_is)) in facts(there.1).into_iter().zip(facts(here.1)) {
        if there_is != here_is {
            return Err(MergeError::Differs {
                path: here.0.to_owned(),
                first: there.0.to_owned(),
                what,
                there: there_is,
                here: here_is,
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
