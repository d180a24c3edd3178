//! The run directory: all that is known of a run, on disk as it becomes known.
//!
//! | file | holds |
//! |---|---|
//! | `run.json` | schema version, configuration, baseline; written once, before the first trial |
//! | `trials.jsonl` | a line for each finished trial, appended by a single write as it ends |
//! | `stdin` | what the program found on its standard input, if there was any |
//! | `lock` | nothing; locked while a run writes here |
//!
//! Killed at any moment, it is readable. A line that a kill or a full disk cut off is dropped, and cut
//! off the file when the run goes on; its trial runs again.

mod config;
pub(crate) mod error;
pub mod files;
mod layout;

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::input::{InputError, StandardInput};
use crate::record::TrialRecord;

pub use config::{Configuration, RunFile};
pub use error::RunDirError;
pub use layout::SCHEMA;
use layout::{LOCK, RUN, RUN_NEW, STDIN, TRIALS};

/// Most MiB of `run.json` that are read.
const MOST_RUN: u64 = 256;
/// Most MiB of `trials.jsonl` that are read: ten million trials have some 3 GiB.
const MOST_TRIALS: u64 = 16 << 10;

/// A line of `trials.jsonl`.
#[derive(Serialize, Deserialize)]
struct Line<R> {
    schema: u32,
    cell: usize,
    #[serde(flatten)]
    record: R,
}

/// What a run directory holds of a run.
#[derive(Debug)]
pub struct RecordedRun {
    /// `run.json`.
    pub run: RunFile,
    /// The finished trials by cell and index.
    pub trials: BTreeMap<(usize, u64), TrialRecord>,
    /// Whether a last line was cut off.
    pub torn: bool,
}

/// A run directory that this process alone writes to, as long as this lives.
#[derive(Debug)]
pub struct RunDir {
    path: PathBuf,
    created: bool,
    trials: File,
    /// Held for its lock, which the system lets go of however we end.
    lock: File,
}

impl RunDir {
    /// Opens a directory for writing, and reads what it holds of a run; it is made if need be.
    ///
    /// # Errors
    /// When it holds something else, when another process writes there, or when it cannot be used.
    pub fn open(path: &Path) -> Result<(Self, Option<RecordedRun>), RunDirError> {
        let at = |path: &Path| {
            let path = path.to_owned();
            move |source| RunDirError::Io { path, source }
        };
        let created = !path.exists();
        fs::create_dir_all(path).map_err(at(path))?;
        files::check_regular(path, &[RUN, RUN_NEW, TRIALS, LOCK, STDIN])?;
        let has_run = path.join(RUN).exists();
        if !has_run {
            for entry in fs::read_dir(path).map_err(at(path))? {
                let name = entry.map_err(at(path))?.file_name();
                if ![LOCK, TRIALS, RUN_NEW, STDIN].iter().any(|ours| name == *ours) {
                    return Err(RunDirError::NotARun(path.to_owned()));
                }
            }
        }
        let lock_path = path.join(LOCK);
        let lock = OpenOptions::new().create(true).append(true).open(&lock_path).map_err(at(&lock_path))?;
        match take(&lock) {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(RunDirError::Busy(path.to_owned())),
            Err(TryLockError::Error(source)) => return Err(RunDirError::Io { path: lock_path, source }),
        }
        let trials_path = path.join(TRIALS);
        let recorded = if has_run { Some(Self::read(path)?) } else { None };
        let trials =
            OpenOptions::new().create(true).append(true).open(&trials_path).map_err(at(&trials_path))?;
        let whole = match &recorded {
            // What stands there without a run is of one that was killed as it began.
            None => Some(0),
            Some(recorded) if recorded.torn => Some(whole_lines(&trials_path)?),
            Some(_) => None,
        };
        if let Some(length) = whole {
            trials.set_len(length).map_err(at(&trials_path))?;
        }
        Ok((Self { path: path.to_owned(), created, trials, lock }, recorded))
    }

    /// Reads a run, be it finished, killed or still running.
    ///
    /// # Errors
    /// When there is none, or it cannot be read.
    pub fn read(path: &Path) -> Result<RecordedRun, RunDirError> {
        let run_path = path.join(RUN);
        files::check_regular(path, &[RUN, TRIALS, STDIN])?;
        let text = match files::read_limited(&run_path, MOST_RUN) {
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Err(RunDirError::Missing(path.to_owned()));
            }
            other => other.map_err(|source| RunDirError::Io { path: run_path.clone(), source })?,
        };
        let run: RunFile = read_versioned(&text).map_err(|wrong| wrong.at(&run_path, None))?;
        let trials_path = path.join(TRIALS);
        let text = match files::read_limited(&trials_path, MOST_TRIALS) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            other => other.map_err(|source| RunDirError::Io { path: trials_path.clone(), source })?,
        };
        let mut trials = BTreeMap::new();
        let mut torn = false;
        for (number, line) in text.split_inclusive(|&byte| byte == b'\n').enumerate() {
            // Only the last can lack its end.
            let Some(line) = line.strip_suffix(b"\n") else {
                torn = true;
                break;
            };
            let line: Line<TrialRecord> =
                read_versioned(line).map_err(|wrong| wrong.at(&trials_path, Some(number + 1)))?;
            trials.entry((line.cell, line.record.trial)).or_insert(line.record);
        }
        Ok(RecordedRun { run, trials, torn })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// States what the run is; replaces what stands there in one step.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn state(&mut self, run: &RunFile) -> Result<(), RunDirError> {
        let new = self.path.join(RUN_NEW);
        let write = || {
            let mut text = serde_json::to_vec_pretty(run)?;
            text.push(b'\n');
            let mut file = File::create(&new)?;
            file.write_all(&text)?;
            file.sync_all()?;
            fs::rename(&new, self.path.join(RUN))
        };
        write().map_err(|source| RunDirError::Io { path: new.clone(), source })
    }

    /// Adds a finished trial.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn append(&mut self, cell: usize, record: &TrialRecord) -> Result<(), RunDirError> {
        let line = Line { schema: SCHEMA, cell, record };
        let mut write = || {
            let mut text = serde_json::to_vec(&line)?;
            text.push(b'\n');
            self.trials.write_all(&text)
        };
        write().map_err(|source| RunDirError::Io { path: self.path.join(TRIALS), source })
    }

    /// Keeps what the program finds on its standard input.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn keep_input(&self, input: &StandardInput) -> Result<(), RunDirError> {
        let path = self.path.join(STDIN);
        input.keep(&path).map_err(|source| RunDirError::Io { path, source })
    }

    /// The standard input that a run was made with; None where it had none.
    ///
    /// # Errors
    /// When it is not there any more, or is another.
    pub fn kept_input(path: &Path, configuration: &Configuration) -> Result<Option<StandardInput>, Error> {
        let Some(facts) = &configuration.stdin else { return Ok(None) };
        files::check_regular(path, &[STDIN])?;
        let path = path.join(STDIN);
        match StandardInput::kept(&path, facts) {
            Ok(None) => {
                let what = "it is not the standard input that the run was made with".to_owned();
                Err(RunDirError::Damaged { path, what }.into())
            }
            Err(InputError::Io(source)) => Err(RunDirError::Io { path, source }.into()),
            other => Ok(other?),
        }
    }

    /// Clears up after a run that came to nothing before its first trial.
    pub fn discard(self) {
        // What cannot be removed is merely left behind.
        for name in [TRIALS, RUN_NEW, STDIN, LOCK] {
            let _ = fs::remove_file(self.path.join(name));
        }
        if self.created {
            let _ = fs::remove_dir(&self.path);
        }
    }
}

impl Drop for RunDir {
    fn drop(&mut self) {
        // Closing alone would not do while a program that is just being started still shares the file.
        let _ = self.lock.unlock();
    }
}

/// Takes a lock. A run that was killed as it started a program holds it for a moment longer.
fn take(lock: &File) -> Result<(), TryLockError> {
    for _ in 0..10 {
        match lock.try_lock() {
            Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_millis(20)),
            other => return other,
        }
    }
    lock.try_lock()
}

/// The length of a file up to the end of its last whole line.
fn whole_lines(path: &Path) -> Result<u64, RunDirError> {
    let text = fs::read(path).map_err(|source| RunDirError::Io { path: path.to_owned(), source })?;
    Ok(text.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at as u64 + 1))
}

/// Why a text was not taken.
enum Wrong {
    Schema(u64),
    Json(serde_json::Error),
}

impl Wrong {
    fn at(self, path: &Path, line: Option<usize>) -> RunDirError {
        let path = path.to_owned();
        match self {
            Wrong::Schema(found) => RunDirError::Schema { path, found },
            Wrong::Json(error) => {
                let line = line.map(|line| format!("line {line}: ")).unwrap_or_default();
                RunDirError::Damaged { path, what: format!("{line}{error}") }
            }
        }
    }
}

fn read_versioned<T: for<'de> Deserialize<'de>>(text: &[u8]) -> Result<T, Wrong> {
    #[derive(Deserialize)]
    struct Versioned {
        schema: u64,
    }
    let Versioned { schema } = serde_json::from_slice(text).map_err(Wrong::Json)?;
    if schema != u64::from(SCHEMA) {
        return Err(Wrong::Schema(schema));
    }
    serde_json::from_slice(text).map_err(Wrong::Json)
}

#[cfg(test)]
mod tests;
