//! Loads that find what they read in a buffer: their thread's own, or what their CTA holds back.

use super::drain::{WHILE, range};
use super::lookup::{Hit, Hits};
use super::rows::Rows;
use super::*;
use crate::model::targets::Targets;

impl StoreBuffer {
    /// A load, all lanes at once, where that is as good as one after another: nothing drains before it, and a lane takes all that it
    /// reads from one entry of its own, or nothing. None where it is not.
    #[inline]
    pub(super) fn load_together(
        &mut self,
        at: &At,
        access: &Accessed<'_>,
        world: &mut World<'_>,
    ) -> Option<NextOperation> {
        by_isa!(
            self.given.isa,
            StoreBuffer::load_together_body(self, at: &At, access: &Accessed<'_>, world: &mut World<'_>)
                -> Option<NextOperation>
        )
    }

    #[inline(always)]
    fn load_together_body(
        &mut self,
        at: &At,
        access: &Accessed<'_>,
        world: &mut World<'_>,
    ) -> Option<NextOperation> {
        if self.given.lockstep {
            return None;
        }
        let mut targets = Targets::stepped(0, 0);
        let shared = access.aim(at.lanes, &mut targets)?;
        let space = if shared { Space::Shared } else { Space::Global };
        let (bytes, loaded) = (access.bytes(), self.loaded(at));
        let over = self.warps[at.warp as usize].over(loaded, WHILE);
        if over != 0 || self.holds_some(at, space, (&targets, bytes)) {
            return None;
        }
        let rows = &mut self.warps[at.warp as usize].rows[space as usize];
        let mut hits = Hits::default();
        if loaded != 0 {
            rows.look(&targets, bytes, loaded, &mut hits)?;
        }
        if hits.lanes != 0 {
            let covered = |hit: &Hit| {
                let held = u64::from(rows.rows[hit.row as usize].bytes);
                hit.behind < held && u64::from(bytes) <= held - hit.behind
            };
            if world.notes.is_some() || drains(access.semantics) || !hits.each().iter().all(covered) {
                return None;
            }
            for hit in hits.each() {
                Self::give(rows, hit, access);
            }
        }
        let concerned = self.concerned(at);
        self.count_calls(at, at.lanes);
        self.ctas[at.cta as usize].age(concerned.count_ones());
        Some(NextOperation::split(at.lanes & !hits.lanes, hits.lanes))
    }

    /// Gives lanes what they read of a row's entries.
    fn give(rows: &Rows, hit: &Hit, access: &Accessed<'_>) {
        let row = hit.row as usize;
        for element in 0..access.elements {
            let behind = hit.behind as u32 + element * access.size;
            if behind.is_multiple_of(4)
                && let Some(words) = rows.plane(row, behind / 4)
                && access.supply_plane(hit.lanes, element, words)
            {
                continue;
            }
            for lane in lanes(hit.lanes) {
                let value = rows.entry(row, lane).value() >> (8 * behind);
                access.supply(lane, element, value as u64);
            }
        }
    }

    /// Whether slots of the CTA hold some of the bytes that the lanes access.
    pub(super) fn holds_some(&self, at: &At, space: Space, (targets, bytes): (&Targets, u32)) -> bool {
        let slots = &self.ctas[at.cta as usize];
        space == Space::Global
            && slots.held != 0
            && slots.is_near(targets.hull(at.lanes, bytes))
            && lanes(at.lanes).any(|lane| slots.overlapping(targets.address(lane), bytes) != 0)
    }

    /// A load, lane by lane.
    pub(super) fn load_each(
        &mut self,
        at: &At,
        access: &Accessed<'_>,
        world: &mut World<'_>,
    ) -> NextOperation {
        let concerned = self.concerned(at);
        let (mut stepped, mut taken) = (false, 0);
        self.warp(at).enlist();
        for lane in lanes(concerned) {
            if self.tick(at, lane, world) {
                stepped = true;
                continue;
            }
            let (step, found) = self.before_load(at, lane, access, world);
            stepped |= step;
            taken |= u32::from(found) << lane;
        }
        if stepped {
            return NextOperation::Again;
        }
        for lane in lanes(taken) {
            self.forward(at, lane, access, world);
        }
        self.count_calls(at, at.lanes);
        self.ctas[at.cta as usize].age(concerned.count_ones());
        NextOperation::split(at.lanes & !taken, taken)
    }

    /// One step of what has to be done before a load that a lane cannot take from where it is: entries, its own
    /// or its CTA's, that have only some of an element's bytes. Whether the load has anything to do with entries
    /// comes as a second answer.
    pub(super) fn before_load(
        &mut self,
        at: &At,
        lane: usize,
        access: &Accessed<'_>,
        world: &mut World<'_>,
    ) -> (bool, bool) {
        let first = access.address(lane);
        let Some(space) = space_of(first) else { return (false, false) };
        let forward = !drains(access.semantics);
        let mut concerned = false;
        for element in 0..access.elements {
            let (address, bytes) = (first + u64::from(element * access.size), access.size);
            let warp = &self.warps[at.warp as usize];
            let own = warp.overlapping(self.owner(lane), space, address, bytes);
            let covered = own.map(|entry| entry.part(address, bytes).is_some());
            if let Some(covered) = covered {
                if forward && covered {
                    concerned = true;
                    continue;
                }
                // What the CTA holds of the other bytes is older: it goes first.
                let held = self.held(at, space, address, bytes);
                let stepped = held != 0 && self.leave(at, held, world)
                    || self.drain_overlapping(at, lane, (space, address, bytes), world);
                return (stepped, true);
            }
            let held = self.held(at, space, address, bytes);
            if held != 0 {
                if forward && self.ctas[at.cta as usize].part(address, bytes).is_some() {
                    concerned = true;
                    continue;
                }
                return (self.leave(at, held, world), true);
            }
        }
        (false, concerned)
    }

    /// Gives a lane its load, every element from where it is.
    pub(super) fn forward(&self, at: &At, lane: usize, access: &Accessed<'_>, world: &mut World<'_>) {
        let first = access.address(lane);
        let Some(space) = space_of(first) else { return };
        let warp = &self.warps[at.warp as usize];
        for element in 0..access.elements {
            let (address, bytes) = (first + u64::from(element * access.size), access.size);
            let part = |entry: Entry| entry.part(address, bytes).map(|value| (value, entry.number));
            let own = warp.overlapping(self.owner(lane), space, address, bytes).and_then(part);
            let held = || match space {
                Space::Global => self.ctas[at.cta as usize].holder(address, bytes).copied().and_then(part),
                Space::Shared => None,
            };
            let found = own.or_else(held);
            if let (Some((_, number)), Some(notes)) = (found, &mut world.notes) {
                let thread = at.warp * 32 + lane as u32;
                let elements = 1 << element;
                if notes.owner(number) == Some(thread) {
                    notes.push(Note::Own(elements));
                } else {
                    notes.push(Note::Sourced(elements));
                    let range = range(at.cta, address, bytes.into());
                    notes.push(Note::Read { thread, range, write: number.into(), own: true });
                }
            }
            let value = found.map_or_else(|| access.read(lane, element), |(value, _)| value);
            access.supply(lane, element, value);
        }
        if let Some(notes) = &mut world.notes {
            notes.push(Note::Did(lane as u32));
        }
    }
}
