//! What is asked for, what comes of it, and who is told meanwhile.

use std::path::PathBuf;
use std::time::Duration;

/// How often Slurm is asked. Its controller serves a whole cluster, so not more often.
pub const POLL: Duration = Duration::from_secs(10);

/// What is to be run.
#[derive(Clone, Debug)]
pub struct SlurmRequest {
    /// The program `bugaroo`, which the nodes see under the same path.
    pub bugaroo: PathBuf,
    /// How the night is called.
    pub label: String,
    /// Seed that all trials stem from. A night that was submitted before keeps its own.
    pub seed: u64,
    /// Submits a night once more whose job has left shards missing. They go on from their results; those that are complete end at
    /// once. Says nothing where the night was not submitted yet.
    pub again: bool,
    /// How often Slurm is asked: [`POLL`].
    pub poll: Duration,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlurmCollected {
    /// The job.
    pub job: u32,
    /// Seed that its trials stem from.
    pub seed: u64,
    /// Shards that are complete, counted from 1, and their results.
    pub done: Vec<(u32, PathBuf)>,
    /// Shards that are not, and why. Some may have left results of a part.
    pub missing: Vec<(u32, String)>,
}

/// How it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlurmProgress {
    /// The job.
    pub job: u32,
    /// Shards there are.
    pub shards: u32,
    /// Those that wait.
    pub waiting: u32,
    /// Those that run.
    pub running: u32,
    /// Those that are complete.
    pub done: u32,
    /// Those that never will be.
    pub missing: u32,
    /// Trials that are done.
    pub trials: u64,
    /// Trials that are planned; None: not all shards have said, or as many as the time allows.
    pub planned: Option<u64>,
    /// Why those that wait do, in Slurm's words, where none runs; empty: not told.
    pub reason: String,
}

/// Who is told how it goes.
pub trait Tell: Send + Sync {
    /// Something happened; for a person, and may have several lines.
    fn line(&self, line: &str);
    /// How it stands now. Said after each question to Slurm.
    fn progress(&self, progress: &SlurmProgress);
}
