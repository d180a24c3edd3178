//! PTX litmus tests: small programs of a few threads whose final states tell memory models apart.
//!
//! [`parse`] reads one; [`run`] runs trials of many on the virtual GPU, under a [`TestModel`] and a scheduling
//! [`Strategy`]; [`OutcomeTable`] is a table of what the PTX memory model allows, and [`TestVerdict`] compares. With an
//! exact table a state outside it is a bug in what makes the model; with none the test's own condition is
//! asked.
//!
//! What it can miss: an outcome that is allowed and never seen is no proof of anything. The operand of
//! `bar.warp.sync` is not looked at further than that it names all lanes, as the format does not say who
//! shares a warp.

mod case;
mod condition;
mod cursor;
mod error;
mod files;
pub mod kernel;
mod key;
mod keys;
mod launch;
mod model;
mod options;
mod outcomes;
mod parse;
mod report;
mod run;
mod schedule;
mod suite;
mod test;
mod verdict;

pub use case::{Case, Skipped};
pub use condition::{Condition, Expression, Quantifier};
pub use error::{FileFault, RunError, TestParseError};
pub use files::{PathError, find, table_for};
pub use key::OutcomeKey;
pub use model::TestModel;
pub use options::Options;
pub use outcomes::{ConditionTarget, KnownOutcomes, OutcomeTable};
pub use parse::parse;
pub use report::{LitmusReport, OutcomeReport, TestReport, Totals};
pub use run::{SeenOutcomes, SeenState, TestJob, run};
pub use schedule::Strategy;
pub use suite::Suite;
pub use test::{
    Arithmetic, Register, Rmw, Scope, Test, TestFence, TestInstruction, TestLocation, TestOp, TestOrder,
    TestSpace, TestType, TestValue, Thread, shape,
};
pub use verdict::{FinalState, TestVerdict, keys};
