//! Which of the program's fences it could do without: each alone, and together.
//!
//! A fence more never makes a program fail that passed. So where the program passes without several
//! fences at once, each of them is redundant, and one question has answered all; that question comes
//! first, for the fences that a short look has not shown to be needed. Where it fails, each is asked by
//! itself, and then the smallest sets that have to stay are looked for, by size. Needed is what a trial
//! failed without, under any of the models asked, which is certain; redundant is what all of them pass without, each with
//! the error [`crate::rates::ALPHA`].

use bugaroo_harness::{Error, Variation};
use bugaroo_protocol::{Model, SiteId};

use crate::bench::{Bench, FailsVerdict};
use crate::places::{SitePlace, fences};
use crate::rates::Rate;
use crate::report::{OwnFence, Redundant};
use crate::subject::{Subject, model_name, under};
use crate::trials::Trials;

/// Sets of fences to keep that are tried at most.
pub const SETS: usize = 200;

/// The short look at a fence takes this part of a conclusion's trials.
const LOOK: u64 = 20;

/// What failing and passing without fences mean.
const ANSWERS: [&str; 2] = ["it fails: needed", "it passes"];

/// What can go.
#[derive(Clone, Debug, Default)]
pub struct Ablation {
    /// Fences that can go, each by itself.
    pub redundant: Vec<Redundant>,
    /// Fences without which a trial failed.
    pub needed: Vec<NeededFence>,
    /// Those of them that can go at once: all, or, where they cannot, all but those of the first of the minimal sets.
    pub can_go: Vec<SitePlace>,
    /// Whether all of the redundant ones can go at once; None where there are fewer than two.
    pub together: Option<bool>,
    /// Where they cannot: the smallest sets of the program's fences that pass.
    pub minimal_sets: Vec<Vec<OwnFence>>,
    /// Whether these are all of that size.
    pub complete: bool,
}

/// A fence that is needed.
#[derive(Clone, Debug)]
pub struct NeededFence {
    /// The fence.
    pub place: SitePlace,
    /// The first model that fails without it.
    pub model: Model,
    /// Trials without it under the first model asked, and failures among them.
    pub first: Rate,
}

/// What a first look at the program's fences showed.
#[derive(Clone, Debug, Default)]
pub struct FirstLook {
    /// Fences without which a trial failed.
    needed: Vec<NeededFence>,
    /// The others.
    left: Vec<SitePlace>,
    /// Trials without all of these at once under each model, where none failed under any; else 0.
    pub passed: Vec<u64>,
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
    let mut fences = match subject.several_devices() {
        true => Vec::new(),
        false => fences(&subject.sites, &subject.kernels),
    };
    fences.retain(|fence| !fence.ids().all(|id| known.without_fence.contains(&id)));
    // What is widened was found to be needed.
    fences.retain(|fence| !fence.ids().any(|id| known.widen.contains(&id)));
    let enough = bench.limits.full().div_ceil(LOOK);
    let mut look = FirstLook { passed: vec![0; subject.models.len()], ..FirstLook::default() };
    for fence in fences {
        let without = omitting(known, [&fence]);
        let mut failing = None;
        for &model in &subject.models {
            if bench.ask(&under(&without, model), enough).await? == FailsVerdict::Fails {
                failing = Some(model);
                break;
            }
        }
        match failing {
            None => look.left.push(fence),
            Some(model) => {
                let seen = bench.evidence(&under(&without, model)).all;
                bench.note(question([&fence]), seen, "it fails: needed");
                look.needed.push(seen_needed(bench, subject, known, fence, model));
            }
        }
    }
    if at_once(bench, subject, known, &look.left).await? {
        let without = omitting(known, &look.left);
        let passed = |model: &Model| bench.evidence(&under(&without, *model)).all.trials;
        look.passed = subject.models.iter().map(passed).collect();
    }
    Ok(look)
}

fn seen_needed<T: Trials>(
    bench: &Bench<'_, T>,
    subject: &Subject,
    known: &Variation,
    place: SitePlace,
    model: Model,
) -> NeededFence {
    let without = omitting(known, [&place]);
    let first = subject.models.first().map_or(model, |first| *first);
    NeededFence { first: bench.evidence(&under(&without, first)).all, place, model }
}

/// The first model under which the program fails, for the answer to rest on; None where it passes under all.
async fn failing_under<T: Trials>(
    bench: &Bench<'_, T>,
    subject: &Subject,
    variation: &Variation,
    question: &str,
    answers: [&str; 2],
) -> Result<Option<Model>, Error> {
    for &model in &subject.models {
        let variation = under(variation, model);
        let question = match subject.models.len() {
            1 => question.to_owned(),
            _ => format!("{} ({})", question, model_name(model)),
        };
        if bench.ask_for_good(&variation, question, answers).await? == FailsVerdict::Fails {
            return Ok(Some(model));
        }
    }
    Ok(None)
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
    let mut together = passed.iter().all(|passed| *passed > 0);
    if !left.is_empty() && !together {
        for &model in &subject.models {
            bench.expect_failures_of(&under(&omitting(known, &left), model));
            if bench.evidence(&under(&omitting(known, &left), model)).fails() {
                break;
            }
        }
        let mut can_go = Vec::new();
        for fence in left {
            let without = omitting(known, [&fence]);
            match failing_under(bench, subject, &without, &question([&fence]), ANSWERS).await? {
                None => can_go.push(fence),
                Some(model) => ablation.needed.push(seen_needed(bench, subject, known, fence, model)),
            }
        }
        ablation.needed.sort_by_key(|fence| fence.place.lead().id);
        left = can_go;
        if left.len() > 1 {
            together = at_once(bench, subject, known, &left).await?;
            if !together {
                minimal_sets(bench, subject, known, &left, &mut ablation).await?;
            }
        }
        bench.expect_nothing();
    }
    ablation.together = (left.len() > 1).then_some(together);
    ablation.can_go = match ablation.minimal_sets.first() {
        _ if together || left.len() == 1 => left.clone(),
        Some(stay) => {
            let stays = |place: &SitePlace| stay.iter().any(|own| own.site == place.lead().id);
            left.iter().filter(|place| !stays(place)).cloned().collect()
        }
        None => Vec::new(),
    };
    // Of the models, the one with the fewest trials.
    let least = |variation: &Variation| {
        let seen = subject.models.iter().map(|model| bench.evidence(&under(variation, *model)).all);
        seen.min_by_key(|seen| (seen.failures == 0, seen.trials)).unwrap_or_default()
    };
    let all = least(&omitting(known, &left));
    for fence in &left {
        let alone = least(&omitting(known, [fence])).trials;
        ablation.redundant.push(Redundant {
            site: fence.lead().id,
            sites: fence.ids().collect(),
            ptx_line: fence.lead().ptx_line,
            source: fence.source.clone(),
            model: subject.models.last().copied().unwrap_or(subject.whole.model),
            models: subject.models.clone(),
            trials: if all.failures == 0 { alone.max(all.trials) } else { alone },
            function: fence.lead().function.clone(),
        });
    }
    Ok(ablation)
}

/// Whether the program passes without all of these fences; false for none.
async fn at_once<T: Trials>(
    bench: &Bench<'_, T>,
    subject: &Subject,
    known: &Variation,
    fences: &[SitePlace],
) -> Result<bool, Error> {
    let without = omitting(known, fences);
    let fails = |model: &Model| bench.evidence(&under(&without, *model)).fails();
    if fences.is_empty() || subject.models.iter().any(fails) {
        return Ok(false);
    }
    Ok(failing_under(bench, subject, &without, &question(fences), ANSWERS).await?.is_none())
}

/// The smallest sets of the redundant fences that have to stay for the program to pass.
async fn minimal_sets<T: Trials>(
    bench: &Bench<'_, T>,
    subject: &Subject,
    known: &Variation,
    redundant: &[SitePlace],
    ablation: &mut Ablation,
) -> Result<(), Error> {
    let needed: Vec<OwnFence> = ablation.needed.iter().map(|needed| OwnFence::from(&needed.place)).collect();
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
            let stay: Vec<&SitePlace> = stay.into_iter().map(|(_, fence)| fence).collect();
            let question = format!("does it pass with only {} of these?", names(stay.iter().copied()));
            let answers = ["it fails", "it passes"];
            match failing_under(bench, subject, &omitting(known, gone), &question, answers).await? {
                Some(_) => failed.push(kept),
                None => {
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
pub fn omitting<'a>(known: &Variation, fences: impl IntoIterator<Item = &'a SitePlace>) -> Variation {
    let mut variation = known.clone();
    variation.without_fence.extend(fences.into_iter().flat_map(SitePlace::ids).collect::<Vec<SiteId>>());
    variation
}

fn question<'a>(fences: impl IntoIterator<Item = &'a SitePlace>) -> String {
    format!("does it pass without the fence at {}?", names(fences))
}

fn names<'a>(fences: impl IntoIterator<Item = &'a SitePlace>) -> String {
    let names: Vec<String> = fences.into_iter().map(SitePlace::name).collect();
    names.join(" and ")
}

#[cfg(test)]
mod tests;
