//! One round of the search: one fence that is missing, beside those already found (the paper, III.D).

use bugaroo_harness::{Error, Variation};
use bugaroo_protocol::{DelayedSpace, Inserted, Model};

use crate::bench::Bench;
use crate::locate::{SearchedPlace, locate};
use crate::narrow::narrow;
use crate::places::{Put, SitePlace, candidates};
use crate::subject::Subject;
use crate::trials::Trials;

/// Failures after which a rate is known well enough to begin the search for a place, which itself goes on
/// measuring it: where failures are frequent, more of them save more trials than they cost.
const MEASURED: [u64; 2] = [8, 4];

/// Trials that the larger number of failures may take.
const FREQUENT: u64 = 200;

/// A fence that is missing.
#[derive(Clone, Debug)]
pub struct MissingFence {
    /// Where it goes.
    pub place: SitePlace,
    /// Whose delayed stores show it.
    pub space: DelayedSpace,
    /// The kernel whose delayed stores show it; None when it takes several.
    pub kernel: Option<String>,
    /// The first model, of those asked, that fails without it.
    pub model: Model,
    /// CTA scope does.
    pub narrow: bool,
    /// It is a barrier, and not a fence.
    pub barrier: Option<Inserted>,
    /// What it was shown to be needed beside, with no better place to do instead.
    pub beside: Option<String>,
    /// Trials that its round took.
    pub trials: u64,
}

impl MissingFence {
    /// What is put at its place.
    pub fn what(&self) -> Inserted {
        match self.barrier {
            Some(barrier) => barrier,
            None if self.narrow => Inserted::BlockFence,
            None => Inserted::Fence,
        }
    }
}

/// A variation with these fences, too.
pub fn with_answer<'a>(base: &Variation, fences: impl IntoIterator<Item = &'a MissingFence>) -> Variation {
    let mut variation = base.clone();
    for fence in fences {
        fence.place.put(&mut variation, fence.what());
    }
    variation
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
) -> Result<Option<MissingFence>, Error> {
    let before = bench.spent();
    bench.expect_failures_of(known);
    let suspect = narrow(bench, subject, known).await?;
    measure_rate(bench, &suspect.variation).await?;
    bench.expect_failures_of(&suspect.variation);
    let places = candidates(&subject.places, &suspect.variation);
    let mut found = None;
    if let SearchedPlace::At(at) = locate(bench, &suspect.variation, &places).await? {
        found = Some(places[at].clone());
    }
    let (mut space, mut kernel) = (suspect.space, suspect.kernel);
    if found.is_none() && suspect.variation != *known {
        // What one space's or kernel's stores show, accesses elsewhere may cure.
        let places = candidates(&subject.places, known);
        measure_rate(bench, known).await?;
        bench.expect_failures_of(known);
        if let SearchedPlace::At(at) = locate(bench, known, &places).await? {
            found = Some(places[at].clone());
            (space, kernel) = (known.space, None);
        }
    }
    bench.expect_nothing();
    Ok(found.map(|place| MissingFence {
        // Stores to shared memory are seen by their block alone. A fence that is widened is so for a reason.
        narrow: space == DelayedSpace::Shared && place.put != Put::Widened,
        place,
        space,
        kernel,
        model: known.model,
        barrier: None,
        beside: None,
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
