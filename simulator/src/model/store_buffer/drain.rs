//! Draining: what leaves a thread's buffers and a CTA's slots, for whom, a step at a time. Each function that answers a
//! `bool` says whether it did a step that others can see; it is then to be called again.

use bugaroo_semantics::event::{Range, WhoseBytes};

use super::*;
use crate::address::SHARED_WINDOW;

/// Hooks after which a thread's strong stores drain before its next one.
pub(super) const WHILE: u8 = STRONG_CALLS as u8 - 1;

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
        Some(Space::Shared) => {
            Range { memory: WhoseBytes::Shared(cta), address: address - SHARED_WINDOW, bytes }
        }
        _ => Range { memory: WhoseBytes::Global, address, bytes },
    }
}

impl StoreBuffer {
    /// Whether strong stores wait for their while to be over, or something held does.
    pub(super) fn ages(&self) -> bool {
        self.warps.iter().any(|warp| warp.has_strong != 0) || self.ctas.iter().any(|slots| slots.held != 0)
    }

    /// Whether some thread, or the CTA in this slot, has an entry of these bytes.
    pub(super) fn has(&self, cta: u32, address: u64, bytes: u32) -> bool {
        let Some(space) = space_of(address) else { return false };
        let per_cta = self.shape.warps_per_cta as usize;
        let own = cta as usize * per_cta..(cta as usize + 1) * per_cta;
        let warps = if space == Space::Shared { &self.warps[own] } else { &self.warps[..] };
        warps.iter().any(|warp| warp.has(space, address, bytes))
            || self.ctas.iter().any(|slots| slots.held != 0 && slots.overlapping(address, bytes) != 0)
    }

    /// After entries of a lane went.
    pub(super) fn went(&mut self, at: &At, lane: usize) {
        if self.warps[at.warp as usize].is_empty(self.owner(lane)) {
            let sharing = self.sharing(lane);
            self.warp(at).loaded &= !sharing;
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
        let own = self.owner(lane);
        let warp = &mut self.warps[at.warp as usize];
        let entries = warp.entries[space as usize][own];
        if entries == 0 {
            return false;
        }
        let out = u32::from(warp.drains.out[own]);
        if out == 0 {
            let flushes = &mut self.counts.flushes[space as usize];
            let length = entries as usize;
            if flushes.len() <= length {
                flushes.resize(length + 1, 0);
            }
            flushes[length] += 1;
        }
        let Some(newest) = warp.take_newest(own, space) else { return false };
        if entries == 1 {
            warp.drains.out[own] = 0;
            warp.drains.emptying &= !(1 << own);
        } else {
            warp.drains.out[own] = warp.drains.out[own].saturating_add(1);
            warp.drains.emptying |= 1 << own;
        }
        let held = space == Space::Global
            && match towards {
                Towards::Device => false,
                Towards::Cta => !newest.strong && out < HOLDS,
                Towards::Fence => !newest.strong || self.draws.next() & 1 != 0,
            };
        if held {
            // What the CTA holds of these bytes has been read by others of it, and comes before this one for all.
            let bytes = newest.bytes.into();
            let older = self.ctas[at.cta as usize].overlapping(newest.address, bytes);
            while older != 0 && self.leave(at, older, world) {}
        }
        if !held {
            Self::write(at, &newest, world);
        } else if let Some(other) = self.ctas[at.cta as usize].hold(newest, out, self.draws.next()) {
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
        let warp = &self.warps[at.warp as usize];
        let loaded = warp.loaded & among;
        if loaded == 0 {
            return false;
        }
        // What may go to a slot of the CTA goes there by chance, lane by lane.
        let by_chance = match towards {
            Towards::Device => false,
            Towards::Cta => warp.full(loaded, Space::Global, 1) != 0,
            Towards::Fence => true,
        };
        // In lockstep, a step takes as many entries of the warp's one buffer as it has lanes.
        if !by_chance && !self.given.lockstep {
            return self.empty_rows(at, loaded, &SPACES, world);
        }
        for lane in lanes(loaded) {
            let _ = SPACES.into_iter().any(|space| self.empty(at, lane, space, towards, world));
            // What moves to a slot is no step to anybody outside the CTA; mostly several go at once.
            while towards == Towards::Fence
                && self.ctas[at.cta as usize].held != u32::MAX
                && self.draws.next() & 7 != 0
                && self.empty(at, lane, Space::Global, towards, world)
            {}
        }
        true
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
        let warp = self.warp(at);
        if held == 0 && (warp.loaded | warp.drains.draining) & among == 0 {
            return false;
        }
        warp.drains.draining |= among;
        // How far it is in draining, a lane has of its own even in lockstep.
        let mut leaving = 0;
        for lane in lanes(among) {
            if warp.drains.phase[lane] == Phase::Idle {
                (warp.drains.phase[lane], warp.drains.leaving[lane]) = (Phase::Leaving, held);
            }
            if warp.drains.phase[lane] == Phase::Leaving {
                leaving |= warp.drains.leaving[lane];
            }
        }
        if self.leave(at, leaving, world) {
            return true;
        }
        for lane in lanes(among) {
            self.warp(at).drains.phase[lane] = Phase::Emptying;
        }
        if self.empty_both(at, among, Towards::Device, world) {
            return true;
        }
        for lane in lanes(among) {
            self.warp(at).drains.phase[lane] = Phase::Idle;
        }
        self.warp(at).drains.draining &= !among;
        false
    }

    /// One step of letting out strong entries, of both spaces, oldest first.
    pub(super) fn drain_strong(&mut self, at: &At, lane: usize, world: &mut World<'_>) -> bool {
        let own = self.owner(lane);
        let Some(entry) = self.warp(at).take_strong(own) else { return false };
        Self::write(at, &entry, world);
        self.went(at, lane);
        true
    }

    /// The bounded while of strong stores: one step of letting them out, if it is over.
    pub(super) fn tick(&mut self, at: &At, lane: usize, world: &mut World<'_>) -> bool {
        let own = self.owner(lane);
        let over = self.warp(at).calls[own] >= WHILE;
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
        let own = self.owner(lane);
        let Some(entry) = self.warp(at).take_overlapping(own, space, address, bytes) else { return false };
        Self::write(at, &entry, world);
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
    #[inline(always)]
    pub(super) fn count_calls(&mut self, at: &At, among: u32) {
        // In lockstep, a hook of the warp.
        let loaded = self.warps[at.warp as usize].loaded & among;
        let among = if self.given.lockstep { u32::from(loaded != 0) } else { loaded };
        self.warp(at).count_calls(among);
    }
}
