//! The states of an array's tasks, as Slurm prints them.
//!
//! Source: the man pages of `squeue` and `sacct`, "JOB STATE CODES" (22.05; words of later versions are known, too).
//! Reading is strict: a line that is not understood is an error, never a task that is overlooked.

use std::collections::BTreeMap;

use super::error::SlurmError;

/// What `squeue --Format` is asked for. Each field ends with a bar, so that none is cut off.
pub const SQUEUE_FIELDS: &str = "ArrayTaskID:|,State:|,exit_code:|,NodeList:|,EndTime:|,Reason:|";
/// What `sacct --format` is asked for.
pub const SACCT_FIELDS: &str = "JobID,State,ExitCode,NodeList,End";

/// The state of a task, by what is to be done about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskState {
    /// It will run, or run again.
    Waits,
    /// It runs, or something of it still does.
    Runs,
    /// It ended, with exit code 0.
    Completed,
    /// It ended with another exit code.
    Failed,
    /// It ran out of its time.
    TimeOut,
    /// Its node failed or was taken away.
    Lost,
    /// Someone cancelled it.
    Cancelled,
    /// It took more memory than it may.
    OutOfMemory,
    /// Its deadline passed, or it was handed to another cluster.
    Over,
}

/// What Slurm knows of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// What it does.
    pub state: TaskState,
    /// The state in Slurm's words.
    pub word: String,
    /// Exit code of its script; None: it has none, or a signal ended it.
    pub code: Option<u8>,
    /// The signal that ended it.
    pub signal: Option<u8>,
    /// Its node; empty: none yet.
    pub node: String,
    /// When it ended: with the task, this tells one end from another. Slurm's words.
    pub ended: String,
    /// Why it waits, in Slurm's words; empty: not told.
    pub reason: String,
}

/// Tasks by their numbers in the array.
pub type Tasks = BTreeMap<u32, Task>;

fn state(word: &str) -> Option<TaskState> {
    Some(match word {
        "PENDING" | "REQUEUED" | "REQUEUE_FED" | "REQUEUE_HOLD" | "RESV_DEL_HOLD" | "SPECIAL_EXIT"
        | "EXPEDITING" => TaskState::Waits,
        "RUNNING" | "CONFIGURING" | "COMPLETING" | "RESIZING" | "SIGNALING" | "STAGE_OUT" | "STOPPED"
        | "SUSPENDED" => TaskState::Runs,
        "COMPLETED" => TaskState::Completed,
        "FAILED" => TaskState::Failed,
        "TIMEOUT" => TaskState::TimeOut,
        "NODE_FAIL" | "BOOT_FAIL" | "PREEMPTED" | "LAUNCH_FAILED" | "RECONFIG_FAIL" => TaskState::Lost,
        "CANCELLED" => TaskState::Cancelled,
        "OUT_OF_MEMORY" => TaskState::OutOfMemory,
        "DEADLINE" | "REVOKED" => TaskState::Over,
        _ => return None,
    })
}

/// Exit code and signal: `5:0`, or, of `squeue`, the status as `wait` gives it.
fn exit(text: &str) -> Option<(Option<u8>, Option<u8>)> {
    let (code, signal) = match text.split_once(':') {
        Some((code, signal)) => (code.parse().ok()?, signal.parse().ok()?),
        None => {
            let status: u32 = text.parse().ok()?;
            (u8::try_from(status >> 8 & 0xff).ok()?, u8::try_from(status & 0x7f).ok()?)
        }
    };
    Some(match signal {
        0 => (Some(code), None),
        signal => (None, Some(signal)),
    })
}

/// `3`, `7-12%5` or `1,3,5-7%2`, of an array of so many tasks.
fn numbers(text: &str, shards: u32) -> Option<Vec<u32>> {
    let list = match text.split_once('%') {
        Some((list, most)) => {
            most.parse::<u32>().ok()?;
            list
        }
        None => text,
    };
    let mut all = Vec::new();
    for part in list.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        if first < 1 || last < first || last > shards {
            return None;
        }
        all.extend(first..=last);
    }
    Some(all)
}

fn none(text: &str) -> String {
    match text {
        "None assigned" | "None" | "Unknown" | "N/A" | "(null)" => String::new(),
        text => text.to_owned(),
    }
}

/// What `squeue` prints when asked for [`SQUEUE_FIELDS`].
///
/// # Errors
/// When a line is not as it should be.
pub fn of_squeue(printed: &str, shards: u32) -> Result<Tasks, SlurmError> {
    let mut tasks = Tasks::new();
    for line in printed.lines().filter(|line| !line.trim().is_empty()) {
        let read = || {
            let fields: Vec<&str> = line.trim_end().strip_suffix('|')?.split('|').map(str::trim).collect();
            let [which, word, code, node, ended, reason] = fields[..] else { return None };
            let (code, signal) = exit(code)?;
            let task = Task {
                state: state(word)?,
                word: word.to_owned(),
                code,
                signal,
                node: none(node),
                ended: none(ended),
                reason: none(reason),
            };
            Some((numbers(which, shards)?, task))
        };
        let (which, task) =
            read().ok_or_else(|| SlurmError::Unreadable { tool: "squeue", line: line.to_owned() })?;
        tasks.extend(which.into_iter().map(|number| (number, task.clone())));
    }
    Ok(tasks)
}

/// What `sacct` prints when asked for [`SACCT_FIELDS`] of a job, a line for each array task (`-X`).
///
/// # Errors
/// When a line is not as it should be.
pub fn of_sacct(printed: &str, job: u32, shards: u32) -> Result<Tasks, SlurmError> {
    let mut tasks = Tasks::new();
    for line in printed.lines().filter(|line| !line.trim().is_empty()) {
        let read = || {
            let fields: Vec<&str> = line.split('|').map(str::trim).collect();
            let [id, words, code, node, ended] = fields[..] else { return None };
            let which = id.strip_prefix(&format!("{job}_"))?;
            let which = match which.strip_prefix('[') {
                Some(list) => list.strip_suffix(']')?,
                None => which,
            };
            // `CANCELLED by 1000`
            let word = match words.split_once(" by ") {
                Some((word, user)) => user.parse::<u64>().ok().map(|_| word)?,
                None => words,
            };
            let (code, signal) = exit(code)?;
            let task = Task {
                state: state(word)?,
                word: words.to_owned(),
                code,
                signal,
                node: none(node),
                ended: none(ended),
                reason: String::new(),
            };
            Some((numbers(which, shards)?, task))
        };
        let (which, task) =
            read().ok_or_else(|| SlurmError::Unreadable { tool: "sacct", line: line.to_owned() })?;
        tasks.extend(which.into_iter().map(|number| (number, task.clone())));
    }
    Ok(tasks)
}

/// The job that `sbatch --parsable` has made.
///
/// # Errors
/// When that is not what it printed.
pub fn of_sbatch(printed: &str) -> Result<u32, SlurmError> {
    let line = printed.lines().last().unwrap_or_default().trim();
    line.parse().map_err(|_| SlurmError::Unreadable { tool: "sbatch", line: printed.trim().to_owned() })
}

#[cfg(test)]
mod tests;
