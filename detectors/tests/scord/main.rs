//! ScoRD: what its rules say of small executions, and what random ones must not say.

mod chains;
mod layouts;
mod locks;
mod memory;
mod micro;
mod opponents;
mod random;
mod run;
mod speed;
mod tables;
mod threads;
mod watched;
