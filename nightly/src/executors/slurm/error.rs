//! Why a night could not be run on Slurm, and what to do about it.

use std::io;
use std::path::PathBuf;

use super::tool::ToolError;

/// Why a night could not be run on Slurm, or not to its end.
#[derive(Debug, thiserror::Error)]
pub enum SlurmError {
    /// The plan has no `[slurm]`.
    #[error("{}: the executor `slurm` needs a table [slurm] with `shards`", plan.display())]
    NoTable {
        /// The plan.
        plan: PathBuf,
    },
    /// A command of Slurm's is not there, or failed for good.
    #[error(transparent)]
    Tool(#[from] ToolError),
    /// The night's name, or a path, cannot be told to Slurm.
    #[error("{what} cannot be handed to Slurm: {why}")]
    Unspeakable {
        /// What: a label, a path.
        what: String,
        /// Why not.
        why: &'static str,
    },
    /// An option that the executor needs for itself.
    #[error("`options` under [slurm] has {option}, which the executor sets itself or cannot work with")]
    Reserved {
        /// The option as it is written.
        option: String,
    },
    /// A file cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The night's record is not what it should be.
    #[error("{}: {why}", path.display())]
    Record {
        /// The record.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// The plan is not the one that was submitted.
    #[error(
        "the plan has changed since night {label} was submitted as job {job}: \
         give the new night another label, or undo the change to go on with the old one"
    )]
    Changed {
        /// The night.
        label: String,
        /// Its job.
        job: String,
    },
    /// Another process waits for the same night.
    #[error("another process waits for this night already: it holds {}", lock.display())]
    Busy {
        /// The file that it has locked.
        lock: PathBuf,
    },
    /// The night's job is not over.
    #[error("job {job} of this night is still in the queue: wait for it, or end it with `scancel {job}`")]
    Runs {
        /// The job.
        job: u32,
    },
    /// More shards than an array may have.
    #[error(
        "`shards` is {shards}, but this Slurm takes arrays of at most {most} tasks \
         (one less than MaxArraySize): write fewer shards into [slurm]"
    )]
    TooMany {
        /// As the plan says.
        shards: u32,
        /// As many as may be.
        most: u32,
    },
    /// A limit on submitted jobs.
    #[error(
        "Slurm does not take {shards} tasks: the limit {limit} of the account or the QOS is reached. \
         Write fewer `shards` or another `qos` or `account` into [slurm], \
         or try again when fewer jobs are in the queue. sbatch said: {said}"
    )]
    Limit {
        /// Tasks that were submitted.
        shards: u32,
        /// The limit, as Slurm calls it.
        limit: String,
        /// All that it said.
        said: String,
    },
    /// Slurm does not take the job, for good.
    #[error("Slurm does not take the job; look at [slurm] of the plan. sbatch said: {said}")]
    Refused {
        /// What it said.
        said: String,
    },
    /// A command of Slurm's printed what it should not.
    #[error(
        "`{tool}` printed a line that cannot be read: {line:?}. The job goes on, if it was submitted; \
         this version does not understand this Slurm"
    )]
    Unreadable {
        /// The command.
        tool: &'static str,
        /// The line.
        line: String,
    },
    /// Stopped by the user before anything was submitted.
    #[error("stopped; nothing was submitted")]
    NotSubmitted,
    /// Stopped by the user; the job goes on.
    #[error(
        "stopped waiting; job {job} goes on. The same command with the label {label} takes it up again; \
         `scancel {job}` ends it"
    )]
    Left {
        /// The job.
        job: u32,
        /// The night.
        label: String,
    },
}

impl SlurmError {
    /// Whether the user wished it.
    pub fn is_interrupt(&self) -> bool {
        matches!(self, SlurmError::NotSubmitted | SlurmError::Left { .. })
    }
}
