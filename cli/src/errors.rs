//! Errors as they are printed: a line for people, and an object with `error` where JSON was asked for.

use std::ffi::OsString;

use bugaroo_harness::record::Failure;
use bugaroo_harness::{BaselineFailure, Error, Finding, Outcome};
use clap::CommandFactory;
use serde::Serialize;

use crate::args::{Cli, Command, Format, RaceFormat};
use crate::exit::{Exit, of_error};
use crate::output::{chain, note, print_json};
use crate::race::sarif;

impl Command {
    /// How it prints what it has found.
    pub fn format(&self) -> Format {
        match self {
            Command::Run(args) => args.format,
            Command::Bisect(args) => args.run.format,
            Command::Profile(args) => args.format,
            Command::Sites(args) => args.format,
            Command::Race(args) => args.format.of_errors(),
            Command::Verify(args) => args.format,
            Command::Litmus(args) => args.format,
            Command::Nightly(args) => args.format,
            Command::History(args) => args.format,
            Command::Merge(args) => args.format,
            Command::Replay(_)
            | Command::Instrument(_)
            | Command::Init(_)
            | Command::Completions(_)
            | Command::Man(_) => Format::Human,
        }
    }

    /// What findings exit with.
    pub fn error_exitcode(&self) -> u8 {
        match self {
            Command::Run(args) => args.error_exitcode,
            Command::Bisect(args) => args.run.error_exitcode,
            Command::Verify(args) => args.error_exitcode,
            Command::Litmus(args) => args.error_exitcode,
            Command::Race(args) => args.error_exitcode,
            Command::Nightly(args) => args.error_exitcode,
            Command::Merge(args) => args.error_exitcode,
            _ => 1,
        }
    }
}

#[derive(Serialize)]
struct Json<'a> {
    schema: u32,
    error: String,
    exit_code: u8,
    #[serde(flatten)]
    baseline: Option<Baseline<'a>>,
}

/// What was seen of a program that fails without injection.
#[derive(Serialize)]
struct Baseline<'a> {
    app: String,
    outcome: Outcome,
    #[serde(flatten)]
    failure: &'a Failure,
    schedules: Schedules,
    findings: &'a [Finding],
}

#[derive(Serialize)]
struct Schedules {
    trials: u64,
    failures: u64,
}

/// Says what is wrong, and gives what to exit with.
pub fn tell(error: &anyhow::Error, command: &Command) -> Exit {
    let exit = match of_error(error) {
        Exit::Findings(_) => Exit::Findings(command.error_exitcode()),
        other => other,
    };
    let start = if exit == Exit::Interrupted { "" } else { "error: " };
    let said = chain(error);
    note(format_args!("{start}{said}"));
    if let Command::Race(args) = command
        && args.format == RaceFormat::Sarif
        && let Err(error) = print_json(&sarif::failed(&said, exit))
    {
        note(format_args!("error: {}", chain(&error)));
    }
    if command.format() == Format::Json {
        let failure = error.chain().find_map(|cause| match cause.downcast_ref::<Error>() {
            Some(Error::Baseline(failure)) => Some(&**failure),
            _ => None,
        });
        object(said, exit, failure);
    }
    exit
}

/// Prints the object; who cannot be told so was told on standard error.
fn object(error: String, exit: Exit, failure: Option<&BaselineFailure>) {
    let baseline = failure.map(|failure| Baseline {
        app: failure.app.display().to_string(),
        outcome: failure.outcome,
        failure: &failure.failure,
        schedules: Schedules { trials: failure.schedules.total(), failures: failure.schedules.failures() },
        findings: &failure.findings.all,
    });
    if let Err(error) = print_json(&Json { schema: 1, error, exit_code: exit.code(), baseline }) {
        note(format_args!("error: {}", chain(&error)));
    }
}

/// Says that a command line cannot be understood, or what it asked to know of the command itself.
pub fn usage(error: &clap::Error, words: &[OsString]) -> Exit {
    // Nobody listens: no reason to stop.
    let _ = error.print();
    if !error.use_stderr() {
        return Exit::Clean;
    }
    if json_was_asked_for(words.iter().cloned()) {
        let text = error.render().to_string();
        object(text.trim_start_matches("error: ").trim_end().to_owned(), Exit::Usage, None);
    }
    Exit::Usage
}

/// Whether a command line that is not understood asks for JSON. What follows the program's name is the program's own.
fn json_was_asked_for(words: impl IntoIterator<Item = OsString>) -> bool {
    let mut words = words.into_iter().skip(1).map(|word| word.to_string_lossy().into_owned());
    let cli = Cli::command();
    let Some(command) = words.next().and_then(|name| cli.find_subcommand(&name).cloned()) else {
        return false;
    };
    let has_program = command.get_positionals().any(clap::Arg::is_trailing_var_arg_set);
    let takes_value = |name: &str| {
        let option = command.get_arguments().find(|option| option.get_long() == Some(name));
        option.is_some_and(|option| option.get_action().takes_values())
    };
    let mut json = false;
    while let Some(word) = words.next() {
        let Some(option) = word.strip_prefix("--").filter(|name| !name.is_empty()) else {
            if word == "--" || has_program && !word.starts_with('-') {
                break;
            }
            continue;
        };
        let (name, value) = match option.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (option, if takes_value(option) { words.next() } else { None }),
        };
        if name == "format" {
            json = value.as_deref() == Some("json");
        }
    }
    json
}

#[cfg(test)]
mod tests;
