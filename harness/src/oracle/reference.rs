//! What trials are compared with.

use serde::{Deserialize, Serialize};

use super::memory::{MemoryEnds, ReferenceMemory};
use super::verdict::OracleVerdict;
use crate::outcome::Exit;

/// What the program does without injection, as far as `reference` compares it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reference {
    /// Its exit.
    pub exit: Exit,
    /// SHA-256 of its standard output; None where no oracle needed it.
    pub stdout_sha256: Option<String>,
    /// The lines of its standard output that count, where they are compared one by one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<String>,
    /// What its device memory holds at the end, where that is compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<ReferenceMemory>,
}

/// For a program that fails: it should end well, and there is no output to compare with.
impl Default for Reference {
    fn default() -> Self {
        Self { exit: Exit::Code(0), stdout_sha256: None, lines: None, memory: None }
    }
}

/// What the oracle `memory` says of a trial that ended by itself. Without a reference there is nothing to differ from.
pub(crate) fn of_memory(reference: Option<&Reference>, exit: Exit, ends: &MemoryEnds) -> OracleVerdict {
    match reference {
        Some(reference) if reference.exit != exit => {
            OracleVerdict::Discontent(format!("{exit}, but {} without injection", reference.exit))
        }
        Some(Reference { memory: Some(memory), .. }) => memory.judge(ends),
        _ => OracleVerdict::Content,
    }
}

#[cfg(test)]
mod tests;
