//! What threads know, and what the detector keeps of a grid, its CTAs and warps.
//!
//! Each CTA has a clock, that moves when one of its threads releases, meets others, or forks a copy: an access is known to who knows
//! its thread up to the clock of then. What a thread knows of its own CTA and warp from barriers of all of them stands
//! beside its view and goes into it when it is handed over: where a whole block meets, nothing has to be made.

use std::collections::BTreeMap;
use std::rc::Rc;

use bugaroo_ptx::types::Scope;
use bugaroo_semantics::clocks::View;
use bugaroo_semantics::event::{Lanes, Shape, WhoseBytes, WorkId, WriteId};
use bugaroo_semantics::scope::ThreadKey;
use rustc_hash::FxHashMap;

use super::by_lane::ByLane;
use super::copies::Copies;
use super::few::Few;
use super::known::{Fenced, Known, Views, last};
use super::links::Name;
use super::objects::Objects;
use super::places::Place;
use super::record::{Record, key};
use super::release::{Entries, Reach, Release};
use super::sc::{OfCta, Sc};
use crate::shadow::Bytes;

/// Of a thread: what its strong writes carry, and what its strong reads have come across.
#[derive(Clone, Debug, Default)]
pub(super) struct LaneSync {
    pub fence: Option<Rc<Fenced>>,
    pub fences: Entries,
    pub released_at: BTreeMap<Place, Entries>,
    pub bank: BTreeMap<Place, Entries>,
    /// For explanations: time by the CTA's clock, moment in the grid, and reach.
    pub released: Option<(u32, u64, Reach)>,
    pub acquired: Option<(u64, Reach)>,
}

/// A warp.
#[derive(Debug, Default)]
pub(super) struct Warp {
    pub views: Views,
    /// Threads that there are.
    pub full: u32,
    pub exited: u32,
    pub sync: ByLane<LaneSync>,
    /// What its lanes keep for `fence.sc`.
    pub sc: ByLane<Sc>,
    /// Lanes that have released for the system.
    pub beyond: u32,
}

impl Warp {
    /// Threads that have not ended.
    #[inline]
    pub fn live(&self) -> u32 {
        self.full & !self.exited
    }

    /// What lanes of the warp from the place `first` know together.
    pub fn known_together(&self, cta: u32, first: u32, lanes: u32) -> Known {
        let mut all = self.views.each(lanes).map(|(lanes, known)| match known.lanes_below(last(lanes)) {
            0 => Known { below: (0, 0), ..known.clone() },
            _ => Known { view: known.whole(cta, first + last(lanes)), below: (0, 0), ..*known },
        });
        let mut together = all.next().unwrap_or_default();
        all.for_each(|known| together.join(&known));
        together
    }

    pub fn sync(&mut self, lane: u32) -> &mut LaneSync {
        self.sync.lane(lane, self.full)
    }
}

/// Lanes that have arrived: the slot of their warp, its first thread's place, the lanes, and, of those that do not wait, when,
/// and what they know.
pub(super) type Arrival = (u32, u32, u32, Option<(u32, Known)>);

/// A barrier of a CTA.
#[derive(Debug, Default)]
pub(super) struct Barrier {
    pub arrivals: Vec<Arrival>,
    /// What those who go on know: it has completed.
    pub known: Option<Known>,
    /// What they keep for `fence.sc`.
    pub kept: Option<Sc>,
}

/// A CTA.
#[derive(Debug, Default)]
pub(super) struct Cta {
    pub block: u32,
    pub clock: u32,
    pub barriers: Vec<Barrier>,
    /// Threads that have ended, as if they had arrived: what they know and when they ended.
    pub exited: Vec<Arrival>,
    pub exited_count: u32,
    /// When any of its threads last did a proxy fence.
    pub proxy_fence: u32,
    /// Its `fence.sc`, and those that reach no farther than the CTA.
    pub fences: OfCta,
    pub narrow_fences: OfCta,
}

/// A strong write that reads may come across.
#[derive(Clone, Debug)]
pub(super) struct Message {
    /// Bytes of its row for which it is what memory holds.
    pub live: Bytes,
    /// All its bytes.
    pub mask: Bytes,
    pub by: Writer,
    pub reach: Reach,
    pub size: u8,
    pub observers: Observers,
    pub number: WriteId,
    /// It stands for an atomic that has written nothing; `link` is what that has read.
    pub failed: bool,
    pub chain: Chain,
    pub entries: Entries,
}

/// What a write is handed on with.
#[derive(Clone, Debug, Default)]
pub(super) struct Chain {
    /// Of an atomic: writes before it in its chain that are in the shadow.
    pub before: Few<Name>,
    /// Where there are several devices: grids of which threads have released for the system what comes before it.
    pub handed: Few<WorkId>,
    /// Of an atomic: writes of other grids before it in its chain, and of its own that these have handed on.
    pub far: Few<Name>,
}

/// Whose write it is.
#[derive(Clone, Debug)]
pub(super) struct Writer {
    pub grid: WorkId,
    pub thread: ThreadKey,
    pub cta: u32,
}

/// Where its observers are.
#[derive(Clone, Debug)]
pub(super) struct Observers {
    pub link: u32,
    pub use_of: u32,
}

/// A store that is held back, one element of it.
#[derive(Debug)]
pub(super) struct Held {
    pub address: u64,
    pub message: Message,
    pub memory: bugaroo_semantics::event::WhoseBytes,
}

/// A strong read, one element of it, whose source is told later.
#[derive(Debug)]
pub(super) struct Pending {
    pub memory: bugaroo_semantics::event::WhoseBytes,
    pub address: u64,
    pub size: u32,
    pub record: Record,
    pub acquire: bool,
    pub release: bool,
    /// It is an atomic: its own write, or, where it wrote nothing, what that would have carried.
    pub link: u32,
    pub carried: Option<Entries>,
    /// Bytes told of, as bits from the first.
    pub told: u32,
    /// What it may race with.
    pub candidates: Vec<(Record, Bytes)>,
}

/// A grid.
#[derive(Debug)]
pub(super) struct Grid {
    pub shape: Shape,
    pub cluster: u32,
    pub warps: Vec<Warp>,
    pub ctas: Vec<Cta>,
    pub total: ScOrder,
    /// Counts what synchronises: for explanations.
    pub moment: u64,
    pub later: Later,
    pub copies: Copies,
    pub objects: Objects,
    pub blocks: OfBlocks,
}

/// Its `fence.sc`, and what they have known.
#[derive(Debug)]
pub(super) struct ScOrder {
    /// It has done a `fence.sc` that reaches other grids.
    pub fenced: bool,
    /// What they have known.
    pub known: Entries,
    /// All `fence.sc` are taken as executed from now on.
    pub letter: bool,
}

/// What is to be told later, by thread.
#[derive(Debug)]
pub(super) struct Later {
    pub held: FxHashMap<ThreadKey, Vec<Held>>,
    pub pending: FxHashMap<ThreadKey, Vec<Pending>>,
}

/// What is kept by block, and by cluster.
#[derive(Debug)]
pub(super) struct OfBlocks {
    /// By block: its threads' last release, of those that have ended.
    pub released: FxHashMap<u32, (u32, u64, Reach)>,
    pub slot_of: FxHashMap<u32, u32>,
    pub clusters: FxHashMap<u32, Barrier>,
}

impl Grid {
    pub fn new(shape: Shape) -> Grid {
        Grid {
            shape,
            cluster: shape.cluster.max(1),
            warps: Vec::new(),
            ctas: Vec::new(),
            total: ScOrder { fenced: false, known: None, letter: false },
            moment: 1,
            later: Later { held: FxHashMap::default(), pending: FxHashMap::default() },
            copies: Copies::default(),
            objects: Objects::default(),
            blocks: OfBlocks {
                released: FxHashMap::default(),
                slot_of: FxHashMap::default(),
                clusters: FxHashMap::default(),
            },
        }
    }

    /// Before which time of its CTA all has been done that stands in a memory, seen from everybody who may access it from now on. Where
    /// only the CTA itself does, all of whose threads have met; but a copy that is under way has not. 0: nothing.
    #[inline]
    pub fn settled(&self, memory: WhoseBytes, warp: &Warp) -> u32 {
        match warp.views.one() {
            Some(known) if memory != WhoseBytes::Global && self.cluster == 1 && self.copies.is_empty() => {
                known.met.saturating_add(1)
            }
            _ => 0,
        }
    }

    /// A block begins in a slot.
    pub fn begin_block(&mut self, slot: u32, block: u64) {
        let at = slot as usize;
        if self.ctas.len() <= at {
            self.ctas.resize_with(at + 1, Cta::default);
        }
        self.ctas[at] = Cta { block: block as u32, clock: 1, ..Cta::default() };
        self.blocks.slot_of.insert(block as u32, slot);
        let per = self.shape.warps_per_cta.max(1);
        for warp in 0..per {
            let at = (slot * per + warp) as usize;
            let threads = self.shape.threads_per_cta.saturating_sub(warp * 32).min(32);
            let full = if threads == 32 { u32::MAX } else { (1 << threads) - 1 };
            if self.warps.len() <= at {
                self.warps.resize_with(at + 1, Warp::default);
            }
            self.warps[at] = Warp { full, ..Warp::default() };
        }
    }

    /// Makes sure that what lanes speak of is there: a grid may be told of without its blocks.
    #[inline]
    pub fn ensure(&mut self, by: &Lanes) {
        if by.warp as usize >= self.warps.len()
            || self.ctas.get(by.cta as usize).is_none_or(|cta| cta.clock == 0)
        {
            self.begin_block(by.cta, by.block);
        }
    }

    /// What a release of a thread hands over now. The clock has to move before the thread does anything more.
    pub fn release(&mut self, by: &Lanes, lane: u32, reach: Reach) -> Entries {
        let (cta, place, time) = (by.block as u32, by.first + lane, self.ctas[by.cta as usize].clock);
        let moment = self.moment;
        let warp = &mut self.warps[by.warp as usize];
        let view = warp.views.of(lane).own_view(cta, place, time);
        warp.sync(lane).released = Some((time, moment, reach));
        Some(Rc::new(Release::new(cta, self.cluster, reach, &view)))
    }

    /// Lanes order at a scope: where that is the system's, what they write strongly from now on hands over what they have released to
    /// other devices, too.
    #[inline]
    pub fn release_beyond(&mut self, by: &Lanes, scope: Scope, releases: bool) {
        if scope == Scope::Sys && releases {
            self.warps[by.warp as usize].beyond |= by.mask;
        }
    }

    /// What its fences have released, as entries.
    pub fn fences(&mut self, by: &Lanes, lane: u32) -> Entries {
        let cluster = self.cluster;
        let warp = &mut self.warps[by.warp as usize];
        if let Some(fenced) = warp.sync.of(lane).fence.clone() {
            let sync = warp.sync(lane);
            sync.fence = None;
            let view = fenced.view_of(by.block as u32, by.first + lane);
            let new = Some(Rc::new(Release::new(by.block as u32, cluster, fenced.reach, &view)));
            sync.fences = super::release::both(&new, &sync.fences);
        }
        warp.sync.of(lane).fences.clone()
    }

    /// What a strong write of a thread carries, which may release itself.
    pub fn carried(&mut self, by: &Lanes, lane: u32, place: Place, release: &Entries) -> Entries {
        let fences = self.fences(by, lane);
        let warp = &mut self.warps[by.warp as usize];
        if release.is_some() {
            let earlier = warp.sync(lane).released_at.entry(place).or_default();
            *earlier = super::release::both(release, earlier);
        }
        match warp.sync.of(lane).released_at.get(&place) {
            Some(own) => super::release::both(own, &fences),
            None => fences,
        }
    }

    /// A thread takes what of these entries reaches an acquire of its own.
    pub fn acquire(&mut self, by: &Lanes, lane: u32, reach: Reach, entries: &Entries) {
        let Some(release) = entries else { return };
        let mut new = false;
        for view in release.reaching(by.block as u32, self.cluster, reach) {
            new |= self.learn(by, lane, view);
        }
        if new {
            self.by_letter(by, 1 << lane);
        }
    }

    /// A thread takes what a view knows. Says whether it did not know that.
    pub fn learn(&mut self, by: &Lanes, lane: u32, view: &Rc<View>) -> bool {
        let warp = &mut self.warps[by.warp as usize];
        let known = warp.views.of(lane);
        let covered = Rc::ptr_eq(&known.view, view)
            || view.owner() == Some(key(by.block as u32, by.first + lane))
            || known.view.covers(view);
        if covered {
            return false;
        }
        let known = warp.views.lane(lane, warp.full);
        let before = Rc::clone(&known.view);
        known.take(view);
        !Rc::ptr_eq(&before, &known.view)
    }

    /// What is banked of one place, or of all, is taken.
    pub fn take_banked(&mut self, by: &Lanes, lane: u32, reach: Reach, place: Option<Place>) {
        let moment = self.moment;
        let sync = self.warps[by.warp as usize].sync(lane);
        sync.acquired = Some((moment, reach));
        let mut taken: Vec<(Place, Entries)> = Vec::new();
        match place {
            Some(place) => taken.extend(sync.bank.remove_entry(&place)),
            None => taken.extend(std::mem::take(&mut sync.bank)),
        }
        if taken.is_empty() {
            return;
        }
        for (place, entries) in taken {
            self.acquire(by, lane, reach, &entries);
            // A wider acquire to come can take more.
            if reach != Reach::Device {
                self.bank(by, lane, place, &entries);
            }
        }
    }

    /// Keeps what a strong read has come across.
    pub fn bank(&mut self, by: &Lanes, lane: u32, place: Place, entries: &Entries) {
        if entries.is_none() {
            return;
        }
        let banked = self.warps[by.warp as usize].sync(lane).bank.entry(place).or_default();
        *banked = super::release::both(banked, entries);
    }

    /// Bytes, about.
    pub fn held(&self) -> u64 {
        let warp =
            |warp: &Warp| (size_of::<Warp>() + warp.views.held() + warp.sync.held() + warp.sc.held()) as u64;
        let ctas = self.ctas.len() * size_of::<Cta>() + self.blocks.released.len() * 32;
        self.warps.iter().map(warp).sum::<u64>() + ctas as u64 + self.copies.held() + self.objects.held()
    }

    /// The clock of a CTA moves: what its threads do from now on is later.
    #[inline]
    pub fn tick(&mut self, slot: u32) {
        let cta = &mut self.ctas[slot as usize];
        cta.clock = cta.clock.saturating_add(1);
        self.moment += 1;
    }
}
