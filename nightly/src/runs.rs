//! Run directories of a night's failing trials, as `bugaroo replay` takes them. They are made of what the database has, so that they
//! can be made anywhere, and again.

use std::fs;
use std::path::{Path, PathBuf};

use bugaroo_harness::rundir::{RunDirError, RunFile};
use bugaroo_harness::{RunDir, StandardInput, TrialRecord};
use sha2::{Digest as _, Sha256};

use crate::history::{Key, Store, StoreError};
use crate::plan::Plan;

/// Why run directories cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum RunsError {
    /// The results cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A directory cannot be written.
    #[error(transparent)]
    RunDir(#[from] RunDirError),
    /// A folder cannot be looked at or cleared.
    #[error("{}: {source}", path.display())]
    Io {
        /// The folder.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
}

/// The folder of all nights' run directories, in that of the reports.
const RUNS: &str = "runs";

/// The folder of a night's run directories.
pub fn folder(reports: &Path, label: &str) -> PathBuf {
    reports.join(RUNS).join(file_name(label))
}

/// The run directory of a cell. (The names of a program's cells differ in what can be a file's name.)
pub fn of_cell(reports: &Path, label: &str, program: &str, cell: &str) -> PathBuf {
    folder(reports, label).join(file_name(program)).join(plain(cell))
}

/// A name as a file's, readable, and another one for each: one that cannot be a file's gets a digest.
pub fn file_name(name: &str) -> String {
    let text = plain(name);
    if text == name && text != RUNS {
        return text;
    }
    let digest = Sha256::digest(name.as_bytes());
    let digest: String = digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    format!("{text}-{digest}")
}

fn plain(name: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || "-_.=+".contains(c) { c } else { '-' };
    let text: String = name.chars().map(plain).collect();
    match text.as_str() {
        "" | "." | ".." => "-".to_owned(),
        _ => text,
    }
}

/// A cell's run, and those of its trials that are kept.
#[derive(Clone, Debug)]
pub struct Kept {
    /// The program.
    pub program: String,
    /// The cell.
    pub cell: String,
    /// What the run is.
    pub run: RunFile,
    /// The trials' records.
    pub trials: Vec<TrialRecord>,
}

/// Writes the run directories of a night.
///
/// # Errors
/// When the results cannot be read or a directory cannot be written.
pub async fn write(store: &Store, key: &Key, plan: &Plan) -> Result<(), RunsError> {
    for kept in store.kept_runs(key).await? {
        let path = of_cell(&plan.reports, &key.label, &kept.program, &kept.cell);
        let (mut directory, recorded) = RunDir::open(&path)?;
        let known = recorded.map(|recorded| recorded.trials).unwrap_or_default();
        directory.state(&kept.run)?;
        if let (Some(facts), Some(path)) = (&kept.run.configuration.stdin, stdin(plan, &kept.program)) {
            // What changed since cannot be given any more; `replay` says so.
            if let Ok(Some(input)) = StandardInput::kept(path, facts) {
                directory.keep_input(&input)?;
            }
        }
        for record in kept.trials.iter().filter(|record| !known.contains_key(&(0, record.trial))) {
            directory.append(0, record)?;
        }
    }
    Ok(())
}

/// What a program of the plan finds on its standard input.
fn stdin<'p>(plan: &'p Plan, program: &str) -> Option<&'p Path> {
    plan.program(program)?.stdin.as_deref()
}

/// Clears the run directories of the oldest nights until the rest takes no more than so many bytes. Those of this night stay.
///
/// # Errors
/// When a folder cannot be looked at or cleared.
pub fn clear(reports: &Path, most: u64, label: &str) -> Result<u64, RunsError> {
    let all = reports.join(RUNS);
    if !all.exists() {
        return Ok(0);
    }
    let io = |path: &Path| {
        let path = path.to_owned();
        move |source| RunsError::Io { path, source }
    };
    let mut nights = Vec::new();
    for entry in fs::read_dir(&all).map_err(io(&all))? {
        let path = entry.map_err(io(&all))?.path();
        let changed = fs::metadata(&path).and_then(|meta| meta.modified()).map_err(io(&path))?;
        nights.push((changed, size(&path).map_err(io(&path))?, path));
    }
    nights.sort();
    let mut total: u64 = nights.iter().map(|(_, bytes, _)| bytes).sum();
    let mut cleared = 0;
    let own = folder(reports, label);
    for (_, bytes, path) in nights {
        if total <= most {
            break;
        }
        if path != own {
            fs::remove_dir_all(&path).map_err(io(&path))?;
            total -= bytes;
            cleared += 1;
        }
    }
    Ok(cleared)
}

/// Bytes of all files in a folder.
fn size(path: &Path) -> std::io::Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let meta = entry.metadata()?;
        bytes += if meta.is_dir() { size(&entry.path())? } else { meta.len() };
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests;
