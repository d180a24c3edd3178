//! Holds threads back behind one instruction, so that others come in between.
//!
//! In the manner of active testing (Sen, "Race Directed Random Testing of Concurrent Programs", PLDI 2008) and of noise at places where
//! threads meet (Edelstein, Farchi, Nir, Ratsaby, Ur, "Multithreaded Java program testing", IBM Systems Journal 2002). A warp whose
//! lanes have executed the instruction is passed over for a number of visible operations of others; where there are no others it goes
//! on. It departs from both: who comes back, and when, depends on the seed alone and not on what the others do.
//!
//! A schedule is all that it changes, and every schedule is legal. How long a warp is held back, and how often, is drawn from the trial's
//! seed: each time in one trial of two, else every second, fourth or eighth time on average; for 16 to 1024 operations.

use std::cell::RefCell;
use std::rc::Rc;

use bugaroo_semantics::event::{Access, Event};
use bugaroo_semantics::{Observer, Wants};
use bugaroo_simulator::{Candidate, Rng, SchedulerStrategy, Turn};
use rustc_hash::FxHashMap;

use crate::trial::coverage::{kernel_hash, place_hash};

/// Who is held back, and until when.
#[derive(Debug)]
pub struct Held {
    kernel: u64,
    /// The instruction, as coverage names it.
    place: u32,
    first_site: u32,
    warps_per_block: u64,
    rng: Rng,
    /// A warp is held back once in so many times.
    odds: u64,
    /// For so many operations.
    length: u64,
    /// Operations so far.
    now: u64,
    until: FxHashMap<u64, u64>,
}

impl Held {
    /// Nobody yet: behind this place of the kernel, by this seed.
    pub fn new(kernel: &str, place: u32, seed: u64) -> Held {
        let mut rng = Rng::new(seed ^ 0x6865_6c64);
        let odds = 1 << (rng.next() | 8).trailing_zeros();
        let length = 16 << rng.below(7);
        Held {
            kernel: kernel_hash(kernel),
            place,
            first_site: 0,
            warps_per_block: 1,
            rng,
            odds,
            length,
            now: 0,
            until: FxHashMap::default(),
        }
    }

    fn is_held(&self, warp: u64) -> bool {
        self.until.get(&warp).is_some_and(|until| *until > self.now)
    }
}

/// Sees who comes by.
#[derive(Debug)]
pub struct Looker(pub Rc<RefCell<Held>>);

impl Observer for Looker {
    // Whether anybody else looks must not change what is drawn: accesses of which this is told come in other groups.
    fn wants(&self) -> Wants {
        Wants { sources: true, ..Wants::default() }
    }

    fn access(&mut self, access: &Access<'_>) {
        let mut held = self.0.borrow_mut();
        if place_hash(held.kernel, access.site.wrapping_sub(held.first_site)) != held.place {
            return;
        }
        if held.rng.next().is_multiple_of(held.odds) {
            let warp = access.by.block * held.warps_per_block + u64::from(access.by.first / 32);
            let until = held.now + held.length;
            held.until.insert(warp, until);
        }
    }

    fn event(&mut self, event: &Event<'_>) {
        if let Event::GridBegin { shape, first_site, .. } = *event {
            let mut held = self.0.borrow_mut();
            held.first_site = first_site;
            held.warps_per_block = u64::from(shape.warps_per_cta);
        }
    }
}

/// A schedule that passes over who is held back.
pub struct Passing {
    inner: Box<dyn SchedulerStrategy>,
    held: Rc<RefCell<Held>>,
    /// The warp whose turn it is, and how much of it is left: turns are given one operation at a time.
    turn: Option<(u64, u32)>,
}

impl Passing {
    /// Over this schedule.
    pub fn new(inner: Box<dyn SchedulerStrategy>, held: Rc<RefCell<Held>>) -> Passing {
        Passing { inner, held, turn: None }
    }
}

impl SchedulerStrategy for Passing {
    fn begin(&mut self, warps: u64) {
        self.inner.begin(warps);
    }

    fn next(&mut self, candidates: &[Candidate]) -> Turn {
        let mut held = self.held.borrow_mut();
        held.now += 1;
        let goes_on = self.turn.take().filter(|(warp, left)| *left > 0 && !held.is_held(*warp));
        if let Some((warp, left)) = goes_on
            && let Some(candidate) = candidates.iter().position(|one| one.warp == warp)
        {
            self.turn = Some((warp, left - 1));
            return Turn { candidate, operations: 1 };
        }
        let free: Vec<usize> =
            (0..candidates.len()).filter(|&at| !held.is_held(candidates[at].warp)).collect();
        drop(held);
        let turn = if free.is_empty() || free.len() == candidates.len() {
            self.inner.next(candidates)
        } else {
            let others: Vec<Candidate> = free.iter().map(|&at| candidates[at]).collect();
            let turn = self.inner.next(&others);
            Turn { candidate: free[turn.candidate], ..turn }
        };
        self.turn = Some((candidates[turn.candidate].warp, turn.operations.saturating_sub(1)));
        Turn { candidate: turn.candidate, operations: 1 }
    }

    fn random(&mut self) -> u64 {
        self.inner.random()
    }
}
