//! Why a kernel cannot be verified: always with what it is about, never silently.

use std::fmt;

use bugaroo_simulator::{Place, SourcePosition};

/// What sort of refusal it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalKind {
    /// The request or the text will not do: no such kernel, no block size, no PTX.
    Usage,
    /// The kernel's course depends on something that is not known.
    NotVerifiable,
    /// The kernel has something in it that the verifier does not model.
    Unsupported,
    /// The kernel does what no kernel may.
    Illegal,
}

/// Why a kernel cannot be verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What sort.
    pub kind: RefusalKind,
    /// In words, without the place.
    pub message: String,
    /// The instruction that it is about.
    pub place: Option<Box<Place>>,
    /// `threadIdx` of one thread that runs into it.
    pub thread: Option<[u32; 3]>,
    /// Where the unknown value came from: in words, and the instruction.
    pub cause: Option<Box<Cause>>,
}

/// Where an unknown value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// In words.
    pub text: String,
    /// The kernel's parameter, by name.
    pub parameter: Option<String>,
    /// The instruction that brought it in.
    pub place: Option<Place>,
}

impl Refusal {
    /// One without a place.
    pub fn new(kind: RefusalKind, message: impl Into<String>) -> Refusal {
        Refusal { kind, message: message.into(), place: None, thread: None, cause: None }
    }

    /// The CUDA line, innermost, if it is known.
    pub fn source(&self) -> Option<&SourcePosition> {
        self.place.as_ref()?.source.first()
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if let Some(place) = &self.place {
            write!(f, "\n  at {place}")?;
        }
        if let Some([x, y, z]) = self.thread {
            write!(f, "\n  first in thread ({x},{y},{z})")?;
        }
        if let Some(cause) = &self.cause {
            write!(f, "\n  because of {}", cause.text)?;
            if let Some(place) = &cause.place {
                write!(f, "\n    at {place}")?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for Refusal {}
