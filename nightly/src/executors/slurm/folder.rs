//! The folder of a night on Slurm: what outlives the terminal that submitted it.
//!
//! `job.json` says which job it is; beside it lie the batch script, and for each shard its results, progress, log and exit code.

use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::error::SlurmError;

/// Version of `job.json`. Raised whenever it changes shape.
pub const SCHEMA: u32 = 1;
/// Bytes at the end of a log that are looked at.
const TAIL_BYTES: u64 = 8192;
/// Lines at the end of a log that are told.
const TAIL_LINES: usize = 5;

/// `job.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlurmJob {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The night.
    pub label: String,
    /// Path of the plan.
    pub plan: String,
    /// SHA-256 of the plan.
    pub plan_sha256: String,
    /// Seed that all trials stem from.
    pub seed: u64,
    /// Tasks of the array.
    pub shards: u32,
    /// The job; None: it was about to be submitted.
    pub job: Option<u32>,
    /// When that was, as RFC 3339 in UTC.
    pub submitted: String,
    /// Tasks that were put back into the queue after they had ended.
    pub restarts: BTreeMap<u32, Restart>,
}

/// How a task stood when it was last put back into the queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Restart {
    /// Trials that it had done.
    pub done: u64,
    /// When it had ended, in Slurm's words: the same end is not answered twice.
    pub ended: String,
    /// How often in a row it was put back without a new trial.
    pub idle: u32,
}

/// A shard's progress file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct ShardProgress {
    /// Trials that are done, those of earlier starts among them.
    pub done: u64,
    /// Trials that are planned; None: as many as the time allows.
    pub planned: Option<u64>,
}

/// The folder.
#[derive(Clone, Debug)]
pub struct Folder {
    path: PathBuf,
}

/// Keeps other processes from waiting for the same night; ends with the process.
#[derive(Debug)]
pub struct Lock(#[allow(dead_code, reason = "holds the lock")] Option<File>);

impl Folder {
    /// The folder of a night, made if need be.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn make(shards: &Path, label: &str) -> Result<Self, SlurmError> {
        let path = shards.join(label);
        fs::create_dir_all(&path).map_err(|source| SlurmError::Io { path: path.clone(), source })?;
        Ok(Self { path })
    }

    /// A file in it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Results of a shard.
    pub fn results(&self, shard: u32) -> PathBuf {
        self.file(&format!("shard-{shard}.sqlite"))
    }

    /// Locks it for this process. None: the file system knows no locks.
    ///
    /// # Errors
    /// When another process holds the lock, or the file cannot be made.
    pub fn lock(&self) -> Result<(Lock, Option<io::Error>), SlurmError> {
        let path = self.file("lock");
        let open = File::options().create(true).truncate(false).write(true).open(&path);
        let file = open.map_err(|source| SlurmError::Io { path: path.clone(), source })?;
        match file.try_lock() {
            Ok(()) => Ok((Lock(Some(file)), None)),
            Err(TryLockError::WouldBlock) => Err(SlurmError::Busy { lock: path }),
            Err(TryLockError::Error(error)) => Ok((Lock(None), Some(error))),
        }
    }

    /// What `job.json` says; None: there is none.
    ///
    /// # Errors
    /// When it cannot be read, or is of another version.
    pub fn job(&self) -> Result<Option<SlurmJob>, SlurmError> {
        let path = self.file("job.json");
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(SlurmError::Io { path, source }),
        };
        #[derive(Deserialize)]
        struct Version {
            schema: u32,
        }
        let wrong = |why: String| SlurmError::Record { path: path.clone(), why };
        let version: Version = serde_json::from_slice(&text).map_err(|error| wrong(error.to_string()))?;
        if version.schema != SCHEMA {
            return Err(wrong(format!(
                "has schema {}; this version of Bugaroo knows schema {SCHEMA}",
                version.schema
            )));
        }
        serde_json::from_slice(&text).map(Some).map_err(|error| wrong(error.to_string()))
    }

    /// Writes `job.json`: whole or not at all.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn remember(&self, job: &SlurmJob) -> Result<(), SlurmError> {
        let mut text = serde_json::to_vec_pretty(job).expect("a record has nothing that JSON lacks");
        text.push(b'\n');
        self.write("job.json", &text)
    }

    /// Forgets it again.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn forget(&self) -> Result<(), SlurmError> {
        let path = self.file("job.json");
        fs::remove_file(&path).map_err(|source| SlurmError::Io { path, source })
    }

    /// Writes a file: whole or not at all.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, name: &str, text: &[u8]) -> Result<(), SlurmError> {
        let (new, path) = (self.file(&format!("{name}.new")), self.file(name));
        let write = || {
            let mut file = File::create(&new)?;
            file.write_all(text)?;
            file.sync_all()?;
            fs::rename(&new, &path)
        };
        write().map_err(|source| SlurmError::Io { path: path.clone(), source })
    }

    /// How far a shard is; None: it has not said.
    pub fn progress(&self, shard: u32) -> Option<ShardProgress> {
        let text = fs::read(self.file(&format!("shard-{shard}.progress"))).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// Exit code that a shard's script has left behind; None: it has not ended, or was killed.
    pub fn exit(&self, shard: u32) -> Option<u8> {
        fs::read_to_string(self.file(&format!("shard-{shard}.exit"))).ok()?.trim().parse().ok()
    }

    /// The last lines of a shard's log, each with a bar before it; empty where it has none.
    pub fn tail(&self, shard: u32) -> String {
        let path = self.file(&format!("shard-{shard}.log"));
        let read = || -> io::Result<Vec<u8>> {
            let mut file = File::open(&path)?;
            let length = file.metadata()?.len();
            file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)))?;
            let mut text = Vec::new();
            file.take(TAIL_BYTES).read_to_end(&mut text)?;
            Ok(text)
        };
        let text = read().unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        if lines.is_empty() {
            return String::new();
        }
        let last = &lines[lines.len().saturating_sub(TAIL_LINES)..];
        format!("; the end of {}:\n  | {}", path.display(), last.join("\n  | "))
    }
}

#[cfg(test)]
mod tests;
