//! Over-, under-fenced, or optimal: the paper's words for a variant beside the other variants of its program.

use std::fmt;

use crate::catalog::Program;

/// What trials say of a variant's fences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It fails.
    Underfenced,
    /// It does not fail, and no other variant that doesn't has fewer fences.
    Optimal,
    /// It does not fail, and neither does a variant with fewer fences.
    Overfenced,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Verdict::Underfenced => "underfenced",
            Verdict::Optimal => "optimal",
            Verdict::Overfenced => "overfenced",
        })
    }
}

/// The verdict on a variant, given which variants fail at any p_w; None while that is not known of all that matter.
pub fn verdict(program: &Program, variant: &str, fails: impl Fn(&str) -> Option<bool>) -> Option<Verdict> {
    if fails(variant)? {
        return Some(Verdict::Underfenced);
    }
    let fences = program.variant(variant)?.fences;
    let mut verdict = Verdict::Optimal;
    for other in program.variants.iter().filter(|other| other.fences < fences) {
        if !fails(other.name)? {
            verdict = Verdict::Overfenced;
        }
    }
    Some(verdict)
}

#[cfg(test)]
mod tests;
