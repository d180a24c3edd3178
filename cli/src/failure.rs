//! A failing trial, for people.

use std::fmt::Write;

use bugaroo_harness::TrialRecord;
use bugaroo_protocol::{BlockedThread, LaunchEnd};

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
    if let Some(LaunchEnd::Fault(fault)) = failure.launch.as_ref().map(|launch| &launch.end) {
        line(&mut text, &format!("{} at {}", threads(&fault.at), place(&fault.at)));
    }
    if let Some(last) = failure.last_line() {
        line(&mut text, &format!("it said: {last}"));
    }
    text
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

fn threads(group: &BlockedThread) -> String {
    let point = |[x, y, z]: [u32; 3]| format!("({x},{y},{z})");
    match group.threads {
        0 | 1 => format!("block {} thread {}", point(group.block), point(group.thread)),
        count => format!("block {}: {count} threads from {}", point(group.block), point(group.thread)),
    }
}

fn place(group: &BlockedThread) -> String {
    let mut text = group.function.clone();
    if let Some(source) = &group.source {
        text += &format!(", {}:{}", source.file, source.line);
    }
    if let Some(line) = group.ptx_line {
        text += &format!(", PTX line {line}");
    }
    format!("{text}: {}", group.instruction.trim())
}
