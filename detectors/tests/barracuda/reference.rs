//! The rules of figures 2 and 3 to the letter: a full clock for each thread, each byte for itself.

use std::collections::{BTreeMap, BTreeSet};

use bugaroo_detectors::HowFar;
use bugaroo_semantics::inferred::Reach;

use crate::support::Size;
use crate::trace::{Access, Kind, Op};

type Clock = Vec<u32>;

/// A time of a thread, and where that was.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    thread: usize,
    at: u32,
    site: u32,
}

#[derive(Clone, Debug)]
enum Reads {
    One(Option<Epoch>),
    Several(BTreeMap<usize, u32>),
}

#[derive(Clone, Debug)]
struct Byte {
    reads: Reads,
    /// All reads since the last write: what may be named in a report.
    all_reads: Vec<Epoch>,
    write: Option<(Epoch, bool, u8)>,
}

/// A byte: the block whose shared memory it is in, or global memory.
type Location = (Option<u32>, u64);

/// Two accesses that race: earlier site and thread, later site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Race {
    pub first: u32,
    pub second: u32,
    pub class: u8,
}

pub fn class_number(class: HowFar) -> u8 {
    match class {
        HowFar::IntraWarp => 0,
        HowFar::Divergence => 1,
        HowFar::IntraBlock => 2,
        HowFar::InterBlock => 3,
        _ => 9,
    }
}

/// The state (K, C, S, R, W), and what has been found.
#[derive(Debug)]
pub struct Reference {
    size: Size,
    stacks: Vec<Vec<u32>>,
    clocks: Vec<Clock>,
    sync: BTreeMap<Location, Vec<Clock>>,
    bytes: BTreeMap<Location, Byte>,
    /// Races with the last write.
    pub writes: BTreeSet<Race>,
    /// Sites that race with a read, and all races with reads that could be named.
    pub after_reads: BTreeSet<u32>,
    pub reads: BTreeSet<Race>,
}

fn below(epoch: Epoch, clock: &Clock) -> bool {
    epoch.at <= clock[epoch.thread]
}

fn join(into: &mut Clock, from: &Clock) {
    into.iter_mut().zip(from).for_each(|(a, b)| *a = (*a).max(*b));
}

impl Reference {
    pub fn new(size: Size) -> Reference {
        let threads = (size.blocks * size.threads) as usize;
        let clock = |t: usize| (0..threads).map(|u| u32::from(u == t)).collect();
        Reference {
            size,
            stacks: (0..size.blocks * size.warps()).map(|w| vec![size.lanes(w)]).collect(),
            clocks: (0..threads).map(clock).collect(),
            sync: BTreeMap::new(),
            bytes: BTreeMap::new(),
            writes: BTreeSet::new(),
            after_reads: BTreeSet::new(),
            reads: BTreeSet::new(),
        }
    }

    fn active(&self, warp: u32) -> Vec<usize> {
        let mask = self.stacks[warp as usize].last().copied().unwrap_or(0);
        (0..32).filter(|l| mask >> l & 1 != 0).map(|l| self.size.thread(warp, l)).collect()
    }

    /// Joins the clocks of threads and forks them again.
    fn meet(&mut self, threads: &[usize]) {
        let mut all = vec![0; self.clocks.len()];
        threads.iter().for_each(|t| join(&mut all, &self.clocks[*t]));
        for t in threads {
            self.clocks[*t].clone_from(&all);
            self.clocks[*t][*t] += 1;
        }
    }

    pub fn step(&mut self, site: u32, op: &Op) {
        match op {
            Op::Access(warp, access) => {
                for lane in (0..32).filter(|lane| access.lanes >> lane & 1 != 0) {
                    self.lane(site, *warp, lane, access);
                }
                let active = self.active(*warp);
                self.meet(&active);
            }
            Op::If { warp, lanes, taken, taken_first } => {
                let (then, other) =
                    if *taken_first { (*taken, lanes & !taken) } else { (lanes & !taken, *taken) };
                self.stacks[*warp as usize].extend([other, then]);
                let active = self.active(*warp);
                self.meet(&active);
            }
            Op::Else { warp, .. } | Op::Fi { warp, .. } => {
                self.stacks[*warp as usize].pop();
                let active = self.active(*warp);
                self.meet(&active);
            }
            Op::Bar { block } => {
                let first = (block * self.size.threads) as usize;
                let threads: Vec<usize> = (first..first + self.size.threads as usize).collect();
                self.meet(&threads);
            }
            Op::Exit { warp, lanes } => {
                self.stacks[*warp as usize].iter_mut().for_each(|mask| *mask &= !lanes);
            }
        }
    }

    fn lane(&mut self, site: u32, warp: u32, lane: u32, access: &Access) {
        let t = self.size.thread(warp, lane);
        let block = t as u32 / self.size.threads;
        let space = access.shared.then_some(block);
        let address = access.address(lane);
        if access.role.synchronises() {
            self.synchronise(t, block as usize, (space, address), access);
            return;
        }
        for byte in 0..access.size * access.elements {
            let value = access.byte(lane, byte);
            self.byte(site, t, (space, address + u64::from(byte)), access.kind, value);
        }
    }

    fn synchronise(&mut self, t: usize, block: usize, at: Location, access: &Access) {
        let (threads, blocks) = (self.clocks.len(), self.size.blocks as usize);
        let sync = self.sync.entry(at).or_insert_with(|| vec![vec![0; threads]; blocks]);
        match access.role.acquire {
            Some(Reach::Block) => join(&mut self.clocks[t], &sync[block]),
            Some(Reach::Grid) => sync.iter().for_each(|clock| join(&mut self.clocks[t], clock)),
            None => {}
        }
        match access.role.release {
            Some(Reach::Block) => sync[block].clone_from(&self.clocks[t]),
            Some(Reach::Grid) => sync.iter_mut().for_each(|clock| clock.clone_from(&self.clocks[t])),
            None => return,
        }
        self.clocks[t][t] += 1;
    }

    fn class(&self, first: Epoch, second: Epoch) -> u8 {
        let place =
            |e: Epoch| (e.thread as u32 / self.size.threads, e.thread as u32 % self.size.threads / 32);
        let ((block, warp), (other_block, other_warp)) = (place(first), place(second));
        class_number(if first.site == second.site {
            HowFar::IntraWarp
        } else if block != other_block {
            HowFar::InterBlock
        } else if warp != other_warp {
            HowFar::IntraBlock
        } else {
            HowFar::Divergence
        })
    }

    fn race(&self, first: Epoch, second: Epoch) -> Race {
        Race { first: first.site, second: second.site, class: self.class(first, second) }
    }

    fn byte(&mut self, site: u32, t: usize, at: Location, kind: Kind, value: u8) {
        let clock = self.clocks[t].clone();
        let now = Epoch { thread: t, at: clock[t], site };
        let nothing = Byte { reads: Reads::One(None), all_reads: Vec::new(), write: None };
        let mut state = self.bytes.remove(&at).unwrap_or(nothing);
        if let Some((epoch, atomic, old)) = state.write {
            let both_atomic = atomic && matches!(kind, Kind::Atomic(_));
            let same_value = epoch.site == site && old == value;
            if !both_atomic && !same_value && !below(epoch, &clock) {
                self.writes.insert(self.race(epoch, now));
            }
        }
        if kind == Kind::Read {
            state.reads = match state.reads {
                Reads::One(None) => Reads::One(Some(now)),
                Reads::One(Some(old)) if below(old, &clock) => Reads::One(Some(now)),
                Reads::One(Some(old)) => {
                    Reads::Several([(old.thread, old.at), (t, now.at)].into_iter().collect())
                }
                Reads::Several(mut reads) => {
                    reads.insert(t, now.at);
                    Reads::Several(reads)
                }
            };
            state.all_reads.push(now);
        } else {
            let fine = match &state.reads {
                Reads::One(read) => read.is_none_or(|read| below(read, &clock)),
                Reads::Several(reads) => reads.iter().all(|(thread, at)| *at <= clock[*thread]),
            };
            if !fine {
                self.after_reads.insert(site);
            }
            let late = state.all_reads.iter().filter(|read| !below(**read, &clock));
            let late: Vec<Race> = late.map(|read| self.race(*read, now)).collect();
            self.reads.extend(late);
            state.reads = Reads::One(None);
            state.all_reads.clear();
            state.write = Some((now, matches!(kind, Kind::Atomic(_)), value));
        }
        self.bytes.insert(at, state);
    }
}
