//! The PTX memory model as a machine: what a thread may read is drawn from the histories of locations.
//!
//! Source: the memory consistency model of the PTX ISA (6.0 and later), made operational in the manner of
//! view-based machines for C11 (Kang et al., "A promising semantics for relaxed-memory concurrency", 2017,
//! without promises). Here:
//! - A location's history is its writes in coherence order ([`history`]). A store goes to its end, or, where
//!   no later message is known to its thread, before some of them; or it waits in its thread for a while.
//! - A [`view`] is what of these a thread knows, by causality order. A load reads the newest message that its
//!   thread knows, or any after that. A strong load that is morally strong with the write it reads from knows
//!   it from then on (observation order).
//! - Release patterns travel with messages as [`entry`]s, through atomics that read them too; an acquire takes
//!   those that are morally strong with it, a later fence those that earlier strong loads came across.
//! - `fence.sc` joins what the morally strong ones before it knew; barriers join their participants' views.
//! - A load that is not an acquire may be resolved late (load buffering), but before anything can depend on
//!   its value, and before whatever orders.
//!
//! Departures, all towards fewer behaviours: coherence order is total per granule of four bytes, also where
//! racing writes would have none; bytes of a granule share one position in a view; an access of more than one
//! granule is a snapshot, and its store never comes early; `.cluster` is `.gpu`; moral strength does not ask for
//! complete overlap; what is forgotten ([`history`], [`view`], [`Machine::sweep`]) counts as known to all.
//! So everything that it shows is allowed; it can miss behaviours that need promises beyond late loads.

mod barriers;
mod draw;
mod engine;
mod entry;
mod history;
mod load;
mod passed;
mod scope;
mod stale;
mod store;
mod sync;
mod thread;
mod until;
mod view;

use std::rc::Rc;

use rustc_hash::FxHashMap;

pub use draw::Chances;
pub use engine::{Facts, Ptx, Settings};
pub use load::Loaded;
pub use scope::{Scope, Strength, ThreadKey};
pub use store::AtomicOrder;
pub use thread::Late;
pub use view::Writers;

use super::Missing;
use history::Histories;
use thread::ThreadState;
use view::View;

/// Histories beyond which those that are old are forgotten.
const MOST_HISTORIES: usize = 1 << 14;

/// Memory as it stands: the last value of every granule in coherence order.
pub trait Plain {
    /// The four bytes of a granule, little-endian.
    fn read(&mut self, granule: u64) -> u32;
    /// Replaces the bits of `mask`.
    fn write(&mut self, granule: u64, value: u32, mask: u32);
}

/// The bytes that an access touches: up to four granules in a row, all of them whole if more than one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span {
    /// Address of the first granule: a multiple of four, different for what is different memory.
    pub granule: u64,
    /// Granules.
    pub count: u8,
    /// The bits of each granule.
    pub mask: u32,
}

impl Span {
    /// The span of `size` bytes (1, 2, 4, 8 or 16) at a naturally aligned address.
    #[inline]
    pub fn new(address: u64, size: u32) -> Span {
        let granule = address & !3;
        if size >= 4 {
            return Span { granule, count: (size / 4) as u8, mask: u32::MAX };
        }
        let mask = ((1u32 << (size * 8)) - 1) << ((address & 3) * 8);
        Span { granule, count: 1, mask }
    }

    #[inline]
    fn granules(self) -> impl Iterator<Item = u64> {
        (0..u64::from(self.count)).map(move |index| self.granule + index * 4)
    }

    #[inline]
    fn overlaps(self, other: Span) -> bool {
        self.granule < other.granule + u64::from(other.count) * 4
            && other.granule < self.granule + u64::from(self.count) * 4
            && (self.count > 1 || other.count > 1 || self.mask & other.mask != 0)
    }

    /// Whether they share a granule, be it different bytes of it.
    #[inline]
    fn meets(self, other: Span) -> bool {
        self.granule < other.granule + u64::from(other.count) * 4
            && other.granule < self.granule + u64::from(self.count) * 4
    }

    #[inline]
    fn covers(self, other: Span) -> bool {
        self.granule <= other.granule
            && other.granule + u64::from(other.count) * 4 <= self.granule + u64::from(self.count) * 4
            && self.mask & other.mask == other.mask
    }
}

/// The values of a span's granules, in place.
pub type Value = [u32; 4];

/// Loads that read something older than the last value of their location, all by one instruction, passing over writes
/// by one instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct StaleRead {
    reader: ThreadKey,
    load: u32,
    granule: u64,
    /// Who wrote the value that was passed over, and by what.
    writer: ThreadKey,
    write: u32,
    missing: Missing,
    /// Load and write are morally strong: what one reads of the other is how they synchronise.
    synchronising: bool,
    count: u64,
    /// Larger than that of earlier ones.
    last: u64,
}

/// One launch's memory under the model.
#[derive(Debug)]
pub struct Machine {
    chances: Chances,
    seed: u64,
    /// The time of the last access that made a message.
    now: u64,
    waited: u64,
    /// Every message up to this time is known to all.
    floor: u64,
    histories: Histories,
    threads: Vec<ThreadState>,
    /// What fences with `fence.sc.gpu` (or wider) have known.
    sc_device: Rc<View>,
    stale: stale::StaleReads,
    /// Loads that are pending beyond a release of their threads, with their slots.
    passed: Vec<(Span, usize)>,
    /// By CTA: what its threads' `fence.sc` have known, those at device scope and those at CTA scope.
    sc_cta: FxHashMap<u32, [Rc<View>; 2]>,
}

impl Machine {
    /// A machine for threads in slots below `threads`, all of whose memory is known to everyone.
    pub fn new(threads: usize, chances: Chances, seed: u64) -> Machine {
        Machine {
            chances,
            seed,
            now: 0,
            waited: 0,
            floor: 0,
            histories: Histories::new(),
            threads: (0..threads).map(|_| ThreadState::default()).collect(),
            sc_device: Rc::default(),
            stale: stale::StaleReads::default(),
            passed: Vec::new(),
            sc_cta: FxHashMap::default(),
        }
    }

    /// Begins a thread in a slot: it knows what stood in memory before the launch, and no more.
    pub fn start(&mut self, slot: usize, key: ThreadKey) {
        let random = draw::mix(self.seed ^ draw::mix(u64::from(key.number())));
        self.threads[slot] = ThreadState { key, random, ..ThreadState::default() };
    }

    /// Granules with a history, and the bytes that all histories take.
    pub fn size(&self) -> (usize, usize) {
        (self.histories.len(), self.histories.bytes())
    }

    /// Who is in a slot.
    pub(super) fn key(&self, slot: usize) -> ThreadKey {
        self.threads[slot].key
    }

    /// How often what is allowed is done, from now on.
    #[inline]
    pub(super) fn set_chances(&mut self, chances: Chances) {
        self.chances = chances;
    }

    /// Whether a thread has stores that wait or loads that are late.
    #[inline]
    pub(super) fn holds_back(&self, slot: usize) -> bool {
        let thread = &self.threads[slot];
        !thread.waiting.is_empty() || !thread.late.is_empty()
    }

    /// Whether something of a span has been written lately.
    #[inline]
    pub(super) fn has_history(&self, span: Span) -> bool {
        span.granules().any(|granule| self.histories.chain(granule).is_some())
    }

    /// Every message so far becomes known to all.
    pub(super) fn all_known(&mut self) {
        self.floor = self.now;
    }

    /// Compares what is known of a span with memory. If somebody else has written there, memory is right.
    pub(super) fn believe(&mut self, memory: &mut impl Plain, span: Span) {
        for granule in span.granules() {
            let Some(chain) = self.histories.chain(granule) else { continue };
            if self.histories.value(chain.last, u32::MAX) != memory.read(granule) {
                self.resolve_all_passed(memory, Some(granule));
                self.histories.close(granule);
                self.all_known();
            }
        }
    }

    /// Stores that have waited.
    pub(super) fn waited(&self) -> u64 {
        self.waited
    }

    /// Whether nothing has a history: every load is a plain one.
    #[inline]
    pub fn is_quiet(&self) -> bool {
        self.histories.len() == 0
    }

    /// Forgets the older half of what is kept, once there is much: it counts as known to every thread from
    /// then on, as after a barrier of the whole grid, which only forbids. Waiting stores and late loads stay.
    fn sweep(&mut self, memory: &mut impl Plain) {
        if self.histories.len() < MOST_HISTORIES {
            return;
        }
        self.resolve_all_passed(memory, None);
        self.floor += (self.now - self.floor).div_ceil(2);
        self.histories.sweep(self.floor);
        if self.histories.len() > MOST_HISTORIES / 2 {
            self.floor = self.now;
            self.histories.sweep(self.floor);
        }
    }
}
