//! What a user can change: a line of the source.
//!
//! One line of CUDA stands at several places of the PTX: in each kernel or template instance that it
//! was compiled into, in each copy of an inlined function, in each round of an unrolled loop. A fence
//! written after the line goes into all of them, a fence deleted goes from all of them. So the sites of
//! a line make one [`Place`], and the search asks about places. Sites without a source line (PTX
//! without `-lineinfo`) stand alone.
//!
//! Where a fence goes after a line: after each of its stores and atomics; after its loads only where it
//! has nothing else (of loads in a row after the last). A fence between the load and the store of `*p += 1` is none
//! that the user could write. After barriers, too, where reads of old values count: what a flag releases
//! is what its own thread's fence comes behind, and other threads' writes do so at the barrier before it.

use std::collections::BTreeMap;

use bugaroo_harness::Variation;
use bugaroo_protocol::{Model, Site, SiteId, SiteKind, SourceLine, Space};

/// A line of the source with its sites, or a site without a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The line.
    pub source: Option<SourceLine>,
    /// The sites: for accesses those that a fence goes after, for fences all of them; ascending, never
    /// empty.
    pub sites: Vec<Site>,
}

impl Place {
    /// The site that stands for all.
    pub fn lead(&self) -> &Site {
        &self.sites[0]
    }

    /// Numbers of all sites.
    pub fn ids(&self) -> impl Iterator<Item = SiteId> + '_ {
        self.sites.iter().map(|site| site.id)
    }

    /// Whether one of the sites is a store.
    pub fn has_store(&self) -> bool {
        self.sites.iter().any(|site| site.kind == SiteKind::Store)
    }

    /// The only kernel that the place belongs to; None when it stands in several, or in a device
    /// function, which any kernel may call.
    pub fn only_kernel(&self) -> Option<&str> {
        let first = self.lead();
        let alone = self.sites.iter().all(|site| site.in_kernel && site.function == first.function);
        alone.then_some(first.function.as_str())
    }

    /// The line, or the PTX line, for a person.
    pub fn name(&self) -> String {
        match &self.source {
            Some(source) => format!("{}:{}", source.file, source.line),
            None => format!("PTX line {}", self.lead().ptx_line),
        }
    }
}

/// Whether a site is one of the kernels launched, or of a device function that they may call.
pub fn reachable(site: &Site, kernels: &[String]) -> bool {
    !site.in_kernel || kernels.contains(&site.function)
}

/// Whether a fence after such a site can matter under a model. Where only stores are delayed, a fence behind a
/// barrier does nothing that one in front of it, behind the store, does not do.
pub fn can_matter(model: Model, kind: SiteKind) -> bool {
    kind.takes_fence() && (kind != SiteKind::Barrier || model == Model::Ptx)
}

/// The program's own fences.
pub fn fences(sites: &[Site], kernels: &[String]) -> Vec<Place> {
    group(sites.iter().filter(|site| site.kind == SiteKind::Fence && reachable(site, kernels)))
}

/// The places that a fence may be missing after, in the order of the PTX: those with an access that
/// `counts` in the suspected space and kernels. `kernels` are all that are launched.
pub fn accesses(
    sites: &[Site],
    kernels: &[String],
    suspect: &Variation,
    counts: impl Fn(SiteKind) -> bool,
) -> Vec<Place> {
    let all =
        group(sites.iter().filter(|site| can_matter(suspect.model, site.kind) && reachable(site, kernels)));
    let elsewhere = match suspect.space {
        Space::Both => None,
        Space::Shared => Some("global"),
        Space::Global => Some("shared"),
    };
    let pattern = suspect.kernel.as_ref().and_then(|pattern| regex::Regex::new(pattern).ok());
    let suspected = |site: &Site| {
        counts(site.kind)
            && (!site.in_kernel || pattern.as_ref().is_none_or(|pattern| pattern.is_match(&site.function)))
            && (elsewhere.is_none() || site.space.as_deref() != elsewhere)
    };
    let mut places: Vec<Place> =
        all.into_iter().filter(|place| place.sites.iter().any(suspected)).map(insertions).collect();
    places.retain(|place| !place.ids().all(|id| suspect.with_fence.contains(&id)));
    places
}

/// Sites by line, in the order of each line's first site.
fn group<'a>(sites: impl Iterator<Item = &'a Site>) -> Vec<Place> {
    let mut sites: Vec<&Site> = sites.collect();
    sites.sort_by_key(|site| site.id);
    let mut places: Vec<Place> = Vec::new();
    let mut lines: BTreeMap<&SourceLine, usize> = BTreeMap::new();
    for site in sites {
        let at = site.source.as_ref().map(|line| *lines.entry(line).or_insert(places.len()));
        match at {
            Some(at) if at < places.len() => places[at].sites.push(site.clone()),
            _ => places.push(Place { source: site.source.clone(), sites: vec![site.clone()] }),
        }
    }
    places
}

/// Keeps the sites of a line that a fence goes after.
fn insertions(mut place: Place) -> Place {
    let loads_only = place.sites.iter().all(|site| site.kind == SiteKind::Load);
    if loads_only {
        let follows = |a: &Site, b: &Site| {
            a.function == b.function && a.id.module == b.id.module && b.id.index == a.id.index + 1
        };
        let last: Vec<bool> = (0..place.sites.len())
            .map(|at| place.sites.get(at + 1).is_none_or(|next| !follows(&place.sites[at], next)))
            .collect();
        let mut last = last.into_iter();
        place.sites.retain(|_| last.next().unwrap_or(true));
    } else {
        place.sites.retain(|site| site.kind != SiteKind::Load);
    }
    place
}

#[cfg(test)]
mod tests;
