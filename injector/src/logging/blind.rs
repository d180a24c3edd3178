//! Kernels that are not looked at: those that reach something that is not told.
//!
//! A function with such an instruction stays as it is. Whoever launches a kernel that reaches one has to leave its state at 0, so that none
//! of its threads tells anything. The other kernels of the module are as they would be without it.

use std::collections::BTreeMap;

use super::calls::Calls;
use super::error::Unknown;

/// A kernel that is not looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blind {
    /// As the module names it.
    pub kernel: String,
    /// The first thing that it reaches and that is not told.
    pub why: Unknown,
}

/// The kernels that reach a function with something that is not told, which `unknown` has by the function's name.
pub(super) fn kernels(calls: &Calls<'_>, unknown: &BTreeMap<String, Unknown>) -> Vec<Blind> {
    let is_blind = |kernel: &str| {
        let why = calls.reached(kernel).into_iter().find_map(|function| unknown.get(function))?;
        Some(Blind { kernel: kernel.to_owned(), why: why.clone() })
    };
    if unknown.is_empty() { Vec::new() } else { calls.kernels().filter_map(is_blind).collect() }
}
