//! An answer that passes, made the one answer: minimal, and each fence at its first place.
//!
//! The rounds of the search may take a rare failure of one bug for a sign of another, and so keep a
//! fence too many, or one later in the text than need be; which one, depends on luck. Here each fence is
//! held against all others of the answer: without it the program must fail, and with fences at all
//! earlier places in its stead, too. Both are shown by a failing trial, which is certain. A fence
//! without which it passes is dropped; one that earlier places can replace moves to the first of them
//! that will do. So the same program has the same answer whatever the seed, as far as its failures show
//! at all. Fences are taken from the end of the text: of two that can stand in for each other, the
//! earlier stays.

use std::collections::BTreeSet;

use bugaroo_harness::Error;
use bugaroo_protocol::SiteId;

use crate::bench::{Bench, Verdict};
use crate::locate::{Found, locate, with_fences};
use crate::narrow::narrow;
use crate::places::{Place, accesses};
use crate::round::{Fence, measure_rate};
use crate::search::Subject;
use crate::trials::Trials;

/// Error allowed to "fences at earlier places will do instead"; what it leads to is verified again.
const DOUBT: f64 = 0.01;

/// Holds each fence of an answer, of which the program passes, against the others. True when the answer
/// has changed, so that it has to be verified again.
///
/// # Errors
/// When trials cannot be run.
pub async fn polish<T: Trials>(
    bench: &Bench<'_, T>,
    subject: &Subject,
    answer: &mut Vec<Fence>,
) -> Result<bool, Error> {
    answer.sort_by_key(|fence| fence.place.lead().id);
    for at in (0..answer.len()).rev() {
        let others: Vec<&Place> = places(answer, at).collect();
        let ids: BTreeSet<SiteId> = others.iter().flat_map(|place| place.ids()).collect();
        if answer[at].beside.as_ref() == Some(&ids) {
            continue;
        }
        let rest = with_fences(&subject.whole, others);
        let name = answer[at].place.name();
        let question = format!("does it fail without the fence after {name}, with the others found?");
        let answers = ["it fails: needed", "it passes: not needed"];
        if bench.ask_for_good(&rest, question, answers).await? == Verdict::Passes {
            answer.remove(at);
            return Ok(true);
        }
        bench.expect_failures_of(&rest);
        let everywhere = accesses(&subject.sites, &subject.kernels, &rest, |_| true);
        let lead = answer[at].place.lead().id;
        let stores_only = answer[at].place.has_store();
        let earlier: Vec<Place> = everywhere
            .into_iter()
            .filter(|place| place.lead().id < lead && (place.has_store() || !stores_only))
            .collect();
        if !earlier.is_empty() {
            let measured = bench.measure(&rest, 2, bench.limits.cap()).await?;
            let enough = bench.enough(measured, DOUBT, "fences at earlier places").min(bench.limits.full());
            let question = format!("do fences at all places before {name} do instead?");
            let answers = ["no, it fails", "it passes"];
            let all = with_fences(&rest, &earlier);
            if bench.ask_aloud(&all, enough, question, answers).await? == Verdict::Passes {
                measure_rate(bench, &rest).await?;
                if let Found::At(found) = locate(bench, &rest, &earlier).await? {
                    answer[at].place = earlier[found].clone();
                    answer[at].beside = Some(ids);
                    return Ok(true);
                }
            }
        }
        bench.measure(&rest, 2, bench.limits.cap()).await?;
        let suspect = narrow(bench, subject, &rest).await?;
        (answer[at].space, answer[at].kernel) = (suspect.space, suspect.kernel);
        answer[at].beside = Some(ids);
        bench.expect_nothing();
    }
    Ok(false)
}

/// The places of an answer without one of its fences.
fn places(answer: &[Fence], without: usize) -> impl Iterator<Item = &Place> {
    answer.iter().enumerate().filter(move |&(at, _)| at != without).map(|(_, fence)| &fence.place)
}
