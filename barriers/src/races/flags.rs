//! Whether flags in memory may order two accesses that no barrier orders: what a release pattern of one thread hands over to an acquire pattern
//! of another (PTX ISA, "Release and Acquire Patterns", "Causality Order").
//!
//! Which write a read sees is open, and what a thread does about it is not followed. So this answers less: an access `a` may come before an access
//! `b` by flags only if some thread releases behind `a`, as far as barriers tell, some thread acquires before `b`, and neither is the wrong
//! way round: the acquiring read does not happen before `a`, nor the releasing write behind `b`. Both ends have to meet somebody: a read that
//! acquires, a place that another thread releases, and the other way round. If that is not so, the accesses race in some execution, whatever flags do.
//!
//! # What it can miss
//! It takes each acquire that is used for a wait, and all scopes for wide enough. So a race beside flags that have nothing to do with it may be called
//! possible, never a flag's order a certain race.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::{Stamp, lanes};
use crate::chains::{Chain, Layout};
use crate::machine::{Context, Machine, Observer};
use crate::program::{Signal, WarpProgram, WarpPrograms};
use crate::verdict::ThreadsPlace as At;

/// Comparisons of accesses with signals, over all; after these, flags are taken to order everything.
const LIMIT: u64 = 100_000_000;
/// Numbers in clocks that are kept; beyond, flags are taken to order everything.
const ROOM: usize = 1 << 26;
/// Bytes of an access from which on it may meet all of shared memory.
const BROAD: u32 = 1 << 10;

/// Where a flag is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Place {
    /// Four bytes of shared memory.
    Word(u32),
    /// Anywhere in it.
    Shared,
    /// In no shared memory.
    Elsewhere,
}

/// What one half of an order is made of. Positions: `2 * n + 1` is the command `n`, `2 * n` what comes before it.
#[derive(Debug, Clone, Copy)]
struct Pattern {
    warp: u32,
    chain: u32,
    lanes: u32,
    /// The strong access.
    access: u32,
    /// The fence, or what is one.
    fence: u32,
    command: Option<u32>,
    origin: u32,
}

/// What a chain knows from one of its commands on.
#[derive(Debug)]
struct Interval {
    from: u32,
    epoch: u32,
    clock: Box<[u32]>,
}

/// Keeps what chains know.
struct Clocks {
    chains: Vec<Vec<Interval>>,
    room: usize,
}

impl Observer for Clocks {
    fn accesses(&mut self, context: &mut Context<'_>, range: Range<usize>) {
        let Some(room) = self.room.checked_sub(context.clock.len()) else { return };
        self.room = room;
        self.chains[context.chain as usize].push(Interval {
            from: range.start as u32,
            epoch: context.epoch,
            clock: context.clock.to_vec().into(),
        });
    }
}

/// One access of a pair.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Side {
    pub chain: u32,
    pub command: u32,
    pub stamp: Stamp,
}

/// Lanes of a pair of commands that flags may order, in one direction.
#[derive(Debug, Clone, Copy, Default)]
struct Ordered {
    /// Of the first command: those behind which something is released.
    from: u32,
    /// Of the second: those before which something is acquired.
    to: u32,
    /// An acquiring read.
    origin: u32,
}

/// What flags may order.
pub(crate) struct Flags<'a> {
    layout: &'a Layout,
    lockstep: bool,
    /// What releases a place may come behind the end.
    open_end: bool,
    clocks: Clocks,
    acquires: Vec<Pattern>,
    releases: Vec<Pattern>,
    known: FxHashMap<[u32; 4], [Ordered; 2]>,
    left: u64,
}

impl<'a> Flags<'a> {
    /// None if there are no flags by which anything could be ordered.
    pub(crate) fn new(program: &'a WarpPrograms, layout: &'a Layout) -> Option<Flags<'a>> {
        if !program.has_signals() {
            return None;
        }
        let (mut acquires, mut releases) = (Vec::new(), Vec::new());
        for (number, warp) in program.warps().iter().enumerate() {
            patterns(layout, number as u32, warp, &mut acquires, &mut releases);
        }
        let (read, written) = (Who::of(program, &acquires), Who::of(program, &releases));
        let meet = |patterns: &mut Vec<Pattern>, others: &Who| {
            patterns.iter_mut().for_each(|pattern| pattern.lanes = others.met_by(program, pattern));
            patterns.retain(|pattern| pattern.lanes != 0);
        };
        meet(&mut acquires, &written);
        meet(&mut releases, &read);
        if acquires.is_empty() || releases.is_empty() {
            return None;
        }
        let chains = layout.chains.iter().map(|_| Vec::new()).collect();
        let mut clocks = Clocks { chains, room: ROOM };
        // Behind a misuse nothing goes on, and nothing is asked.
        let _ = Machine::new(program, layout).run(&mut clocks);
        let left = if clocks.room < layout.components as usize { 0 } else { LIMIT };
        let (lockstep, open_end) = (program.warp_synchronous(), program.has_open_end());
        let known = FxHashMap::default();
        Some(Flags { layout, lockstep, open_end, clocks, acquires, releases, known, left })
    }

    /// Which of the lanes of `old` flags may order with a lane of `new`, and an acquiring read by which.
    pub(crate) fn order(&mut self, old: &Side, racing: u32, new: &Side, lane: u32) -> (u32, u32) {
        let key = [old.chain, old.command, new.chain, new.command];
        let both = match self.known.get(&key) {
            Some(both) => *both,
            None => {
                let both = [self.between(old, new), self.between(new, old)];
                self.known.insert(key, both);
                both
            }
        };
        let [forth, back] = both;
        let has = |mask: u32| mask >> lane & 1 != 0;
        let forth_lanes = if has(forth.to) { forth.from & racing } else { 0 };
        let back_lanes = if has(back.from) { back.to & racing } else { 0 };
        (forth_lanes | back_lanes, if forth_lanes != 0 { forth.origin } else { back.origin })
    }

    /// Whether flags may order what some threads do at one place before what others do at another.
    pub(crate) fn may_come_before(&mut self, program: &WarpPrograms, earlier: &At, later: &At) -> bool {
        let (Some(a), Some(b)) = (self.side(program, earlier), self.side(program, later)) else {
            return false;
        };
        let ordered = self.between(&a, &b);
        ordered.from & earlier.threads.lanes != 0 && ordered.to & later.threads.lanes != 0
    }

    /// The command at a place, by its first thread.
    fn side(&self, program: &WarpPrograms, at: &At) -> Option<Side> {
        let warp = at.threads.cta * program.shape().warps_per_cta() + at.threads.warp;
        let first = 1 << at.threads.lanes.trailing_zeros();
        let is_its = |chain: &Chain| chain.warp == warp && chain.lanes & first != 0;
        let chain = self.layout.chains.iter().position(is_its)? as u32;
        let epoch = self.epoch(chain, position(at.command));
        let stamp = Stamp { component: chain, epoch, asynchronous: false, group: None };
        Some(Side { chain, command: at.command, stamp })
    }

    fn between(&mut self, a: &Side, b: &Side) -> Ordered {
        let costs = (self.acquires.len() + self.releases.len()) as u64;
        let Some(left) = self.left.checked_sub(costs) else {
            self.left = 0;
            return Ordered { from: !0, to: !0, origin: self.acquires[0].origin };
        };
        self.left = left;
        let mut ordered = Ordered::default();
        let (start, end) = (position(a.command), position(b.command));
        let (at_start, at_end) = (self.interval(a.chain, start), self.interval(b.chain, end));
        let warp = |side: &Side| self.layout.chains[side.chain as usize].warp;
        for acquire in &self.acquires {
            if is_before(self.epoch(acquire.chain, acquire.access), acquire.chain, at_start) {
                continue;
            }
            let mut lanes = 0;
            if acquire.warp == warp(b) && acquire.fence < end {
                lanes = if self.lockstep { !0 } else { acquire.lanes };
            }
            if is_before(self.epoch(acquire.chain, acquire.fence), acquire.chain, at_end) {
                lanes = !0;
            }
            if lanes != 0 {
                (ordered.to, ordered.origin) = (ordered.to | lanes, acquire.origin);
            }
        }
        for release in &self.releases {
            if is_before(b.stamp.epoch, b.stamp.component, self.interval(release.chain, release.access)) {
                continue;
            }
            if release.warp == warp(a) && release.fence > start {
                ordered.from |= if self.lockstep { !0 } else { release.lanes };
            }
            if is_before(a.stamp.epoch, a.stamp.component, self.interval(release.chain, release.fence)) {
                ordered.from = !0;
            }
        }
        if self.open_end && ordered.to != 0 {
            ordered.from = !0;
        }
        ordered
    }

    /// What a chain knows at a position.
    fn interval(&self, chain: u32, position: u32) -> Option<&Interval> {
        let all = &self.clocks.chains[chain as usize];
        // What stands before a command that waits knows nothing of it.
        let command = position.saturating_sub(1) / 2;
        all[..all.partition_point(|interval| interval.from <= command)].last()
    }

    fn epoch(&self, chain: u32, position: u32) -> u32 {
        match self.lockstep {
            true => position.saturating_sub(1) / 2,
            false => self.interval(chain, position).map_or(0, |interval| interval.epoch),
        }
    }
}

fn position(command: u32) -> u32 {
    2 * command + 1
}

/// Whether what a component does in an epoch happens before what is known there.
fn is_before(epoch: u32, component: u32, known: Option<&Interval>) -> bool {
    known.is_some_and(|known| epoch < known.clock[component as usize])
}

/// Appends the patterns of a warp's signals.
fn patterns(
    layout: &Layout,
    number: u32,
    warp: &WarpProgram,
    acquires: &mut Vec<Pattern>,
    releases: &mut Vec<Pattern>,
) {
    let chains = || (0..).zip(&layout.chains).filter(|(_, chain)| chain.warp == number);
    let mut reads: Vec<Pattern> = Vec::new();
    let mut fences = [None; 32];
    for signalled in warp.signals() {
        let before = 2 * signalled.before;
        let pattern = |chain, lanes, command: Option<u32>, fence| Pattern {
            warp: number,
            chain,
            lanes,
            access: command.map_or(before, position),
            fence,
            command,
            origin: signalled.origin,
        };
        match signalled.what {
            Signal::Read(command) => {
                for (chain, of) in chains().filter(|(_, of)| of.lanes & signalled.lanes != 0) {
                    reads.push(pattern(chain, of.lanes & signalled.lanes, command, before));
                }
            }
            Signal::Acquire => {
                for read in &mut reads {
                    let lanes = read.lanes & signalled.lanes;
                    if lanes != 0 {
                        acquires.push(Pattern { lanes, fence: before, ..*read });
                    }
                    read.lanes &= !lanes;
                }
                reads.retain(|read| read.lanes != 0);
            }
            Signal::Release => {
                lanes(signalled.lanes).for_each(|lane| fences[lane as usize] = Some(before));
            }
            Signal::Write(command) => {
                let mut rest = signalled.lanes;
                while rest != 0 {
                    let fence = fences[rest.trailing_zeros() as usize];
                    let same = lanes(rest).filter(|lane| fences[*lane as usize] == fence);
                    let same = same.fold(0, |mask, lane| mask | 1 << lane);
                    rest &= !same;
                    let Some(fence) = fence else { continue };
                    for (chain, of) in chains().filter(|(_, of)| of.lanes & same != 0) {
                        releases.push(pattern(chain, of.lanes & same, command, fence));
                    }
                }
            }
        }
    }
}

/// Which threads have to do with places.
#[derive(Default)]
struct Who {
    /// By place: a thread, and whether there is another one.
    places: FxHashMap<Place, (u32, bool)>,
    /// The same of any place in shared memory.
    shared: Option<(u32, bool)>,
}

impl Who {
    fn of(program: &WarpPrograms, patterns: &[Pattern]) -> Who {
        let mut who = Who::default();
        for pattern in patterns {
            for lane in lanes(pattern.lanes) {
                let thread = pattern.warp * 32 + lane;
                for place in places(program, pattern, lane) {
                    let (first, more) = who.places.entry(place).or_insert((thread, false));
                    *more |= *first != thread;
                    if place != Place::Elsewhere {
                        let (first, more) = who.shared.get_or_insert((thread, false));
                        *more |= *first != thread;
                    }
                }
            }
        }
        who
    }

    /// The lanes of a pattern that meet somebody else.
    fn met_by(&self, program: &WarpPrograms, pattern: &Pattern) -> u32 {
        let met = |lane: &u32| {
            let other = |found: Option<&(u32, bool)>| {
                found.is_some_and(|(thread, more)| *more || *thread != pattern.warp * 32 + lane)
            };
            places(program, pattern, *lane).into_iter().any(|place| match place {
                Place::Shared => other(self.shared.as_ref()),
                Place::Word(_) => other(self.places.get(&place)) || other(self.places.get(&Place::Shared)),
                Place::Elsewhere => other(self.places.get(&place)),
            })
        };
        lanes(pattern.lanes).filter(met).fold(0, |mask, lane| mask | 1 << lane)
    }
}

/// Where a lane's strong access is.
fn places(program: &WarpPrograms, pattern: &Pattern, lane: u32) -> Vec<Place> {
    let Some(command) = pattern.command else { return vec![Place::Elsewhere] };
    let warp = &program.warps()[pattern.warp as usize];
    let packed = &warp.packed()[command as usize];
    if packed.size() >= BROAD {
        return vec![Place::Shared];
    }
    let first = warp.addresses_of(packed).lane(lane);
    let words = first >> 2..=first.wrapping_add(packed.size() - 1) >> 2;
    words.map(Place::Word).collect()
}
