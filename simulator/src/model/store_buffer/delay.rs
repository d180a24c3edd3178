//! Stores: which of a warp's lanes keep theirs back, and what drains before.

use super::drain::WHILE;
use super::lookup::Hits;
use super::sites::Site;
use super::together::Part;
use super::*;
use crate::model::targets::Targets;

/// Steps in which a full buffer empties, if it holds as many.
pub(super) const FULL_STEPS: u32 = 16;
/// Buffers that lack less than such a part of what they can hold empty along with a full one.
pub(super) const NEARLY: u32 = 8;

/// Lanes whose stores go to one space.
pub(super) struct Group {
    pub space: Space,
    pub lanes: u32,
    pub targets: Targets,
}

/// Lanes whose store is not done yet, of those whose buffer is not being emptied.
#[derive(Clone, Copy, Debug, Default)]
struct Before {
    /// Something of theirs had to drain, and has.
    stepped: u32,
    /// The store is to be delayed, and there is no room for it.
    full: u32,
}

impl StoreBuffer {
    /// A store that orders nothing.
    pub(super) fn store_some(
        &mut self,
        at: &At,
        site: Site,
        access: &Accessed<'_>,
        world: &mut World<'_>,
    ) -> NextOperation {
        by_isa!(
            self.given.isa,
            StoreBuffer::store_some_body(self, at: &At, site: Site, access: &Accessed<'_>, world: &mut World<'_>)
                -> NextOperation
        )
    }

    #[inline(always)]
    fn store_some_body(
        &mut self,
        at: &At,
        site: Site,
        access: &Accessed<'_>,
        world: &mut World<'_>,
    ) -> NextOperation {
        let mut all = [Group { space: Space::Global, lanes: at.lanes, targets: Targets::stepped(0, 0) }];
        if let Some(shared) = access.aim(at.lanes, &mut all[0].targets) {
            all[0].space = if shared { Space::Shared } else { Space::Global };
            return self.store_groups(at, site, (access, &all), world);
        }
        self.store_groups(at, site, (access, &Self::groups(at, access)), world)
    }

    #[inline(always)]
    fn store_groups(
        &mut self,
        at: &At,
        site: Site,
        (access, groups): (&Accessed<'_>, &[Group]),
        world: &mut World<'_>,
    ) -> NextOperation {
        let bytes = access.bytes();
        let mut coins = 0;
        let has = |swarm: Swarm| swarm.has(site.number, access.semantics == Semantics::Weak);
        let is_in = self.given.swarm.is_none_or(has);
        if site.slot != NONE && bytes <= WIDEST && is_in {
            for group in groups {
                let threshold = self.given.thresholds[group.space as usize];
                let of = (site.slot, site.number, access.elements);
                coins |= self.coins.toss(at, of, threshold, group.lanes);
            }
        }
        let mut hits = Hits::default();
        let mut looked = true;
        if self.concerned(at) != 0 {
            let emptying = self.emptying(at);
            let at_once = match groups {
                [group] if !self.given.lockstep => {
                    self.before_stores(at, group, (bytes, coins, emptying), &mut hits)
                }
                _ => None,
            };
            looked = at_once.is_some();
            let before = match at_once {
                Some(before) => {
                    self.drain_hits(at, before.stepped, (&groups[0], bytes, &hits), world);
                    before
                }
                None => self.before_each(at, groups, (bytes, coins, emptying), world),
            };
            let room = before.full | emptying == 0;
            if !room && self.make_room(at, groups, (before, emptying), world) || before.stepped != 0 {
                return NextOperation::Again;
            }
        }
        if site.slot != NONE {
            self.coins.count(at, site.slot);
        }
        self.count_calls(at, at.lanes);
        if coins != 0 {
            self.delay(at, groups, (access, coins), looked.then_some(&hits), world);
        }
        NextOperation::split(at.lanes & !coins, coins)
    }

    /// The lanes by the space that they store to; others store to none that matters.
    #[inline(never)]
    pub(super) fn groups(at: &At, access: &Accessed<'_>) -> Vec<Group> {
        let mut addresses = [0; 32];
        let mut among = [0; 2];
        for lane in lanes(at.lanes) {
            addresses[lane] = access.address(lane);
            if let Some(space) = space_of(addresses[lane]) {
                among[space as usize] |= 1 << lane;
            }
        }
        let some = SPACES.into_iter().filter(|space| among[*space as usize] != 0);
        some.map(|space| {
            let lanes = among[space as usize];
            Group { space, lanes, targets: Targets::any(addresses, lanes, access.bytes()) }
        })
        .collect()
    }

    /// These lanes one by one, each with its space and address.
    fn each(groups: &[Group], among: u32) -> impl Iterator<Item = (usize, Space, u64)> + '_ {
        lanes(among).filter_map(move |lane| {
            let group = groups.iter().find(|group| group.lanes >> lane & 1 != 0)?;
            Some((lane, group.space, group.targets.address(lane)))
        })
    }

    /// Lanes whose buffer has begun to empty, as it was full: all of it goes.
    fn emptying(&self, at: &At) -> u32 {
        match (self.warps[at.warp as usize].drains.emptying, self.given.lockstep) {
            (0, true) => 0,
            (_, true) => at.lanes,
            (emptying, false) => emptying & at.lanes,
        }
    }

    /// What [`Self::before_store`] would answer for all lanes: those that it would have do a step have hits, and it is to be done. None: they
    /// are to be asked for one by one. `coins`: those whose store is to be delayed.
    #[inline(always)]
    fn before_stores(
        &mut self,
        at: &At,
        group: &Group,
        (bytes, coins, emptying): (u32, u32, u32),
        hits: &mut Hits,
    ) -> Option<Before> {
        let Group { space, targets, .. } = group;
        let loaded = self.loaded(at);
        let over = self.warps[at.warp as usize].over(loaded & !emptying, WHILE);
        if over != 0 || self.holds_some(at, *space, (targets, bytes)) {
            return None;
        }
        let warp = &mut self.warps[at.warp as usize];
        let rows = &mut warp.rows[*space as usize];
        rows.look(targets, bytes, loaded, hits)?;
        let equal = hits.each().iter().filter(|hit| rows.is_exact(hit, bytes));
        let exact = coins & equal.fold(0, |lanes, hit| lanes | hit.lanes);
        let fresh = coins & loaded & !(hits.lanes | emptying);
        let full = warp.full(fresh, *space, self.given.capacity);
        Some(Before { stepped: hits.lanes & !(exact | emptying), full })
    }

    /// Drains those entries of these lanes that their access, of so many bytes, meets.
    #[inline(always)]
    fn drain_hits(
        &mut self,
        at: &At,
        among: u32,
        (group, bytes, hits): (&Group, u32, &Hits),
        world: &mut World<'_>,
    ) {
        if among == 0 {
            return;
        }
        let space = group.space;
        // Where each lane has stored to just these bytes, and no two lanes to the same, row after row does the same as lane after lane.
        let rows = &self.warps[at.warp as usize].rows[space as usize];
        let apart = group.targets.step.is_some_and(|step| step.cast_signed().unsigned_abs() >= bytes.into());
        // Whoever looks on is told lane after lane, and what is held back from beyond the device is held by chance, one after another.
        let alone = world.notes.is_none() && world.held.is_none();
        if apart && alone && hits.each().iter().all(|hit| rows.is_exact(hit, bytes)) {
            let mut strong = 0;
            for hit in hits.each().iter().filter(|hit| hit.lanes & among != 0) {
                let part = Part { space, row: hit.row as usize, lanes: hit.lanes & among };
                self.write_part(at, &part, world);
                let rows = &mut self.warp(at).rows[space as usize];
                strong |= part.lanes & rows.rows[part.row].strong;
                rows.clear(part.row, part.lanes);
            }
            let warp = self.warp(at);
            warp.less(space, (among, strong));
            warp.rows[space as usize].tidy();
            return;
        }
        for lane in lanes(among) {
            let Some(hit) = hits.each().iter().find(|hit| hit.lanes >> lane & 1 != 0) else { continue };
            let entry = self.warp(at).take_from(lane, space, hit.row as usize);
            Self::write(at, &entry, world);
            self.went(at, lane);
        }
        self.warp(at).rows[space as usize].tidy();
    }

    /// What comes before the stores of lanes whose buffer is not being emptied, lane by lane.
    #[inline(never)]
    fn before_each(
        &mut self,
        at: &At,
        groups: &[Group],
        (bytes, coins, emptying): (u32, u32, u32),
        world: &mut World<'_>,
    ) -> Before {
        let mut before = Before::default();
        self.warp(at).enlist();
        for (lane, space, address) in Self::each(groups, self.concerned(at) & !emptying) {
            let coin = coins >> lane & 1 != 0;
            if self.before_store(at, lane, (space, address, bytes), coin, world) {
                before.stepped |= 1 << lane;
            } else if coin && self.has_no_room(at, lane, (space, address, bytes)) {
                before.full |= 1 << lane;
            }
        }
        before
    }

    /// A step of what has to be done before a lane's store; answers whether there was one. `coin`: it is to be delayed.
    fn before_store(
        &mut self,
        at: &At,
        lane: usize,
        (space, address, bytes): (Space, u64, u32),
        coin: bool,
        world: &mut World<'_>,
    ) -> bool {
        let held = self.held(at, space, address, bytes);
        // What the CTA holds of these bytes is older than this store.
        if held != 0 && self.leave(at, held, world) {
            return true;
        }
        if self.warp(at).loaded >> lane & 1 == 0 {
            return false;
        }
        if self.tick(at, lane, world) {
            return true;
        }
        let own = self.owner(lane);
        if coin && self.warp(at).exact(own, space, address, bytes).is_some() {
            return false;
        }
        self.drain_overlapping(at, lane, (space, address, bytes), world)
    }

    /// Whether a lane's buffer is full, and what it stores is nothing that the buffer has already.
    fn has_no_room(&self, at: &At, lane: usize, (space, address, bytes): (Space, u64, u32)) -> bool {
        let (warp, own) = (&self.warps[at.warp as usize], self.owner(lane));
        warp.entries[space as usize][own] >= self.given.capacity
            && warp.exact(own, space, address, bytes).is_none()
    }

    /// One step of emptying full buffers, and those that have begun to; answers whether there was one. Those of the other lanes
    /// that are nearly full go along: one of them after another would be full at each of the next stores.
    fn make_room(
        &mut self,
        at: &At,
        groups: &[Group],
        (before, emptying): (Before, u32),
        world: &mut World<'_>,
    ) -> bool {
        let mut stepped = false;
        for group in groups {
            let full = group.lanes & before.full;
            let mut goes = group.lanes & (emptying | full);
            if full != 0 && !self.given.lockstep {
                let nearly = self.given.capacity - self.given.capacity / NEARLY;
                goes |= self.warp(at).full(group.lanes & !before.stepped, group.space, nearly);
            }
            if goes != 0 {
                stepped = true;
                self.empty_part(at, goes, group.space, world);
            }
        }
        stepped
    }

    /// Empties a sixteenth of what buffers can hold, in one step. Long ones would take hundreds of steps else.
    fn empty_part(&mut self, at: &At, among: u32, space: Space, world: &mut World<'_>) {
        for _ in 0..self.given.capacity.div_ceil(FULL_STEPS) {
            let more = match self.given.lockstep {
                true => self.empty(at, 0, space, Towards::Device, world),
                false => self.empty_rows(at, among, &[space], world),
            };
            if !more {
                break;
            }
        }
    }

    /// Keeps what these lanes store, for which there is room.
    #[inline(always)]
    fn delay(
        &mut self,
        at: &At,
        groups: &[Group],
        (access, among): (&Accessed<'_>, u32),
        hits: Option<&Hits>,
        world: &mut World<'_>,
    ) {
        self.counts.delayed += u64::from(among.count_ones());
        let (bytes, strong) = (access.bytes(), access.semantics != Semantics::Weak);
        let mut planes = None;
        let values = access.planes(among, &mut planes);
        if self.given.lockstep {
            // A lane may store where one before it does.
            for (lane, space, address) in Self::each(groups, among) {
                let numbers = self.number(at, groups, (1 << lane, bytes), world);
                let own = |plane: &[u32; 32]| [plane[lane]; 32];
                let (values, numbers) = (values.map(own), numbers.as_ref().map(own));
                let values = values.each_ref();
                let warp = self.warp(at);
                warp.enlist();
                match warp.exact(0, space, address, bytes) {
                    Some(row) => warp.replace((space, row), (1, strong), &values, numbers.as_ref()),
                    None => {
                        let targets = Targets::stepped(address, bytes.into());
                        warp.push(space, (&targets, bytes), (1, strong), &values, numbers.as_ref());
                    }
                }
                warp.loaded = !0;
            }
            return;
        }
        let numbers = self.number(at, groups, (among, bytes), world);
        let numbers = numbers.as_ref();
        for Group { space, lanes: own, targets } in groups {
            let own = own & among;
            if own == 0 {
                continue;
            }
            let warp = self.warp(at);
            let mut fresh = own;
            if let Some(hits) = hits {
                for hit in hits.each() {
                    warp.replace((*space, hit.row as usize), (hit.lanes & own, strong), &values, numbers);
                    fresh &= !hit.lanes;
                }
            } else {
                for lane in lanes(own & warp.loaded) {
                    if let Some(row) = warp.exact(lane, *space, targets.address(lane), bytes) {
                        warp.replace((*space, row), (1 << lane, strong), &values, numbers);
                        fresh &= !(1 << lane);
                    }
                }
            }
            if fresh != 0 {
                warp.push(*space, (targets, bytes), (fresh, strong), &values, numbers);
            }
        }
    }

    /// Tells whoever looks on that these lanes' stores are held, and which of their older values will never be seen.
    fn number(
        &self,
        at: &At,
        groups: &[Group],
        (among, bytes): (u32, u32),
        world: &mut World<'_>,
    ) -> Option<[u32; 32]> {
        world.notes.as_ref()?;
        let mut numbers = [0; 32];
        for (lane, space, address) in Self::each(groups, among) {
            if let Some(notes) = &mut world.notes {
                numbers[lane] = notes.hold(at.warp * 32 + lane as u32);
                notes.push(Note::Held(numbers[lane].into()));
            }
            let (warp, own) = (&self.warps[at.warp as usize], self.owner(lane));
            if let Some(row) = warp.exact(own, space, address, bytes) {
                let older = warp.rows[space as usize].entry(row, own);
                Self::landed(at, (address, bytes as u8), older.number, false, world);
            }
            if let Some(notes) = &mut world.notes {
                notes.push(Note::Did(lane as u32));
            }
        }
        Some(numbers)
    }
}
