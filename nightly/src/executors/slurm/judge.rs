//! What becomes of a task that Slurm tells of.

use super::state::{Task, TaskState};

/// What is to be done about a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NextMove {
    /// It waits.
    Wait,
    /// It runs.
    Run,
    /// Its shard is complete.
    Done,
    /// It is put back into the queue, and goes on from its results.
    Again {
        /// What ended it.
        why: String,
        /// How often in a row it may come back without a new trial.
        idle: u32,
    },
    /// It is not run again.
    Missing(String),
}

/// Times that a node may be lost or taken away, or a task be told to stop, before it has done a single new trial.
const LOST_IDLE: u32 = 3;

/// What is to be done about a task, by its state and exit code alone.
pub fn judge(task: &Task) -> NextMove {
    let node = match task.node.as_str() {
        "" => String::new(),
        node => format!(" on {node}"),
    };
    match task.state {
        TaskState::Waits => NextMove::Wait,
        TaskState::Runs => NextMove::Run,
        TaskState::Completed => NextMove::Done,
        TaskState::Failed => match (task.code, task.signal) {
            (Some(code), None) => failed(code, &node),
            (_, signal) => killed(signal.unwrap_or_default(), &node),
        },
        TaskState::TimeOut => again(format!("ran out of its time limit{node}"), 0),
        TaskState::Lost => again(format!("was lost{node} ({})", task.word), LOST_IDLE),
        TaskState::Cancelled => NextMove::Missing(format!("it was cancelled{node} ({})", task.word)),
        TaskState::OutOfMemory => NextMove::Missing(format!(
            "it took more memory{node} than it may: write a larger `memory` or fewer `cpus` into [slurm]"
        )),
        TaskState::Over => NextMove::Missing(format!("Slurm ended it{node} ({})", task.word)),
    }
}

/// What an exit code of the script means; 0 and 1 are no failures. A shard that was stopped is not complete, whatever it has
/// found: its code is 130.
pub fn failed(code: u8, node: &str) -> NextMove {
    match code {
        0 | 1 => NextMove::Done,
        2 => NextMove::Missing(format!("its command line or the plan will not do{node} (exit code 2)")),
        5 => NextMove::Missing(format!("Bugaroo or the machine is at fault{node} (exit code 5)")),
        126 | 127 => NextMove::Missing(format!(
            "the program bugaroo cannot be started{node} (exit code {code}): all nodes must see it under the same path"
        )),
        130 => again(format!("was stopped{node}"), LOST_IDLE),
        // The shell's codes for a child that a signal ended.
        129..=192 => killed(code - 128, node),
        code => NextMove::Missing(format!("it failed{node} (exit code {code})")),
    }
}

/// SIGTERM comes from outside, as when a node goes down; others may be of the program's own making.
fn killed(signal: u8, node: &str) -> NextMove {
    let idle = if i32::from(signal) == libc::SIGTERM { LOST_IDLE } else { 0 };
    again(format!("was killed by signal {signal}{node}"), idle)
}

fn again(why: String, idle: u32) -> NextMove {
    NextMove::Again { why, idle }
}

#[cfg(test)]
mod tests;
