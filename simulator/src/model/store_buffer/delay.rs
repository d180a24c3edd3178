//! Stores: which of a warp's lanes keep theirs back, and what drains before.

use super::drain::WHILE;
use super::lookup::Hits;
use super::rows::Rows;
use super::sites::Site;
use super::*;
use crate::model::targets::Targets;

/// Steps in which a full buffer empties, if it holds as many.
pub(super) const FULL_STEPS: u32 = 16;

/// Lanes whose stores go to one space.
struct Group {
    space: Space,
    lanes: u32,
    targets: Targets,
}

/// What keeps a lane's store from being done.
enum Before {
    /// That these lanes have an entry which has to drain, and these a full buffer; nothing, if there are none. All that the access
    /// meets has been looked up.
    Own(u32, u32),
    /// Any of several things: lane by lane they are done.
    Something,
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
        let concerned = self.concerned(at);
        let mut hits = Hits::default();
        let mut looked = true;
        if concerned != 0 {
            let before = match groups {
                [group] if !self.given.lockstep => self.before_stores(at, group, (bytes, coins), &mut hits),
                _ => Before::Something,
            };
            let mut stepped = false;
            match before {
                Before::Own(0, 0) => {}
                Before::Own(overlap, full) => {
                    stepped = true;
                    for (lane, space, address) in Self::each(groups, overlap | full) {
                        if full >> lane & 1 != 0 {
                            self.empty_full(at, lane, space, world);
                        } else if full != 0 {
                            // Rows may have other numbers by now.
                            self.drain_overlapping(at, lane, (space, address, bytes), world);
                        } else {
                            self.drain_hit(at, lane, (space, &hits), world);
                        }
                    }
                    self.warp(at).rows.iter_mut().for_each(Rows::tidy);
                }
                Before::Something => {
                    looked = false;
                    for (lane, space, address) in Self::each(groups, concerned) {
                        let coin = coins >> lane & 1 != 0;
                        stepped |= self.before_store(at, lane, (space, address, bytes), coin, world);
                    }
                }
            }
            if stepped {
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
        NextOperation::Do { run: at.lanes & !coins, taken: coins, again: false }
    }

    /// The lanes by the space that they store to; others store to none that matters.
    #[inline(never)]
    fn groups(at: &At, access: &Accessed<'_>) -> Vec<Group> {
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

    /// What [`Self::before_store`] would have to do for all lanes. `coins`: those whose store is to be delayed.
    #[inline(always)]
    fn before_stores(&self, at: &At, group: &Group, (bytes, coins): (u32, u32), hits: &mut Hits) -> Before {
        let Group { space, targets, .. } = group;
        let warp = &self.warps[at.warp as usize];
        let loaded = self.loaded(at);
        if warp.over(loaded, WHILE) != 0 || self.holds_some(at, *space, (targets, bytes)) {
            return Before::Something;
        }
        let rows = &warp.rows[*space as usize];
        if rows.look(targets, bytes, loaded, hits).is_none() {
            return Before::Something;
        }
        let equal = hits
            .each()
            .iter()
            .filter(|hit| hit.behind == 0 && u32::from(rows.rows[hit.row as usize].bytes) == bytes);
        let exact = coins & equal.fold(0, |lanes, hit| lanes | hit.lanes);
        let fresh = coins & loaded & !hits.lanes;
        let full = warp.full(fresh, *space, self.given.capacity) | fresh & warp.drains.emptying;
        Before::Own(hits.lanes & !exact, full)
    }

    /// Drains the entry of a lane that an access meets.
    fn drain_hit(&mut self, at: &At, lane: usize, (space, hits): (Space, &Hits), world: &mut World<'_>) {
        let Some(hit) = hits.each().iter().find(|hit| hit.lanes >> lane & 1 != 0) else { return };
        let entry = self.warp(at).take_from(lane, space, hit.row as usize);
        Self::write(at, &entry, world);
        self.went(at, lane);
    }

    /// One step of emptying a full buffer: a sixteenth of what it can hold. Long ones would take hundreds of steps else, once for
    /// each lane, at the next store of each.
    fn empty_full(&mut self, at: &At, lane: usize, space: Space, world: &mut World<'_>) -> bool {
        let own = self.owner(lane);
        let mut stepped = false;
        for _ in 0..self.given.capacity.div_ceil(FULL_STEPS) {
            stepped |= self.empty(at, lane, space, Towards::Device, world);
            if self.warp(at).drains.out[own] == 0 {
                break;
            }
        }
        stepped
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
        if self.drain_overlapping(at, lane, (space, address, bytes), world) {
            return true;
        }
        // Once a full buffer has begun to empty, all of it goes.
        let warp = self.warp(at);
        let (entries, out) = (warp.entries[space as usize][own], warp.drains.out[own]);
        coin && (entries >= self.given.capacity || out != 0) && self.empty_full(at, lane, space, world)
    }

    /// Keeps what these lanes store, for which there is room.
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
        let values = access.planes(among);
        if self.given.lockstep {
            // A lane may store where one before it does.
            for (lane, space, address) in Self::each(groups, among) {
                let numbers = self.number(at, groups, (1 << lane, bytes), world);
                let own = |plane: &[u32; 32]| [plane[lane]; 32];
                let (values, numbers) = (values.each_ref().map(own), numbers.as_ref().map(own));
                let warp = self.warp(at);
                match warp.exact(0, space, address, bytes) {
                    Some(row) => warp.replace((space, row), (1, strong), &values, numbers.as_ref()),
                    None => {
                        let targets = Targets::stepped(address, bytes.into());
                        warp.push(space, (&targets, bytes, None), (1, strong), &values, numbers.as_ref());
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
            let (mut fresh, mut join) = (own, None);
            if let Some(hits) = hits {
                for hit in hits.each() {
                    warp.replace((*space, hit.row as usize), (hit.lanes & own, strong), &values, numbers);
                    fresh &= !hit.lanes;
                    join = Some(hit.row as usize);
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
                warp.push(*space, (targets, bytes, join), (fresh, strong), &values, numbers);
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
