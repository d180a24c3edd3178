//! How many fields a struct has that holds shared state.
//!
//! State that several functions or files work on is understood as a whole, or not at all. With more fields than [`MOST`] nobody does:
//! those that are used together belong in a struct of their own, with a name that says what they are together.
//!
//! What is no shared state has as many fields as there are things to say. By their attributes these are known: what is written out or
//! read as text (`Serialize`, `Deserialize`), arguments of the command line (`Parser`, `Args`), and layouts that others fix (`repr(C)`).
//! The others stand in [`NO_STATE`].
//!
//! **What it misses.** Structs that macros make, and tuples.

use std::collections::BTreeMap;

use super::imports::{Crate, Module};
use super::tokens::Token;

/// Fields that a struct of shared state may have.
pub const MOST: usize = 10;

/// Structs that are no shared state, with the reason: the crate, the file's module, the name.
pub const NO_STATE: &[(&str, &str, &str, &str)] = &[
    ("barriers", "emulate::options", "KernelOptions", "options of a kernel, only read"),
    ("bisect", "syntax::spots", "Spot", "a place in a source, only read"),
    ("detectors", "ptx::record", "Record", "one access, packed: there are millions"),
    ("detectors", "scord::device", "Raced", "one race, as device code tells it"),
    ("detectors", "scord::layout", "EntryLayout", "where bits lie, by the paper's fields, only read"),
    ("detectors", "scord::layout", "Widths", "how wide bits are, by the paper's fields, only read"),
    ("detectors", "scord::metadata", "ScordEntry", "the paper's metadata entry, field by field"),
    ("detectors", "scord::raced", "Race", "one race, only read"),
    ("device-handlers", "layout", "Layout", "where arrays lie in device memory, only read"),
    ("harness", "campaign", "RunSummary", "an answer, only read"),
    ("harness", "report", "Report", "the sum of a trial's messages, as they are told"),
    ("harness", "settings", "Settings", "options of a session, only read"),
    ("harness", "trial", "Plan", "what a trial is to be, only read"),
    ("nightly", "plan", "Plan", "a plan, only read"),
    ("nightly", "plan", "PlanProgram", "a plan's program, only read"),
    ("nightly", "plan", "Slurm", "a plan's options, only read"),
    ("nightly", "reports::totals", "Totals", "a report's sums"),
    ("semantics", "event", "Access", "an event, only read"),
    ("simulator", "config", "DeviceConfig", "options of a device, only read"),
    ("simulator", "image", "CodeImage", "a loaded module as others see it, only read"),
    ("simulator", "launch", "Plan", "what is launched, only read"),
    ("simulator", "load::kernel", "KernelInfo", "what a launch has to know of a kernel, only read"),
    ("simulator", "load", "Program", "a loaded module, only read once it is loaded"),
];

/// Attributes of what is no shared state.
const WRITTEN_OUT: [&str; 4] = ["Serialize", "Deserialize", "Parser", "Args"];

/// The structs of a crate with more fields than [`MOST`], but for those whose attributes say that they are no shared state: how many, by
/// module and name.
pub fn large_structs(of: &Crate) -> BTreeMap<(Module, String), usize> {
    let mut found = BTreeMap::new();
    for (module, tokens) in of.files() {
        let mut attributes: Vec<&[Token]> = Vec::new();
        let mut index = 0;
        while index < tokens.len() {
            match &tokens[index..] {
                [Token::Sign('#'), Token::Sign('['), rest @ ..] => {
                    let end = index + 2 + inside(rest);
                    attributes.push(&tokens[index + 2..end]);
                    index = end + 1;
                    continue;
                }
                [Token::Word(word), Token::Word(name), rest @ ..] if word == "struct" => {
                    let fields = body(rest).map_or(0, fields);
                    if fields > MOST && !attributes.iter().any(|words| says(words)) {
                        found.insert((module.clone(), name.clone()), fields);
                    }
                    attributes.clear();
                }
                // Who may see a struct stands between it and its attributes.
                [Token::Word(word), ..]
                    if ["pub", "crate", "super", "self", "in"].contains(&word.as_str()) => {}
                [Token::Sign('(' | ')') | Token::Separator, ..] => {}
                _ => attributes.clear(),
            }
            index += 1;
        }
    }
    found
}

/// Whether an attribute says that it is no shared state.
fn says(attribute: &[Token]) -> bool {
    let word = |token: &Token, text: &str| matches!(token, Token::Word(word) if word == text);
    match attribute {
        [repr, Token::Sign('('), c, Token::Sign(')')] if word(repr, "repr") => word(c, "C"),
        [derive, rest @ ..] if word(derive, "derive") => {
            rest.iter().any(|token| WRITTEN_OUT.iter().any(|text| word(token, text)))
        }
        _ => false,
    }
}

/// How many tokens are there up to the one that closes what is open.
fn inside(tokens: &[Token]) -> usize {
    let mut depth = 0_usize;
    let closes = tokens.iter().position(|token| match token {
        Token::Sign('(' | '[' | '{') => {
            depth += 1;
            false
        }
        Token::Sign(')' | ']' | '}') if depth == 0 => true,
        Token::Sign(')' | ']' | '}') => {
            depth -= 1;
            false
        }
        _ => false,
    });
    closes.unwrap_or(tokens.len())
}

/// What stands between a struct's braces, if it has any.
fn body(behind_name: &[Token]) -> Option<&[Token]> {
    let mut depth = 0_usize;
    for (index, token) in behind_name.iter().enumerate() {
        match token {
            Token::Sign('<') => depth += 1,
            Token::Sign('>') => depth = depth.saturating_sub(1),
            Token::Sign('{') => {
                let rest = &behind_name[index + 1..];
                return Some(&rest[..inside(rest)]);
            }
            Token::Sign(';') => return None,
            // A tuple, but behind `where` a function's arguments.
            Token::Sign('(') if depth == 0 && index == 0 => return None,
            Token::Sign('(') if depth == 0 && behind_name[index - 1] == Token::Sign('>') => return None,
            _ => {}
        }
    }
    None
}

/// How many fields a struct has between its braces: each has one colon that is in nothing else.
fn fields(body: &[Token]) -> usize {
    let (mut count, mut index) = (0, 0);
    let mut angles = 0_usize;
    while index < body.len() {
        match &body[index] {
            Token::Sign('(' | '[' | '{') => index += 1 + inside(&body[index + 1..]),
            Token::Sign('-') if body.get(index + 1) == Some(&Token::Sign('>')) => index += 1,
            Token::Sign('<') => angles += 1,
            Token::Sign('>') => angles = angles.saturating_sub(1),
            Token::Sign(':') if angles == 0 => count += 1,
            _ => {}
        }
        index += 1;
    }
    count
}
