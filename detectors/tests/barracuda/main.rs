//! BARRACUDA against a reference with full clocks, and what its rules say of small executions.

mod formats;
mod pruning;
mod random;
mod reference;
mod rules;
mod run;
#[path = "../support/mod.rs"]
mod support;
mod trace;
