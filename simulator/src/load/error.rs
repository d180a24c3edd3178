//! Why a module cannot be loaded, or one of its kernels not be launched.

use crate::fault::SourcePosition;
use crate::memory::MemoryError;

/// Something that the virtual GPU refuses, before anything of it runs: a whole module, or (see
/// [`crate::KernelInfo::refused`]) the kernels that can reach a function.
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
        /// The CUDA lines that it stems from, innermost first.
        cuda: Vec<SourcePosition>,
    },
    /// A function without a body that a kernel can reach, and that the device does not bring along.
    #[error("line {line}: {function}: call of `{callee}`, which has no body here{}", hint(callee))]
    Undefined {
        /// Function that calls it.
        function: String,
        /// Line of the call in the PTX text.
        line: u32,
        /// The function that is missing.
        callee: String,
        /// The CUDA lines that the call stems from, innermost first.
        cuda: Vec<SourcePosition>,
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

impl LoadError {
    /// The CUDA lines that it is about, innermost first; none when they are not known.
    pub fn source_positions(&self) -> &[SourcePosition] {
        match self {
            LoadError::Unsupported { cuda, .. } | LoadError::Undefined { cuda, .. } => cuda,
            LoadError::Declaration { .. } | LoadError::Memory(_) => &[],
        }
    }

    /// The same with another line number, where it has one.
    #[must_use]
    pub fn at_line(mut self, place: impl FnOnce(u32) -> u32) -> LoadError {
        if let LoadError::Unsupported { line, .. } | LoadError::Undefined { line, .. } = &mut self {
            *line = place(*line);
        }
        self
    }
}

/// What a missing function of this name means.
fn hint(callee: &str) -> &'static str {
    let device_runtime = ["cudaLaunchDevice", "cudaGetParameterBuffer", "cudaCDP", "__cudaCDP"];
    if device_runtime.iter().any(|prefix| callee.starts_with(prefix)) {
        " (launches from device code are not supported)"
    } else {
        ""
    }
}
