//! A failing trial, for people.

use std::fmt::Write;

use bugaroo_protocol::{BlockedThread, LastWrite, LaunchEnd, MissingEdge, Spin, StaleRead};

use crate::names::demangled;
use crate::record::TrialRecord;

/// Groups of waiting threads that are shown.
const SHOWN: usize = 8;

/// What is known of a trial's failure, each line behind two spaces; nothing for a pass.
pub fn describe(record: &TrialRecord) -> String {
    let mut text = String::new();
    let Some(failure) = &record.failure else { return text };
    let waiting = failure.diagnosis().map(|diagnosis| diagnosis.waiting.as_slice()).unwrap_or_default();
    for group in waiting.iter().take(SHOWN) {
        line(&mut text, &format!("{} stand at {}", threads(group), place(group)));
    }
    if waiting.len() > SHOWN {
        line(&mut text, &format!("… and {} more groups of threads", waiting.len() - SHOWN));
    }
    spins(&mut text, failure.diagnosis().map(|diagnosis| diagnosis.spins.as_slice()).unwrap_or_default());
    if let Some(LaunchEnd::Fault(fault)) = failure.launch.as_ref().map(|launch| &launch.end) {
        line(&mut text, &format!("{} at {}", threads(&fault.at), place(&fault.at)));
    }
    stale(&mut text, &failure.stale_reads);
    if let Some(last) = failure.last_line() {
        line(&mut text, &format!("it said: {last}"));
    }
    text
}

/// What threads that run read again and again, and who wrote it last.
fn spins(text: &mut String, spins: &[Spin]) {
    for Spin { at, value, memory, last_write, .. } in spins.iter().take(SHOWN) {
        let verb = if at.threads == 1 { "reads" } else { "read" };
        line(text, &format!("{} {verb} {value} from {memory} again and again at {}", threads(at), place(at)));
        match last_write {
            LastWrite::Nobody => line(text, "  no thread of the launch has written it"),
            LastWrite::Unknown => line(text, "  who wrote it last is not known any more"),
            LastWrite::Thread { at, held } => {
                let how = if *held {
                    "a store to it is held back that nothing orders: by"
                } else {
                    "last written by"
                };
                line(text, &format!("  {how} {} at {}", threads(at), place(at)));
            }
        }
    }
}

/// Kinds of stale reads that are shown.
const STALE: usize = 4;

/// Which loads read older values than they were meant to, and which edge was missing. What the threads synchronise by is told
/// only where there is nothing else.
fn stale(text: &mut String, reads: &[StaleRead]) {
    let plain = reads.iter().filter(|read| !read.synchronising).count();
    let shown = if plain == 0 { reads.len() } else { plain };
    for read in reads.iter().take(shown.min(STALE)) {
        let times = if read.count == 1 { "once".to_owned() } else { format!("{} times", read.count) };
        line(text, &format!("a load read an older value than memory held, {times}:"));
        line(text, &format!("  {} at {}", threads(&read.load), place(&read.load)));
        line(text, &format!("  did not see what {} wrote at {}", threads(&read.write), place(&read.write)));
        let missing = match read.missing {
            MissingEdge::Release => {
                "no release: the writer executed no fence or release between that and its flag"
            }
            MissingEdge::Acquire => {
                "no acquire: the reader executed no fence or acquire since the writer's release"
            }
            MissingEdge::Scope => {
                "the scope is too narrow: that of the release or of the acquire leaves the other out"
            }
            MissingEdge::Strong => {
                "no strong pair: no volatile, relaxed or atomic load of the reader saw such a store of the writer"
            }
        };
        line(text, &format!("  {missing}"));
    }
    if shown > STALE {
        line(text, &format!("… and {} more kinds of such loads", shown - STALE));
    }
}

/// The reason of a trial's failure, behind its outcome.
pub fn outcome(record: &TrialRecord) -> String {
    match &record.failure {
        Some(failure) => format!("{}: {}", record.outcome, failure.reason),
        None => record.outcome.to_string(),
    }
}

fn line(text: &mut String, line: &str) {
    writeln!(text, "  {line}").expect("writing to a string cannot fail");
}

/// Who stands there.
pub fn threads(group: &BlockedThread) -> String {
    let point = |[x, y, z]: [u32; 3]| format!("({x},{y},{z})");
    match group.threads {
        0 | 1 => format!("block {} thread {}", point(group.block), point(group.thread)),
        count => format!("block {}: {count} threads from {}", point(group.block), point(group.thread)),
    }
}

/// Where they stand.
pub fn place(group: &BlockedThread) -> String {
    let mut text = demangled(&group.function);
    if let Some(source) = &group.source {
        text += &format!(", {}:{}", source.file, source.line);
    }
    if let Some(line) = group.ptx_line {
        text += &format!(", PTX line {line}");
    }
    format!("{text}: {}", group.instruction.trim())
}
