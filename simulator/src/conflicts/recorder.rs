//! The recorder: takes what lanes do, one after another, and keeps the conflicts.

use bugaroo_ptx::types::{Scope, Semantics};
use bugaroo_semantics::effect::{acquires, releases, scope_of};
use bugaroo_semantics::event::{Lanes, Shape};

use super::loads::Loads;
use super::order::Order;
use super::pairs::Pairs;
use super::shadow::{GRANULE, Granule, Seen, Shadow, flag};
use super::{AccessWhat, Collision, ConflictParty, FoundConflict, FoundConflicts, ThreadRelation};

/// Looks for the conflicts of a launch.
#[derive(Debug, Default)]
pub(super) struct Recorder {
    order: Order,
    shadow: Shadow,
    loads: Loads,
    pairs: Pairs,
    /// The number of the instruction that is executed.
    now: u64,
    per_cta: u32,
    /// Memory may not hold yet what was written last.
    lags: bool,
}

/// What one lane does to one element of memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touch {
    pub by: Toucher,
    /// Number of the instruction.
    pub pc: u32,
    /// What it does.
    pub what: AccessWhat,
    /// Order, strength and scope.
    pub semantics: Semantics,
    pub at: Touched,
    /// What is there, low bytes first.
    pub old: u128,
    /// What a store or an atomic leaves there; None for a compare that fails.
    pub new: Option<u128>,
}

/// Which lane it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Toucher {
    /// Slot of its warp.
    pub warp: u32,
    /// Slot of its CTA.
    pub cta: u32,
    /// Linear index of the CTA in the grid.
    pub block: u64,
    /// The lane.
    pub lane: u32,
}

/// Which bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touched {
    /// Whether `address` counts from the beginning of the CTA's shared memory.
    pub shared: bool,
    /// Where.
    pub address: u64,
    /// Bytes, at most 16.
    pub bytes: u32,
}

/// A granule's part of what a lane does.
#[derive(Clone, Copy)]
struct Part {
    number: u64,
    mask: u8,
    old: u32,
    new: Option<u32>,
}

/// The bits of the bytes in a mask.
fn bits(mask: u8) -> u32 {
    (0..4).filter(|byte| mask >> byte & 1 != 0).fold(0, |bits, byte| bits | 0xff << (8 * byte))
}

/// The bytes in which two values differ, given the bits.
fn differing(bits: u32) -> u8 {
    (0..4).filter(|byte| bits >> (8 * byte) & 0xff != 0).fold(0, |mask, byte| mask | 1 << byte)
}

/// The parts of a touch, by granule.
fn parts(touch: &Touch) -> impl Iterator<Item = Part> {
    let (from, to) = (touch.at.address, touch.at.address + u64::from(touch.at.bytes));
    let (old, new) = (touch.old, touch.new);
    (from / GRANULE..to.div_ceil(GRANULE)).map(move |number| {
        let (first, last) = (from.max(number * GRANULE), to.min((number + 1) * GRANULE));
        let within = (first - number * GRANULE) as u32;
        let mask = (((1u32 << (last - first)) - 1) << within) as u8;
        let cut = |value: u128| ((value >> (8 * (first - from))) as u32) << (8 * within) & bits(mask);
        Part { number, mask, old: cut(old), new: new.map(cut) }
    })
}

fn is_strong(touch: &Touch) -> bool {
    touch.what == AccessWhat::Atomic || touch.semantics != Semantics::Weak
}

fn is_narrow(semantics: Semantics) -> bool {
    scope_of(semantics) == Some(Scope::Cta)
}

fn relation(a: &Seen, b: &Seen) -> ThreadRelation {
    match (a.block == b.block, a.thread / 32 == b.thread / 32) {
        (false, _) => ThreadRelation::Grid,
        (true, false) => ThreadRelation::Block,
        (true, true) => ThreadRelation::Warp,
    }
}

fn party(seen: &Seen) -> ConflictParty {
    ConflictParty {
        block: seen.block.into(),
        thread: seen.thread.into(),
        pc: seen.pc,
        what: seen.what(),
        strong: seen.has(flag::STRONG),
    }
}

/// Where a conflict is.
#[derive(Clone, Copy)]
struct Spot {
    shared: bool,
    address: u64,
}

impl Spot {
    /// A conflict there: of the earlier and the later one.
    fn conflict(self, kind: Collision, first: &Seen, second: &Seen) -> FoundConflict {
        FoundConflict {
            kind,
            relation: relation(first, second),
            shared: self.shared,
            address: self.address,
            first: party(first),
            second: party(second),
            between: None,
            count: 1,
        }
    }
}

impl Recorder {
    /// A recorder for a launch. `lags`: a memory model delays its stores.
    pub fn new(lags: bool) -> Recorder {
        Recorder { lags, ..Recorder::default() }
    }

    /// What was found so far.
    pub fn found(&self) -> &FoundConflicts {
        self.pairs.found()
    }

    /// The launch begins.
    pub fn launch(&mut self, shape: &Shape, lockstep: bool) {
        self.per_cta = shape.warps_per_cta;
        self.order = Order::new(shape.warps, shape.warps_per_cta, shape.threads_per_cta, lockstep);
        self.loads = Loads::new(shape.warps);
    }

    /// A block begins in a slot.
    pub fn start_block(&mut self, cta: u32) {
        self.order.start_block(cta);
        self.shadow.start_block(cta);
        self.loads.forget(cta * self.per_cta..(cta + 1) * self.per_cta);
    }

    /// What orders threads.
    pub fn order(&mut self) -> &mut Order {
        &mut self.order
    }

    /// Lanes have done a fence of memory.
    pub fn fence(&mut self, by: Lanes) {
        // What came before it came before this moment.
        self.now += 1;
        self.order.fence(by, self.now);
    }

    /// A warp executes an instruction that touches memory; what each lane does comes next, in order of lanes.
    pub fn instruction(&mut self) {
        self.now += 1;
    }

    /// A lane touches an element.
    pub fn touch(&mut self, touch: &Touch) {
        self.order.comes(touch.by.warp, touch.by.lane, self.now);
        let (epoch, lane_epoch) = self.order.epochs(touch.by.warp, touch.by.lane);
        let strong = if is_strong(touch) { flag::STRONG } else { 0 };
        let narrow = if is_narrow(touch.semantics) { flag::NARROW } else { 0 };
        let what = match touch.what {
            AccessWhat::Load => flag::LOAD,
            AccessWhat::Store => 0,
            AccessWhat::Atomic => flag::ATOMIC,
        };
        for part in parts(touch) {
            let by = Seen {
                time: self.now,
                block: touch.by.block as u32,
                pc: touch.pc,
                epoch,
                lane_epoch,
                value: part.old,
                thread: (self.order.index(touch.by.warp) * 32 + touch.by.lane) as u16,
                mask: part.mask,
                flags: strong | narrow | what,
            };
            self.part(touch, part, by);
        }
    }

    fn part(&mut self, touch: &Touch, part: Part, mut by: Seen) {
        let Recorder { order, shadow, loads, pairs, now, lags, .. } = self;
        let lane = (touch.by.warp, touch.by.lane);
        let Some(granule) = shadow.granule(touch.at.shared.then_some(touch.by.cta), part.number) else {
            return pairs.unseen();
        };
        let key = part.number << 1 | u64::from(touch.at.shared);
        // What nobody has written is read most.
        if touch.what == AccessWhat::Load && granule.is_only_read() && !by.has(flag::STRONG) {
            loads.push(lane, key, by);
            granule.was_read(by);
            return;
        }
        let spot = Spot { shared: touch.at.shared, address: touch.at.address };
        let strong = by.has(flag::STRONG);
        if strong {
            strong_access(granule, order, pairs, touch, &by, spot);
        }
        let concerns = |seen: &&Seen| !seen.is_by(&by) && !order.is_behind(seen, lane, by.block, *now);

        // What other lanes of this instruction have written is not in memory yet.
        let mut old = part.old;
        for writer in granule.writers(part.mask).filter(|seen| *lags || seen.time == *now) {
            let bits = bits(writer.mask & part.mask);
            old = old & !bits | writer.value & bits;
        }

        match touch.what {
            AccessWhat::Load => {
                for writer in granule.writers(part.mask).filter(concerns) {
                    if writer.changed(part.mask) && !(strong && writer.has(flag::STRONG)) {
                        // A volatile access is no more than a plain one that the compiler leaves alone.
                        let atomic = strong && touch.semantics != Semantics::Volatile;
                        let mixed = atomic || writer.has(flag::ATOMIC);
                        let kind = if mixed { Collision::PlainBesideAtomic } else { Collision::Unordered };
                        pairs.add(spot.conflict(kind, writer, &by));
                    }
                }
            }
            AccessWhat::Atomic => {
                for writer in granule.writers(part.mask).filter(concerns) {
                    if writer.changed(part.mask) && !writer.has(flag::STRONG) {
                        pairs.add(spot.conflict(Collision::PlainBesideAtomic, writer, &by));
                    }
                }
            }
            AccessWhat::Store => {}
        }
        let Some(new) = part.new else {
            if touch.what == AccessWhat::Load {
                by.value = old;
                loads.push(lane, key, by);
                granule.was_read(by);
            }
            return;
        };
        if touch.what == AccessWhat::Store {
            for writer in granule.writers(part.mask).filter(concerns) {
                let common = bits(writer.mask & part.mask);
                if writer.has(flag::ATOMIC) {
                    if !strong && (new ^ old) & common != 0 {
                        pairs.add(spot.conflict(Collision::PlainBesideAtomic, writer, &by));
                    }
                } else if !(strong && writer.has(flag::STRONG)) && (new ^ old) & common != 0 {
                    pairs.add(spot.conflict(Collision::Unordered, writer, &by));
                }
                // The load may have come before a barrier that the writer has come to, too.
                let same_interval = |load: &&Seen| {
                    (writer.block != by.block || load.epoch == by.epoch)
                        && (relation(writer, &by) != ThreadRelation::Warp || load.lane_epoch == by.lane_epoch)
                };
                let load = loads.last(lane, key, writer.mask & part.mask).filter(same_interval);
                if let Some(load) = load
                    && load.time < writer.time
                    && (load.value ^ old) & common & bits(load.mask) != 0
                {
                    let conflict = spot.conflict(Collision::LostUpdate, load, &by);
                    let relation = relation(writer, &by);
                    pairs.add(FoundConflict { relation, between: Some(party(writer)), ..conflict });
                }
            }
        }
        let mut changed = differing(new ^ old) & part.mask;
        for reader in granule.readers(changed).filter(concerns) {
            if !(strong && reader.has(flag::STRONG)) {
                let mixed = touch.what == AccessWhat::Atomic && !reader.has(flag::STRONG);
                let kind = if mixed { Collision::PlainBesideAtomic } else { Collision::Unordered };
                pairs.add(spot.conflict(kind, reader, &by));
            }
        }
        // Of several that leave the same at a time, each has changed it.
        for writer in granule.writers(part.mask).filter(concerns) {
            changed |= writer.flags >> flag::CHANGED & writer.mask & part.mask;
        }
        by.flags |= changed << flag::CHANGED;
        by.value = new;
        granule.written(by);
        if strong {
            let own = if releases(touch.semantics) { *now } else { order.fenced(lane) };
            let more = granule.more();
            more.released = if touch.what == AccessWhat::Atomic { more.released.max(own) } else { own };
        } else if let Some(more) = &mut granule.more {
            more.released = 0;
        }
    }
}

/// What is particular about a strong access: it may acquire, and its scope may be too narrow.
fn strong_access(
    granule: &mut Granule,
    order: &mut Order,
    pairs: &mut Pairs,
    touch: &Touch,
    by: &Seen,
    spot: Spot,
) {
    let reads = touch.what != AccessWhat::Store;
    if let Some(more) = &granule.more
        && reads
        && more.released != 0
    {
        order.reads_released((touch.by.warp, touch.by.lane), more.released, acquires(touch.semantics));
    }
    // Within a CTA no scope is too narrow.
    if touch.at.shared {
        return;
    }
    let more = granule.more();
    for other in more.strong.iter().filter(|seen| seen.time != 0 && seen.block != by.block) {
        let narrow = by.has(flag::NARROW) || other.has(flag::NARROW);
        let writes = touch.what != AccessWhat::Load || !other.has(flag::LOAD);
        if narrow && writes && other.mask & by.mask != 0 {
            pairs.add(spot.conflict(Collision::Scope, other, by));
        }
    }
    if more.strong[0].block != by.block {
        more.strong[1] = more.strong[0];
    }
    more.strong[0] = *by;
}
