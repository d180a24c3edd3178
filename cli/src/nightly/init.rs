//! `bugaroo init`.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};

use anyhow::Context;
use bugaroo_nightly::plan::{Plan, first};

use crate::args::InitArgs;
use crate::exit::{Exit, UsageError};
use crate::output::{note, shell_word};

/// Writes a first plan.
pub fn init(args: &InitArgs) -> anyhow::Result<Exit> {
    let programs: Vec<Vec<String>> = args.programs.iter().map(|program| vec![program.clone()]).collect();
    let path = args.output.display();
    let mut file = match OpenOptions::new().write(true).create_new(true).open(&args.output) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            let what = format!("{path} is there already: name another file with --output, or move it away");
            return Err(UsageError(what).into());
        }
        Err(error) => return Err(UsageError(format!("{path}: {error}")).into()),
    };
    file.write_all(first::plan(&programs).as_bytes()).with_context(|| format!("cannot write {path}"))?;
    // What was written is read back: a program's name may be one that plans do not take.
    Plan::read(&args.output).map_err(|error| UsageError(error.to_string()))?;
    let name = shell_word(&args.output.display().to_string());
    note(format_args!("wrote {path}; look at it, then: bugaroo nightly --dry-run {name}"));
    Ok(Exit::Clean)
}
