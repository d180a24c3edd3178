//! Why a module is refused, in words for the user.

use bugaroo_injector::is_toolkit_header;
use bugaroo_ptx::ParseError;
use bugaroo_simulator::LoadError;

use crate::error::Status;

/// Why a module was not loaded.
#[derive(Debug)]
pub struct ImageRefusal {
    /// What the program sees.
    pub status: Status,
    /// For a person.
    pub text: String,
    /// Whether the harness has to know that the program asks for what this version cannot do.
    pub unsupported: bool,
}

impl ImageRefusal {
    /// It asks for something that this version cannot do.
    pub fn unsupported(text: String) -> Self {
        ImageRefusal { status: Status::NotSupported, text, unsupported: true }
    }

    /// The text is not PTX. Where it does not even pretend to be, as real drivers do, it is called an
    /// invalid image.
    pub fn syntax(source: &str, error: &ParseError) -> Self {
        let status = if source.contains(".version") { Status::InvalidPtx } else { Status::InvalidImage };
        ImageRefusal { status, text: format!("PTX line {error}"), unsupported: false }
    }

    /// The simulator refuses the program. `original` gives the line of the program's own text.
    pub fn load(error: LoadError, original: impl Fn(u32) -> Option<u32>) -> Self {
        match error {
            LoadError::Memory(error) => {
                ImageRefusal { status: Status::OutOfMemory, text: error.to_string(), unsupported: false }
            }
            error => ImageRefusal::unsupported(told(error, original)),
        }
    }
}

/// What the simulator lacks, with the line of the program's own text, which `original` gives, and the CUDA line.
pub(crate) fn told(error: LoadError, original: impl Fn(u32) -> Option<u32>) -> String {
    let source = error.source_positions();
    // The user's line: the innermost that is not the toolkit's own.
    let user = source.iter().find(|position| !is_toolkit_header(&position.file)).or(source.first());
    let source = user.map(|at| format!(" ({}:{})", at.file, at.line)).unwrap_or_default();
    format!("PTX {}{source}", error.at_line(|line| original(line).unwrap_or(line)))
}
