//! What a user can change: a place of the source.
//!
//! Where the source can be read, places are the sides of its statements ([`crate::written`]). Elsewhere, and where stores are
//! delayed by injected code, they are its lines, by what the PTX says of them:
//!
//! One line of CUDA stands at several places of the PTX: in each kernel or template instance that it
//! was compiled into, in each copy of an inlined function, in each round of an unrolled loop. A fence
//! written after the line goes into all of them, a fence deleted goes from all of them. So the sites of
//! a line make one [`SitePlace`], and the search asks about places. Sites without a source line (PTX
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
use bugaroo_protocol::{DelayedSpace, Inserted, Insertion, Model, Side, Site, SiteId, SiteKind, SourceLine};

use crate::beside::{Beside, WritablePlace};

/// How what is tried at a place comes into the program.
#[derive(Clone, Debug, PartialEq)]
pub enum Put {
    /// A fence behind each of the sites; of a fence's place: nothing, it is there.
    BehindSites,
    /// A fence beside a stretch of the source.
    Written(WritablePlace),
    /// The sites themselves, at GPU scope, or, for another device, at that of the system.
    Widened,
}

/// A place of the source with its sites, or a site without a line.
#[derive(Clone, Debug, PartialEq)]
pub struct SitePlace {
    /// The line.
    pub source: Option<SourceLine>,
    /// The sites: accesses that a fence goes after (or, written before them, in front of), or fences; ascending, never
    /// empty.
    pub sites: Vec<Site>,
    /// What happens there.
    pub put: Put,
}

impl SitePlace {
    /// The site that stands for all.
    pub fn lead(&self) -> &Site {
        &self.sites[0]
    }

    /// Numbers of all sites.
    pub fn ids(&self) -> impl Iterator<Item = SiteId> + '_ {
        self.sites.iter().map(|site| site.id)
    }

    /// Puts `what` there, in a variation. Behind sites it is always a fence, of the scope that fences have to have, or of the block's.
    pub fn put(&self, variation: &mut Variation, what: Inserted) {
        match &self.put {
            Put::Written(written) => {
                variation.insert.extend(written.insertions(what));
                variation.with_fence.extend(&written.behind);
                if what == Inserted::BlockFence {
                    variation.narrow_fence.extend(&written.behind);
                }
            }
            Put::BehindSites => {
                variation.with_fence.extend(self.ids());
                if what == Inserted::BlockFence {
                    variation.narrow_fence.extend(self.ids());
                }
            }
            Put::Widened => variation.widen.extend(self.ids()),
        }
    }

    /// The insertions that put `what` there; none where it is not put beside the source.
    pub fn insertions(&self, what: Inserted) -> Vec<Insertion> {
        match &self.put {
            Put::Written(written) => written.insertions(what),
            Put::BehindSites | Put::Widened => Vec::new(),
        }
    }

    /// Whether a variation has something there.
    pub fn is_in(&self, variation: &Variation) -> bool {
        match &self.put {
            Put::Written(written) if !written.behind.is_empty() => {
                written.behind.iter().all(|id| variation.with_fence.contains(id))
            }
            Put::Written(written) => written.insertions(Inserted::Fence).iter().any(|here| {
                let same = |there: &&Insertion| (&there.span, there.side) == (&here.span, here.side);
                variation.insert.iter().any(|there| same(&there))
            }),
            Put::BehindSites => self.ids().all(|id| variation.with_fence.contains(&id)),
            Put::Widened => self.ids().all(|id| variation.widen.contains(&id)),
        }
    }

    /// Whether one of the sites is a store.
    pub fn has_store(&self) -> bool {
        self.sites.iter().any(|site| site.kind == SiteKind::Store)
    }

    /// Where it comes among places that cure alike, smallest first: how an expert would choose. A narrow fence is widened
    /// rather than another added; then a fence stands at the access that synchronises, in the function that does it, as
    /// close as can be, and then as early as can be.
    pub fn rank(&self, model: Model) -> (u8, usize, usize, SiteId) {
        let reads = model == Model::Ptx;
        match &self.put {
            Put::Widened => (0, 0, 0, self.lead().id),
            Put::BehindSites => {
                // Of whole lines, what comes first counts for more than what stands there.
                let class = if reads || self.has_store() { 2 } else { 3 };
                (class, 0, 0, self.lead().id)
            }
            Put::Written(written) => {
                let Beside { releases, acquires, stored, barrier } = written.beside;
                let class = match () {
                    () if releases || acquires && reads => 1,
                    () if stored || barrier => 2,
                    () => 3,
                };
                (class, written.depth, written.nesting, self.lead().id)
            }
        }
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
        named(self.source.as_ref(), self.lead().ptx_line)
    }

    /// Whether it has this name in the report.
    pub fn is_called(&self, name: &str, inserted: bool) -> bool {
        if inserted { self.where_() == name } else { self.name() == name }
    }

    /// Which side of it a fence goes to, for a person: "before k.cu:12", "after k.cu:12".
    pub fn where_(&self) -> String {
        match &self.put {
            Put::Written(written) if written.side() == Side::Before => format!("before {}", self.name()),
            _ => format!("after {}", self.name()),
        }
    }
}

/// A line of the source, or of the PTX where there is none, for a person.
pub fn named(source: Option<&SourceLine>, ptx_line: u32) -> String {
    source.map_or_else(|| format!("PTX line {ptx_line}"), |source| format!("{}:{}", source.file, source.line))
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
pub fn fences(sites: &[Site], kernels: &[String]) -> Vec<SitePlace> {
    group(sites.iter().filter(|site| site.kind == SiteKind::Fence && reachable(site, kernels)))
}

/// The places that a fence may be missing at, by the lines of the PTX: one that can matter under some model for every
/// access and barrier.
pub fn lines(sites: &[Site], kernels: &[String]) -> Vec<SitePlace> {
    let reached = |site: &&Site| site.kind.takes_fence() && reachable(site, kernels);
    group_by(sites.iter().filter(reached), parts)
}

/// Those of `places` that may cure what `suspect` shows, the best first ([`SitePlace::rank`]): in its kernels, beside accesses
/// that may be of its space, and not in it yet.
pub fn candidates(places: &[SitePlace], suspect: &Variation) -> Vec<SitePlace> {
    let elsewhere = match suspect.space {
        DelayedSpace::Both => None,
        DelayedSpace::Shared => Some("global"),
        DelayedSpace::Global => Some("shared"),
    };
    let pattern = suspect.kernel.as_ref().and_then(|pattern| regex::Regex::new(pattern).ok());
    let suspected = |site: &Site| {
        (!site.in_kernel || pattern.as_ref().is_none_or(|pattern| pattern.is_match(&site.function)))
            && (elsewhere.is_none() || site.space.as_deref() != elsewhere)
    };
    let matters = |place: &&SitePlace| {
        let can = |site: &Site| match place.put {
            Put::BehindSites => can_matter(suspect.model, site.kind),
            Put::Written(_) | Put::Widened => true,
        };
        place.sites.iter().any(|site| can(site) && suspected(site))
    };
    let mut candidates: Vec<SitePlace> =
        places.iter().filter(matters).filter(|place| !place.is_in(suspect)).cloned().collect();
    candidates.sort_by_key(|place| place.rank(suspect.model));
    candidates
}

/// Sites by line, in the order of each line's first site.
pub fn group<'a>(sites: impl Iterator<Item = &'a Site>) -> Vec<SitePlace> {
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
fn group_by<'a>(
    sites: impl Iterator<Item = &'a Site>,
    parts: impl Fn(&[&Site]) -> Vec<Part>,
) -> Vec<SitePlace> {
    let mut sites: Vec<&Site> = sites.collect();
    sites.sort_by_key(|site| site.id);
    let parts = parts(&sites);
    let mut places: Vec<SitePlace> = Vec::new();
    let mut known: BTreeMap<(&SourceLine, Part), usize> = BTreeMap::new();
    for (site, part) in sites.into_iter().zip(parts) {
        let at = site.source.as_ref().map(|line| *known.entry((line, part)).or_insert(places.len()));
        match at {
            Some(at) if at < places.len() => places[at].sites.push(site.clone()),
            _ => places.push(SitePlace {
                source: site.source.clone(),
                sites: vec![site.clone()],
                put: Put::BehindSites,
            }),
        }
    }
    places
}

#[cfg(test)]
mod tests;
