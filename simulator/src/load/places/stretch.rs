//! What of the PTX belongs to a stretch of the source, and which of it is one execution of the stretch.
//!
//! What belongs to it are the sites of which the line, or a call site that it was inlined at, lies in the stretch, and the
//! branches that do: who decides there has come to the stretch, whatever way it goes from there. So behind an `if` is
//! where both ways meet.
//!
//! Compilers copy code, and the copies have the same lines. Copies that were inlined at other call sites are other
//! executions. Those of one call site are copies of rounds of a loop around the stretch, or accesses of one execution:
//! there are as many copies as all kinds of sites in the stretch have a count in common, one behind the other.

use bugaroo_protocol::Insertion;
use rustc_hash::FxHashMap;

use super::graph::{Ordered, What};
use super::{At, Places};

/// What tells kinds of sites of a stretch apart: the lines within it, and what stands there.
type Sort = (Vec<At>, Ordered);

/// A vertex of the stretch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    /// The same for what was inlined at the same place.
    pub instance: u32,
    /// The round of an unrolled loop.
    pub copy: u32,
}

/// A stretch of the source in the PTX.
#[derive(Debug, Default)]
pub(super) struct Stretch {
    /// By number of the vertex.
    pub members: FxHashMap<u32, Member>,
    /// Sites among them.
    pub sites: u32,
    /// It begins before all that is known of it, so copies may be rounds of a loop of its own.
    pub begins_earlier: bool,
    /// Why copies cannot be told apart.
    pub mixed: Option<u32>,
}

impl Places<'_> {
    pub(super) fn stretch(&self, insertion: &Insertion) -> Stretch {
        let span = &insertion.span;
        let mut stretch = Stretch { begins_earlier: true, ..Stretch::default() };
        let mut instances: FxHashMap<(u32, Vec<At>), u32> = FxHashMap::default();
        // By instance: sites in the order of the text, and what tells their kinds apart.
        let mut sites: Vec<Vec<(u32, Sort)>> = Vec::new();
        let (in_span, others): (Vec<u32>, Vec<u32>) = self
            .vertices_in(span)
            .into_iter()
            .partition(|v| matches!(self.graph.vertices[*v as usize].what, What::Site(_)));
        for vertex in in_span {
            let Some((inner, outside)) = self.split_chain(vertex, span) else { continue };
            let What::Site(kind) = self.graph.vertices[vertex as usize].what else { continue };
            let begins =
                inner.last().is_some_and(|at| (at.line, at.column) <= (span.from.line, span.from.column));
            stretch.begins_earlier &= !begins;
            let function = self.graph.vertices[vertex as usize].function;
            let next = instances.len() as u32;
            let instance = *instances.entry((function, outside)).or_insert(next);
            if instance == next {
                sites.push(Vec::new());
            }
            sites[instance as usize].push((vertex, (inner, kind)));
        }
        for (instance, sites) in sites.iter().enumerate() {
            stretch.sites += sites.len() as u32;
            let copies = copies(sites);
            if copies.is_none() {
                stretch.mixed.get_or_insert(sites[0].0);
            }
            for (place, (vertex, _)) in sites.iter().enumerate() {
                let copy = copies.map_or(0, |copies| place / (sites.len() / copies)) as u32;
                stretch.members.insert(*vertex, Member { instance: instance as u32, copy });
            }
        }
        for vertex in others {
            let Some((inner, outside)) = self.split_chain(vertex, span) else { continue };
            let function = self.graph.vertices[vertex as usize].function;
            let Some(&instance) = instances.get(&(function, outside)) else { continue };
            let starts =
                inner.last().is_some_and(|at| (at.line, at.column) <= (span.from.line, span.from.column));
            if self.graph.vertices[vertex as usize].what == What::Test && starts {
                // The stretch is the access itself, as far as columns tell, and not an `if` around it.
                continue;
            }
            stretch.begins_earlier &= !starts;
            // What it decides on comes behind it, mostly.
            let sites = &sites[instance as usize];
            let near = sites.iter().find(|(site, _)| *site > vertex).or(sites.last());
            let copy = near.map_or(0, |(site, _)| stretch.members[site].copy);
            stretch.members.insert(vertex, Member { instance, copy });
        }
        stretch
    }
}

/// How many copies of the same there are, one behind the other; None where they are mixed.
fn copies(sites: &[(u32, Sort)]) -> Option<usize> {
    let mut kinds: FxHashMap<&Sort, usize> = FxHashMap::default();
    sites.iter().for_each(|(_, kind)| *kinds.entry(kind).or_default() += 1);
    let copies = kinds.values().fold(0, |all, count| gcd(all, *count)).max(1);
    for copy in sites.chunks(sites.len() / copies) {
        let mut here: FxHashMap<&Sort, usize> = FxHashMap::default();
        copy.iter().for_each(|(_, kind)| *here.entry(kind).or_default() += 1);
        if here.iter().any(|(kind, count)| count * copies != kinds[kind]) {
            return None;
        }
    }
    Some(copies)
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}
