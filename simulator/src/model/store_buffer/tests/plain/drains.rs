//! What goes out of the buffers, and in which steps.

use super::*;

impl Plain {
    pub(super) fn write(at: &At, entry: &Entry, world: &mut World<'_>) {
        world.write(at.cta, entry.address, entry.bytes.into(), entry.value());
        StoreBuffer::landed(at, (entry.address, entry.bytes), entry.number, true, world);
    }

    pub(super) fn leave(&mut self, at: &At, among: u32, world: &mut World<'_>) -> bool {
        let left = self.ctas[at.cta as usize].leave(among);
        left.iter().for_each(|entry| Self::write(at, entry, world));
        left.is_some()
    }

    pub(super) fn expire(&mut self, at: &At, world: &mut World<'_>) -> bool {
        let expired = self.ctas[at.cta as usize].expired;
        expired != 0 && self.leave(at, expired, world)
    }

    pub(super) fn empty(
        &mut self,
        at: &At,
        lane: usize,
        space: Space,
        to: Towards,
        world: &mut World<'_>,
    ) -> bool {
        let thread = self.thread(at, lane);
        let (length, out) = (thread.entries[space as usize].len(), thread.out);
        if length == 0 {
            return false;
        }
        thread.out = if length == 1 { 0 } else { (out + 1).min(255) };
        let newest = thread.take(space, length - 1);
        if out == 0 {
            let flushes = &mut self.counted.flushes[space as usize];
            flushes.resize(flushes.len().max(length + 1), 0);
            flushes[length] += 1;
        }
        let held = space == Space::Global
            && match to {
                Towards::Device => false,
                Towards::Cta => !newest.strong && out < HOLDS,
                Towards::Fence => !newest.strong || self.draws.next() & 1 != 0,
            };
        if held {
            let older = self.held(at, space, newest.address, newest.bytes.into());
            while older != 0 && self.leave(at, older, world) {}
        }
        let goes =
            if held { self.ctas[at.cta as usize].hold(newest, out, self.draws.next()) } else { Some(newest) };
        goes.iter().for_each(|entry| Self::write(at, entry, world));
        true
    }

    /// Rows from the newest on, as long as no lane has two of them.
    pub(super) fn empty_rows(
        &mut self,
        at: &At,
        among: u32,
        spaces: &[Space],
        world: &mut World<'_>,
    ) -> bool {
        // By lane: the space of what it takes out.
        let mut taken = [None; 32];
        'step: for space in spaces.iter().copied() {
            let mut rows: Vec<u64> =
                lanes(among).flat_map(|lane| self.thread(at, lane).rows[space as usize].clone()).collect();
            rows.sort_unstable();
            rows.dedup();
            for row in rows.into_iter().rev() {
                let has = |thread: &Thread| thread.rows[space as usize].contains(&row);
                let these: Vec<usize> = lanes(among).filter(|lane| has(self.thread(at, *lane))).collect();
                if these.iter().any(|lane| taken[*lane].is_some()) {
                    break 'step;
                }
                for lane in these {
                    assert_eq!(self.thread(at, lane).rows[space as usize].last(), Some(&row));
                    taken[lane] = Some(space);
                }
            }
        }
        for (lane, space) in taken.iter().enumerate() {
            if let Some(space) = space {
                self.empty(at, lane, *space, Towards::Device, world);
            }
        }
        taken.iter().any(Option::is_some)
    }

    pub(super) fn empty_both(&mut self, at: &At, to: Towards, world: &mut World<'_>) -> bool {
        let loaded = self.loaded(at);
        let global = lanes(loaded).any(|lane| !self.thread(at, lane).entries[0].is_empty());
        let by_chance = to == Towards::Fence || to == Towards::Cta && global;
        if !by_chance && !self.lockstep {
            return self.empty_rows(at, loaded, &SPACES, world);
        }
        for lane in lanes(loaded) {
            let _ = SPACES.into_iter().any(|space| self.empty(at, lane, space, to, world));
            while to == Towards::Fence
                && self.ctas[at.cta as usize].held != u32::MAX
                && self.draws.next() & 7 != 0
                && self.empty(at, lane, Space::Global, to, world)
            {}
        }
        loaded != 0
    }

    pub(super) fn drain_for_device(&mut self, at: &At, world: &mut World<'_>) -> bool {
        let held = self.ctas[at.cta as usize].held;
        let begun = lanes(at.lanes).any(|lane| self.progress(at, lane).phase != Phase::Idle);
        if held == 0 && self.loaded(at) == 0 && !begun {
            return false;
        }
        let mut leaving = 0;
        for lane in lanes(at.lanes) {
            let thread = self.progress(at, lane);
            if thread.phase == Phase::Idle {
                (thread.phase, thread.leaving) = (Phase::Leaving, held);
            }
            if thread.phase == Phase::Leaving {
                leaving |= thread.leaving;
            }
        }
        if self.leave(at, leaving, world) {
            return true;
        }
        lanes(at.lanes).for_each(|lane| self.progress(at, lane).phase = Phase::Emptying);
        if self.empty_both(at, Towards::Device, world) {
            return true;
        }
        lanes(at.lanes).for_each(|lane| self.progress(at, lane).phase = Phase::Idle);
        false
    }

    pub(super) fn drain_strong(&mut self, at: &At, lane: usize, world: &mut World<'_>) -> bool {
        let thread = self.thread(at, lane);
        for space in SPACES {
            if let Some(found) = thread.entries[space as usize].iter().position(|entry| entry.strong) {
                let entry = thread.take(space, found);
                Self::write(at, &entry, world);
                return true;
            }
        }
        false
    }

    pub(super) fn tick(&mut self, at: &At, lane: usize, world: &mut World<'_>) -> bool {
        self.thread(at, lane).calls + 1 >= STRONG_CALLS && self.drain_strong(at, lane, world)
    }

    pub(super) fn drain_overlapping(
        &mut self,
        at: &At,
        lane: usize,
        place: (Space, u64, u32),
        world: &mut World<'_>,
    ) -> bool {
        let thread = self.thread(at, lane);
        let Some(found) = thread.find(place.0, place.1, place.2) else { return false };
        let entry = thread.take(place.0, found);
        Self::write(at, &entry, world);
        true
    }

    pub(super) fn count_calls(&mut self, at: &At) {
        let loaded = self.loaded(at);
        for lane in lanes(loaded).take(if self.lockstep { 1 } else { 32 }) {
            let thread = self.thread(at, lane);
            thread.calls += u64::from(thread.strong());
        }
    }
}
