//! Switches from warp to warp where threads meet, and nowhere else.
//!
//! Source: partial order sampling (Yuan, Yang, Gu, "Partial Order Aware Concurrency Sampling", CAV 2018). The warp with the highest
//! priority runs, and behind each of its steps its priority is drawn anew. A step is what others can tell: an access at a place where
//! threads were seen to meet by trials before, or a store that was held back and has landed. What a thread does between two steps costs
//! no chance: a thread that comes late to its one place is as likely to be overtaken there as any.
//!
//! Where it departs.
//! - A priority belongs to a warp and not to an event: what a warp does up to its next step goes with it.
//! - Three launches in eight draw a priority anew behind each step, one in eight behind every second, fourth or eighth on average. A thread
//!   that is to do much before another does little would do so as seldom as it is much else.
//! - One launch in four draws none: few steps of all that it has are changes, behind which the warp falls below all others ([`points`]).
//! - A store that is held back is no step. While a warp holds stores back, it falls below all others behind every second step: a flag that
//!   is there before its data is to be seen by somebody before the data lands as well. One launch in four does that and nothing else:
//!   its threads run one after the other but where one shows what it has done in another order.
//! - A warp that reads the same again by the same instruction, or that has had [`QUOTA`] operations since it fell last, falls below all
//!   others, so that all runnable warps get on in the end, also where one spins by an atomic that writes.
//!
//! A schedule is all that it changes, and every schedule is legal. What it can miss: lanes of one warp are the engine's to choose; threads
//! that meet at places which no trial has shown yet.

mod points;

use std::cell::RefCell;
use std::rc::Rc;

use bugaroo_semantics::event::{Access, Event, Lanes};
use bugaroo_semantics::{Observer, Wants};
use bugaroo_simulator::{Candidate, Rng, SchedulerStrategy, Turn};
use rustc_hash::{FxHashMap, FxHashSet};

use points::Points;

use crate::trial::coverage::{kernel_hash, place_hash};

/// Operations after which a warp falls below all others.
const QUOTA: u32 = 256;
/// Priorities that are drawn are at least this; those who fell are below.
const DRAWN: u64 = 1 << 63;

/// When a warp's priority changes.
#[derive(Debug)]
enum Change {
    /// It is drawn anew behind one step in so many.
    Anew(u64),
    /// The warp falls below all others, but only where it holds stores back.
    Held,
    /// The warp falls below all others behind few steps.
    Few(Points),
}

impl Change {
    fn draw(rng: &mut Rng) -> Change {
        match rng.next() % 8 {
            0..=2 => Change::Anew(1),
            3 => Change::Anew(2 << (rng.next() | 4).trailing_zeros()),
            4..=5 => Change::Held,
            _ => Change::Few(Points::new(rng)),
        }
    }
}

/// Who goes before whom.
#[derive(Debug)]
pub struct Priorities {
    meet: Places,
    warps_per_block: u64,
    rng: Rng,
    change: Change,
    ranks: Ranks,
    /// Operations of each warp since it fell last.
    spent: FxHashMap<u64, u32>,
    /// The warp whose turn it is, if it has used up its quota.
    tired: Option<u64>,
    /// The instruction and the address of each warp's last step.
    last: FxHashMap<u64, (u32, u64)>,
    /// Stores that each warp holds back.
    holds: FxHashMap<u64, u32>,
}

/// Where threads were seen to meet.
#[derive(Debug)]
struct Places {
    kernel: u64,
    places: FxHashSet<u32>,
    /// Whether an instruction is one of the places.
    known: FxHashMap<u32, bool>,
    first_site: u32,
}

/// The priorities of warps.
#[derive(Debug)]
struct Ranks {
    /// Where the first priorities come from.
    key: u64,
    changed: FxHashMap<u64, u64>,
    /// The next who falls gets this priority: lower than all others.
    lowest: u64,
}

impl Places {
    /// Whether an instruction is one of them.
    fn has(&mut self, site: u32) -> bool {
        let (kernel, first, places) = (self.kernel, self.first_site, &self.places);
        let look = || places.contains(&place_hash(kernel, site.wrapping_sub(first)));
        *self.known.entry(site).or_insert_with(look)
    }
}

impl Ranks {
    fn of(&self, warp: u64) -> u64 {
        self.changed.get(&warp).copied().unwrap_or_else(|| DRAWN | Rng::new(self.key ^ warp).next())
    }

    /// The warp is below all others.
    fn fall(&mut self, warp: u64) {
        self.lowest -= 1;
        self.changed.insert(warp, self.lowest);
    }
}

impl Priorities {
    /// Those of this seed, in a launch of this kernel.
    pub fn new(kernel: &str, places: &[u32], seed: u64) -> Priorities {
        let mut rng = Rng::new(seed ^ 0x7377_6974_6368);
        Priorities {
            meet: Places {
                kernel: kernel_hash(kernel),
                places: places.iter().copied().collect(),
                known: FxHashMap::default(),
                first_site: 0,
            },
            warps_per_block: 1,
            ranks: Ranks { key: rng.next(), changed: FxHashMap::default(), lowest: DRAWN },
            change: Change::draw(&mut rng),
            rng,
            spent: FxHashMap::default(),
            tired: None,
            last: FxHashMap::default(),
            holds: FxHashMap::default(),
        }
    }

    fn fall(&mut self, warp: u64) {
        self.ranks.fall(warp);
        self.spent.remove(&warp);
    }

    /// A warp has one more operation.
    fn turn(&mut self, warp: u64) {
        let spent = self.spent.entry(warp).or_insert(0);
        *spent += 1;
        self.tired = (*spent >= QUOTA).then_some(warp);
        // It has this turn, and then falls.
        if self.tired.is_some() {
            self.fall(warp);
        }
    }

    /// A warp has done what others can tell. Who is tired stays where it fell.
    fn step(&mut self, warp: u64) {
        let drawn = self.rng.next();
        let holds = || self.holds.get(&warp).is_some_and(|holds| *holds > 0);
        let falls = match &mut self.change {
            Change::Anew(_) | Change::Held => drawn & 1 == 0 && holds(),
            Change::Few(points) => points.next(&mut self.rng),
        };
        if falls {
            self.fall(warp);
        } else if let Change::Anew(odds) = self.change
            && (drawn >> 1).is_multiple_of(odds)
            && self.tired != Some(warp)
        {
            self.ranks.changed.insert(warp, DRAWN | self.rng.next());
        }
    }

    fn warp(&self, by: Lanes) -> u64 {
        by.block * self.warps_per_block + u64::from(by.first / 32)
    }
}

/// Sees who has come to a place.
#[derive(Debug)]
pub struct Stepping(pub Rc<RefCell<Priorities>>);

impl Observer for Stepping {
    // Whether anybody else looks must not change who goes next: what is held back is told to those alone who want this.
    fn wants(&self) -> Wants {
        Wants { sources: true, ..Wants::default() }
    }

    fn access(&mut self, access: &Access<'_>) {
        let mut all = self.0.borrow_mut();
        let warp = all.warp(access.by);
        *all.holds.entry(warp).or_insert(0) += access.held.count_ones();
        // None can tell where all of it is held.
        if access.held == access.by.mask || !all.meet.has(access.site) {
            return;
        }
        let here = (access.site, access.address(access.by.mask.trailing_zeros()));
        let before = all.last.insert(warp, here);
        if access.wrote == 0 && before == Some(here) {
            all.fall(warp);
        } else {
            all.step(warp);
        }
    }

    fn event(&mut self, event: &Event<'_>) {
        let mut all = self.0.borrow_mut();
        match *event {
            Event::GridBegin { shape, first_site, .. } => {
                all.meet.first_site = first_site;
                all.warps_per_block = u64::from(shape.warps_per_cta);
            }
            Event::Landed { by, .. } => {
                let warp = all.warp(by);
                let holds = all.holds.entry(warp).or_insert(0);
                *holds = holds.saturating_sub(1);
                all.step(warp);
            }
            _ => {}
        }
    }
}

/// The schedule by these priorities.
pub struct ByPriority {
    all: Rc<RefCell<Priorities>>,
    /// The warp that ran last, where it was among how many candidates, and its priority.
    turn: Option<(u64, usize, usize, u64)>,
}

impl ByPriority {
    /// The schedule of these.
    pub fn new(all: Rc<RefCell<Priorities>>) -> ByPriority {
        ByPriority { all, turn: None }
    }
}

impl SchedulerStrategy for ByPriority {
    fn begin(&mut self, _warps: u64) {}

    fn next(&mut self, candidates: &[Candidate]) -> Turn {
        let mut all = self.all.borrow_mut();
        // Who ran goes on while its priority is the same: it was the highest, and nobody became runnable.
        let still = self.turn.filter(|&(warp, at, count, priority)| {
            let there = candidates.get(at).is_some_and(|one| one.warp == warp);
            there && count == candidates.len() && all.ranks.of(warp) == priority
        });
        let highest = || {
            (0..candidates.len()).max_by_key(|&at| (all.ranks.of(candidates[at].warp), candidates.len() - at))
        };
        let at = still.map_or_else(|| highest().unwrap_or(0), |(_, at, _, _)| at);
        let warp = candidates[at].warp;
        self.turn = Some((warp, at, candidates.len(), all.ranks.of(warp)));
        all.turn(warp);
        Turn { candidate: at, operations: 1 }
    }

    fn random(&mut self) -> u64 {
        self.all.borrow_mut().rng.next()
    }
}

#[cfg(test)]
mod tests;
