//! The journal: every trial of a search, on disk as it ends, so that a search that was cut off goes on.
//!
//! | file | holds |
//! |---|---|
//! | `search.json` | schema version, configuration, baseline, sites; written before the first trial |
//! | `trials.jsonl` | a line for each variation as it is first met, and one for each trial of it |
//! | `bisect.json` | the answer, once there is one |
//! | `lock` | nothing; locked while a search writes here |
//!
//! A search is deterministic: it goes on by being run again from the start, with the trials of the
//! journal known. A last line that was cut off is dropped; its trial runs again. More or fewer
//! `--trials` are no other search.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use bugaroo_harness::rundir::files::{check_regular, read_limited};
use bugaroo_harness::rundir::{Configuration, RunDirError};
use bugaroo_harness::{Baseline, Outcome, Variation};
use bugaroo_protocol::Site;
use serde::{Deserialize, Serialize};

use crate::outcomes::{OutcomesByTrial, key};
use crate::trials::Shown;

/// Version of the files. Raised whenever one changes shape, or seeds their meaning.
pub const SCHEMA: u64 = 1;

const SEARCH: &str = "search.json";
const SEARCH_NEW: &str = "search.json.new";
const TRIALS: &str = "trials.jsonl";
const REPORT: &str = "bisect.json";
const LOCK: &str = "lock";

/// Most MiB of `search.json`, and of `trials.jsonl`, that are read.
const MOST_SEARCH: u64 = 1 << 10;
const MOST_TRIALS: u64 = 16 << 10;

/// `search.json`: all that a search starts from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchFile {
    /// [`SCHEMA`].
    pub schema: u64,
    /// Version of Bugaroo that began the search.
    pub bugaroo: String,
    /// The program and how its stores are delayed.
    #[serde(flatten)]
    pub configuration: Configuration,
    /// What the program does without injection.
    pub baseline: Baseline,
    /// Its sites.
    pub sites: Vec<Site>,
}

/// A line of `trials.jsonl`.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Line {
    /// Gives a variation a number.
    Variation { variation: u64, is: Box<Variation> },
    /// A trial of that variation.
    Trial {
        variation: u64,
        trial: u64,
        outcome: Outcome,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        forgot: bool,
    },
}

/// A directory that this process alone writes a search to, as long as this lives.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    trials: File,
    numbers: HashMap<String, u64>,
    /// Held for its lock, which the system lets go of however we end.
    lock: File,
}

/// What a directory holds of a search.
#[derive(Debug, Default)]
pub struct RecordedSearch {
    /// `search.json`; None where no search has begun.
    pub search: Option<SearchFile>,
    /// The trials that ended.
    pub outcomes: OutcomesByTrial,
    /// Whether a last line was cut off.
    pub torn: bool,
}

impl Journal {
    /// Opens a directory, and reads what it holds of a search; it is made if need be.
    ///
    /// # Errors
    /// When it holds something else, when another process writes there, or when it cannot be used.
    pub fn open(path: &Path) -> Result<(Self, RecordedSearch), RunDirError> {
        fs::create_dir_all(path).map_err(io_at(path))?;
        check_regular(path, &[SEARCH, SEARCH_NEW, TRIALS, REPORT, LOCK])?;
        let search_path = path.join(SEARCH);
        let begun = search_path.exists();
        if !begun {
            for entry in fs::read_dir(path).map_err(io_at(path))? {
                let name = entry.map_err(io_at(path))?.file_name();
                if ![LOCK, TRIALS, SEARCH_NEW].iter().any(|ours| name == *ours) {
                    let what = format!(
                        "holds files but no search ({SEARCH} is missing): name a new or empty directory"
                    );
                    return Err(RunDirError::Damaged { path: path.to_owned(), what });
                }
            }
        }
        let lock_path = path.join(LOCK);
        let lock =
            OpenOptions::new().create(true).append(true).open(&lock_path).map_err(io_at(&lock_path))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(RunDirError::Busy(path.to_owned())),
            Err(TryLockError::Error(source)) => return Err(RunDirError::Io { path: lock_path, source }),
        }
        let trials_path = path.join(TRIALS);
        let mut recorded = RecordedSearch::default();
        let mut numbers = HashMap::new();
        let mut whole = 0;
        if begun {
            let text = read_limited(&search_path, MOST_SEARCH).map_err(io_at(&search_path))?;
            recorded.search = Some(read_search(&text, &search_path)?);
            let text = match read_limited(&trials_path, MOST_TRIALS) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
                other => other.map_err(io_at(&trials_path))?,
            };
            whole = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
            recorded.torn = whole < text.len();
            recorded.outcomes = read_trials(&text[..whole], &trials_path, &mut numbers)?;
        }
        let trials =
            OpenOptions::new().create(true).append(true).open(&trials_path).map_err(io_at(&trials_path))?;
        trials.set_len(whole as u64).map_err(io_at(&trials_path))?;
        Ok((Self { path: path.to_owned(), trials, numbers, lock }, recorded))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// States what the search starts from; replaces what stands there in one step.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn state(&self, search: &SearchFile) -> Result<(), RunDirError> {
        let new = self.path.join(SEARCH_NEW);
        let write = || {
            let mut file = File::create(&new)?;
            file.write_all(&serde_json::to_vec_pretty(search)?)?;
            file.write_all(b"\n")?;
            file.sync_all()?;
            fs::rename(&new, self.path.join(SEARCH))
        };
        write().map_err(io_at(&new))
    }

    /// Adds a trial that ended. `key` is the variation's.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn append(
        &mut self,
        key: &str,
        variation: &Variation,
        trial: u64,
        shown: Shown,
    ) -> Result<(), RunDirError> {
        let mut text = Vec::new();
        let mut add = |line: &Line| {
            // Plain data: serialisation cannot fail.
            serde_json::to_writer(&mut text, line).expect("a line is plain data");
            text.push(b'\n');
        };
        let next = self.numbers.len() as u64;
        let number = match self.numbers.get(key) {
            Some(&number) => number,
            None => {
                add(&Line::Variation { variation: next, is: Box::new(variation.clone()) });
                self.numbers.insert(key.to_owned(), next);
                next
            }
        };
        let Shown { outcome, forgot } = shown;
        add(&Line::Trial { variation: number, trial, outcome, forgot });
        self.trials.write_all(&text).map_err(io_at(&self.path.join(TRIALS)))
    }

    /// Clears up after a search that came to nothing before its first trial, where none had begun.
    pub fn discard(self) {
        // What cannot be removed is merely left behind.
        for name in [TRIALS, SEARCH_NEW, LOCK] {
            let _ = fs::remove_file(self.path.join(name));
        }
        let _ = fs::remove_dir(&self.path);
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        // Closing alone would not do while a program that is just being started still shares the file.
        let _ = self.lock.unlock();
    }
}

/// Where the answer of a search in this directory is written.
pub fn report_path(directory: &Path) -> PathBuf {
    directory.join(REPORT)
}

fn io_at(path: &Path) -> impl Fn(io::Error) -> RunDirError + use<> {
    let path = path.to_owned();
    move |source| RunDirError::Io { path: path.clone(), source }
}

fn read_search(text: &[u8], path: &Path) -> Result<SearchFile, RunDirError> {
    #[derive(Deserialize)]
    struct Versioned {
        schema: u64,
    }
    let damaged =
        |error: serde_json::Error| RunDirError::Damaged { path: path.to_owned(), what: error.to_string() };
    let Versioned { schema } = serde_json::from_slice(text).map_err(damaged)?;
    if schema != SCHEMA {
        return Err(RunDirError::Schema { path: path.to_owned(), found: schema });
    }
    serde_json::from_slice(text).map_err(damaged)
}

fn read_trials(
    text: &[u8],
    path: &Path,
    numbers: &mut HashMap<String, u64>,
) -> Result<OutcomesByTrial, RunDirError> {
    let mut outcomes = OutcomesByTrial::new();
    let mut keys: HashMap<u64, String> = HashMap::new();
    for (number, line) in text.split_inclusive(|&byte| byte == b'\n').enumerate() {
        let damaged = |what: String| RunDirError::Damaged {
            path: path.to_owned(),
            what: format!("line {}: {what}", number + 1),
        };
        match serde_json::from_slice(line).map_err(|error| damaged(error.to_string()))? {
            Line::Variation { variation, is } => {
                numbers.insert(key(&is), variation);
                keys.insert(variation, key(&is));
            }
            Line::Trial { variation, trial, outcome, forgot } => {
                let Some(key) = keys.get(&variation) else {
                    return Err(damaged(format!("variation {variation} was not stated before")));
                };
                outcomes.entry(key.clone()).or_default().insert(trial, Shown { outcome, forgot });
            }
        }
    }
    Ok(outcomes)
}

#[cfg(test)]
mod tests;
