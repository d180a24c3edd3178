//! What a night does not say, and what narrows what it says: each report tells it.

use crate::night::{Night, NightProgram, Status};

use super::text::{count, line, number, short, stage};
use super::totals::Totals;

/// How much it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Something was not tested.
    Error,
    /// Something says less than it seems to.
    Warning,
    /// Good to know.
    Note,
}

impl Level {
    /// As SARIF writes it.
    pub fn name(self) -> &'static str {
        match self {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Note => "note",
        }
    }
}

/// Something of the kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    pub level: Level,
    /// Place in the list of programs; None: the night as a whole.
    pub program: Option<usize>,
    /// In a line, without the program's name.
    pub text: String,
}

/// Most characters of a message that goes into a line.
const MOST: usize = 300;

/// All of a night, what matters most first.
pub fn all(night: &Night) -> Vec<Limit> {
    let mut limits = Vec::new();
    let mut say = |level, text: String| limits.push(Limit { level, program: None, text });
    if !night.missing_shards.is_empty() {
        let shards: Vec<String> = night.missing_shards.iter().map(u32::to_string).collect();
        let (word, are) = if shards.len() == 1 { ("shard", "is") } else { ("shards", "are") };
        say(Level::Error, format!("The results of {word} {} {are} missing.", shards.join(", ")));
    }
    if night.ended.is_none() {
        say(Level::Error, "The night was killed, or still runs.".into());
    } else if !night.complete && night.missing_shards.is_empty() {
        say(Level::Error, "Not all of the plan was done.".into());
    }
    if Totals::of_night(night).nothing() {
        say(Level::Error, "Nothing was tested.".into());
    }
    night.notes.iter().for_each(|note| say(Level::Warning, short(note, MOST)));
    for (at, program) in night.programs.iter().enumerate() {
        let of = |(level, text)| Limit { level, program: Some(at), text };
        limits.extend(of_program(program).into_iter().map(of));
    }
    limits.sort_by_key(|limit| limit.level);
    limits
}

fn of_program(program: &NightProgram) -> Vec<(Level, String)> {
    let mut limits = Vec::new();
    let totals = Totals::of(program);
    if let Some(error) = &program.error {
        let said = format!("{} ({})", short(&error.message, MOST), stage(error.stage));
        match &error.expected {
            None => limits.push((Level::Error, format!("could not be run to the end: {said}"))),
            Some(reason) => {
                let reason = line(reason);
                limits.push((Level::Note, format!("not run to the end, as expected ({reason}): {said}")));
            }
        }
    }
    let silent: Vec<String> = (program.cells.iter().filter(|cell| cell.status == Status::Nothing))
        .map(|cell| cell.key.as_str())
        .chain(program.kernels.iter().filter(|it| it.status == Status::Nothing).map(|it| it.name.as_str()))
        .map(|name| short(name, 80))
        .collect();
    if !silent.is_empty() {
        limits.push((Level::Error, format!("says nothing: {}", listed(&silent))));
    }
    let fewer: Vec<String> = (program.cells.iter())
        .filter(|cell| cell.planned.is_some_and(|planned| cell.trials < planned))
        .map(|cell| {
            let planned = cell.planned.unwrap_or(cell.trials);
            format!("{} ({} of {})", short(&cell.key, 80), number(cell.trials), number(planned))
        })
        .collect();
    if !fewer.is_empty() {
        limits.push((Level::Warning, format!("fewer trials than planned: {}", listed(&fewer))));
    }
    let mut some = |value: u64, what: &str| {
        if value > 0 {
            limits.push((Level::Warning, format!("{} {what}", count(value, "trial", "trials"))));
        }
    };
    some(totals.slow, "slow: the time was up while device work went on; they say nothing");
    some(totals.killed, "killed from outside; they say nothing");
    some(
        totals.forgetful,
        "forgetful: the model ran out of memory for old writes, and showed less than it could",
    );
    if let Some(why) = &program.without_fork_server {
        limits.push((Level::Note, format!("runs without the fork server: {}", short(why, MOST))));
    }
    limits.extend(program.expectations.iter().map(|text| (Level::Warning, short(text, MOST))));
    limits.extend(program.notes.iter().map(|text| (Level::Note, short(text, MOST))));
    limits
}

/// The first few, and how many more there are.
fn listed(all: &[String]) -> String {
    const MOST: usize = 5;
    let text = all.iter().take(MOST).cloned().collect::<Vec<_>>().join(", ");
    match all.len().saturating_sub(MOST) {
        0 => text,
        more => format!("{text} and {more} more"),
    }
}
