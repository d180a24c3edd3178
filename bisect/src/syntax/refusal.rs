//! Why the source cannot be changed as wanted.

use thiserror::Error;

/// Why the source cannot be changed as wanted, as a sentence to its author.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Error)]
pub enum SourceRefusal {
    /// No statement stands there.
    #[error("no statement stands at line {line}")]
    NoStatement {
        /// Where.
        line: u32,
    },
    /// The grammar does not know what stands there.
    #[error("line {line} could not be understood: `{text}`")]
    NotUnderstood {
        /// Where.
        line: u32,
        /// What.
        text: String,
    },
    /// Nothing can be written between them.
    #[error("two accesses of one statement: `{text}` at line {line}")]
    OneStatement {
        /// Where.
        line: u32,
        /// The statement.
        text: String,
    },
    /// Neither comes behind the other in the text: they stand in two functions, or in two branches.
    #[error("lines {first} and {second} are in different functions or branches")]
    Apart {
        /// Line of the one.
        first: u32,
        /// Line of the other.
        second: u32,
    },
    /// No such call stands there.
    #[error("no {what} stands at line {line}")]
    NotThere {
        /// What was looked for.
        what: &'static str,
        /// Where.
        line: u32,
    },
    /// It is part of an expression that needs it.
    #[error("`{text}` at line {line} is part of an expression")]
    InExpression {
        /// Where.
        line: u32,
        /// What.
        text: String,
    },
    /// Its scope does not stand there in so many words.
    #[error("the scope of `{text}` at line {line} cannot be changed in place: {why}")]
    NoScope {
        /// Where.
        line: u32,
        /// What.
        text: String,
        /// The reason.
        why: String,
    },
    /// One string of assembly does more than that.
    #[error("the assembly `{text}` at line {line} does more than that")]
    MixedAssembly {
        /// Where.
        line: u32,
        /// The string.
        text: String,
    },
    /// Nothing can be written into the macro.
    #[error("macro `{name}`, defined at line {line}: {why}")]
    Macro {
        /// Its name.
        name: String,
        /// Where it is defined.
        line: u32,
        /// The reason.
        why: &'static str,
    },
}

/// A text on one line, cut where it gets long.
pub(super) fn short(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match words.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", words[..end].trim_end()),
        None => words,
    }
}
