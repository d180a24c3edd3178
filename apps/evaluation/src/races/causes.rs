//! Why our detectors' answers and the papers' differ in kind: what is known, by looking at the programs and at both detectors.
//! Explanations, nothing that the evaluation computes.

use std::fmt::Write as _;

use crate::races::questions::Paper;

/// A difference in kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Odd {
    /// What differs.
    pub what: String,
    /// Why, if it is known.
    pub cause: Option<&'static str>,
}

/// A cause, and what it is the cause of: programs whose names begin so.
struct Cause {
    paper: Paper,
    programs: &'static [&'static str],
    text: &'static str,
}

const CAUSES: &[Cause] = &[
    Cause {
        paper: Paper::Barracuda,
        programs: &["sdk_red"],
        text: "The paper does not say which of the sample's kernels its twelve races are in. Our sdk_red has a __syncthreads() between any \
               two steps that touch the same shared memory, so that there is none to find.",
    },
    Cause {
        paper: Paper::Barracuda,
        programs: &["d_scan", "cub_scan"],
        text: "The paper runs d_scan with 128 threads, which is one block. Our cub_scan hands partial results on among many blocks. Its \
               flags and statuses are volatile, which is plain to BARRACUDA, and who waits for a status has no fence behind the wait: by the \
               memory model, too, the values race there. In ptx_correct, which has that fence and is right, the fence does not stand \
               beside the load that it makes an acquire, and BARRACUDA does not take it for one.",
    },
];

impl Odd {
    /// What differs in a program, with its cause.
    pub fn new(paper: Paper, program: &str, what: String) -> Odd {
        let is = |cause: &&Cause| {
            cause.paper == paper && cause.programs.iter().any(|name| program.starts_with(name))
        };
        Odd { what, cause: CAUSES.iter().find(is).map(|cause| cause.text) }
    }
}

/// Differences, each with its cause; those with the same one after the other are under one heading.
pub fn told(odd: &[Odd]) -> String {
    if odd.is_empty() {
        return "No difference in kind.\n\n".to_owned();
    }
    let mut text = "Differences in kind:\n\n".to_owned();
    for same in odd.chunk_by(|one, other| one.cause == other.cause) {
        let whats: Vec<&str> = same.iter().map(|one| one.what.as_str()).collect();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "- {}. {}", whats.join("; "), same[0].cause.unwrap_or("**Unexplained.**"));
    }
    text.push('\n');
    text
}

/// Those without a known cause, a line each.
pub fn unexplained(odd: &[Odd]) -> Vec<String> {
    let unknown = odd.iter().filter(|one| one.cause.is_none());
    unknown.map(|one| format!("{}. **Unexplained.**", one.what)).collect()
}

#[cfg(test)]
mod tests;
