//! The data flow that finds places, see [`super`]. Before a stretch, all edges are looked at turned round.

use std::collections::BTreeMap;

use bugaroo_protocol::{Insertion, Side};
use rustc_hash::{FxHashMap, FxHashSet};

use super::graph::{Edge, Vertex, Way, What};
use super::stretch::Stretch;
use super::{Places, Spot, Under};
use crate::decoded::NO_GUARD;

/// The path from the last site has gone round a loop.
const ROUND: u8 = 1;
/// It has passed an instruction that stands elsewhere in the source.
const ELSEWHERE: u8 = 2;

/// What paths to a point, or from it, have in common.
#[derive(Clone, Debug, Default, PartialEq)]
struct Seen {
    /// Members of the stretch, and what the path between was like; ascending.
    members: Vec<(u32, u8)>,
    /// Some site that is none.
    foreign: bool,
    /// Where threads begin or end, where nothing is needed.
    border: bool,
}

impl Seen {
    fn add(&mut self, member: (u32, u8)) -> bool {
        match self.members.binary_search(&member) {
            Ok(_) => false,
            Err(at) => {
                self.members.insert(at, member);
                true
            }
        }
    }

    /// Answers whether anything was new.
    fn take(&mut self, other: &Seen, flags: u8) -> bool {
        let mut new = false;
        for (member, more) in &other.members {
            new |= self.add((*member, more | flags));
        }
        new |= other.foreign && !self.foreign || other.border && !self.border;
        self.foreign |= other.foreign;
        self.border |= other.border;
        new
    }
}

/// Does something have to stand between two sites?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Need {
    Yes,
    No,
    /// It may or may not.
    Free,
}

/// One search.
struct Flow<'f> {
    places: &'f Places<'f>,
    insertion: &'f Insertion,
    stretch: &'f Stretch,
    /// Before: turned round.
    turned: bool,
    /// The edges behind members up to the next stops, in the order in which they were found.
    edges: Vec<u32>,
    /// By vertex between: what was last, what is next.
    last: FxHashMap<u32, Seen>,
    next: FxHashMap<u32, Seen>,
    /// Vertices between whose line lies elsewhere in the source.
    elsewhere: FxHashSet<u32>,
    /// The stretch has a loop of its own.
    own_loop: bool,
}

impl Places<'_> {
    /// The places beside a stretch.
    pub(super) fn flow(&self, insertion: &Insertion, stretch: &Stretch) -> Result<Vec<Spot>, String> {
        let mut flow = Flow {
            places: self,
            insertion,
            stretch,
            turned: insertion.side == Side::Before,
            edges: Vec::new(),
            last: FxHashMap::default(),
            next: FxHashMap::default(),
            elsewhere: FxHashSet::default(),
            own_loop: false,
        };
        flow.explore();
        flow.look_back();
        flow.look_ahead();
        flow.own_loop = flow.goes_round_inside();
        if let (Some(site), false, false) = (stretch.mixed, flow.own_loop, stretch.begins_earlier) {
            return Err(format!(
                "the compiler has mixed what several executions of it do, from PTX line {} on",
                self.line(site)
            ));
        }
        let chosen = flow.choose();
        flow.verify(&chosen)?;
        Ok(self.spots(&chosen, stretch))
    }

    /// Where edges lie among instructions. Where all ways to an instruction have one, or all from a branch, it is one.
    fn spots(&self, chosen: &[u32], stretch: &Stretch) -> Vec<Spot> {
        let graph = &self.graph;
        let mut spots = Vec::new();
        let mut left: Vec<u32> = chosen.to_vec();
        for forward in [true, false] {
            // By edge at the end of a straight line: where it was.
            let ends: FxHashMap<u32, u32> =
                left.iter().map(|edge| (self.slide(*edge, forward), *edge)).collect();
            for edge in left.clone() {
                let end = graph.edges[self.slide(edge, forward) as usize];
                let (number, all) = if forward { (end.to, &graph.into) } else { (end.from, &graph.out) };
                let all: Vec<u32> = self.reached(&all[number as usize]).collect();
                let vertex = &graph.vertices[number as usize];
                let branches = vertex.what == What::Decision && !stretch.members.contains_key(&number);
                let may = vertex.code.0 < vertex.code.1 && (forward || branches);
                let here = |edge: &u32| ends.get(edge).is_some_and(|edge| left.contains(edge));
                if may && all.len() > 1 && all.iter().all(here) {
                    left.retain(|edge| !all.contains(&self.slide(*edge, forward)));
                    spots.push(Spot::Front(vertex.code.0, Under::Everybody));
                }
            }
        }
        spots.extend(left.iter().map(|edge| self.spot(*edge)));
        spots.sort_unstable();
        spots.dedup();
        spots
    }

    fn reached<'e>(&self, edges: &'e [u32]) -> impl Iterator<Item = u32> + use<'_, 'e> {
        let graph = &self.graph;
        edges.iter().copied().filter(|edge| graph.reached[graph.edges[*edge as usize].from as usize])
    }

    /// The last edge of the straight line that an edge lies on: of instructions that are no sites.
    fn slide(&self, mut edge: u32, forward: bool) -> u32 {
        let graph = &self.graph;
        for _ in 0..graph.vertices.len() {
            let Edge { from, to, .. } = graph.edges[edge as usize];
            let vertex = if forward { to } else { from } as usize;
            let (into, out) = (&graph.into[vertex], &graph.out[vertex]);
            let mut into = self.reached(into);
            let straight = into.next().is_some() && into.next().is_none() && out.len() == 1;
            if graph.vertices[vertex].what != What::Plain || !straight {
                break;
            }
            edge = if forward {
                graph.out[vertex][0]
            } else {
                self.reached(&graph.into[vertex]).next().unwrap_or(edge)
            };
        }
        edge
    }

    /// Where an edge lies among instructions.
    fn spot(&self, edge: u32) -> Spot {
        let edge = &self.graph.edges[edge as usize];
        let (from, to) = (&self.graph.vertices[edge.from as usize], &self.graph.vertices[edge.to as usize]);
        let last = from.code.1.wrapping_sub(1);
        let guarded = |vertex: &Vertex| match self.program.guard_of_text(vertex.code.1 as usize - 1).0 {
            NO_GUARD => Under::Everybody,
            _ => Under::Guard,
        };
        match (edge.way, from.what) {
            (Way::Jump, What::Entry { .. }) => Spot::Entry(from.function),
            (Way::Jump, _) => Spot::Jump(last, to.code.0),
            (Way::Leave, _) => Spot::Front(from.code.0, guarded(from)),
            (Way::Fall, What::Test) if from.code == to.code => Spot::Front(from.code.0, Under::Guard),
            (Way::Fall, What::Test) => Spot::Behind(last, Under::NotGuard),
            (Way::Fall, What::Site(_)) => Spot::Behind(last, guarded(from)),
            (Way::Fall, _) => Spot::Behind(last, Under::Everybody),
        }
    }
}

impl Flow<'_> {
    fn edge(&self, edge: u32) -> &Edge {
        &self.places.graph.edges[edge as usize]
    }

    fn head(&self, edge: u32) -> u32 {
        if self.turned { self.edge(edge).from } else { self.edge(edge).to }
    }

    fn tail(&self, edge: u32) -> u32 {
        if self.turned { self.edge(edge).to } else { self.edge(edge).from }
    }

    fn edges_out(&self, vertex: u32) -> impl Iterator<Item = u32> + '_ {
        let graph = &self.places.graph;
        let all = if self.turned { &graph.into } else { &graph.out };
        let reached = |edge: &u32| graph.reached[graph.edges[*edge as usize].from as usize];
        all[vertex as usize].iter().copied().filter(reached)
    }

    fn edges_into(&self, vertex: u32) -> impl Iterator<Item = u32> + '_ {
        let graph = &self.places.graph;
        let all = if self.turned { &graph.out } else { &graph.into };
        let reached = |edge: &u32| graph.reached[graph.edges[*edge as usize].from as usize];
        all[vertex as usize].iter().copied().filter(reached)
    }

    fn is_member(&self, vertex: u32) -> bool {
        self.stretch.members.contains_key(&vertex)
    }

    fn stops(&self, vertex: u32) -> bool {
        self.is_member(vertex) || self.places.graph.vertices[vertex as usize].is_stop()
    }

    /// What a stop is to those who look at it.
    fn stop(&self, vertex: u32) -> Seen {
        let mut seen = Seen::default();
        match self.places.graph.vertices[vertex as usize].what {
            _ if self.is_member(vertex) => seen.members.push((vertex, 0)),
            What::End | What::Entry { kernel: true } => seen.border = true,
            _ => seen.foreign = true,
        }
        seen
    }

    /// What passing a vertex and an edge adds to a path.
    fn flags(&self, vertex: Option<u32>, edge: u32) -> u8 {
        let round = if self.edge(edge).back { ROUND } else { 0 };
        let elsewhere = vertex.is_some_and(|vertex| self.elsewhere.contains(&vertex));
        round | if elsewhere { ELSEWHERE } else { 0 }
    }

    /// Finds the edges from members to the next stops.
    fn explore(&mut self) {
        let mut waiting: Vec<u32> = self.stretch.members.keys().copied().collect();
        waiting.sort_unstable_by(|a, b| b.cmp(a));
        let mut seen = FxHashSet::default();
        while let Some(vertex) = waiting.pop() {
            let out: Vec<u32> = self.edges_out(vertex).collect();
            for edge in out {
                self.edges.push(edge);
                let to = self.head(edge);
                if !self.stops(to) && seen.insert(to) {
                    waiting.push(to);
                }
            }
        }
        for vertex in seen {
            let span = &self.insertion.span;
            if !self.places.chain(vertex).is_empty() && self.places.split_chain(vertex, span).is_none() {
                self.elsewhere.insert(vertex);
            }
            self.last.insert(vertex, Seen::default());
            self.next.insert(vertex, Seen::default());
        }
    }

    /// What was last where an edge begins.
    fn last_on(&self, edge: u32) -> Seen {
        let from = self.tail(edge);
        if self.stops(from) {
            let mut seen = self.stop(from);
            // Who begins there has passed nothing of the stretch.
            seen.foreign |= seen.border;
            let flags = self.flags(None, edge);
            seen.members.iter_mut().for_each(|member| member.1 |= flags);
            return seen;
        }
        let Some(last) = self.last.get(&from) else {
            // No member leads there.
            return Seen { foreign: true, ..Seen::default() };
        };
        let mut seen = Seen::default();
        seen.take(last, self.flags(Some(from), edge));
        seen
    }

    /// What is next where an edge ends.
    fn next_on(&self, edge: u32) -> Seen {
        let to = self.head(edge);
        if self.stops(to) { self.stop(to) } else { self.next.get(&to).cloned().unwrap_or_default() }
    }

    fn look_back(&mut self) {
        let mut waiting: Vec<u32> = self.sorted();
        while let Some(vertex) = waiting.pop() {
            let mut new = false;
            let into: Vec<u32> = self.edges_into(vertex).collect();
            for edge in into {
                let seen = self.last_on(edge);
                new |= self.last.get_mut(&vertex).is_some_and(|last| last.take(&seen, 0));
            }
            if new {
                let next: Vec<u32> = self.edges_out(vertex).map(|edge| self.head(edge)).collect();
                waiting.extend(next.into_iter().filter(|to| self.last.contains_key(to)));
            }
        }
    }

    fn look_ahead(&mut self) {
        let mut waiting: Vec<u32> = self.sorted();
        while let Some(vertex) = waiting.pop() {
            let mut new = false;
            let out: Vec<u32> = self.edges_out(vertex).collect();
            for edge in out {
                let seen = self.next_on(edge);
                let flags = self.flags(Some(vertex), edge);
                new |= self.next.get_mut(&vertex).is_some_and(|next| next.take(&seen, flags));
            }
            if new {
                let before: Vec<u32> = self.edges_into(vertex).map(|edge| self.tail(edge)).collect();
                waiting.extend(before.into_iter().filter(|from| self.next.contains_key(from)));
            }
        }
    }

    /// The vertices between, the first last.
    fn sorted(&self) -> Vec<u32> {
        let mut all: Vec<u32> = self.last.keys().copied().collect();
        all.sort_unstable_by(|a, b| b.cmp(a));
        all
    }

    /// Is there a round from the stretch to the stretch that passes nothing else?
    fn goes_round_inside(&self) -> bool {
        let members = &self.stretch.members;
        self.edges.iter().any(|edge| {
            let to = self.head(*edge);
            let Some(next) = members.get(&to) else { return false };
            let inside =
                |(last, flags): &(u32, u8)| *flags == ROUND && members[last].instance == next.instance;
            self.last_on(*edge).members.iter().any(inside)
        })
    }

    /// Does something have to stand between a member and what is next?
    fn between(&self, (last, flags): (u32, u8), next: u32) -> Need {
        let members = &self.stretch.members;
        let Some(after) = members.get(&next) else {
            let border = self.stop(next).border;
            return if border { Need::Free } else { Need::Yes };
        };
        let before = &members[&last];
        let round = flags & ROUND != 0;
        let other = before.instance != after.instance
            || round && flags & ELSEWHERE != 0
            || !round && before.copy != after.copy && !self.own_loop && !self.stretch.begins_earlier;
        if other { Need::Yes } else { Need::No }
    }

    /// Is a point where that was last and this is next a place?
    fn fits(&self, last: &Seen, next: &Seen) -> bool {
        let to_members = |(from, before): (u32, u8)| {
            let needs = |(to, after): &(u32, u8)| self.between((from, before | after), *to) == Need::Yes;
            next.members.iter().all(needs)
        };
        !last.foreign && last.members.iter().all(|from| to_members(*from))
    }

    /// The first edges on which it may stand.
    fn choose(&self) -> Vec<u32> {
        let graph = &self.places.graph;
        let first = |edge: &u32| {
            let (from, to) = (self.tail(*edge), self.head(*edge));
            // Where threads begin or end, nothing can be put in.
            let border = matches!(graph.vertices[to as usize].what, What::End)
                || matches!(graph.vertices[to as usize].what, What::Entry { kernel: true });
            if border || !self.fits(&self.last_on(*edge), &self.next_on(*edge)) {
                return false;
            }
            self.stops(from) || !self.fits(&self.last[&from], &self.next[&from])
        };
        self.edges.iter().copied().filter(first).collect()
    }

    /// Is there exactly one between any two sites that need one, and none between others?
    fn verify(&self, chosen: &[u32]) -> Result<(), String> {
        let chosen: FxHashSet<u32> = chosen.iter().copied().collect();
        // By vertex and last member: how many there can have been, as bits for none, one, more.
        let mut passed: FxHashMap<u32, BTreeMap<(u32, u8), u8>> = FxHashMap::default();
        let mut waiting: Vec<u32> = self.stretch.members.keys().copied().collect();
        waiting.sort_unstable();
        while let Some(vertex) = waiting.pop() {
            let start = self.is_member(vertex);
            let here = if start { BTreeMap::from([((vertex, 0), 1)]) } else { passed[&vertex].clone() };
            let out: Vec<u32> = self.edges_out(vertex).collect();
            for edge in out {
                let more = self.flags((!start).then_some(vertex), edge);
                let to = self.head(edge);
                let mut new = false;
                for (&(last, flags), &counts) in &here {
                    let counts = if chosen.contains(&edge) { counts << 1 & 7 | counts & 4 } else { counts };
                    let flags = flags | more;
                    if !self.stops(to) {
                        let known = passed.entry(to).or_default().entry((last, flags)).or_insert(0);
                        new |= *known | counts != *known;
                        *known |= counts;
                        continue;
                    }
                    let fits = match self.between((last, flags), to) {
                        Need::Yes => counts == 2,
                        Need::No => counts == 1,
                        Need::Free => counts & 4 == 0,
                    };
                    if !fits {
                        return Err(self.reason(last, to));
                    }
                }
                if new {
                    waiting.push(to);
                }
            }
        }
        Ok(())
    }

    /// Why there is no place between two sites.
    fn reason(&self, last: u32, next: u32) -> String {
        let (a, b) = if self.turned { (next, last) } else { (last, next) };
        let [a_line, b_line] = [a, b].map(|vertex| self.places.line(vertex));
        let what = &self.places.graph.vertices;
        match (what[a as usize].what, what[b as usize].what) {
            (What::Entry { .. }, _) => format!(
                "the compiler has merged the ways to PTX line {b_line}: who comes from the function's start meets others there"
            ),
            (_, What::Return) => format!(
                "the compiler has merged the ways that lead from PTX line {a_line} out of the function with others"
            ),
            _ => format!(
                "the compiler has merged what the source keeps apart: no place between PTX lines {a_line} and {b_line} is passed \
                 by those alone who leave one for the other"
            ),
        }
    }
}
