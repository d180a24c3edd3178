//! The batch script: what each task of the array runs.

use std::path::Path;

use super::error::SlurmError;
use super::folder::Folder;
use super::request::SlurmRequest;
use crate::plan::{Plan, Slurm};

/// Its name in the night's folder. The job is known by this path until its number is written down.
pub const NAME: &str = "job.sh";

/// A path as text.
pub trait Spoken {
    /// As it is written in a script or an option.
    ///
    /// # Errors
    /// When it is no UTF-8, or has a line break.
    fn spoken(&self) -> Result<&str, SlurmError>;
}

impl Spoken for Path {
    fn spoken(&self) -> Result<&str, SlurmError> {
        let wrong = |why| SlurmError::Unspeakable { what: format!("{self:?}"), why };
        let text = self.to_str().ok_or_else(|| wrong("the path is no UTF-8"))?;
        match text.contains(['\n', '\r', '\0']) {
            true => Err(wrong("the path has a line break")),
            false => Ok(text),
        }
    }
}

/// Checks that a label can be the name of a folder.
///
/// # Errors
/// When it cannot.
pub fn check_label(label: &str) -> Result<(), SlurmError> {
    let wrong = |why| Err(SlurmError::Unspeakable { what: format!("the label {label:?}"), why });
    match label {
        "" | "." | ".." => wrong("it names no folder"),
        _ if label.contains(['/', '\\']) || label.chars().any(char::is_control) => {
            wrong("a folder is called by it: no slashes, no control characters")
        }
        _ if label.starts_with('-') => wrong("it would be taken for an option"),
        _ => Ok(()),
    }
}

/// A word for the shell.
pub fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// The script. It is no plain `exec`: a shard with findings is done, so Slurm gets 0 for it (one that was stopped exits with 130,
/// whatever it has found); and the exit code is kept beside the
/// results, for where Slurm has no accounting. What Slurm sends to the script alone is handed on.
///
/// # Errors
/// When a path cannot be written down.
pub fn script(
    plan: &Plan,
    slurm: &Slurm,
    request: &SlurmRequest,
    seed: u64,
    folder: &Folder,
) -> Result<String, SlurmError> {
    Ok(format!(
        r#"#!/bin/sh
# A shard of a night of Bugaroo, written by the executor `slurm`.
shard=$SLURM_ARRAY_TASK_ID
files={files}"$shard"
rm -f "$files.exit"
child=
stopped=
early=
# Before there is anybody to hand a signal on to.
trap 'stopped=yes; if [ -n "$child" ]; then kill -TERM "$child" 2>/dev/null; else early=yes; fi' TERM INT HUP
{bugaroo} nightly {plan} --shard "$shard"/{shards} --night {label} --seed {seed} --results "$files.sqlite" --jobs {jobs} &
child=$!
[ -z "$early" ] || kill -TERM "$child" 2>/dev/null
wait "$child"
code=$?
# A signal ends the wait, not the child.
while [ -n "$stopped" ]; do
  stopped=
  wait "$child"
  again=$?
  # 127: it had ended before, and its code is known.
  [ "$again" -eq 127 ] || code=$again
done
# Findings: the shard is done.
[ "$code" -ne 1 ] || code=0
echo "$code" >"$files.exit.new" && mv "$files.exit.new" "$files.exit"
exit "$code"
"#,
        files = quoted(folder.file("shard-").spoken()?),
        bugaroo = quoted(request.bugaroo.spoken()?),
        plan = quoted(plan.path.spoken()?),
        shards = slurm.shards,
        label = quoted(&request.label),
        jobs = slurm.cpus,
    ))
}

#[cfg(test)]
mod tests;
