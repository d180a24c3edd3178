//! Which pairs race: a second reading, of the pieces of memory alone where something does.
//!
//! For each piece all accesses are kept, by component in order of their epochs. A new access races with those at the end of each
//! list that its clock does not reach. A pair that shares several pieces counts in one: the first piece of the later-beginning
//! of the two.

use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use super::flags::{Flags, Side};
use super::{Stamp, conflict, fenced, lanes, morally_strong, stamp};
use crate::chains::Layout;
use crate::machine::{Context, Observer, place};
use crate::program::{Opcode, Packed, SharedAccessKind, SharedStrength, WarpPrograms};
use crate::verdict::{BarrierRaceKind, RacingAccess};

/// Comparisons of one access with one earlier command, over all; after these, counting stops.
const LIMIT: u64 = 100_000_000;

/// An access of some lanes of a command, at one piece of memory.
#[derive(Debug, Clone, Copy)]
struct Entry {
    epoch: u32,
    chain: u32,
    command: u32,
    lanes: u32,
    /// Whether this piece is the access's first.
    begins: bool,
    kind: SharedAccessKind,
    asynchronous: bool,
    group: Option<usize>,
}

/// A thread's access, as (warp, lane, command).
pub type ThreadAccess = (u32, u32, u32);

/// Races between two origins.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub first: Member,
    pub second: Member,
    pub kind: BarrierRaceKind,
    /// One of the accesses at least need not happen.
    pub possible: bool,
    /// Flags may order the accesses: the origin of an acquiring read.
    pub flag: Option<u32>,
    pub pairs: u64,
    pub benign: u64,
    pub addresses: FxHashSet<u32>,
    last_address: u32,
}

/// One access of the example.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Member {
    pub chain: u32,
    pub command: u32,
    pub lane: u32,
}

/// What races are grouped by: the origins, the kind, whether an access need not happen, and whether flags may order them.
type Key = (u32, u32, BarrierRaceKind, bool, bool);

/// Gathers pairs.
pub(crate) struct Pairs<'a> {
    program: &'a WarpPrograms,
    layout: &'a Layout,
    granule_shift: u32,
    /// Pieces of memory by number: a list for each component that goes there.
    cells: FxHashMap<u32, Vec<(u32, Vec<Entry>)>>,
    pub found: Groups,
    pub effort: Effort,
    unordered: FxHashSet<u32>,
    /// Whether flags order what barriers do not.
    flags: Option<Flags<'a>>,
    /// Origins of accesses whose value depends on how flags order them.
    guessed: FxHashSet<u32>,
    /// Every single pair, where the caller wants them.
    pub all: Option<Vec<(ThreadAccess, ThreadAccess)>>,
}

/// The races so far, by what they are grouped by.
pub(crate) struct Groups {
    pub groups: Vec<Found>,
    index: FxHashMap<Key, usize>,
    last_key: Option<(Key, usize)>,
}

/// Comparisons so far, and whether there were too many.
pub(crate) struct Effort {
    comparisons: u64,
    pub stopped: bool,
}

impl<'a> Pairs<'a> {
    pub(crate) fn new(
        program: &'a WarpPrograms,
        layout: &'a Layout,
        granule_shift: u32,
        cells: &[u32],
        flags: Option<Flags<'a>>,
    ) -> Pairs<'a> {
        Pairs {
            program,
            layout,
            granule_shift,
            cells: cells.iter().map(|&c| (c, Vec::new())).collect(),
            found: Groups { groups: Vec::new(), index: FxHashMap::default(), last_key: None },
            effort: Effort { comparisons: 0, stopped: false },
            unordered: FxHashSet::default(),
            flags,
            guessed: FxHashSet::default(),
            all: None,
        }
    }

    fn lane_access(&mut self, context: &Context<'_>, stamp: Stamp, index: usize, lane: u32, address: u32) {
        let packed = &self.program.warps()[context.own.warp as usize].packed()[index];
        let first = address >> self.granule_shift;
        let last = address.wrapping_add(packed.size() - 1) >> self.granule_shift;
        let mut cell = first;
        loop {
            if let Some(mut lists) = self.cells.get_mut(&cell).map(std::mem::take) {
                let new = Entry {
                    epoch: stamp.epoch,
                    chain: context.chain,
                    command: index as u32,
                    lanes: 1 << lane,
                    begins: cell == first,
                    kind: packed.kind(),
                    asynchronous: stamp.asynchronous,
                    group: stamp.group,
                };
                self.compare(context, &lists, &new, stamp, lane, cell);
                add(&mut lists, stamp.component, new);
                self.cells.insert(cell, lists);
            }
            if cell == last {
                break;
            }
            cell = cell.wrapping_add(1);
        }
    }

    fn compare(
        &mut self,
        context: &Context<'_>,
        lists: &[(u32, Vec<Entry>)],
        new: &Entry,
        stamp: Stamp,
        lane: u32,
        cell: u32,
    ) {
        for (component, entries) in lists {
            let known = context.clock[*component as usize];
            let packed = &self.program.warps()[context.own.warp as usize].packed()[new.command as usize];
            let visible = fenced(context, packed).map_or(u32::MAX, |f| f[*component as usize]);
            let from = known.min(visible);
            for old in entries.iter().rev().take_while(|e| e.epoch >= from) {
                if self.effort.comparisons >= LIMIT {
                    self.effort.stopped = true;
                    return;
                }
                self.effort.comparisons += 1;
                if !conflict(old.kind, new.kind) || !(old.begins || new.begins) {
                    continue;
                }
                if self.excluded(old, packed) {
                    continue;
                }
                let mut racing = if old.epoch >= known { old.lanes } else { 0 };
                if self.warp(old.chain) == context.own.warp && is_before(context, old) {
                    racing &= !(1 << lane);
                }
                let strong = self.strong(old, racing, new, lane);
                racing &= !strong;
                if strong != 0 {
                    self.unordered(old, strong, new, lane);
                }
                if racing != 0 {
                    let (flagged, flag) = self.flagged((old, *component), racing, (new, stamp), lane);
                    let kind = race_kind(old.kind, new.kind);
                    if racing & !flagged != 0 {
                        self.found(kind, old, racing & !flagged, (new, lane), cell, None);
                    }
                    if flagged != 0 {
                        self.found(kind, old, flagged, (new, lane), cell, Some(flag));
                    }
                }
                let unfenced = old.lanes & !racing & !strong;
                if unfenced != 0
                    && old.kind != SharedAccessKind::Read
                    && !old.asynchronous
                    && old.epoch >= visible
                {
                    let kind = BarrierRaceKind::MissingProxyFence;
                    self.found(kind, old, unfenced, (new, lane), cell, None);
                }
            }
        }
    }

    /// Whether an earlier access and the present one cannot both happen.
    #[inline]
    fn excluded(&self, old: &Entry, new: &Packed) -> bool {
        new.condition().is_some() && self.program.excludes(self.condition(old), new.condition())
    }

    fn condition(&self, entry: &Entry) -> Option<u32> {
        let warp = &self.program.warps()[self.warp(entry.chain) as usize];
        warp.condition_of(&warp.packed()[entry.command as usize])
    }

    /// Which of the lanes are morally strong with the new access.
    fn strong(&self, old: &Entry, racing: u32, new: &Entry, lane: u32) -> u32 {
        let (old_warp, new_warp) = (self.warp(old.chain), self.warp(new.chain));
        let (a, b) = (&self.program.warps()[old_warp as usize], &self.program.warps()[new_warp as usize]);
        let (old_packed, new_packed) = (&a.packed()[old.command as usize], &b.packed()[new.command as usize]);
        let shape = self.program.shape();
        let same_cta = shape.cta_of(old_warp) == shape.cta_of(new_warp);
        if !morally_strong(old_packed.strength(), new_packed.strength(), same_cta)
            || old_packed.size() != new_packed.size()
        {
            return 0;
        }
        let address = b.addresses_of(new_packed).lane(lane);
        let meets = |other: &u32| a.addresses_of(old_packed).lane(*other) == address;
        lanes(racing).filter(meets).fold(0, |all, other| all | 1 << other)
    }

    /// Accesses that do not race, but come in any order.
    fn unordered(&mut self, old: &Entry, strong: u32, new: &Entry, lane: u32) {
        let both_write = old.kind == SharedAccessKind::Write && new.kind == SharedAccessKind::Write;
        if both_write && self.benign(old, strong, new, lane) == strong.count_ones() {
            return;
        }
        self.unordered.extend(self.open_origins(old, new).into_iter().flatten());
    }

    /// Of two accesses in an order that is open, the origins of those whose value is: of a read and a write, it is what is read.
    fn open_origins(&self, old: &Entry, new: &Entry) -> [Option<u32>; 2] {
        let reads = old.kind == SharedAccessKind::Read || new.kind == SharedAccessKind::Read;
        [old, new].map(|entry| {
            let packed =
                &self.program.warps()[self.warp(entry.chain) as usize].packed()[entry.command as usize];
            (!reads || entry.kind == SharedAccessKind::Read).then_some(packed.origin)
        })
    }

    /// Which of the racing lanes flags may order with the new access, and the origin of an acquiring read by which.
    fn flagged(
        &mut self,
        (old, component): (&Entry, u32),
        racing: u32,
        (new, stamp): (&Entry, Stamp),
        lane: u32,
    ) -> (u32, u32) {
        let Some(flags) = &mut self.flags else { return (0, 0) };
        let before = Stamp { component, epoch: old.epoch, asynchronous: old.asynchronous, group: old.group };
        let side = |entry: &Entry, stamp| Side { chain: entry.chain, command: entry.command, stamp };
        let (flagged, flag) = flags.order(&side(old, before), racing, &side(new, stamp), lane);
        if flagged != 0 {
            self.guessed.extend(self.open_origins(old, new).into_iter().flatten());
        }
        (flagged, flag)
    }

    /// Origins of accesses whose value depends on how flags order them, sorted.
    pub(crate) fn guessed_origins(&self) -> Vec<u32> {
        let mut all: Vec<u32> = self.guessed.iter().copied().collect();
        all.sort_unstable();
        all
    }

    /// Origins of strong accesses whose value depends on the order of threads, sorted.
    pub(crate) fn unordered_origins(&self) -> Vec<u32> {
        let mut all: Vec<u32> = self.unordered.iter().copied().collect();
        if self.effort.stopped {
            // Not all pairs were seen: any may be.
            let strong = |packed: &&Packed| {
                packed.opcode() == Opcode::Access && packed.strength() != SharedStrength::Weak
            };
            let warps = self.program.warps().iter();
            all.extend(
                warps.flat_map(|warp| warp.packed().iter().filter(strong).map(|packed| packed.origin)),
            );
        }
        all.sort_unstable();
        all.dedup();
        all
    }

    fn warp(&self, chain: u32) -> u32 {
        self.layout.chains[chain as usize].warp
    }

    fn found(
        &mut self,
        kind: BarrierRaceKind,
        old: &Entry,
        racing: u32,
        (new, lane): (&Entry, u32),
        cell: u32,
        flag: Option<u32>,
    ) {
        let warps = self.program.warps();
        let (old_warp, new_warp) = (self.warp(old.chain), self.warp(new.chain));
        let origin = |warp: u32, e: &Entry| warps[warp as usize].packed()[e.command as usize].origin;
        let (a, b) = (origin(old_warp, old), origin(new_warp, new));
        let possible = flag.is_some() || self.condition(old).is_some() || self.condition(new).is_some();
        let key = (a.min(b), a.max(b), kind, possible, flag.is_some());
        let group = match self.found.last_key {
            Some((last, group)) if last == key => group,
            _ => self.group(key, old, racing, (new, lane), flag),
        };
        self.found.last_key = Some((key, group));
        let benign =
            if kind == BarrierRaceKind::WriteWrite { self.benign(old, racing, new, lane) } else { 0 };
        let group = &mut self.found.groups[group];
        group.pairs += u64::from(racing.count_ones());
        group.benign += u64::from(benign);
        if group.last_address != cell {
            group.last_address = cell;
            group.addresses.insert(cell);
        }
        if let (Some(all), false) = (&mut self.all, kind == BarrierRaceKind::MissingProxyFence) {
            for other in lanes(racing) {
                let (x, y) = ((old_warp, other, old.command), (new_warp, lane, new.command));
                all.push((x.min(y), x.max(y)));
            }
        }
    }

    #[cold]
    fn group(
        &mut self,
        key: Key,
        old: &Entry,
        racing: u32,
        (new, lane): (&Entry, u32),
        flag: Option<u32>,
    ) -> usize {
        let next = self.found.groups.len();
        let index = *self.found.index.entry(key).or_insert(next);
        if index == next {
            let member = |e: &Entry, lane| Member { chain: e.chain, command: e.command, lane };
            let (old, new) = (member(old, racing.trailing_zeros()), member(new, lane));
            let thread = |m: &Member| (self.warp(m.chain), m.lane);
            let (first, second) = if thread(&old) <= thread(&new) { (old, new) } else { (new, old) };
            self.found.groups.push(Found {
                first,
                second,
                kind: key.2,
                possible: key.3,
                flag,
                pairs: 0,
                benign: 0,
                addresses: FxHashSet::default(),
                last_address: u32::MAX,
            });
        }
        index
    }

    /// How many of the racing lanes write the very bytes that the new access writes.
    fn benign(&self, old: &Entry, racing: u32, new: &Entry, lane: u32) -> u32 {
        let side = |e: &Entry| &self.program.warps()[self.warp(e.chain) as usize];
        let (old_warp, new_warp) = (side(old), side(new));
        let old_packed = &old_warp.packed()[old.command as usize];
        let new_packed = &new_warp.packed()[new.command as usize];
        let Some(value) = new_warp.value_of(new_packed, lane) else {
            return 0;
        };
        if old_packed.size() != new_packed.size() {
            return 0;
        }
        let address = new_warp.addresses_of(new_packed).lane(lane);
        let equal = |&other: &u32| {
            old_warp.addresses_of(old_packed).lane(other) == address
                && old_warp.value_of(old_packed, other) == Some(value)
        };
        lanes(racing).filter(equal).count() as u32
    }

    /// A member as the report shows it.
    pub(crate) fn describe(&self, member: &Member) -> RacingAccess {
        let warp = &self.program.warps()[self.warp(member.chain) as usize];
        let packed = &warp.packed()[member.command as usize];
        let mut place = place(self.program, self.layout, member.chain, member.command);
        place.threads.lanes = 1 << member.lane;
        RacingAccess {
            place,
            kind: packed.kind(),
            address: warp.addresses_of(packed).lane(member.lane),
            size: packed.size(),
            asynchronous: packed.completion() != crate::program::Completion::Now,
            value: warp.value_of(packed, member.lane),
            condition: packed.condition().map(|at| self.program.conditions()[at as usize].origin),
        }
    }
}

/// Whether an earlier access of one of the chain's warp is before the present one by program order, for the same lane.
fn is_before(context: &Context<'_>, old: &Entry) -> bool {
    match (old.asynchronous, old.group) {
        (false, _) => true,
        (true, Some(kind)) => old.chain == context.chain && old.epoch < context.groups[kind].waited,
        (true, None) => false,
    }
}

fn add(lists: &mut Vec<(u32, Vec<Entry>)>, component: u32, new: Entry) {
    let list = match lists.iter_mut().position(|(c, _)| *c == component) {
        Some(index) => &mut lists[index].1,
        None => {
            lists.push((component, Vec::new()));
            let end = lists.len() - 1;
            &mut lists[end].1
        }
    };
    let same = |old: &Entry| old.command == new.command && old.chain == new.chain && old.begins == new.begins;
    // Mostly at the end; but the warps of a warpgroup have a component together, and one of them may be ahead.
    let later = list.iter().rev().take_while(|old| old.epoch > new.epoch).count();
    let at = list.len() - later;
    match list[..at].last_mut().filter(|old| same(old)) {
        Some(old) => old.lanes |= new.lanes,
        None => list.insert(at, new),
    }
}

fn race_kind(a: SharedAccessKind, b: SharedAccessKind) -> BarrierRaceKind {
    let any = |kind| a == kind || b == kind;
    match (any(SharedAccessKind::Read), any(SharedAccessKind::Write), any(SharedAccessKind::Atomic)) {
        (true, true, _) => BarrierRaceKind::ReadWrite,
        (true, _, true) => BarrierRaceKind::ReadAtomic,
        (_, true, true) => BarrierRaceKind::WriteAtomic,
        _ => BarrierRaceKind::WriteWrite,
    }
}

impl Observer for Pairs<'_> {
    fn accesses(&mut self, context: &mut Context<'_>, range: Range<usize>) {
        if self.effort.stopped {
            return;
        }
        let warp = &context.program.warps()[context.own.warp as usize];
        for (index, packed) in range.clone().zip(&warp.packed()[range]) {
            let on = packed.lanes & context.own.lanes;
            if on == 0 || packed.opcode() != Opcode::Access {
                continue;
            }
            let stamp = stamp(context, packed, index);
            let addresses = warp.addresses_of(packed);
            for lane in lanes(on) {
                self.lane_access(context, stamp, index, lane, addresses.lane(lane));
            }
        }
    }
}
