//! Happens-before by barriers, with a full clock for each thread and all accesses of each byte.

use std::collections::{BTreeMap, BTreeSet};

use bugaroo_detectors::HowFar;
use bugaroo_semantics::event::each;
use bugaroo_semantics::history::Action;

use crate::support::Size;
use crate::trace::Op;

#[derive(Clone, Copy, Debug)]
struct Past {
    thread: usize,
    site: u32,
    action: Action,
    at: u32,
}

/// A byte: the block whose shared memory it is in, or global memory.
type Location = (Option<usize>, u64);

/// Two accesses that race.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Race {
    /// Site, thread and action of the first one.
    pub site: u32,
    pub first: usize,
    pub action: Action,
    /// Thread of the second one.
    pub second: usize,
    /// How far apart they are.
    pub class: u8,
}

pub fn number(class: HowFar) -> u8 {
    match class {
        HowFar::IntraWarp => 0,
        HowFar::IntraBlock => 1,
        HowFar::InterBlock => 2,
        other => panic!("{other:?}"),
    }
}

pub struct Reference {
    size: Size,
    clocks: Vec<Vec<u32>>,
    bytes: BTreeMap<Location, Vec<Past>>,
    /// Also tells races of bytes that have had one.
    pub all: bool,
    /// Bytes that have had a race.
    raced: BTreeSet<Location>,
    /// Lanes that have exited, by warp.
    gone: Vec<u32>,
}

impl Reference {
    pub fn new(size: Size) -> Reference {
        let threads = (size.blocks * size.threads) as usize;
        Reference {
            size,
            clocks: (0..threads).map(|t| (0..threads).map(|u| u32::from(u == t)).collect()).collect(),
            bytes: BTreeMap::new(),
            all: false,
            raced: BTreeSet::new(),
            gone: vec![0; (size.blocks * size.warps()) as usize],
        }
    }

    fn block(&self, thread: usize) -> usize {
        thread / self.size.threads as usize
    }

    fn class(&self, one: usize, other: usize) -> u8 {
        let threads = self.size.threads as usize;
        if self.block(one) != self.block(other) {
            2
        } else {
            u8::from(one % threads / 32 != other % threads / 32)
        }
    }

    fn meet(&mut self, threads: &[usize]) {
        let mut all = vec![0; self.clocks.len()];
        for thread in threads {
            all.iter_mut().zip(&self.clocks[*thread]).for_each(|(all, one)| *all = (*all).max(*one));
        }
        for thread in threads {
            self.clocks[*thread].clone_from(&all);
            self.clocks[*thread][*thread] += 1;
        }
    }

    fn threads(&self, warp: u32, lanes: u32) -> Vec<usize> {
        each(lanes).map(|lane| self.size.thread(warp, lane)).collect()
    }

    /// Does a step; the races of bytes that had none before.
    pub fn step(&mut self, site: u32, op: &Op) -> BTreeSet<Race> {
        let mut races = BTreeSet::new();
        match op {
            Op::Access(warp, access) => {
                for (lane, address) in access.bytes() {
                    let thread = self.size.thread(*warp, lane);
                    let location = (access.shared.then_some(self.block(thread)), address);
                    if !self.all && self.raced.contains(&location) {
                        continue;
                    }
                    let past = self.bytes.get(&location).cloned().unwrap_or_default();
                    for before in past {
                        let knows = self.clocks[thread][before.thread] >= before.at;
                        let class = self.class(before.thread, thread);
                        let same = before.thread == thread;
                        if !same && !knows && before.action.conflicts(access.action, class == 2) {
                            races.insert(Race {
                                site: before.site,
                                first: before.thread,
                                action: before.action,
                                second: thread,
                                class,
                            });
                            self.raced.insert(location);
                        }
                    }
                    let at = self.clocks[thread][thread];
                    let now = Past { thread, site, action: access.action, at };
                    self.bytes.entry(location).or_default().push(now);
                }
            }
            Op::BlockBarrier(block) => {
                // What those who have exited did comes before.
                let first = (block * self.size.threads) as usize;
                let there: Vec<usize> = (first..first + self.size.threads as usize).collect();
                self.meet(&there);
            }
            Op::WarpBarrier(warp, lanes) => {
                let there = self.threads(*warp, *lanes | self.gone[*warp as usize]);
                self.meet(&there);
            }
            Op::Exit(warp, lanes) => self.gone[*warp as usize] |= lanes,
        }
        races
    }
}
