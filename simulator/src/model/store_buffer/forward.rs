//! Loads that find what they read in a buffer: their thread's own, or what their CTA holds back.

use super::drain::range;
use super::*;

impl StoreBuffer {
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
            let thread = &self.threads[self.index(at, lane)];
            let own = self.pool.overlapping(thread, space, address, bytes);
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
        let thread = &self.threads[self.index(at, lane)];
        for element in 0..access.elements {
            let (address, bytes) = (first + u64::from(element * access.size), access.size);
            let part = |entry: &Entry| entry.part(address, bytes).map(|value| (value, entry.number));
            let own = self.pool.overlapping(thread, space, address, bytes).and_then(part);
            let held = || match space {
                Space::Global => self.ctas[at.cta as usize].holder(address, bytes).and_then(part),
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
