//! What is wrong with a text that is not PTX.

use thiserror::Error;

/// The longest offending text that an error quotes, in characters.
const QUOTED: usize = 40;

/// The text is not a PTX module: where, and why.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{line}:{column}: {message}, at {}", quoted(.text))]
pub struct ParseError {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// The offending text as it stands (at most 40 characters of it); empty at the end of the input.
    pub text: String,
    /// What was expected, in a few words.
    pub message: String,
}

impl ParseError {
    /// An error about the bytes `start..end` of `source`. Both must lie on character boundaries.
    pub(crate) fn new(source: &str, start: usize, end: usize, message: impl Into<String>) -> ParseError {
        let before = &source[..start];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        ParseError {
            line: count(before.bytes().filter(|byte| *byte == b'\n').count()).saturating_add(1),
            column: count(before[line_start..].chars().count()).saturating_add(1),
            text: source[start..end].chars().take(QUOTED).collect(),
            message: message.into(),
        }
    }
}

/// The offending text on one line, between quotes.
fn quoted(text: &str) -> String {
    if text.is_empty() { "the end of the text".to_owned() } else { format!("{text:?}") }
}

#[cfg(test)]
mod tests;
