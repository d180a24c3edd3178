//! Which space, which kernel: the paper's first two steps (III.D). The same seeds, one space's stores
//! delayed at a time; then one kernel's.
//!
//! Both only narrow the search down: a wrong "passes" leaves more to search, and no wrong place. The
//! alternatives take turns, so that one that fails soon saves the long wait for another that passes; that none fails by
//! itself is said in the answer, and so concluded last and with a small error.

use bugaroo_harness::{Error, Variation};
use bugaroo_protocol::{DelayedSpace, Site, SiteKind};

use crate::bench::{Bench, FailsVerdict};
use crate::subject::Subject;
use crate::trials::Trials;

/// Errors of "passes" in later turns.
const DOUBTS: [f64; 2] = [0.05, 0.001];

/// Expected failures after which the next alternative is tried before this one is given up.
const FIRST_TURN: f64 = 3.0;

/// Whose delayed stores show a failure.
#[derive(Clone, Debug, PartialEq)]
pub struct Suspect {
    /// The program with only those stores delayed.
    pub variation: Variation,
    /// The space; [`DelayedSpace::Both`] when it takes both.
    pub space: DelayedSpace,
    /// The kernel, by name; None when it takes several.
    pub kernel: Option<String>,
}

/// Narrows space and kernel down for `known`, which has failed.
///
/// # Errors
/// When trials cannot be run.
pub async fn narrow<T: Trials>(
    bench: &Bench<'_, T>,
    subject: &Subject,
    known: &Variation,
) -> Result<Suspect, Error> {
    let spaces = spaces(subject, known);
    let (variation, space) = match spaces.as_slice() {
        [only] => (known.clone(), *only),
        _ => {
            let alternatives: Vec<_> = spaces
                .iter()
                .map(|&space| (Variation { space, ..known.clone() }, space_name(space)))
                .collect();
            match first_failing(bench, known, &alternatives, "stores delayed").await? {
                Some(at) => (alternatives[at].0.clone(), spaces[at]),
                None => (known.clone(), DelayedSpace::Both),
            }
        }
    };
    let kernels = kernels(subject);
    let (variation, kernel) = match kernels.as_slice() {
        [only] => (variation, Some(only.clone())),
        _ => one_kernel(bench, variation, &kernels).await?,
    };
    Ok(Suspect { variation, space, kernel })
}

async fn one_kernel<T: Trials>(
    bench: &Bench<'_, T>,
    known: Variation,
    kernels: &[String],
) -> Result<(Variation, Option<String>), Error> {
    let alone = |kernel: &String| Variation { kernel: Some(exactly(kernel)), ..known.clone() };
    let alternatives: Vec<_> = kernels.iter().map(|kernel| (alone(kernel), kernel.as_str())).collect();
    Ok(match first_failing(bench, &known, &alternatives, "delayed").await? {
        Some(at) => (alternatives[at].0.clone(), Some(kernels[at].clone())),
        None => (known, None),
    })
}

/// The first of these alternatives that fails by itself; None when none does. Earlier ones get the
/// first turn, but none is asked to the end while a later one may fail sooner.
async fn first_failing<T: Trials>(
    bench: &Bench<'_, T>,
    known: &Variation,
    alternatives: &[(Variation, &str)],
    what: &str,
) -> Result<Option<usize>, Error> {
    let evidence = bench.evidence(known);
    let rate = if evidence.fresh.failures > 0 { evidence.fresh } else { evidence.all };
    let [second, third] = DOUBTS.map(|error| bench.enough(rate, error, "which space or kernel"));
    let first = ((FIRST_TURN / rate.mean()).ceil() as u64).min(second);
    for turn in [first, second, third] {
        for (at, (variation, name)) in alternatives.iter().enumerate() {
            let verdict = bench.ask(variation, turn).await?;
            if verdict == FailsVerdict::Fails || turn == third {
                let answer = if verdict == FailsVerdict::Fails { "it fails" } else { "it passes" };
                let question = format!("does it fail with only {name} {what}?");
                bench.note(question, bench.evidence(variation).all, answer);
            }
            if verdict == FailsVerdict::Fails {
                return Ok(Some(at));
            }
        }
    }
    Ok(None)
}

/// The spaces that stores of the program go to, as far as `known` delays them; global first, since its
/// fence does for shared stores, too.
fn spaces(subject: &Subject, known: &Variation) -> Vec<DelayedSpace> {
    if known.space != DelayedSpace::Both {
        return vec![known.space];
    }
    let stores = || subject.sites.iter().filter(|site| site.kind == SiteKind::Store && subject.reaches(site));
    let elsewhere = |name: &str| if name == "global" { "shared" } else { "global" };
    let may_be = |name: &str| stores().any(|site: &Site| site.space.as_deref() != Some(elsewhere(name)));
    match (may_be("global"), may_be("shared")) {
        (true, false) => vec![DelayedSpace::Global],
        (false, true) => vec![DelayedSpace::Shared],
        _ => vec![DelayedSpace::Global, DelayedSpace::Shared],
    }
}

/// The kernels that may delay stores.
fn kernels(subject: &Subject) -> Vec<String> {
    let calls = subject.sites.iter().any(|site| !site.in_kernel && site.kind == SiteKind::Store);
    let stores = |kernel: &String| {
        subject.sites.iter().any(|site| site.kind == SiteKind::Store && site.function == *kernel)
    };
    subject.kernels.iter().filter(|kernel| calls || stores(kernel)).cloned().collect()
}

/// A pattern that matches this kernel's name and no other.
fn exactly(kernel: &str) -> String {
    format!("^{}$", regex::escape(kernel))
}

/// A space as it is written.
pub fn space_name(space: DelayedSpace) -> &'static str {
    match space {
        DelayedSpace::Both => "both",
        DelayedSpace::Shared => "shared",
        DelayedSpace::Global => "global",
    }
}
