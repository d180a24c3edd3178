//! What a user can change: a line of the source.
//!
//! One line of CUDA stands at several places of the PTX: in each kernel or template instance that it
//! was compiled into, in each copy of an inlined function, in each round of an unrolled loop. A fence
//! written after the line goes into all of them, a fence deleted goes from all of them. So the sites of
//! a line make one [`Place`], and the search asks about places. Sites without a source line (PTX
//! without `-lineinfo`) stand alone.
//!
//! Where a fence may be missing, places are accesses. The stores, atomics and barriers of a line make one place: a fence
//! written after the line goes after each of them. Each of its loads is a place of its own, with its copies, told apart
//! by how many loads of the line follow it directly (0 for the last of a row): also where the line stores, too, or loads
//! something else behind it. A fence between two accesses of one line takes rewriting the line, but that one is missing
//! there is true all the same. So fences at all places are fences after every access. After barriers they go where
//! reads of old values count: what a flag releases is what its own thread's fence comes behind, and other threads' writes
//! do so at the barrier before it.

use std::collections::BTreeMap;

use bugaroo_harness::Variation;
use bugaroo_protocol::{Model, Site, SiteId, SiteKind, SourceLine, Space};

/// A line of the source with its sites, or a site without a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The line.
    pub source: Option<SourceLine>,
    /// The sites: accesses that a fence goes after, or fences; ascending, never empty.
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
    let reached = |site: &&Site| can_matter(suspect.model, site.kind) && reachable(site, kernels);
    let all = group_by(sites.iter().filter(reached), parts);
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
    let mut places: Vec<Place> = all.into_iter().filter(|place| place.sites.iter().any(suspected)).collect();
    places.retain(|place| !place.ids().all(|id| suspect.with_fence.contains(&id)));
    places
}

/// Sites by line, in the order of each line's first site.
fn group<'a>(sites: impl Iterator<Item = &'a Site>) -> Vec<Place> {
    group_by(sites, |sites| vec![Part::Whole; sites.len()])
}

/// What of a line a site belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    /// All of it, or all that are no loads.
    Whole,
    /// A load that so many of the line follow directly.
    Load(usize),
}

/// The parts of lines that sites, in ascending order, belong to.
fn parts(sites: &[&Site]) -> Vec<Part> {
    let mut parts = vec![Part::Whole; sites.len()];
    for at in (0..sites.len()).rev().filter(|at| sites[*at].kind == SiteKind::Load) {
        let next = sites.get(at + 1).filter(|next| follows(sites[at], next));
        parts[at] = match next.map(|_| parts[at + 1]) {
            Some(Part::Load(behind)) => Part::Load(behind + 1),
            _ => Part::Load(0),
        };
    }
    parts
}

/// Whether one site comes directly behind another of its line.
pub fn follows(site: &Site, next: &Site) -> bool {
    let place = (next.id.module, next.id.index, &next.function);
    place == (site.id.module, site.id.index + 1, &site.function) && site.source == next.source
}

/// Sites by line and part, in the order of each place's first site.
fn group_by<'a>(sites: impl Iterator<Item = &'a Site>, parts: impl Fn(&[&Site]) -> Vec<Part>) -> Vec<Place> {
    let mut sites: Vec<&Site> = sites.collect();
    sites.sort_by_key(|site| site.id);
    let parts = parts(&sites);
    let mut places: Vec<Place> = Vec::new();
    let mut known: BTreeMap<(&SourceLine, Part), usize> = BTreeMap::new();
    for (site, part) in sites.into_iter().zip(parts) {
        let at = site.source.as_ref().map(|line| *known.entry((line, part)).or_insert(places.len()));
        match at {
            Some(at) if at < places.len() => places[at].sites.push(site.clone()),
            _ => places.push(Place { source: site.source.clone(), sites: vec![site.clone()] }),
        }
    }
    places
}

#[cfg(test)]
mod tests;
