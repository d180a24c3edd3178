//! What can be wrong with a test: with its text, or when it is run.

use std::fmt;

/// What kind of thing is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileFault {
    /// It is no litmus test.
    Syntax,
    /// It is one, but of something that this version does not have.
    Unsupported,
}

/// An error with its place in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestParseError {
    /// What kind of thing is wrong.
    pub fault: FileFault,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for TestParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for TestParseError {}

/// An error at a byte offset; [`Problem::at`] turns it into lines and columns.
#[derive(Debug)]
pub(crate) struct Problem {
    pub fault: FileFault,
    pub offset: usize,
    pub message: String,
}

impl Problem {
    pub fn syntax(offset: usize, message: impl Into<String>) -> Problem {
        Problem { fault: FileFault::Syntax, offset, message: message.into() }
    }

    pub fn unsupported(offset: usize, message: impl Into<String>) -> Problem {
        Problem { fault: FileFault::Unsupported, offset, message: message.into() }
    }

    pub fn at(self, text: &str) -> TestParseError {
        let (line, column) = place(text, self.offset);
        TestParseError { fault: self.fault, line, column, message: self.message }
    }
}

/// Line and column, both from 1, of a byte offset that is a character's first.
pub(crate) fn place(text: &str, offset: usize) -> (u32, u32) {
    let before = &text[..offset.min(text.len())];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (line as u32, column as u32)
}

/// Why a test could not be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// The test's kernel is no PTX that Bugaroo takes: Bugaroo's own mistake.
    #[error("the test's kernel does not compile: {0}")]
    Compile(String),
    /// The simulator does not have something.
    #[error("{0}")]
    Unsupported(String),
    /// Not all threads reach a barrier.
    #[error("the test deadlocks: threads wait at a barrier that others do not reach")]
    Deadlock,
    /// A trial came to a bad end.
    #[error("a trial ended with a fault: {0}")]
    Fault(String),
    /// The host has no room.
    #[error("{0}")]
    Host(String),
}
