//! Slurm's commands.

use std::ffi::OsStr;
use std::io;
use std::path::PathBuf;
use std::process::Stdio;

use tokio::process::Command;

/// A command of Slurm's.
#[derive(Clone, Debug)]
pub struct Tool {
    name: &'static str,
    program: PathBuf,
}

/// Why a command did not do it.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// It is not there.
    #[error("`{0}` is not on this machine: Slurm's commands are wanted in PATH")]
    Missing(&'static str),
    /// It cannot be started.
    #[error("`{name}` cannot be started: {source}")]
    Start {
        /// The command.
        name: &'static str,
        /// Why not.
        source: io::Error,
    },
    /// It failed.
    #[error("`{name}` failed: {said}")]
    Failed {
        /// The command.
        name: &'static str,
        /// What it wrote to its standard error.
        said: String,
    },
}

impl ToolError {
    /// What the command said; empty where it did not come to that.
    pub fn said(&self) -> &str {
        match self {
            ToolError::Failed { said, .. } => said,
            _ => "",
        }
    }
}

/// Variables that would change what the commands print, or which jobs they look at.
fn misleads(variable: &OsStr) -> bool {
    let name = variable.to_string_lossy();
    ["SQUEUE_", "SACCT_", "SCONTROL_"].iter().any(|start| name.starts_with(start))
        || ["SLURM_CLUSTERS", "SBATCH_CLUSTERS", "SBATCH_WAIT"].contains(&name.as_ref())
}

impl Tool {
    /// The command of this name, somewhere else than in PATH.
    pub fn at(name: &'static str, program: PathBuf) -> Self {
        Self { name, program }
    }

    /// Runs it and returns what it printed. It does not see the terminal's Ctrl-C; it is killed where the future is dropped.
    ///
    /// # Errors
    /// When it is not there, or fails.
    pub async fn run(&self, arguments: &[String]) -> Result<String, ToolError> {
        let mut command = Command::new(&self.program);
        command.args(arguments).stdin(Stdio::null()).process_group(0).kill_on_drop(true);
        for (variable, _) in std::env::vars_os().filter(|(variable, _)| misleads(variable)) {
            command.env_remove(variable);
        }
        // A job inherits the environment of `sbatch`, so that one gets nothing of ours.
        if self.name != "sbatch" {
            // Lists of tasks are cut off else; times are as they are expected.
            command.env("SLURM_BITSTR_LEN", "0").env("SLURM_TIME_FORMAT", "standard");
        }
        let output = command.output().await.map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => ToolError::Missing(self.name),
            _ => ToolError::Start { name: self.name, source },
        })?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        // `sacct` says on standard output that there is no accounting.
        let said = [&output.stderr[..], &output.stdout[..]].concat();
        let said = String::from_utf8_lossy(&said).trim().to_owned();
        let said = if said.is_empty() { output.status.to_string() } else { said };
        Err(ToolError::Failed { name: self.name, said })
    }
}

/// The commands that are used.
#[derive(Clone, Debug)]
pub struct Tools {
    /// Submits.
    pub sbatch: Tool,
    /// Tells of tasks that the controller knows.
    pub squeue: Tool,
    /// Tells of tasks that the accounting knows.
    pub sacct: Tool,
    /// Puts tasks back into the queue, and knows the configuration.
    pub scontrol: Tool,
}

impl Tools {
    /// Those in PATH.
    pub fn in_path() -> Self {
        let tool = |name: &'static str| Tool::at(name, name.into());
        Self {
            sbatch: tool("sbatch"),
            squeue: tool("squeue"),
            sacct: tool("sacct"),
            scontrol: tool("scontrol"),
        }
    }
}
