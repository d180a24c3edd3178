//! The PTX memory model as a machine: what a thread may read is drawn from the histories of locations.
//!
//! Source: the memory consistency model of the PTX ISA (6.0 and later), made operational in the manner of
//! view-based machines for C11 (Kang et al., "A promising semantics for relaxed-memory concurrency", 2017,
//! without promises). Here:
//! - A [`location`] has a history: its writes in coherence order ([`history`], [`chains`]). A store goes to its end, or,
//!   where no later message is known to its thread, before some of them; or it waits in its thread for a while.
//! - A view ([`clocks`]) is what of these a thread knows, by causality order. A load reads the newest message that its
//!   thread knows, or any after that. A strong load that is morally strong with the write it reads from knows
//!   it from then on (observation order); the message keeps who has.
//! - Release patterns travel with messages ([`entry`]), through atomics that read them too; an acquire takes
//!   those that are morally strong with it, a later fence those that earlier strong loads came across.
//! - `fence.sc` joins what the morally strong ones before it knew; barriers join their participants' views.
//! - A load that is not an acquire may be resolved late (load buffering), but before anything can depend on
//!   its value, and before whatever orders.
//!
//! Departures, all towards fewer behaviours: coherence order is total per granule of four bytes, also where
//! racing writes would have none; an access of more than one granule is a snapshot, and its store never comes early;
//! `.cluster` takes in the whole grid; moral strength does not ask for complete overlap; of a granule the eight newest messages are
//! kept; what is forgotten when memory runs short ([`forget`], which counts it) cannot be read any more; lanes of a warp that
//! have parted so far that their waiting stores fill 256 rows ([`waiting`]) have the first of these written early.
//! So everything that it shows is allowed; it can miss behaviours that need promises beyond late loads.

mod barriers;
mod chains;
mod draw;
mod due;
mod engine;
mod forget;
mod history;
mod kept;
mod load;
mod names;
mod passed;
mod patience;
mod plain;
mod polls;
mod row;
mod runs;
mod spans;
mod stale;
mod store;
mod store_rows;
mod sync;
mod thread;
mod until;
mod waiting;
mod warp;

use bugaroo_semantics::splitmix::mix;
use std::rc::Rc;

use rustc_hash::FxHashMap;

pub use bugaroo_semantics::clocks::WriterSet;
pub use bugaroo_semantics::location::{GranuleSpan, Location, MemorySpace, Value};
pub use bugaroo_semantics::scope::{Scope, Strength, ThreadKey};
pub use draw::Chances;
pub(crate) use engine::order;
pub use engine::{Facts, PtxModel, PtxSettings};
pub use load::Loaded;
pub use store::AtomicOrder;
pub use thread::Late;

use super::notes::Notes;
use crate::exec::lanes as each;
use bugaroo_semantics::clocks::View;
use history::Histories;
use names::Names;
use patience::Together;
use spans::Spans;
use thread::ThreadState;
use waiting::Spare;
use warp::{WarpState, warp_and_lane};

/// Memory as it stands: the last value of every granule in coherence order.
pub trait PlainMemory {
    /// The four bytes of a granule, little-endian.
    fn read(&mut self, location: Location) -> u32;
    /// Replaces the bits of `mask`.
    fn write(&mut self, location: Location, value: u32, mask: u32);
    /// [`Self::read`] of a granule for each of these lanes, `step` bytes from one lane to the next, `first` being that of lane 0.
    fn read_each(&mut self, lanes: u32, (first, step): (Location, u64), values: &mut [u32; 32]) {
        for lane in each(lanes) {
            values[lane] = self.read(stepped(first, step, lane));
        }
    }
    /// [`Self::write`] of all bits of such granules.
    fn write_each(&mut self, lanes: u32, (first, step): (Location, u64), values: &[u32; 32]) {
        for lane in each(lanes) {
            self.write(stepped(first, step, lane), values[lane], u32::MAX);
        }
    }
    /// Where to note what becomes visible and what is read, if somebody wants to know.
    #[doc(hidden)]
    fn notes(&mut self) -> Option<&mut Notes> {
        None
    }
}

/// So many steps behind a location.
#[inline(always)]
fn stepped(first: Location, step: u64, lane: usize) -> Location {
    Location { offset: first.offset.wrapping_add(step.wrapping_mul(lane as u64)), ..first }
}

/// One launch's memory under the model.
#[derive(Debug)]
pub struct PtxMachine {
    chances: Chances,
    launch: AboutLaunch,
    clock: Clock,
    told: Told,
    histories: Histories,
    threads: Vec<ThreadState>,
    held: Held,
    sc: ScFences,
    /// Loads that are pending beyond a release of their threads, with their slots.
    passed: Vec<(GranuleSpan, usize)>,
    budget: forget::Budget,
}

/// What threads hold back.
#[derive(Debug)]
struct Held {
    /// By warp slot.
    warps: Vec<WarpState>,
    spare: Spare,
    /// For how long stores of a warp's lanes wait.
    together: Together,
}

/// What is known of the launch.
#[derive(Debug)]
struct AboutLaunch {
    seed: u64,
    /// Each CTA has one thread.
    lonely: bool,
    /// There are threads to come, which know nothing of what is written now.
    more_to_come: bool,
}

/// What time it is.
#[derive(Debug)]
struct Clock {
    /// The time of the last thing that has one: a message, a release, what a strong read has seen.
    now: u64,
    /// Every message up to this time is known to all.
    floor: u64,
}

/// What is counted and kept for who asks what the machine has done.
#[derive(Debug)]
struct Told {
    waited: u64,
    stale: stale::StaleReads,
    /// What writes are called.
    names: Names,
}

/// What `fence.sc` have known.
#[derive(Debug)]
struct ScFences {
    /// What those at device scope (or wider) have known.
    device: Rc<View>,
    /// By CTA: what those of its threads have known, at device scope and at CTA scope.
    by_cta: FxHashMap<u32, [Rc<View>; 2]>,
}

impl PtxMachine {
    /// A machine for threads in slots below `threads`, all of whose memory is known to everyone. `bytes`: what it may
    /// take for what it keeps, about.
    pub fn new(threads: usize, chances: Chances, seed: u64, bytes: u64) -> PtxMachine {
        PtxMachine {
            chances,
            launch: AboutLaunch { seed, lonely: false, more_to_come: false },
            clock: Clock { now: 0, floor: 0 },
            told: Told { waited: 0, stale: stale::StaleReads::default(), names: Names::default() },
            histories: Histories::new(),
            threads: Vec::with_capacity(threads),
            held: Held {
                warps: Vec::with_capacity(threads.div_ceil(32)),
                spare: Spare::default(),
                together: Together::Own,
            },
            sc: ScFences { device: Rc::default(), by_cta: FxHashMap::default() },
            passed: Vec::new(),
            budget: forget::Budget::new(bytes),
        }
    }

    /// For how long the next stores wait, those that do.
    #[inline]
    fn set_together(&mut self, together: Together) {
        self.held.together = together;
    }

    /// What is known of the launch: each CTA has one thread.
    pub(super) fn set_lonely(&mut self, lonely: bool) {
        self.launch.lonely = lonely;
    }

    /// Whether threads are to start that have not yet.
    pub(super) fn set_more_to_come(&mut self, more: bool) {
        self.launch.more_to_come = more;
    }

    /// Begins a thread in a slot: it knows what stood in memory before the launch, and no more.
    pub fn start(&mut self, slot: usize, key: ThreadKey) {
        let random = mix(self.launch.seed ^ mix(u64::from(key.number())));
        if self.threads.len() <= slot {
            self.threads.resize_with(slot + 1, ThreadState::default);
        }
        self.threads[slot].begin(key, random);
        let (warp, lane) = warp_and_lane(slot);
        let Held { warps, spare, .. } = &mut self.held;
        if warps.len() <= warp {
            warps.resize_with(warp + 1, WarpState::default);
        }
        warps[warp].begin(lane, key, spare);
    }

    /// Granules with a history, and the bytes that are kept.
    pub fn size(&self) -> (usize, usize) {
        (self.histories.len(), self.bytes())
    }

    /// Messages that were forgotten because of the bound on memory, though somebody might have read them.
    pub fn forgotten(&self) -> u64 {
        self.budget.forgotten()
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

    /// Somebody is about to access a granule.
    #[inline(always)]
    pub(super) fn fetch(&self, location: Location) {
        self.histories.fetch(location);
    }

    /// Every message so far becomes known to all.
    pub(super) fn all_known(&mut self) {
        if self.clock.floor != u64::MAX {
            self.clock.floor = self.clock.now;
        }
    }

    /// Every message is known to all from now on as soon as there is one, or not any more.
    pub(super) fn know_all(&mut self, all: bool) {
        if all {
            self.clock.floor = u64::MAX;
        } else if self.clock.floor == u64::MAX {
            self.clock.floor = self.clock.now;
        }
    }

    /// Compares what is known of a span with memory. If somebody else has written there, memory is right.
    pub(super) fn believe(&mut self, memory: &mut impl PlainMemory, span: GranuleSpan) {
        for location in span.granules() {
            let Some(last) = self.histories.last_value(location) else { continue };
            if last != memory.read(location) {
                self.resolve_all_passed(memory, Some(location));
                self.histories.close(location);
                self.told.names.lose(location);
                self.all_known();
            }
        }
    }

    /// Whether the last value of a granule, where one is known, is what memory holds.
    #[inline]
    pub(super) fn agrees(&self, location: Location, held: u32) -> bool {
        self.histories.kept(location).is_none_or(|kept| self.histories.last_of(&kept) == held)
    }

    /// Stores that have waited.
    pub(super) fn waited(&self) -> u64 {
        self.told.waited
    }

    /// Whether nothing has a history: every load is a plain one.
    #[inline]
    pub fn is_quiet(&self) -> bool {
        self.histories.len() == 0
    }

    /// Whether no granule of a row (see [`Location::row`]) has a history.
    #[inline]
    pub(super) fn knows_nothing_of(&self, row: Location) -> bool {
        self.histories.is_empty_row(row)
    }

    /// Whether no granule of these lanes' rows has a history. `false` may be said of any.
    #[inline]
    fn knows_nothing_of_any(&self, spans: &Spans, lanes: u32) -> bool {
        self.is_quiet()
            || spans.rows(lanes).is_some_and(|mut rows| rows.all(|row| self.histories.is_empty_row(row)))
    }

    /// All threads of a block know all that was written to its shared memory: its barrier has ended, or it has.
    pub(super) fn shared_is_known(&mut self, block: u32) {
        self.histories.close_block(block);
    }
}
