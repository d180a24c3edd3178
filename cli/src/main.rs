//! The `bugaroo` command: flags, exit codes, printing. What it does is in `bugaroo-harness` and its
//! like.

mod args;
mod bisect;
mod errors;
mod exit;
mod findings;
mod histogram;
mod input;
mod instrument;
mod libraries;
mod litmus;
mod manual;
mod nightly;
mod output;
mod profile;
mod ptxas;
mod race;
mod replay;
mod run;
mod setup;
mod sites;
mod verify;

use std::process::ExitCode;

use bugaroo_harness::limits;
use clap::Parser;

use args::apart::program_apart;
use args::{Cli, Command};
use exit::Exit;

fn main() -> ExitCode {
    limits::survive_file_size_limit();
    let words: Vec<_> = std::env::args_os().collect();
    if ptxas::is_meant(&words) {
        return ptxas::ptxas(&words);
    }
    let words = program_apart(words, verify::is_program);
    let command = match Cli::try_parse_from(&words) {
        Ok(cli) => cli.command,
        Err(error) => return errors::usage(&error, &words).into(),
    };
    let result = match &command {
        Command::Run(args) => run::run(args),
        Command::Bisect(args) => bisect::bisect(args),
        Command::Profile(args) => profile::profile(args),
        Command::Sites(args) => sites::sites(args),
        Command::Replay(args) => replay::replay(args),
        Command::Instrument(args) => instrument::instrument(args),
        Command::Race(args) => race::race(args),
        Command::Verify(args) => verify::verify(args),
        Command::Litmus(args) => litmus::litmus(args),
        Command::Nightly(args) => nightly::nightly(args),
        Command::Init(args) => nightly::init(args),
        Command::History(args) => nightly::history(args),
        Command::Merge(args) => nightly::merge(args),
        Command::Completions(args) => manual::completions(args),
        Command::Man(args) => manual::man(args),
    };
    let exit: Exit = result.unwrap_or_else(|error| errors::tell(&error, &command));
    exit.into()
}
