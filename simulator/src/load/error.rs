//! Why a module cannot be loaded.

use crate::memory::MemoryError;

/// A module that the virtual GPU refuses, before anything of it runs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// An instruction that the simulator does not execute, in a function that a kernel can reach.
    #[error("line {line}: {function}: `{instruction}`: {reason}")]
    Unsupported {
        /// Function it stands in.
        function: String,
        /// Line of the PTX text, from 1.
        line: u32,
        /// The instruction as it stands there.
        instruction: String,
        /// What is not supported about it.
        reason: String,
    },
    /// A function without a body that a kernel can reach (`vprintf`, `malloc`, …).
    #[error("line {line}: {function}: call of `{callee}`, which has no body here")]
    Undefined {
        /// Function that calls it.
        function: String,
        /// Line of the call in the PTX text.
        line: u32,
        /// The function that is missing.
        callee: String,
    },
    /// A declaration that the simulator cannot place.
    #[error("`{name}`: {reason}")]
    Declaration {
        /// What is declared.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The module's variables do not fit into device memory.
    #[error(transparent)]
    Memory(#[from] MemoryError),
}
