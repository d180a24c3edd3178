//! HiRace against whole histories, and what its rules say of small executions.

mod random;
mod reference;
mod rules;
mod run;
#[path = "../support/mod.rs"]
mod support;
mod trace;
mod watched;
