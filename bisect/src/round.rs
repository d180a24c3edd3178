//! One round of the search: one fence that is missing, beside those already found (the paper, III.D).

use std::collections::BTreeSet;

use bugaroo_harness::{Error, Variation};
use bugaroo_protocol::{Model, SiteId, SiteKind, Space};

use crate::bench::Bench;
use crate::locate::{Found, locate};
use crate::narrow::narrow;
use crate::places::{Place, accesses};
use crate::search::Subject;
use crate::trials::Trials;

/// Failures after which a rate is known well enough to begin the search for a place, which itself goes on
/// measuring it: where failures are frequent, more of them save more trials than they cost.
const MEASURED: [u64; 2] = [8, 4];

/// Trials that the larger number of failures may take.
const FREQUENT: u64 = 200;

/// A fence that is missing.
#[derive(Clone, Debug)]
pub struct Fence {
    /// Where it goes.
    pub place: Place,
    /// Whose delayed stores show it.
    pub space: Space,
    /// The kernel whose delayed stores show it; None when it takes several.
    pub kernel: Option<String>,
    /// The fences beside which it was shown to be needed, and no earlier one to do instead.
    pub beside: Option<BTreeSet<SiteId>>,
    /// Trials that its round took.
    pub trials: u64,
}

/// Finds one fence that `known`, which has failed, still lacks; None when fences after all accesses do
/// not cure it.
///
/// # Errors
/// When trials cannot be run.
pub async fn round<T: Trials>(
    bench: &Bench<'_, T>,
    subject: &Subject,
    known: &Variation,
) -> Result<Option<Fence>, Error> {
    let before = bench.spent();
    bench.expect_failures_of(known);
    let suspect = narrow(bench, subject, known).await?;
    measure_rate(bench, &suspect.variation).await?;
    bench.expect_failures_of(&suspect.variation);
    let mut found = None;
    for counts in kinds(known.model) {
        let places = accesses(&subject.sites, &subject.kernels, &suspect.variation, counts);
        if let Found::At(at) = locate(bench, &suspect.variation, &places).await? {
            found = Some(places[at].clone());
            break;
        }
    }
    let (mut space, mut kernel) = (suspect.space, suspect.kernel);
    if found.is_none() && suspect.variation != *known {
        // What one space's or kernel's stores show, accesses elsewhere may cure.
        let places = accesses(&subject.sites, &subject.kernels, known, |_| true);
        measure_rate(bench, known).await?;
        bench.expect_failures_of(known);
        if let Found::At(at) = locate(bench, known, &places).await? {
            found = Some(places[at].clone());
            (space, kernel) = (known.space, None);
        }
    }
    bench.expect_nothing();
    Ok(found.map(|place| Fence {
        place,
        space,
        kernel,
        beside: Some(known.with_fence.difference(&subject.whole.with_fence).copied().collect()),
        trials: bench.spent() - before,
    }))
}

/// Measures the failure rate of a variation well enough for a search for a place.
///
/// # Errors
/// When trials cannot be run.
pub async fn measure_rate<T: Trials>(bench: &Bench<'_, T>, variation: &Variation) -> Result<(), Error> {
    bench.measure(variation, MEASURED[0], FREQUENT).await?;
    bench.measure(variation, MEASURED[1], bench.limits.cap()).await?;
    Ok(())
}

/// The accesses whose lines may lack a fence, by kind; the second choice where the first cures nothing.
///
/// A model that only delays stores shows nothing that a fence right after each store would not cure,
/// and no earlier place is as good. Places after loads and atomics could only be named by accident:
/// where the compiler has laid the loop out so that they come first in the text.
fn kinds(model: Model) -> Vec<fn(SiteKind) -> bool> {
    match model {
        Model::StoreBuffer | Model::Bugaroo => vec![|kind| kind == SiteKind::Store, |_| true],
        Model::Ptx => vec![|_| true],
    }
}
