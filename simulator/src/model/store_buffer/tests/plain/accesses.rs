//! What accesses meet in the buffers, and what they leave there.

use bugaroo_device_handlers::coin;

use super::super::super::delay::{FULL_STEPS, Group, NEARLY};
use super::super::super::drain::range;
use super::super::super::sites::Site;
use super::*;
use crate::model::targets::Targets;

impl Plain {
    pub(super) fn before_load(
        &mut self,
        at: &At,
        lane: usize,
        access: &Accessed<'_>,
        world: &mut World<'_>,
    ) -> (bool, bool) {
        let first = access.address(lane);
        let Some(space) = space_of(first) else { return (false, false) };
        let mut concerned = false;
        for element in 0..access.elements {
            let (address, bytes) = (first + u64::from(element * access.size), access.size);
            let held = self.held(at, space, address, bytes);
            let thread = self.thread(at, lane);
            let own = thread.find(space, address, bytes).map(|found| thread.entries[space as usize][found]);
            let from = own.or_else(|| self.ctas[at.cta as usize].holder(address, bytes).copied());
            let from = if space == Space::Shared { own } else { from };
            let Some(from) = from else { continue };
            if !drains(access.semantics) && from.part(address, bytes).is_some() {
                concerned = true;
                continue;
            }
            let stepped = held != 0 && self.leave(at, held, world)
                || self.drain_overlapping(at, lane, (space, address, bytes), world);
            return (stepped, true);
        }
        (false, concerned)
    }

    pub(super) fn forward(&mut self, at: &At, lane: usize, access: &Accessed<'_>, world: &mut World<'_>) {
        let first = access.address(lane);
        let Some(space) = space_of(first) else { return };
        for element in 0..access.elements {
            let (address, bytes) = (first + u64::from(element * access.size), access.size);
            let thread = self.thread(at, lane);
            let own = thread.find(space, address, bytes).map(|found| thread.entries[space as usize][found]);
            let held = self.ctas[at.cta as usize].holder(address, bytes).copied();
            let from = own.or(held.filter(|_| space == Space::Global));
            if let (Some(from), Some(notes)) = (from, &mut world.notes) {
                let thread = at.warp * 32 + lane as u32;
                if notes.owner(from.number) == Some(thread) {
                    notes.push(Note::Own(1 << element));
                } else {
                    notes.push(Note::Sourced(1 << element));
                    let range = range(at.cta, address, bytes.into());
                    notes.push(Note::Read { thread, range, write: from.number.into(), own: true });
                }
            }
            let value = from.and_then(|from| from.part(address, bytes));
            access.supply(lane, element, value.unwrap_or_else(|| access.read(lane, element)));
        }
        if let Some(notes) = &mut world.notes {
            notes.push(Note::Did(lane as u32));
        }
    }

    pub(super) fn before_store(
        &mut self,
        at: &At,
        lane: usize,
        (space, address, bytes): (Space, u64, u32),
        coin: bool,
        world: &mut World<'_>,
    ) -> bool {
        let held = self.held(at, space, address, bytes);
        if held != 0 && self.leave(at, held, world) {
            return true;
        }
        if !self.thread(at, lane).loaded() {
            return false;
        }
        if self.tick(at, lane, world) {
            return true;
        }
        if coin && self.thread(at, lane).exact(space, address, bytes).is_some() {
            return false;
        }
        if self.drain_overlapping(at, lane, (space, address, bytes), world) {
            return true;
        }
        false
    }

    /// One step of emptying full buffers, begun ones, and with a full one those that are nearly full.
    pub(super) fn make_room(
        &mut self,
        at: &At,
        access: &Accessed<'_>,
        (stepped, full, emptying): (u32, u32, u32),
        world: &mut World<'_>,
    ) -> bool {
        let (mut some, capacity) = (false, self.capacity);
        for space in SPACES {
            let group = lanes(at.lanes).filter(|lane| space_of(access.address(*lane)) == Some(space));
            let group = group.fold(0, |all, lane| all | 1u32 << lane);
            let mut goes = group & (emptying | full);
            for lane in lanes(if group & full == 0 { 0 } else { group & !stepped }) {
                let many = self.thread(at, lane).entries[space as usize].len();
                goes |= u32::from(many >= capacity - capacity / NEARLY as usize) << lane;
            }
            some |= goes != 0;
            for _ in 0..capacity.div_ceil(FULL_STEPS as usize) {
                let more = match self.lockstep {
                    true => goes != 0 && self.empty(at, 0, space, Towards::Device, world),
                    false => self.empty_rows(at, goes, &[space], world),
                };
                if !more {
                    break;
                }
            }
        }
        some
    }

    /// The rows of what is stored, by space: the last one if it has as many bytes at the same places, one step apart; else a new one.
    pub(super) fn rows(&mut self, at: &At, access: &Accessed<'_>) -> [u64; 2] {
        let mut targets = Targets::stepped(0, 0);
        let groups = match access.aim(at.lanes, &mut targets) {
            Some(shared) => {
                let space = if shared { Space::Shared } else { Space::Global };
                vec![Group { space, lanes: at.lanes, targets }]
            }
            None => StoreBuffer::groups(at, access),
        };
        let mut rows = [0; 2];
        for Group { space, targets, .. } in groups {
            let places = (targets.step, targets.base, access.bytes());
            let of_warp = 32 * at.warp as usize..32 * at.warp as usize + 32;
            let all = self.threads[of_warp].iter().flat_map(|thread| &thread.rows[space as usize]);
            let last = all
                .max()
                .copied()
                .filter(|last| targets.step.is_some() && self.places.get(*last as usize) == Some(&places));
            rows[space as usize] = last.unwrap_or(self.places.len() as u64);
            if last.is_none() {
                self.places.push(places);
            }
        }
        rows
    }

    pub(super) fn delay(
        &mut self,
        at: &At,
        (lane, row): (usize, u64),
        space: Space,
        mut entry: Entry,
        world: &mut World<'_>,
    ) {
        if let Some(notes) = &mut world.notes {
            entry.number = notes.hold(at.warp * 32 + lane as u32);
            notes.push(Note::Held(entry.number.into()));
        }
        self.counted.delayed += 1;
        let thread = self.thread(at, lane);
        match thread.exact(space, entry.address, entry.bytes.into()) {
            Some(found) => {
                let older = &mut thread.entries[space as usize][found];
                StoreBuffer::landed(at, (older.address, older.bytes), older.number, false, world);
                entry.strong |= older.strong;
                *older = entry;
            }
            None => {
                thread.entries[space as usize].push(entry);
                thread.rows[space as usize].push(row);
            }
        }
        if let Some(notes) = &mut world.notes {
            notes.push(Note::Did(lane as u32));
        }
    }

    pub(super) fn coin(&self, at: &At, lane: usize, site: Site, access: &Accessed<'_>) -> bool {
        let Some(space) = space_of(access.address(lane)) else { return false };
        let thread = at.first_thread + lane as u64;
        let count = self.counts.get(&(thread, site.slot)).copied().unwrap_or(0) * access.elements;
        let (seed, launch) = self.settings.seed;
        let coin = coin(seed, launch, thread as u32, site.number, count);
        site.slot != NONE
            && access.bytes() <= WIDEST
            && u64::from(coin) < threshold(self.settings.pw[space as usize])
    }
}
