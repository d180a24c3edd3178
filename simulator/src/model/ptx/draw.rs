//! What the machine draws: hashes of the seed, the thread and the thread's own count of draws.

use super::patience::{lots, patience};
use super::thread::ThreadState;
use bugaroo_semantics::splitmix::{GOLDEN, mix};

/// How often what the model allows is done.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub struct Chances {
    /// That a store waits, in units of 2^-32.
    store_waits: u32,
    /// That a load reads something older than it has to, in the same units.
    stale: u32,
    /// That a load is resolved late.
    late: u32,
    /// That a store comes early in coherence order.
    early: u32,
}

impl Chances {
    /// `pw`: that a store waits; `pr`: that a load reads an older value. Loads are resolved late, and stores
    /// come early in coherence order, with half of `pr`.
    pub fn new(pw: f64, pr: f64) -> Chances {
        let of = |p: f64| (p.clamp(0.0, 1.0) * f64::from(u32::MAX)) as u32;
        Chances { store_waits: of(pw), stale: of(pr), late: of(pr / 2.0), early: of(pr / 2.0) }
    }
}

impl Chances {
    /// Each time what may be at all; how late a load is, and where a store comes in coherence order, stays a matter of chance.
    pub(super) fn always(self) -> Chances {
        let certain = |chance: u32| if chance == 0 { 0 } else { u32::MAX };
        Chances { store_waits: certain(self.store_waits), stale: certain(self.stale), ..self }
    }

    /// The same, but that a load is late whenever it may be.
    pub(super) fn certainly_late(self) -> Chances {
        Chances { late: u32::MAX, ..self }
    }

    /// Which of these lanes' stores wait.
    #[inline]
    pub(super) fn stores_wait(&self, among: u32, draw: impl FnMut() -> u64) -> u32 {
        lots(self.store_waits, among, draw)
    }
}

impl ThreadState {
    #[inline]
    pub(super) fn draw(&mut self) -> u64 {
        self.random = self.random.wrapping_add(GOLDEN);
        mix(self.random)
    }

    #[inline]
    fn flip(&mut self, chance: u32) -> bool {
        chance != 0 && (self.draw() >> 32) as u32 <= chance
    }

    #[inline]
    pub(super) fn store_waits(&mut self, chances: &Chances) -> bool {
        self.flip(chances.store_waits)
    }

    #[inline]
    pub(super) fn reads_stale(&mut self, chances: &Chances) -> bool {
        self.flip(chances.stale)
    }

    #[inline]
    pub(super) fn loads_late(&mut self, chances: &Chances) -> bool {
        self.flip(chances.late)
    }

    #[inline]
    pub(super) fn stores_early(&mut self, chances: &Chances) -> bool {
        self.flip(chances.early)
    }

    /// One of `count`, all as likely.
    #[inline]
    pub(super) fn one_of(&mut self, count: usize) -> usize {
        (((self.draw() >> 32) * count as u64) >> 32) as usize
    }

    /// See [`patience`].
    #[inline]
    pub(super) fn patience(&mut self) -> u32 {
        patience(self.draw())
    }
}
