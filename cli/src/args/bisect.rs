//! What `bisect` takes besides what `run` does.

use std::path::PathBuf;

use clap::Args;

use super::run::RunArgs;

/// Options of `bisect`.
#[derive(Clone, Debug, Args)]
pub struct BisectArgs {
    /// Write the changes of the source to this file, as a unified diff for patch -p1
    #[arg(long, value_name = "FILE")]
    pub patch: Option<PathBuf>,
    /// Apply the changes to a copy of the source tree, build it there with this shell command, and run what it built
    #[arg(long, value_name = "CMD")]
    pub build: Option<String>,
    /// Apply the changes to the source; with --build only when what was built passes
    #[arg(long)]
    pub apply: bool,
    /// With --oracle race: races that are known, and that no fence is looked for; may be repeated
    #[arg(long, value_name = "FILE.toml")]
    pub suppressions: Vec<PathBuf>,
    #[command(flatten)]
    pub run: RunArgs,
}
