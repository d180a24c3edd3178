//! Searches over trials: which fences a program lacks, which it could do without, and which could be
//! narrower.
//!
//! Source: Islam and Muzahid, "Bugaroo: Exposing Memory Model Bugs in Many-core Systems", section
//! III.D. Each module says where it departs from it.
//!
//! Bottom up: [`trials`] is what can run trials, [`outcomes`] are how they ended, [`memo`] and [`journal`] remember them; [`rates`] says
//! how many a conclusion takes, [`bench`] asks questions. [`patch`] is edits of files as a diff, [`syntax`] says where in a
//! source file a line can be written; [`places`] are what a fence can be written at: [`written`] finds them in the source,
//! [`same_line`] those that share a position, [`own`] changes what stands there. [`narrow`], [`locate`] and [`round`] find one
//! missing fence, [`polish`] examines an answer, [`cure`] goes on until the program passes; [`barriers`] looks for missing barriers, [`plain`] and [`diagnosis`] name
//! what is no fence, [`racing`] does so of races. [`redundant`], [`scope`] and [`models`] look at the fences there are then; [`search`] is all of it,
//! [`hunks`] its patch, [`compiled`] that patch built, and [`session`] the search on the harness.

pub mod barriers;
pub mod bench;
pub mod beside;
pub mod compiled;
pub mod cure;
pub mod describe;
pub mod diagnosis;
pub mod hunks;
pub mod journal;
pub mod locate;
pub mod memo;
pub mod models;
pub mod narrow;
pub mod outcomes;
pub mod own;
pub mod patch;
pub mod places;
pub mod plain;
pub mod polish;
pub mod racing;
pub mod rates;
pub mod redundant;
pub mod report;
pub mod round;
pub mod same_line;
pub mod scope;
pub mod search;
pub mod session;
pub mod source;
pub mod subject;
pub mod syntax;
pub mod trials;
pub mod written;

pub use diagnosis::{Diagnosed, DiagnosisKind, FaultDiagnosis, diagnose};
pub use report::{
    FenceNeed, MissingAfter, Needed, NeededScope, OwnFence, Redundant, ScopeAdvice, SearchReport, SearchStep,
};
pub use session::{SearchOrder, Searched, search_program};
pub use source::SourceText;

#[cfg(test)]
mod model;
