//! PTX litmus tests: small programs of a few threads whose final states tell memory models apart.
//!
//! [`parse`] reads one; [`run`] runs trials of many on the virtual GPU, under a [`Model`] and a scheduling
//! [`Strategy`]; [`Outcomes`] is a table of what the PTX memory model allows, and [`Verdict`] compares. With an
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
pub use error::{Fault, ParseError, RunError};
pub use files::{FileError, find, table_for};
pub use key::Key;
pub use model::Model;
pub use options::Options;
pub use outcomes::{Known, Outcomes, Target};
pub use parse::parse;
pub use report::{OutcomeReport, Report, TestReport, Totals};
pub use run::{Job, Seen, Sighting, run};
pub use schedule::Strategy;
pub use suite::Suite;
pub use test::{
    Arithmetic, FenceKind, Instruction, Location, Op, Order, Register, Rmw, Scope, Space, Test, Thread, Type,
    Value, shape,
};
pub use verdict::{State, Verdict, keys};
