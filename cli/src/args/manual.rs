//! What `completions` and `man` take.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

/// Options of `completions`.
#[derive(Clone, Debug, Args)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    pub shell: Shell,
}

/// Options of `man`.
#[derive(Clone, Debug, Args)]
pub struct ManArgs {
    /// The command; without one, the page of bugaroo as a whole
    #[arg(value_name = "COMMAND")]
    pub command: Option<String>,
    /// Write all pages into this folder, as `bugaroo.1`, `bugaroo-run.1` and so on
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    pub out: Option<PathBuf>,
}
