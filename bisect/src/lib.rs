//! Searches over trials: which fences a program lacks, and which it could do without.
//!
//! Source: Islam and Muzahid, "Bugaroo: Exposing Memory Model Bugs in Many-core Systems", section
//! III.D. Each module says where it departs from it.

pub mod confidence;
pub mod locate;
pub mod report;
pub mod search;
pub mod session;
pub mod source;
pub mod trials;

pub use report::{Missing, Redundant, Report, Step, Verified};
pub use search::{Subject, VERIFYING_TRIALS, search};
pub use session::{SessionTrials, search_session};
pub use source::SourceText;
pub use trials::{Tally, Trials};
