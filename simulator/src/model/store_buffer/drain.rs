//! Draining: what leaves a thread's buffers and a CTA's slots, for whom, a step at a time. Each function that answers a
//! `bool` says whether it did a step that others can see; it is then to be called again.

use bugaroo_semantics::event::{Memory, Range};

use super::*;
use crate::address::SHARED_WINDOW;

/// For whom entries drain, and so what a CTA may hold back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Towards {
    /// Everybody: nothing.
    Device,
    /// The CTA: weak entries. Strong ones are often flags, which other CTAs wait for.
    Cta,
    /// The CTA, at a fence: what the slots can hold of weak entries, whatever their age, or it would hardly show where many
    /// stores stand before it that its scope is too narrow. Of strong ones half, by coin: all of them, and flags
    /// would be held beside what they announce, so that a missing fence between the two would show less; none, and the
    /// scope would not show behind volatile stores.
    Fence,
}

/// Which buffer an address belongs to, if to one.
pub(super) fn space_of(address: u64) -> Option<Space> {
    match window(address) {
        Window::Global => Some(Space::Global),
        Window::Shared if !is_elsewhere(address) => Some(Space::Shared),
        Window::Shared | Window::Local | Window::Param => None,
    }
}

/// Bytes at a generic address, as whoever looks on knows them.
pub(super) fn range(cta: u32, address: u64, bytes: u64) -> Range {
    match space_of(address) {
        Some(Space::Shared) => Range { memory: Memory::Shared(cta), address: address - SHARED_WINDOW, bytes },
        _ => Range { memory: Memory::Global, address, bytes },
    }
}

impl StoreBuffer {
    /// Whether strong stores wait for their while to be over, or something held does.
    pub(super) fn ages(&self) -> bool {
        self.threads.iter().any(|thread| thread.strong != 0) || self.ctas.iter().any(|slots| slots.held != 0)
    }

    /// Whether some thread, or the CTA in this slot, has an entry of these bytes.
    pub(super) fn has(&self, cta: u32, address: u64, bytes: u32) -> bool {
        let Some(space) = space_of(address) else { return false };
        let per_cta = self.shape.warps_per_cta as usize * 32;
        let own = cta as usize * per_cta..(cta as usize + 1) * per_cta;
        let threads = if space == Space::Shared { &self.threads[own] } else { &self.threads[..] };
        threads.iter().any(|thread| self.pool.overlapping(thread, space, address, bytes).is_some())
            || self.ctas.iter().any(|slots| slots.held != 0 && slots.overlapping(address, bytes) != 0)
    }

    /// After entries of a lane went.
    pub(super) fn went(&mut self, at: &At, lane: usize) {
        if self.thread(at, lane).entries == [0; 2] {
            let sharing = self.sharing(lane);
            self.busy(at).loaded &= !sharing;
        }
    }

    /// Notes that a delayed store has become visible.
    pub(super) fn landed(
        at: &At,
        (address, bytes): (u64, u8),
        number: u32,
        last: bool,
        world: &mut World<'_>,
    ) {
        if let Some(notes) = &mut world.notes {
            notes.land(number, range(at.cta, address, bytes.into()), last);
        }
    }

    /// Writes an entry to memory.
    pub(super) fn write(at: &At, entry: &Entry, world: &mut World<'_>) {
        world.write(at.cta, entry.address, entry.bytes.into(), entry.value());
        Self::landed(at, (entry.address, entry.bytes), entry.number, true, world);
    }

    /// One step of taking all of a lane's entries out, newest first: they are to different bytes and nothing
    /// orders them yet, so any order is allowed, and the newest is the likeliest to be a flag for the others. For
    /// the CTA, some of the global ones go into its slots. Answers false when there was none.
    pub(super) fn empty(
        &mut self,
        at: &At,
        lane: usize,
        space: Space,
        towards: Towards,
        world: &mut World<'_>,
    ) -> bool {
        let index = self.index(at, lane);
        let thread = &mut self.threads[index];
        let entries = thread.entries[space as usize];
        if entries == 0 {
            return false;
        }
        if thread.out == 0 {
            let flushes = &mut self.flushes[space as usize];
            let length = usize::from(entries);
            if flushes.len() <= length {
                flushes.resize(length + 1, 0);
            }
            flushes[length] += 1;
        }
        let Some(newest) = self.pool.take_newest(thread, space) else { return false };
        let out = u32::from(thread.out);
        thread.out = if entries == 1 { 0 } else { thread.out.saturating_add(1) };
        let held = space == Space::Global
            && match towards {
                Towards::Device => false,
                Towards::Cta => !newest.strong && out < HOLDS,
                Towards::Fence => !newest.strong || self.draws.next() & 1 != 0,
            };
        if !held {
            Self::write(at, newest, world);
        } else if let Some(other) = self.ctas[at.cta as usize].hold(*newest, out, self.draws.next()) {
            Self::write(at, &other, world);
        }
        self.went(at, lane);
        true
    }

    /// One step of [`Self::empty`] of both buffers, for each of the lanes.
    pub(super) fn empty_both(
        &mut self,
        at: &At,
        among: u32,
        towards: Towards,
        world: &mut World<'_>,
    ) -> bool {
        let loaded = self.busy(at).loaded & among;
        for lane in lanes(loaded) {
            let _ = SPACES.into_iter().any(|space| self.empty(at, lane, space, towards, world));
            // What moves to a slot is no step to anybody outside the CTA; mostly several go at once.
            while towards == Towards::Fence
                && self.ctas[at.cta as usize].held != u32::MAX
                && self.draws.next() & 7 != 0
                && self.empty(at, lane, Space::Global, towards, world)
            {}
        }
        loaded != 0
    }

    /// Takes the first of these slots of the CTA to memory; answers false when none is held.
    pub(super) fn leave(&mut self, at: &At, among: u32, world: &mut World<'_>) -> bool {
        let left = self.ctas[at.cta as usize].leave(among);
        if let Some(entry) = left {
            Self::write(at, &entry, world);
        }
        left.is_some()
    }

    /// One step of draining for everybody: what the CTA holds, then the lanes' own entries. Answers false when all
    /// is done.
    pub(super) fn drain_for_device(&mut self, at: &At, among: u32, world: &mut World<'_>) -> bool {
        let held = self.ctas[at.cta as usize].held;
        let busy = *self.busy(at);
        if held == 0 && (busy.loaded | busy.draining) & among == 0 {
            return false;
        }
        self.busy(at).draining |= among;
        let mut leaving = 0;
        for lane in lanes(among) {
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
        for lane in lanes(among) {
            self.progress(at, lane).phase = Phase::Emptying;
        }
        if self.empty_both(at, among, Towards::Device, world) {
            return true;
        }
        for lane in lanes(among) {
            self.progress(at, lane).phase = Phase::Idle;
        }
        self.busy(at).draining &= !among;
        false
    }

    /// One step of letting out strong entries, of both spaces, oldest first.
    pub(super) fn drain_strong(&mut self, at: &At, lane: usize, world: &mut World<'_>) -> bool {
        let index = self.index(at, lane);
        let thread = &mut self.threads[index];
        if thread.strong == 0 {
            return false;
        }
        for space in SPACES {
            if let Some(entry) = self.pool.take_strong(thread, space) {
                Self::write(at, entry, world);
                self.went(at, lane);
                return true;
            }
        }
        false
    }

    /// The bounded while of strong stores: one step of letting them out, if it is over.
    pub(super) fn tick(&mut self, at: &At, lane: usize, world: &mut World<'_>) -> bool {
        let over = u64::from(self.thread(at, lane).calls) + 1 >= STRONG_CALLS;
        over && self.drain_strong(at, lane, world)
    }

    /// One step of draining the lane's entries that have some of these bytes.
    pub(super) fn drain_overlapping(
        &mut self,
        at: &At,
        lane: usize,
        (space, address, bytes): (Space, u64, u32),
        world: &mut World<'_>,
    ) -> bool {
        let index = self.index(at, lane);
        let thread = &mut self.threads[index];
        let Some(entry) = self.pool.take_overlapping(thread, space, address, bytes) else { return false };
        Self::write(at, entry, world);
        self.went(at, lane);
        true
    }

    /// One step before the lanes end. Slots are not worth it any more; the last threads of the CTA leave nothing behind
    /// in them.
    pub(super) fn exit(&mut self, at: &At, world: &mut World<'_>) -> bool {
        if self.empty_both(at, at.lanes, Towards::Device, world) {
            return true;
        }
        let slots = &self.ctas[at.cta as usize];
        let last = slots.exited + at.lanes.count_ones() == self.shape.threads_per_cta;
        if last && self.leave(at, u32::MAX, world) {
            return true;
        }
        self.ctas[at.cta as usize].exited += at.lanes.count_ones();
        false
    }

    /// A hook has been called for these lanes and is done: strong stores have grown older.
    pub(super) fn count_calls(&mut self, at: &At, among: u32) {
        // In lockstep, a hook of the warp.
        let one = if self.lockstep { 1 } else { 32 };
        for lane in lanes(self.busy(at).loaded & among).take(one) {
            let thread = self.thread(at, lane);
            if thread.strong != 0 {
                thread.calls = thread.calls.saturating_add(1);
            }
        }
    }
}
