//! A suite of CUDA programs with one known fault of synchronisation each (or none), and its measurement.
//!
//! `programs/NAME/` is an unmodified nvcc program whose `main` checks the result and exits with 1 on a wrong one. Beside it
//! stands what an expert would do about it, written before any tool was asked: `expert.toml` ([`expert`] has its fields)
//! and `expert.patch`, a unified diff that `patch -p1` applies in the program's folder. Where an expert would change nothing,
//! there is no patch; `without.patch` then deletes the fence that a hasty tool would call redundant.
//!
//! The binary asks `bugaroo bisect` about each program, applies its patch, builds the result, runs it, and compares the
//! patch with the expert's. The tests ask whether the labels themselves hold.

pub mod advice;
pub mod compare;
pub mod expert;
pub mod measure;
pub mod table;
pub mod tools;
pub mod trials;
