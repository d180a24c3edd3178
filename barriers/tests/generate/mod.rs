//! Small random programs, twice: for the checker (commands of warps) and for the reference (commands of threads).
//! Most are made by appending whole rendezvous one after the other, so that that order at least is an execution, and a part of
//! them is damaged afterwards; the others are dice.

mod commands;

use std::collections::{BTreeMap, BTreeSet};

use bugaroo_barriers::program::{CommandAction, Count, Fenced, SharedAccessKind};
use bugaroo_barriers::{ProgramShape, ThreadAccess, WarpPrograms};

use crate::reference::{At, Command as Plain, Cta, Kind};
use commands::{push, push_action};

/// SplitMix64.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0xd134_2543_de82_ef95) ^ 0x2545_f491_4f6c_dd1d)
    }
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n as u64) as usize
    }
    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

pub struct Options {
    /// Threads of each warp, as many as these at most.
    warps: &'static [usize],
    warp_sync: bool,
    /// Exchanges of a warp, which wait and order no memory.
    meetings: bool,
    mbarriers: bool,
    copies: bool,
    groups: bool,
    products: bool,
    lockstep: bool,
    /// Thread commands, about.
    length: usize,
}

impl Options {
    pub fn named() -> Options {
        Options {
            warps: &[1, 1, 1, 1],
            warp_sync: false,
            meetings: false,
            mbarriers: false,
            copies: false,
            groups: false,
            products: false,
            lockstep: false,
            length: 11,
        }
    }
    pub fn warps() -> Options {
        Options { warps: &[3, 2], warp_sync: true, ..Options::named() }
    }
    pub fn mbarriers() -> Options {
        Options { warps: &[2, 1, 1], mbarriers: true, ..Options::named() }
    }
    pub fn meetings() -> Options {
        Options { meetings: true, warp_sync: true, warps: &[3, 1], ..Options::mbarriers() }
    }
    pub fn groups() -> Options {
        Options { groups: true, warps: &[2, 1, 1], ..Options::named() }
    }
    /// All warps multiply together.
    pub fn products() -> Options {
        Options { products: true, warps: &[1, 1, 2], mbarriers: true, length: 9, ..Options::named() }
    }
    pub fn copies() -> Options {
        Options { copies: true, ..Options::mbarriers() }
    }
    pub fn lockstep() -> Options {
        Options { warps: &[2, 2], lockstep: true, length: 9, ..Options::named() }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum What {
    Access(SharedAccessKind, u32, u32, i32),
    Sync(u32, u32),
    Arrive(u32, u32),
    WarpSync(u32),
    WarpMeet(u32),
    MbarrierArrive(usize),
    MbarrierWait(usize, u32),
    /// Bytes for each lane; whether it arrives, too.
    MbarrierExpect(usize, u32, bool),
    GroupCopy(u32, u32),
    Commit,
    WaitGroup(u32),
    /// A read of a warpgroup.
    Multiply(u32, u32),
    CommitProducts,
    WaitProducts(u32),
    /// Mbarrier, address, bytes.
    Copy(usize, u32, u32),
}

/// A warp, its lanes, what they do.
type Line = (usize, u32, What);

/// One program in both forms.
#[derive(Debug)]
pub struct Generated {
    #[allow(dead_code, reason = "shown where a comparison fails")]
    lines: Vec<Line>,
    pub program: WarpPrograms,
    pub cta: Cta,
    places: BTreeMap<At, ThreadAccess>,
}

impl Generated {
    /// Pairs of the reference's commands by the checker's names, sorted.
    pub fn pairs(&self, pairs: &BTreeSet<(At, At)>) -> Vec<(ThreadAccess, ThreadAccess)> {
        let pair = |(a, b): &(At, At)| {
            let (a, b) = (self.places[a], self.places[b]);
            (a.min(b), a.max(b))
        };
        let mut named: Vec<_> = pairs.iter().map(pair).collect();
        named.sort_unstable();
        named
    }
}

struct Maker<'a> {
    random: &'a mut Random,
    options: &'a Options,
    /// Lanes of each warp.
    warps: Vec<u32>,
    lines: Vec<Line>,
    counts: Vec<Option<u32>>,
    phases: Vec<u32>,
}

pub fn program(random: &mut Random, options: &Options) -> Generated {
    let used = 1 + random.below(options.warps.len());
    let lanes = |n: usize| (1 << n) - 1;
    let mut warps: Vec<u32> = (0..used).map(|w| lanes(1 + random.below(options.warps[w]))).collect();
    if warps.iter().map(|w| w.count_ones()).sum::<u32>() < 2 {
        warps = vec![lanes(options.warps[0].min(2)), 1];
    }
    let mut maker =
        Maker { random, options, warps, lines: Vec::new(), counts: vec![None; 2], phases: vec![0; 2] };
    if maker.random.chance(75) {
        maker.rendezvous_after_rendezvous();
        if maker.random.chance(35) {
            maker.damage();
        }
    } else {
        maker.dice();
    }
    maker.finish()
}

impl Maker<'_> {
    fn size(&self) -> usize {
        self.lines.iter().map(|l| l.1.count_ones() as usize).sum()
    }

    /// A warp, or one lane of it.
    fn unit(&mut self) -> (usize, u32) {
        let warp = self.random.below(self.warps.len());
        let all = self.warps[warp];
        if self.random.chance(60) {
            (warp, all)
        } else {
            (warp, 1 << self.random.below(all.count_ones() as usize))
        }
    }

    /// Some units that have no thread in common.
    fn units(&mut self) -> Vec<(usize, u32)> {
        let mut chosen: Vec<(usize, u32)> = Vec::new();
        for _ in 0..1 + self.random.below(4) {
            let (warp, lanes) = self.unit();
            if chosen.iter().all(|c| c.0 != warp || c.1 & lanes == 0) {
                chosen.push((warp, lanes));
            }
        }
        chosen
    }

    fn access(&mut self) -> Line {
        let (warp, lanes) = self.unit();
        let kinds = [
            SharedAccessKind::Read,
            SharedAccessKind::Write,
            SharedAccessKind::Read,
            SharedAccessKind::Atomic,
        ];
        let kind = kinds[self.random.below(4)];
        let (address, size) = [(0, 2), (0, 1), (1, 1), (2, 1), (4, 2)][self.random.below(5)];
        let stride = [0, 1, 2][self.random.below(3)];
        (warp, lanes, What::Access(kind, address, size, stride))
    }

    fn rendezvous_after_rendezvous(&mut self) {
        while self.size() < self.options.length {
            match self.random.below(10) {
                0..5 => self.rendezvous(),
                5 if self.options.warp_sync => {
                    let warp = self.random.below(self.warps.len());
                    let members = self.warps[warp];
                    let meets = self.options.meetings && self.random.chance(75);
                    let what = if meets { What::WarpMeet(members) } else { What::WarpSync(members) };
                    if self.random.chance(50) {
                        self.lines.push((warp, members, what));
                    } else {
                        for lane in 0..members.count_ones() {
                            self.lines.push((warp, 1 << lane, what));
                        }
                    }
                }
                5 | 8 if self.options.products => self.product(),
                6 | 7 if self.options.mbarriers => self.phase(),
                6..9 if self.options.groups => {
                    let (warp, lanes) = self.unit();
                    let what = match self.random.below(7) {
                        0..3 => What::GroupCopy(self.random.below(3) as u32, 1 + self.random.below(2) as u32),
                        3 | 4 => What::Commit,
                        _ => What::WaitGroup(self.random.below(2) as u32),
                    };
                    self.lines.push((warp, lanes, what));
                }
                _ => {
                    let access = self.access();
                    self.lines.push(access);
                }
            }
        }
    }

    fn rendezvous(&mut self) {
        let barrier = self.random.below(3) as u32;
        let units = self.units();
        let count = units.iter().map(|u| u.1.count_ones()).sum();
        let arrivals = [0, 30, 60, 100][self.random.below(4)];
        for (warp, lanes) in units {
            let what = if self.random.chance(arrivals) {
                What::Arrive(barrier, count)
            } else {
                What::Sync(barrier, count)
            };
            self.lines.push((warp, lanes, what));
        }
    }

    /// All warps take part in a multiplication; some wait for it, and some one arrives for all.
    fn product(&mut self) {
        let warps: Vec<(usize, u32)> = self.warps.iter().copied().enumerate().collect();
        for (warp, lanes) in &warps {
            let what = What::Multiply(self.random.below(3) as u32, 1 + self.random.below(2) as u32);
            self.lines.push((*warp, *lanes, what));
        }
        if self.random.chance(90) {
            warps.iter().for_each(|(warp, lanes)| self.lines.push((*warp, *lanes, What::CommitProducts)));
        }
        for (warp, lanes) in warps {
            if self.random.chance(65) {
                let left = u32::from(self.random.chance(25));
                self.lines.push((warp, lanes, What::WaitProducts(left)));
            }
        }
    }

    fn phase(&mut self) {
        let mbarrier = self.random.below(2);
        let units = self.units();
        let count = units.iter().map(|u| u.1.count_ones()).sum();
        if *self.counts[mbarrier].get_or_insert(count) != count {
            return;
        }
        let mut lines = Vec::new();
        for (warp, lanes) in units {
            if !self.options.copies || self.random.chance(50) {
                lines.push((warp, lanes, What::MbarrierArrive(mbarrier)));
                continue;
            }
            // Bytes expected with the arrival or just before it, and a copy of as many somewhere.
            let bytes = 1 + self.random.below(2) as u32;
            let apart = self.random.chance(30);
            if apart {
                lines.push((warp, lanes, What::MbarrierExpect(mbarrier, bytes, false)));
                lines.push((warp, lanes, What::MbarrierArrive(mbarrier)));
            } else {
                lines.push((warp, lanes, What::MbarrierExpect(mbarrier, bytes, true)));
            }
            let (other, _) = self.unit();
            let (warp, lanes) =
                if self.random.chance(75) || lanes.count_ones() > 1 { (warp, lanes) } else { (other, 1) };
            let copy = (warp, lanes, What::Copy(mbarrier, self.random.below(4) as u32, bytes));
            let at = self.random.below(lines.len() + 1);
            lines.insert(at, copy);
        }
        self.lines.extend(lines);
        let parity = self.phases[mbarrier] % 2;
        self.phases[mbarrier] += 1;
        if self.random.chance(80) {
            for (warp, lanes) in self.units() {
                self.lines.push((warp, lanes, What::MbarrierWait(mbarrier, parity)));
            }
        }
    }

    fn damage(&mut self) {
        if self.lines.is_empty() {
            return;
        }
        let index = self.random.below(self.lines.len());
        match self.random.below(4) {
            0 => {
                self.lines.remove(index);
            }
            1 => {
                let other = self.random.below(self.lines.len());
                self.lines.swap(index, other);
            }
            2 => {
                let line = self.lines[index];
                self.lines.push(line);
            }
            _ => {
                if let What::Sync(_, count) | What::Arrive(_, count) = &mut self.lines[index].2 {
                    *count = 1 + self.random.below(4) as u32;
                }
            }
        }
    }

    fn dice(&mut self) {
        while self.size() < self.options.length - 2 {
            let (warp, lanes) = self.unit();
            let barrier = self.random.below(2) as u32;
            let count = 1 + self.random.below(3) as u32;
            let line = match self.random.below(8) {
                0 | 1 => (warp, lanes, What::Arrive(barrier, count)),
                2 | 3 => (warp, lanes, What::Sync(barrier, count)),
                4 if self.options.mbarriers => (warp, lanes, What::MbarrierArrive(self.random.below(2))),
                5 if self.options.mbarriers => {
                    let parity = self.random.below(2) as u32;
                    (warp, lanes, What::MbarrierWait(self.random.below(2), parity))
                }
                _ => self.access(),
            };
            self.lines.push(line);
        }
    }

    fn finish(self) -> Generated {
        let threads: Vec<(usize, u32)> = (0..self.warps.len())
            .flat_map(|w| (0..self.warps[w].count_ones()).map(move |l| (w, l)))
            .collect();
        let shape = ProgramShape { ctas: 1, threads: 32 * self.warps.len() as u32 };
        let mut program = WarpPrograms::with_paper_counts(shape).expect("a shape");
        program.set_warp_synchronous(self.options.lockstep);
        let mut cta = Cta {
            threads: vec![Vec::new(); threads.len()],
            barriers: 3,
            mbarriers: self.counts.iter().map(|c| c.unwrap_or(1)).collect(),
        };
        if self.options.mbarriers {
            self.initialise(&mut program, &cta.mbarriers, threads.len() as u32);
        }
        let number = |warp, lane| threads.iter().position(|t| *t == (warp, lane)).expect("a thread");
        let mut meets: Vec<(usize, u32)> = Vec::new();
        let mut meet = |cta: &mut Cta, warp: usize, members: u32, lane: u32| {
            let key = (warp, members);
            let index = meets.iter().position(|m| *m == key).unwrap_or_else(|| {
                meets.push(key);
                cta.barriers += 1;
                meets.len() - 1
            });
            let on = (0..32).filter(|l| members >> l & 1 != 0);
            cta.threads[number(warp, lane)]
                .push(Plain::Meet { barrier: 3 + index, members: on.map(|l| number(warp, l)).collect() });
        };
        let mut places = BTreeMap::new();
        for &(warp, lanes, what) in &self.lines {
            let index = program.warps()[warp].len() as u32;
            push(&mut program, warp, lanes, what);
            for lane in (0..32).filter(|l| lanes >> l & 1 != 0) {
                let thread = number(warp, lane);
                let list = &mut cta.threads[thread];
                places.insert((thread, list.len()), (warp as u32, lane, index));
                match what {
                    What::Access(kind, address, size, stride) => list.push(Plain::Access {
                        kind: match kind {
                            SharedAccessKind::Read => Kind::Read,
                            SharedAccessKind::Write => Kind::Write,
                            SharedAccessKind::Atomic => Kind::Atomic,
                        },
                        address: address + stride as u32 * lane,
                        size,
                    }),
                    What::Sync(id, count) => list.push(Plain::Sync { barrier: id as usize, count }),
                    What::Arrive(id, count) => list.push(Plain::Arrive { barrier: id as usize, count }),
                    What::MbarrierExpect(mbarrier, bytes, arrives) => {
                        let bytes = bytes as i32;
                        list.push(Plain::MbarrierExpect { mbarrier, bytes, arrives });
                    }
                    What::GroupCopy(address, size) => {
                        list.push(Plain::GroupCopy { address: address + lane, size });
                    }
                    What::Multiply(address, size) => {
                        list.push(Plain::Multiply { address: address + lane, size })
                    }
                    What::CommitProducts => list.push(Plain::CommitProducts),
                    What::WaitProducts(left) => list.push(Plain::WaitProducts { left: left as usize }),
                    What::Commit => list.push(Plain::Commit),
                    What::WaitGroup(left) => list.push(Plain::WaitGroup { left: left as usize }),
                    What::Copy(mbarrier, address, size) => {
                        let (address, bytes) = (address + lane, size as i32);
                        list.push(Plain::Copy { mbarrier, bytes, address, size });
                    }
                    What::WarpSync(members) | What::WarpMeet(members) => meet(&mut cta, warp, members, lane),
                    What::MbarrierArrive(mbarrier) => {
                        list.push(Plain::MbarrierArrive { mbarrier });
                    }
                    What::MbarrierWait(mbarrier, parity) => {
                        list.push(Plain::MbarrierWait { mbarrier, parity });
                    }
                }
            }
            if self.options.lockstep {
                // "Inserting a sync command across all threads in a warp after every original command" (section 3.1).
                let all = self.warps[warp];
                for lane in 0..all.count_ones() {
                    meet(&mut cta, warp, all, lane);
                }
            }
        }
        Generated { lines: self.lines, program, cta, places }
    }

    /// Mbarriers exist before anything happens: thread 0 makes them, and all wait for it.
    fn initialise(&self, program: &mut WarpPrograms, counts: &[u32], threads: u32) {
        for (mbarrier, &count) in counts.iter().enumerate() {
            let address = 64 + 8 * mbarrier as u32;
            let action = CommandAction::MbarrierInit { address, count };
            push_action(program, 0, 1, action);
        }
        push_action(program, 0, 1, CommandAction::Fence(Fenced::Inits));
        for (warp, &lanes) in self.warps.iter().enumerate() {
            let count = Count::Threads(threads);
            push_action(program, warp, lanes, CommandAction::Sync { id: 15, count });
        }
    }
}
