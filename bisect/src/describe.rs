//! An answer in the words of the report: what is known of each missing fence, and what the answer cannot know.

use bugaroo_protocol::{Inserted, Model, SiteId, SiteKind};

use crate::narrow::space_name;
use crate::places::{Put, follows};
use crate::report::{MissingAfter, OwnFence, SearchReport};
use crate::round::MissingFence;
use crate::scope::can_tell_scope;
use crate::subject::Subject;
use crate::syntax::call;

/// Everything that is known of a missing fence.
pub fn missing(subject: &Subject, fence: &MissingFence, confidence: f64) -> MissingAfter {
    let place = &fence.place;
    let kernel = place.only_kernel().map(str::to_owned).or_else(|| fence.kernel.clone());
    let in_kernel = place.sites.iter().find(|site| Some(&site.function) == kernel.as_ref());
    let access = in_kernel.unwrap_or(place.lead()).clone();
    // An access of the line that a fence behind the line would come too late for.
    let next = subject.sites.iter().find(|site| follows(&access, site) && access.source.is_some());
    let next = next.filter(|site| site.kind.is_access() && !place.ids().any(|id| id == site.id));
    let elsewhere = subject
        .sites
        .iter()
        .filter(|site| site.id > access.id && site.id.module == access.id.module)
        .filter(|site| site.function == access.function && site.kind.is_access())
        .filter(|site| site.source.is_none() || site.source != access.source)
        .min_by_key(|site| site.id);
    let before = next.or(elsewhere).cloned();
    // The fence that was tried does the same as this one would at its scope: nothing lies between them.
    let widen = subject
        .sites
        .iter()
        .find(|site| {
            let next = SiteId { index: access.id.index + 1, ..access.id };
            site.id == next && site.function == access.function && site.kind == SiteKind::Fence
        })
        .filter(|site| match site.scope.as_deref() {
            Some("cta") => true,
            Some("gpu") => subject.several_devices(),
            _ => false,
        })
        .map(OwnFence::from);
    let widened = place.put == Put::Widened;
    let widen = if widened { Some(OwnFence::from(&access)) } else { widen };
    // An atomic gets the scope of the GPU in any case.
    let own_atomic = widened && access.kind != SiteKind::Fence;
    let what = match fence.what() {
        Inserted::Fence if subject.several_devices() && !own_atomic => Inserted::SystemFence,
        what => what,
    };
    MissingAfter {
        space: space_name(fence.space).to_owned(),
        kernel,
        site: access.id,
        sites: place.ids().collect(),
        ptx_line: access.ptx_line,
        source: place.source.clone(),
        place: place.where_(),
        call: call(what).trim_end_matches(';').to_owned(),
        scope: match what {
            Inserted::SystemFence => "sys",
            _ if fence.narrow => "cta",
            _ => "gpu",
        }
        .to_owned(),
        confidence,
        trials: fence.trials,
        access,
        before,
        within_line: next.is_some(),
        widen,
    }
}

/// What CUDA's fences are in Python: `numba.cuda` has functions of its own, Triton has orders of atomics and a barrier.
const IN_PYTHON: &str = "the source is Python: with numba, __threadfence() and __threadfence_block() are cuda.threadfence() and \
    cuda.threadfence_block(); Triton has none, there an atomic with sem=\"release\", \"acquire\" or \"acq_rel\" (the default) orders \
    what its program has accessed before or accesses later, across tl.debug_barrier()";

/// What the answer cannot know, in words for the user.
pub fn caveats(subject: &Subject, report: &SearchReport) -> Vec<String> {
    let mut caveats = Vec::new();
    let stores_only = !subject.models.contains(&Model::Ptx);
    if stores_only {
        let scope = if can_tell_scope(subject.whole.model) {
            "; of a scope that is too narrow it shows the store side only"
        } else {
            " nor a scope that is too narrow"
        };
        caveats.push(format!(
            "this model delays stores and nothing else: it cannot show a missing acquire (a fence that keeps \
             later loads from running early, as in a lock() function){scope}; a fence called redundant here \
             may be needed on the load side"
        ));
    }
    if report.missing.iter().any(|fence| fence.scope == "cta") {
        caveats.push(
            "a fence makes the stores visible, it does not wait for other threads: where these have to wait, \
             __syncthreads() or, within a warp, __syncwarp() is what is missing; both order memory, too"
                .to_owned(),
        );
    }
    if subject.several_devices() {
        caveats.push(
            "there are several devices: fences are tried at system scope, and nothing is said of fences that could go or be narrower, as \
             what another device has stored is never read late here; a fence that is missing behind the load of a flag of another device \
             does not show (bugaroo race shows it)"
                .to_owned(),
        );
    }
    let mut sources = report.missing.iter().filter_map(|fence| fence.source.as_ref());
    if sources.any(|source| source.file.ends_with(".py")) {
        caveats.push(IN_PYTHON.to_owned());
    }
    if report.untold > 0 {
        caveats.push(format!(
            "{} trials were still at work when their time was up, or were ended by a signal from outside: what failed \
             did fail, but that something passes, or that a fence could go or be narrower, is not concluded",
            report.untold
        ));
    }
    if report.forgetful > 0 {
        caveats.push(format!(
            "in {} trials that passed, the model's memory was full, and writes were forgotten: that something passes, or \
             that a fence could go or be narrower, is not concluded; --model-memory gives it more",
            report.forgetful
        ));
    }
    if !report.redundant.is_empty() {
        caveats.push(
            "a fence that the program does not reach with these arguments is called redundant, too"
                .to_owned(),
        );
    }
    caveats
}
