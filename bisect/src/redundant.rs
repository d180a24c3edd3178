//! Which of the program's fences it could do without: each alone, and together.
//!
//! A fence more never makes a program fail that passed. So where the program passes without several
//! fences at once, each of them is redundant, and one question has answered all; that question comes
//! first, for the fences that a short look has not shown to be needed. Where it fails, each is asked by
//! itself, and then the smallest sets that have to stay are looked for, by size. Needed is what a trial
//! failed without, which is certain; the error of "redundant" is that of [`crate::rates::ALPHA`].

use bugaroo_harness::{Error, Variation};
use bugaroo_protocol::SiteId;

use crate::bench::{Bench, Verdict};
use crate::places::{Place, fences};
use crate::report::{OwnFence, Redundant};
use crate::search::Subject;
use crate::trials::Trials;

/// Sets of fences to keep that are tried at most.
pub const SETS: usize = 200;

/// The short look at a fence takes this part of a conclusion's trials.
const LOOK: u64 = 20;

/// What failing and passing without fences mean.
const ANSWERS: [&str; 2] = ["it fails: needed", "it passes: redundant under this model"];

/// What can go.
#[derive(Clone, Debug, Default)]
pub struct Ablation {
    /// Fences that can go, each by itself.
    pub redundant: Vec<Redundant>,
    /// Fences without which a trial failed.
    pub needed: Vec<Place>,
    /// Whether all of the redundant ones can go at once; None where there are fewer than two.
    pub together: Option<bool>,
    /// Where they cannot: the smallest sets of the program's fences that pass.
    pub minimal_sets: Vec<Vec<OwnFence>>,
    /// Whether these are all of that size.
    pub complete: bool,
}

/// What a first look at the program's fences showed.
#[derive(Clone, Debug, Default)]
pub struct FirstLook {
    /// Fences without which a trial failed.
    needed: Vec<Place>,
    /// The others.
    left: Vec<Place>,
    /// Trials without all of these at once, if none failed; else 0.
    pub passed: u64,
}

/// Omits the program's fences, with the fences found missing inserted (`known`, which passes), one by
/// one for a short look, and those that are not seen to be needed all at once.
///
/// # Errors
/// When trials cannot be run.
pub async fn first_look<T: Trials>(
    bench: &Bench<'_, T>,
    subject: &Subject,
    known: &Variation,
) -> Result<FirstLook, Error> {
    let mut fences = fences(&subject.sites, &subject.kernels);
    fences.retain(|fence| !fence.ids().all(|id| known.without_fence.contains(&id)));
    let enough = bench.limits.full().div_ceil(LOOK);
    let mut look = FirstLook::default();
    for fence in fences {
        let without = omitting(known, [&fence]);
        match bench.ask(&without, enough).await? {
            Verdict::Passes => look.left.push(fence),
            Verdict::Fails => {
                bench.note(question([&fence]), bench.evidence(&without).all, "it fails: needed");
                look.needed.push(fence);
            }
        }
    }
    if at_once(bench, known, &look.left).await? {
        look.passed = bench.evidence(&omitting(known, &look.left)).all.trials;
    }
    Ok(look)
}

/// Which fences can go, after a first look.
///
/// # Errors
/// When trials cannot be run.
pub async fn ablate<T: Trials>(
    bench: &Bench<'_, T>,
    subject: &Subject,
    known: &Variation,
    look: FirstLook,
) -> Result<Ablation, Error> {
    let FirstLook { needed, mut left, passed } = look;
    let mut ablation = Ablation { needed, complete: true, ..Ablation::default() };
    let mut together = passed > 0;
    if !left.is_empty() && !together {
        bench.expect_failures_of(&omitting(known, &left));
        let mut can_go = Vec::new();
        for fence in left {
            let without = omitting(known, [&fence]);
            match bench.ask_for_good(&without, question([&fence]), ANSWERS).await? {
                Verdict::Passes => can_go.push(fence),
                Verdict::Fails => ablation.needed.push(fence),
            }
        }
        ablation.needed.sort_by_key(|fence| fence.lead().id);
        left = can_go;
        if left.len() > 1 {
            together = at_once(bench, known, &left).await?;
            if !together {
                minimal_sets(bench, known, &left, &mut ablation).await?;
            }
        }
        bench.expect_nothing();
    }
    ablation.together = (left.len() > 1).then_some(together);
    let all = bench.evidence(&omitting(known, &left)).all;
    for fence in &left {
        let alone = bench.evidence(&omitting(known, [fence])).all.trials;
        ablation.redundant.push(Redundant {
            site: fence.lead().id,
            sites: fence.ids().collect(),
            ptx_line: fence.lead().ptx_line,
            source: fence.source.clone(),
            model: subject.whole.model,
            trials: if all.failures == 0 { alone.max(all.trials) } else { alone },
            function: fence.lead().function.clone(),
        });
    }
    Ok(ablation)
}

/// Whether the program passes without all of these fences; false for none.
async fn at_once<T: Trials>(
    bench: &Bench<'_, T>,
    known: &Variation,
    fences: &[Place],
) -> Result<bool, Error> {
    let without = omitting(known, fences);
    if fences.is_empty() || bench.evidence(&without).fails() {
        return Ok(false);
    }
    Ok(bench.ask_for_good(&without, question(fences), ANSWERS).await? == Verdict::Passes)
}

/// The smallest sets of the redundant fences that have to stay for the program to pass.
async fn minimal_sets<T: Trials>(
    bench: &Bench<'_, T>,
    known: &Variation,
    redundant: &[Place],
    ablation: &mut Ablation,
) -> Result<(), Error> {
    let needed: Vec<OwnFence> = ablation.needed.iter().map(OwnFence::from).collect();
    let mut tried = 0;
    // Sets with which a trial failed: no part of them passes.
    let mut failed: Vec<Vec<usize>> = Vec::new();
    for size in 1..redundant.len() {
        for kept in subsets(redundant.len(), size) {
            if failed.iter().any(|failed| kept.iter().all(|fence| failed.contains(fence))) {
                continue;
            }
            if tried == SETS {
                ablation.complete = false;
                return Ok(());
            }
            tried += 1;
            let (stay, gone): (Vec<_>, Vec<_>) =
                redundant.iter().enumerate().partition(|(at, _)| kept.contains(at));
            let gone = gone.into_iter().map(|(_, fence)| fence);
            let stay: Vec<&Place> = stay.into_iter().map(|(_, fence)| fence).collect();
            let question = format!("does it pass with only {} of these?", names(stay.iter().copied()));
            let answers = ["it fails", "it passes"];
            match bench.ask_for_good(&omitting(known, gone), question, answers).await? {
                Verdict::Fails => failed.push(kept),
                Verdict::Passes => {
                    let mut set = needed.clone();
                    set.extend(stay.into_iter().map(OwnFence::from));
                    set.sort_by_key(|fence| fence.site);
                    ablation.minimal_sets.push(set);
                }
            }
        }
        if !ablation.minimal_sets.is_empty() {
            return Ok(());
        }
    }
    Ok(())
}

/// All subsets of this size of the numbers below `count`, in lexicographic order.
fn subsets(count: usize, size: usize) -> impl Iterator<Item = Vec<usize>> {
    let mut next = (size <= count).then(|| (0..size).collect::<Vec<usize>>());
    std::iter::from_fn(move || {
        let current = next.take()?;
        let mut following = current.clone();
        // The last that can go up does; those after it follow close.
        if let Some(at) = (0..size).rev().find(|&at| following[at] < count - size + at) {
            following[at] += 1;
            for later in at + 1..size {
                following[later] = following[later - 1] + 1;
            }
            next = Some(following);
        }
        Some(current)
    })
}

/// A variation without these fences.
fn omitting<'a>(known: &Variation, fences: impl IntoIterator<Item = &'a Place>) -> Variation {
    let mut variation = known.clone();
    variation.without_fence.extend(fences.into_iter().flat_map(Place::ids).collect::<Vec<SiteId>>());
    variation
}

fn question<'a>(fences: impl IntoIterator<Item = &'a Place>) -> String {
    format!("does it pass without the fence at {}?", names(fences))
}

fn names<'a>(fences: impl IntoIterator<Item = &'a Place>) -> String {
    let names: Vec<String> = fences.into_iter().map(Place::name).collect();
    names.join(" and ")
}

#[cfg(test)]
mod tests;
