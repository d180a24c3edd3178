//! Begins a night, or goes on with one: which it is, which seed it has, and where its results go.

use std::fs::{self, File, TryLockError};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use jiff::{Span, Timestamp, Unit};
use sha2::{Digest as _, Sha256};

use crate::history::store::JournalMode;
use crate::history::{Key, NightRow, Store, StoreError};
use crate::plan::Plan;
use crate::runs::file_name;
use crate::shard::Shard;

/// Hours after which a night that was killed is left alone.
const STALE: i32 = 24;

/// What is asked for.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// How the night is called; None: by the time, or the night that goes on.
    pub label: Option<String>,
    /// Its seed, over the plan's.
    pub seed: Option<u64>,
    /// Which part of it; None: all.
    pub shard: Option<Shard>,
    /// Where results go; None: of a shard a file of its own, else the plan's database.
    pub results: Option<PathBuf>,
}

/// A night that was begun.
#[derive(Debug)]
pub struct Begun {
    /// Where its results go.
    pub store: Store,
    /// Which.
    pub key: Key,
    /// Its seed.
    pub seed: u64,
    /// Which part.
    pub shard: Shard,
    /// When it began, in milliseconds since 1970.
    pub began: i64,
    /// It had been begun before.
    pub resumed: bool,
    /// All of it was done before.
    pub complete: bool,
    /// The file of a shard's results.
    pub file: Option<PathBuf>,
    /// Keeps others from the same night; ends with the value, and with the process.
    _lock: Option<File>,
}

/// Why it cannot be begun.
#[derive(Debug, thiserror::Error)]
pub enum BeginError {
    /// The database cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A night of that name is there, and is another one.
    #[error(
        "night {label} is there with another {what} ({there}, and not {here}): give it another name with --night"
    )]
    Differs {
        /// How it is called.
        label: String,
        /// In what it differs.
        what: &'static str,
        /// What is there.
        there: String,
        /// What is asked for.
        here: String,
    },
    /// Another process runs it.
    #[error(
        "another bugaroo runs night {label}{by}: wait until it has ended, or give this night another name with --night"
    )]
    Runs {
        /// How it is called.
        label: String,
        /// Which process, in brackets behind a space; empty: not known.
        by: String,
    },
    /// The label is no name.
    #[error("--night {0:?}: a night's name is one line, not empty")]
    Label(String),
}

/// Begins a night.
///
/// # Errors
/// When results cannot be kept, or another night has its name.
pub async fn begin(plan: &Plan, wanted: &Wanted) -> Result<Begun, BeginError> {
    let shard = wanted.shard.unwrap_or(Shard::WHOLE);
    let now = Timestamp::now();
    if let Some(label) =
        wanted.label.as_ref().filter(|label| label.trim().is_empty() || label.contains(char::is_control))
    {
        return Err(BeginError::Label(label.clone()));
    }
    let file = match (&wanted.results, wanted.shard) {
        (Some(path), _) => Some(path.clone()),
        (None, Some(shard)) => Some(shard_file(plan, &label(wanted, now), shard)),
        (None, None) => None,
    };
    let store = match &file {
        Some(path) => Store::file(path, JournalMode::Rollback).await?,
        None => Store::open(&plan.database).await?,
    };
    let open = match &wanted.label {
        Some(_) => None,
        None => unfinished(&store, plan, shard, now).await?,
    };
    let label = open.map_or_else(|| label(wanted, now), |night| night.key.label);
    let seed = wanted.seed.or(plan.seed).unwrap_or_else(|| seed_of(&label));
    let row = NightRow {
        key: Key { plan: plan.name.clone(), label: label.clone() },
        plan_sha256: plan.sha256.clone(),
        seed,
        began: now.as_millisecond(),
        ended: None,
        complete: false,
        shards: shard.of,
        bugaroo: env!("CARGO_PKG_VERSION").to_owned(),
        notes: Vec::new(),
    };
    let there = store.begin(&row).await?;
    let asked = wanted.seed.or(plan.seed);
    let differs = [
        ("plan", there.plan_sha256.clone(), row.plan_sha256.clone()),
        ("seed", there.seed.to_string(), asked.unwrap_or(there.seed).to_string()),
        ("number of shards", there.shards.to_string(), row.shards.to_string()),
    ];
    if let Some((what, there, here)) = differs.into_iter().find(|(_, there, here)| there != here) {
        return Err(BeginError::Differs { label, what, there, here });
    }
    let resumed = there.began != row.began;
    // A shard's file has one part alone; its night is complete elsewhere.
    let complete = resumed && store.is_complete(&there.key, shard.index).await?;
    // A shard may have been taken from a node that is cut off and goes on: both write the same trials.
    let lock = if complete || file.is_some() { None } else { lock(plan, &label)? };
    if !complete {
        store.reopen(&there.key).await?;
    }
    Ok(Begun {
        store,
        key: there.key,
        seed: there.seed,
        shard,
        began: there.began,
        resumed,
        complete,
        file,
        _lock: lock,
    })
}

/// Locks a night for this process, by a file among its reports. None: it cannot be locked there, and begins all the same.
fn lock(plan: &Plan, label: &str) -> Result<Option<File>, BeginError> {
    let folder = plan.reports.join(file_name(label));
    let path = folder.join("lock");
    let open = || File::options().create(true).truncate(false).write(true).open(&path);
    let Ok(mut file) = fs::create_dir_all(&folder).and_then(|()| open()) else { return Ok(None) };
    match file.try_lock() {
        Ok(()) => {
            // The number helps whoever is refused, and is no part of the lock.
            let _ = file.set_len(0).and_then(|()| write!(file, "{}", std::process::id()));
            Ok(Some(file))
        }
        Err(TryLockError::WouldBlock) => {
            let process: Option<u32> =
                fs::read_to_string(&path).ok().and_then(|text| text.trim().parse().ok());
            let by = process.map_or(String::new(), |process| format!(" (process {process})"));
            Err(BeginError::Runs { label: label.to_owned(), by })
        }
        Err(TryLockError::Error(_)) => Ok(None),
    }
}

/// How a night of many machines is called, and its seed: that of the day, where nobody says otherwise.
pub fn named(plan: &Plan, wanted: &Wanted) -> (String, u64) {
    let divided = Wanted { shard: Some(Shard::WHOLE), ..wanted.clone() };
    let label = label(&divided, Timestamp::now());
    let seed = wanted.seed.or(plan.seed).unwrap_or_else(|| seed_of(&label));
    (label, seed)
}

/// How a night is called that nobody has named: shards of a day belong together, other nights are of their moment.
fn label(wanted: &Wanted, now: Timestamp) -> String {
    match (&wanted.label, wanted.shard) {
        (Some(label), _) => label.clone(),
        (None, Some(_)) => now.strftime("%Y-%m-%d").to_string(),
        (None, None) => now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
    }
}

/// The seed of a night that has none from the plan: shards of the same night have the same.
fn seed_of(label: &str) -> u64 {
    let digest = Sha256::digest(label.as_bytes());
    u64::from(u32::from_be_bytes([digest[0], digest[1], digest[2], digest[3]]))
}

/// A night of this plan that was killed, and not long ago.
async fn unfinished(
    store: &Store,
    plan: &Plan,
    shard: Shard,
    now: Timestamp,
) -> Result<Option<NightRow>, StoreError> {
    let nights = store.nights(Some(&plan.name)).await?;
    let young = |night: &NightRow| {
        let began = Timestamp::from_millisecond(night.began).unwrap_or(Timestamp::MIN);
        let age: Span = now.since((Unit::Hour, began)).unwrap_or_default();
        age.get_hours() < STALE
    };
    Ok(nights.into_iter().rev().find(|night| {
        night.ended.is_none() && night.plan_sha256 == plan.sha256 && night.shards == shard.of && young(night)
    }))
}

/// The file of a shard's results, where the plan's database would be a file; else beside the plan.
fn shard_file(plan: &Plan, label: &str, shard: Shard) -> PathBuf {
    let folder = plan.reports.parent().unwrap_or(Path::new("."));
    let name = format!("{}-{}-shard-{}-of-{}.sqlite", plan.name, label, shard.index, shard.of);
    folder.join(file_name(&name))
}

#[cfg(test)]
mod tests;
