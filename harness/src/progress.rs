//! What is told while trials run: a trait, and who shows it. All of it goes to standard error, which
//! alone may be a terminal with somebody before it; where it cannot be written, nobody is told.

use std::io::{self, IsTerminal};

mod bar;
mod event;
mod plain;
mod words;

pub use bar::Bar;
pub use event::{ProgressEvent, Reporter, Silent};
pub use plain::PlainLines;
pub(crate) use words::told;

/// A bar where standard error is a terminal, plain lines otherwise.
pub fn for_standard_error() -> Box<dyn Reporter> {
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    if io::stderr().is_terminal() && !dumb { Box::<Bar>::default() } else { Box::<PlainLines>::default() }
}

#[cfg(test)]
mod tests;
