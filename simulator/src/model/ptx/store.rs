//! Stores and atomics: when they become messages, and where in coherence order.

use super::chains::{Message, NONE, Store};
use super::kept::{Kept, Several};
use super::waiting::Waiting;
use super::warp::warp_and_lane;
use super::{PlainMemory, PtxMachine};
use crate::model::notes::Note;
use bugaroo_semantics::clocks::release::{self as entry, Entries};
use bugaroo_semantics::location::{GranuleSpan, Location, Value};
use bugaroo_semantics::scope::{Scope, Strength, morally_strong};

/// The order that an atomic gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AtomicOrder {
    /// Among whom.
    pub scope: Scope,
    /// `.acquire` or `.acq_rel`.
    pub acquire: bool,
    /// `.release` or `.acq_rel`.
    pub release: bool,
}

/// One store on its way to memory.
#[derive(Clone, Copy)]
pub(super) struct Write {
    pub span: GranuleSpan,
    pub value: Value,
    pub strength: Strength,
    pub origin: u32,
    /// What it is called by whoever looks on; 0: by its time.
    pub name: u64,
    /// It is done with its instruction: it has not waited.
    pub own: bool,
}

impl Write {
    /// A store that has waited.
    pub fn waited(store: &Waiting) -> Write {
        let Waiting { span, value, strength, origin, name, .. } = *store;
        Write { span, value, strength, origin, name, own: false }
    }
}

impl PtxMachine {
    /// A store of a thread, a release or not.
    pub fn store(
        &mut self,
        memory: &mut impl PlainMemory,
        slot: usize,
        span: GranuleSpan,
        value: Value,
        (strength, release): (Strength, bool),
        origin: u32,
    ) {
        self.step(memory, slot, Some(span));
        let write = Write { span, value, strength, origin, name: self.told.names.current, own: true };
        if release {
            self.order_for_release(memory, slot);
            let Strength::Strong(scope) = strength else { unreachable!("a release is strong") };
            let release = self.release(slot, scope);
            self.commit(memory, slot, write, &release);
            return;
        }
        if self.threads[slot].store_waits(&self.chances) {
            let together = self.held.together.of(warp_and_lane(slot).1);
            let wait = together.unwrap_or_else(|| self.threads[slot].patience());
            self.told.waited += 1;
            let name = match memory.notes() {
                Some(notes) => {
                    let name = self.told.names.of_waiting();
                    notes.push(Note::Held(name));
                    name
                }
                None => 0,
            };
            self.make_room(memory, slot);
            let (warp, lane) = warp_and_lane(slot);
            let warp = &mut self.held.warps[warp];
            let due = warp.add_due(lane, wait);
            let store = Waiting { span, value, strength, origin, name };
            warp.waiting.push_lane(lane, &store, due, &mut self.held.spare);
            return;
        }
        self.drain_meeting(memory, slot, span);
        self.commit(memory, slot, write, &None);
    }

    /// One more row of stores is about to wait. Where no more can, the first one is written: it is due soon.
    pub(super) fn make_room(&mut self, memory: &mut impl PlainMemory, slot: usize) {
        let (warp, _) = warp_and_lane(slot);
        if self.held.warps[warp].waiting.is_full() {
            self.held.warps[warp].waiting.mark_first();
            self.drain(memory, warp);
        }
    }

    /// Writes the stores of a thread that wait and have a granule of these.
    fn drain_meeting(&mut self, memory: &mut impl PlainMemory, slot: usize, span: GranuleSpan) {
        let (warp, lane) = self.warp(slot);
        if warp.waiting.mark_meeting(lane, span) {
            self.drain(memory, warp_and_lane(slot).0);
        }
    }

    /// What a strong store of a thread to a location carries.
    fn carried(&mut self, slot: usize, location: Location, strength: Strength, release: &Entries) -> Entries {
        if strength == Strength::Weak {
            return None;
        }
        let thread = &mut self.threads[slot];
        // A release operation on a location also heads the pattern of its thread's later stores there.
        if release.is_some() {
            let earlier = thread.hands.released_at.entry(location).or_default();
            *earlier = entry::both(release, earlier);
        }
        match thread.hands.released_at.get(&location) {
            Some(own) => entry::both(own, &thread.hands.fences),
            None => thread.hands.fences.clone(),
        }
    }

    /// Whether a store of a thread to a location hands nothing over.
    #[inline]
    pub(super) fn carries_nothing(
        &self,
        slot: usize,
        location: Location,
        strength: Strength,
        release: &Entries,
    ) -> bool {
        let thread = &self.threads[slot];
        strength == Strength::Weak
            || release.is_none()
                && thread.hands.fences.is_none()
                && (thread.hands.released_at.is_empty() || !thread.hands.released_at.contains_key(&location))
    }

    /// A store becomes a message.
    pub(super) fn commit(
        &mut self,
        memory: &mut impl PlainMemory,
        slot: usize,
        write: Write,
        release: &Entries,
    ) {
        self.before_write(memory, slot, write.span);
        self.become_message(memory, slot, write, release);
        self.bound(memory);
    }

    /// The same, where no late load has to be resolved first, and the message has been counted.
    pub(super) fn become_message(
        &mut self,
        memory: &mut impl PlainMemory,
        slot: usize,
        write: Write,
        release: &Entries,
    ) {
        self.clock.now += 1;
        let Write { span, value, strength, origin, own, .. } = write;
        let thread = self.threads[slot].key;
        let noted = memory.notes().is_some();
        let name = if write.name == 0 { self.clock.now } else { write.name };
        let mut visible = span.mask;
        for (location, value) in span.granules().zip(value) {
            // Whoever looks on wants the names of a chain's messages.
            if !noted && span.mask == u32::MAX && self.carries_nothing(slot, location, strength, release) {
                let store = Store { time: self.clock.now, value, origin };
                let place = (self.histories.row_for(location.row(), 1), location.place_in_row());
                if self.histories.add_store(place, || memory.read(location), (thread, strength), store) {
                    memory.write(location, value, u32::MAX);
                    continue;
                }
            }
            let entries = self.carried(slot, location, strength, release);
            let before = if span.count == 1 { self.place(slot, location) } else { NONE };
            let message =
                Message::new(thread, strength, (self.clock.now, origin), (value, span.mask), entries);
            visible = self.append(memory, location, message, before, name);
        }
        if noted {
            if own {
                self.told.names.current = name;
            }
            Self::note_landed(memory, slot, span, name, visible, own);
        }
    }

    /// Adds a message before another (or last, with `NONE`), and keeps memory at the last value. Answers the bits of it that
    /// memory holds then, where somebody wants to know.
    fn append(
        &mut self,
        memory: &mut impl PlainMemory,
        location: Location,
        message: Message,
        before: u32,
        name: u64,
    ) -> u32 {
        let (value, mask, time) = (message.bits.value, message.bits.mask, message.time);
        let fresh = self.histories.kept(location).is_none();
        let absorbed = self.histories.insert(location, || memory.read(location), message, before);
        let mut visible = mask;
        if memory.notes().is_some() {
            if before != NONE {
                visible = self.visible(location, time, mask);
            }
            self.name_message(location, (time, name), (mask, visible), fresh, absorbed);
        }
        if before == NONE {
            memory.write(location, value, mask);
        } else if self.histories.chains.message(before).bits.mask != u32::MAX
            && let Some(chain) = self.histories.chain(location)
        {
            // Its own bytes only: beside them there may be another allocation, or none.
            memory.write(location, self.histories.chains.value(chain.last, mask), mask);
        }
        visible
    }

    /// Where in coherence order a store comes: before any message that its thread doesn't know, but not
    /// between an atomic and what that has read.
    fn place(&mut self, slot: usize, location: Location) -> u32 {
        let known = match self.histories.kept(location) {
            None => true,
            Some(Kept::Several(Several::Chain(chain))) => self.knows(slot, chain.last),
            Some(kept) => self.known_value(slot, &kept).is_some(),
        };
        if known || !self.threads[slot].stores_early(&self.chances) {
            return NONE;
        }
        let Some(chain) = self.histories.chain(location) else { return NONE };
        let mut places = Vec::new();
        let mut index = chain.last;
        while !self.knows(slot, index) {
            let message = self.histories.chains.message(index);
            // Before the first that is kept there would be nothing left to be read.
            if self.histories.chains.message(message.links.older).state.forgotten {
                break;
            }
            if !message.state.attached {
                places.push(index);
            }
            index = message.links.older;
        }
        match places.len() {
            0 => NONE,
            count => places[self.threads[slot].one_of(count)],
        }
    }

    /// An atomic read-modify-write of a thread. `change` makes the new value from the old one; `None` if it
    /// writes nothing (a compare that failed). Gives the old value.
    pub fn atomic(
        &mut self,
        memory: &mut impl PlainMemory,
        slot: usize,
        span: GranuleSpan,
        order: AtomicOrder,
        origin: u32,
        change: impl FnOnce(Value) -> Option<Value>,
    ) -> Value {
        self.step(memory, slot, Some(span));
        let AtomicOrder { scope, acquire, release } = order;
        let strength = Strength::Strong(scope);
        if release {
            self.order_for_release(memory, slot);
        } else {
            self.drain_meeting(memory, slot, span);
        }
        self.before_write(memory, slot, span);
        let read = self.atomic_read(slot, span, strength);
        let mut old = [0; 4];
        for ((location, at), old) in span.granules().zip(read).zip(&mut old) {
            let whole = match at {
                NONE => memory.read(location),
                at => self.histories.chains.value(at, u32::MAX),
            };
            *old = whole & span.mask;
        }
        let new = change(old);
        if let Some(notes) = memory.notes() {
            notes.push(Note::Sourced(1));
        }
        for (location, at) in span.granules().zip(read) {
            self.note_read(memory, slot, (location, span.mask), at, true);
            if at != NONE {
                self.note_stale(slot, location, at, strength, origin);
                self.observe(slot, location, span.mask, at, strength);
            }
            if acquire {
                self.acquire(slot, scope, location);
            }
        }
        // What the atomic acquires, it releases as well.
        let released = if release { self.release(slot, scope) } else { None };
        self.clock.now += 1;
        if new.is_some() {
            Self::note_landed(memory, slot, span, self.clock.now, span.mask, true);
        }
        for (index, (location, at)) in span.granules().zip(read).enumerate() {
            let carried = self.carried(slot, location, strength, &released);
            match new {
                Some(new) => {
                    let entries = entry::both(&carried, &self.inherited(slot, at, strength));
                    let (key, value) = (self.threads[slot].key, (new[index], span.mask));
                    let mut message = Message::new(key, strength, (self.clock.now, origin), value, entries);
                    message.state.attached = true;
                    self.write_after_read(memory, location, at, message);
                }
                None if at != NONE && carried.is_some() => {
                    self.resolve_all_passed(memory, Some(location));
                    self.hand_over(slot, at, &carried);
                }
                None => {}
            }
        }
        self.bound(memory);
        old
    }

    /// The messages that an atomic reads: none that a later, morally strong message has replaced.
    fn atomic_read(&mut self, slot: usize, span: GranuleSpan, strength: Strength) -> [u32; 4] {
        let key = self.threads[slot].key;
        if span.count > 1 {
            let lasts: Vec<u32> = span
                .granules()
                .map(|location| self.histories.chain(location).map_or(NONE, |chain| chain.last))
                .collect();
            let mut replaced = Vec::new();
            for last in lasts {
                let mut index = last;
                while index != NONE {
                    let message = self.histories.chains.message(index);
                    if morally_strong((message.by.thread, message.strength), (key, strength)) {
                        // Everything before this has been replaced.
                        let mut older = message.links.older;
                        while older != NONE {
                            replaced.push(older);
                            older = self.histories.chains.message(older).links.older;
                        }
                        break;
                    }
                    index = message.links.older;
                }
            }
            return self.snapshot(slot, span, |choice| choice.iter().all(|at| !replaced.contains(at)));
        }
        let Some(chain) = self.histories.chain(span.first) else { return [NONE; 4] };
        let last = self.histories.chains.message(chain.last);
        if last.bits.mask & span.mask != 0 && morally_strong((last.by.thread, last.strength), (key, strength))
        {
            return [chain.last, NONE, NONE, NONE];
        }
        let readable = self.readable(slot, span.mask, chain);
        let mut count = 1;
        let mut index = chain.last;
        while count < readable.count && index != readable.at[count] {
            let message = self.histories.chains.message(index);
            if message.bits.mask & span.mask != 0
                && morally_strong((message.by.thread, message.strength), (key, strength))
            {
                break;
            }
            index = message.links.older;
            if index == readable.at[count] {
                count += 1;
            }
        }
        let choice = if count > 1 { self.choose(slot, count) } else { 0 };
        [readable.at[choice], NONE, NONE, NONE]
    }

    /// The entries that an atomic hands on from the message that it read.
    fn inherited(&self, slot: usize, at: u32, strength: Strength) -> Entries {
        if at == NONE {
            return None;
        }
        let message = self.histories.chains.message(at);
        let strong = message.state.base
            || morally_strong((message.by.thread, message.strength), (self.threads[slot].key, strength));
        if strong { message.entries.clone() } else { None }
    }

    /// An atomic that wrote nothing hands over what its write would have carried: the next who reads the message may
    /// count on it.
    fn hand_over(&mut self, slot: usize, at: u32, carried: &Entries) {
        let message = self.histories.chains.message_mut(at);
        let last = &mut self.threads[slot].hands.handed;
        // Whoever spins does so again and again.
        let again = |(given, got): &(Entries, Entries)| {
            entry::is_same(given, carried) && entry::is_same(got, &message.entries)
        };
        if !last.as_deref().is_some_and(again) {
            message.entries = entry::both(&message.entries, carried);
            *last = Some(Box::new((carried.clone(), message.entries.clone())));
        }
    }

    fn write_after_read(
        &mut self,
        memory: &mut impl PlainMemory,
        location: Location,
        at: u32,
        message: Message,
    ) {
        // What came between the message that was read and this one must stay the only things there.
        let mut index = self.histories.chain(location).map_or(NONE, |chain| chain.last);
        while index != NONE && index != at {
            let between = self.histories.chains.message_mut(index);
            between.state.attached = true;
            index = between.links.older;
        }
        let name = message.time;
        self.append(memory, location, message, NONE, name);
    }
}
