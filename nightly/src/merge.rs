//! Puts the results of shards together. The same results twice count once; those of another plan, or of another night, are
//! refused.

use std::path::{Path, PathBuf};

use crate::history::store::Journal;
use crate::history::{Key, NightRow, Store, StoreError};

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

/// Puts the results of these files into a database.
///
/// # Errors
/// When they do not belong together, or cannot be read or written. Nothing of a night is taken in part.
pub async fn merge(files: &[PathBuf], into: &Store) -> Result<Vec<Key>, MergeError> {
    let mut first: Option<(PathBuf, NightRow)> = None;
    let mut stores = Vec::new();
    for path in files {
        if !path.is_file() {
            return Err(MergeError::Missing(path.clone()));
        }
        let store = Store::file(path, Journal::Rollback).await?;
        let nights = store.nights(None).await?;
        let Some(night) = nights.first().cloned() else { return Err(MergeError::Empty(path.clone())) };
        for other in &nights {
            let (there, at) = first.as_ref().map_or((&night, path), |(at, night)| (night, at));
            same((at, there), (path, other))?;
        }
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
