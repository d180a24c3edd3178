//! Why: who waits for whom, and between which barriers two accesses may run together.

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::chains::Layout;
use crate::machine::{Context, Machine, Observer, Part, place};
use crate::program::WarpPrograms;
use crate::races::pairs::Member;
use crate::verdict::{BarrierPoint, Deadlock, Interval, Resource, ThreadsPlace, Waiting};

/// Keeps every completed generation, in the order of completion.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    pub nodes: Vec<Node>,
    last: FxHashMap<Resource, usize>,
}

/// A dynamic barrier.
#[derive(Debug)]
pub(crate) struct Node {
    pub resource: Resource,
    pub generation: u32,
    pub parts: Vec<Part>,
    /// Those that waited for it without taking part.
    pub waiters: Vec<Part>,
}

impl Node {
    /// All that waited until it was complete.
    fn waits(&self) -> impl Iterator<Item = &Part> {
        self.parts.iter().filter(|p| p.waits).chain(&self.waiters)
    }
    /// All whose past it joins.
    fn orders(&self) -> impl Iterator<Item = &Part> {
        self.parts.iter().filter(|p| p.orders)
    }
}

impl Observer for Recorder {
    const WANTS_ACCESSES: bool = false;
    fn accesses(&mut self, _context: &mut Context<'_>, _range: Range<usize>) {}
    fn completed(&mut self, resource: Resource, generation: u32, parts: &[Part]) {
        let parts = parts.to_vec();
        self.last.insert(resource, self.nodes.len());
        self.nodes.push(Node { resource, generation, parts, waiters: Vec::new() });
    }
    fn passed(&mut self, resource: Resource, part: &Part) {
        if let Some(&index) = self.last.get(&resource) {
            self.nodes[index].waiters.push(*part);
        }
    }
}

/// Who waits for whom when nobody can go on.
pub(crate) fn deadlock(machine: &Machine<'_>) -> Deadlock {
    let mut waiting: Vec<Waiting> = Vec::new();
    let mut chains = Vec::new();
    for (chain, at) in machine.blocked() {
        chains.push((chain, waiting.len()));
        waiting.push(at);
    }
    // For each barrier: who would still come to it, and where.
    let mut to_come: FxHashMap<Resource, Vec<(usize, ThreadsPlace)>> = FxHashMap::default();
    for &(chain, index) in &chains {
        for (resource, place) in machine.to_come(chain) {
            to_come.entry(resource).or_default().push((index, place));
        }
    }
    let warp = |at: &Waiting| (at.place.threads.cta, at.place.threads.warp);
    for index in (0..waiting.len()).filter(|index| waiting[*index].in_warp).collect::<Vec<_>>() {
        // The rest of its warp, which has to come or to exit.
        let at = &waiting[index];
        let elsewhere = |other: &Waiting| !(other.in_warp && other.resource == at.resource);
        let rest =
            waiting.iter().enumerate().filter(|(_, other)| warp(other) == warp(at) && elsewhere(other));
        let coming = to_come.get(&at.resource).map_or(&[][..], |all| &all[..]);
        let place = |other: usize| coming.iter().find(|(who, _)| *who == other).map(|(_, place)| *place);
        let rest = rest.map(|(other, blocked)| (other, place(other).unwrap_or(blocked.place)));
        waiting[index].waits_for = rest.collect();
    }
    for (index, at) in waiting.iter_mut().enumerate().filter(|(_, at)| !at.in_warp) {
        if let Some(others) = to_come.get(&at.resource) {
            at.waits_for = others.iter().filter(|(other, _)| *other != index).copied().collect();
        }
    }
    let cycle = find_cycle(&waiting);
    Deadlock { waiting, cycle }
}

/// A circle of those that wait for each other: walk from each until somebody comes again.
fn find_cycle(waiting: &[Waiting]) -> Vec<usize> {
    // 0: not seen; 1: on the path; 2: done.
    let mut colour = vec![0u8; waiting.len()];
    for start in 0..waiting.len() {
        let mut path: Vec<(usize, usize)> = vec![(start, 0)];
        while let Some(&mut (at, ref mut edge)) = path.last_mut() {
            if *edge == 0 {
                if colour[at] == 2 {
                    path.pop();
                    continue;
                }
                colour[at] = 1;
            }
            let next = waiting[at].waits_for.get(*edge).map(|w| w.0);
            *edge += 1;
            match next {
                None => {
                    colour[at] = 2;
                    path.pop();
                }
                Some(next) if colour[next] == 1 => {
                    let from = path.iter().position(|p| p.0 == next).unwrap_or(0);
                    return path[from..].iter().map(|p| p.0).collect();
                }
                Some(next) if colour[next] == 0 => path.push((next, 0)),
                Some(_) => {}
            }
        }
    }
    Vec::new()
}

/// Between which of the second access's barriers it may run together with the first.
pub(crate) fn interval(
    program: &WarpPrograms,
    layout: &Layout,
    recorder: &Recorder,
    first: &Member,
    second: &Member,
) -> Interval {
    let point = |node: &Node, part: &Part| BarrierPoint {
        resource: node.resource,
        generation: node.generation,
        place: place(program, layout, part.chain, part.command),
    };
    let own = |part: &Part, member: &Member| part.chain == member.chain;
    let mut interval = Interval::default();

    // Forwards: a barrier happens after the access if its thread registers there later, or somebody does who has waited at such
    // a barrier before. For each chain: the first command at which it has.
    let mut learnt = vec![u32::MAX; layout.chains.len()];
    for node in &recorder.nodes {
        let after = |part: &Part| {
            own(part, first) && part.command > first.command || part.command > learnt[part.chain as usize]
        };
        if !node.orders().any(after) {
            continue;
        }
        for part in node.waits() {
            let slot = &mut learnt[part.chain as usize];
            *slot = (*slot).min(part.command);
            let earliest = |p: &BarrierPoint| p.place.command <= part.command;
            if own(part, second)
                && part.command > second.command
                && !interval.earliest_after.as_ref().is_some_and(earliest)
            {
                interval.earliest_after = Some(point(node, part));
            }
        }
    }

    // Backwards: a barrier happens before the access if its thread has waited there, or somebody has who registers later at
    // such a barrier. For each chain: the last command at which it does.
    let mut leads: Vec<Option<u32>> = vec![None; layout.chains.len()];
    for node in recorder.nodes.iter().rev() {
        let before = |part: &Part| {
            own(part, first) && part.command < first.command
                || leads[part.chain as usize].is_some_and(|c| part.command < c)
        };
        if !node.waits().any(before) {
            continue;
        }
        for part in node.orders() {
            let slot = &mut leads[part.chain as usize];
            *slot = (*slot).max(Some(part.command));
            let latest = |p: &BarrierPoint| p.place.command >= part.command;
            if own(part, second)
                && part.command < second.command
                && !interval.latest_before.as_ref().is_some_and(latest)
            {
                interval.latest_before = Some(point(node, part));
            }
        }
    }
    interval
}
