//! `bugaroo man` and `bugaroo completions`: both are made from the definition of the command line.

use std::fs;

use anyhow::Context as _;
use clap::{Command, CommandFactory as _};
use clap_complete::generate;
use clap_mangen::Man;

use crate::args::{Cli, CompletionsArgs, ManArgs};
use crate::exit::{Exit, UsageError};
use crate::output::print;

/// Prints what a shell reads.
pub fn completions(args: &CompletionsArgs) -> anyhow::Result<Exit> {
    let mut command = Cli::command();
    let name = command.get_name().to_owned();
    let mut text = Vec::new();
    generate(args.shell, &mut command, name, &mut text);
    print(&String::from_utf8_lossy(&text))?;
    Ok(Exit::Clean)
}

/// Prints a manual page, or writes all of them.
pub fn man(args: &ManArgs) -> anyhow::Result<Exit> {
    let pages = pages();
    if let Some(folder) = &args.out {
        fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        for page in &pages {
            let path = folder.join(format!("{}.1", page.get_name()));
            fs::write(&path, roff(page)?).with_context(|| path.display().to_string())?;
        }
        return Ok(Exit::Clean);
    }
    let wanted = args.command.as_ref().map_or_else(|| "bugaroo".to_owned(), |name| format!("bugaroo-{name}"));
    let Some(page) = pages.iter().find(|page| page.get_name() == wanted) else {
        let name = args.command.as_deref().unwrap_or_default();
        return Err(UsageError(format!("bugaroo has no command {name}; bugaroo --help lists them")).into());
    };
    print(&String::from_utf8_lossy(&roff(page)?))?;
    Ok(Exit::Clean)
}

/// The command as a whole, then each of its own, under the names of their pages.
fn pages() -> Vec<Command> {
    let mut whole = Cli::command().disable_help_subcommand(true);
    whole.build();
    let own = whole.get_subcommands().map(|command| {
        let name = command.get_name();
        command.clone().name(format!("bugaroo-{name}")).bin_name(format!("bugaroo {name}"))
    });
    let own: Vec<Command> = own.collect();
    [vec![whole], own].concat()
}

fn roff(page: &Command) -> anyhow::Result<Vec<u8>> {
    let mut text = Vec::new();
    Man::new(page.clone()).render(&mut text)?;
    Ok(text)
}
