//! The files of a run directory.

/// Version of `run.json` and `trials.jsonl`. Raised whenever either changes shape, or seeds their meaning.
pub const SCHEMA: u32 = 1;

/// Configuration and baseline.
pub(super) const RUN: &str = "run.json";
/// The same while it is written.
pub(super) const RUN_NEW: &str = "run.json.new";
/// A line for each finished trial.
pub(super) const TRIALS: &str = "trials.jsonl";
/// Locked while a run writes.
pub(super) const LOCK: &str = "lock";
/// What the program found on its standard input.
pub(super) const STDIN: &str = "stdin";
