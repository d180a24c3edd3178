//! Loads: what may be read, which of it is, and what that makes known.

use std::rc::Rc;

use super::chains::{Chain, MOST, Message, NONE};
use super::stale::Edge;
use super::thread::{Banked, Late};
use super::warp::warp_and_lane;
use super::{PlainMemory, PtxMachine};
use crate::model::notes::Note;
use bugaroo_semantics::clocks::release::{self as entry, Entries};
use bugaroo_semantics::clocks::{View, joined};
use bugaroo_semantics::location::{GranuleSpan, Location, Value};
use bugaroo_semantics::scope::{Scope, Strength, ThreadKey, morally_strong};

/// Stale reads in a row after which a thread reads the last value: whoever spins gets on.
const LONGEST_STALE_RUN: u32 = 32;

/// What a load gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Loaded {
    /// Its value.
    Now(Value),
    /// It is pending under its token: [`PtxMachine::settle`] gives the value, [`PtxMachine::take_settled`] tells of
    /// those that had to be resolved meanwhile.
    Late,
}

/// What of a granule a load can read: from the last message to the first that it may.
pub(super) struct Readable {
    pub(super) at: [u32; MOST as usize + 2],
    pub(super) count: usize,
}

impl PtxMachine {
    /// A load of a thread, an acquire or not. With a token it may be resolved late.
    pub fn load(
        &mut self,
        memory: &mut impl PlainMemory,
        slot: usize,
        span: GranuleSpan,
        (strength, acquire): (Strength, bool),
        origin: u32,
        token: Option<u64>,
    ) -> Loaded {
        self.step(memory, slot, Some(span));
        self.write_partly_own(memory, slot, span);
        self.load_now(memory, slot, span, (strength, acquire), origin, token)
    }

    /// The same, behind its [`Self::step`] and [`Self::write_partly_own`].
    pub(super) fn load_now(
        &mut self,
        memory: &mut impl PlainMemory,
        slot: usize,
        span: GranuleSpan,
        (strength, acquire): (Strength, bool),
        origin: u32,
        token: Option<u64>,
    ) -> Loaded {
        if let Some(value) = self.forwarded(slot, span) {
            if let Some(notes) = memory.notes() {
                notes.push(Note::Own(notes.elements));
            }
            return Loaded::Now(value);
        }
        if let Some(token) = token
            && self.threads[slot].loads_late(&self.chances)
            && let passed = acquire.then(|| self.late_acquire(slot, span, strength))
            && !matches!(passed, Some(None))
        {
            let patience = self.threads[slot].patience();
            let (warp, lane) = self.warp(slot);
            let due = warp.add_due(lane, patience);
            warp.late |= 1 << lane;
            self.threads[slot].loads.late.push(Late {
                token,
                span,
                strength,
                due,
                origin,
                passed: passed.flatten(),
            });
            return Loaded::Late;
        }
        if let Some(notes) = memory.notes() {
            notes.push(Note::Sourced(notes.elements));
        }
        Loaded::Now(self.resolve(memory, slot, span, (strength, acquire), origin, true))
    }

    /// The value of the thread's own waiting store, if there is one that holds all that is asked for.
    fn forwarded(&self, slot: usize, span: GranuleSpan) -> Option<Value> {
        let (warp, lane) = warp_and_lane(slot);
        let store = self.held.warps[warp].waiting.newest(lane, span)?;
        if !store.span.covers(span) {
            return None;
        }
        let first = ((span.first.offset - store.span.first.offset) / 4) as usize;
        let mut value = [0; 4];
        let count = usize::from(span.count);
        value[..count].copy_from_slice(&store.value[first..first + count]);
        Some(value.map(|word| word & span.mask))
    }

    /// If a thread's newest waiting store of these bytes holds a part of them, all that has some is written.
    pub(super) fn write_partly_own(&mut self, memory: &mut impl PlainMemory, slot: usize, span: GranuleSpan) {
        let (warp, lane) = self.warp(slot);
        if warp.waiting.newest(lane, span).is_some_and(|store| !store.span.covers(span)) {
            warp.waiting.mark_overlapping(lane, span);
            self.drain(memory, warp_and_lane(slot).0);
        }
    }

    /// Draws what a load reads. Late loads come here, too, when they are resolved; others are `own`.
    pub(super) fn resolve(
        &mut self,
        memory: &mut impl PlainMemory,
        slot: usize,
        span: GranuleSpan,
        order: (Strength, bool),
        origin: u32,
        own: bool,
    ) -> Value {
        let mut value = [0; 4];
        if span.count > 1 {
            self.resolve_wide(memory, slot, span, order, (origin, own), &mut value);
            return value;
        }
        let location = span.first;
        let kept = self.histories.kept(location);
        let known = kept.and_then(|kept| self.known_value(slot, &kept));
        match (kept, known) {
            (None, _) => {
                self.note_read(memory, slot, (location, span.mask), NONE, own);
                value[0] = memory.read(location) & span.mask;
            }
            (_, Some(known)) => {
                self.note_read(memory, slot, (location, span.mask), NONE, own);
                value[0] = known & span.mask;
            }
            (Some(_), None) => {
                let Some(chain) = self.histories.chain(location) else { unreachable!("it is kept") };
                let what = (location, span.mask);
                value[0] = self.resolve_among(memory, slot, what, chain, order, (origin, own));
            }
        }
        if let (Strength::Strong(scope), true) = order {
            self.acquire(slot, scope, location);
        }
        value
    }

    /// Draws what a load of the bits of a mask reads, of a chain.
    fn resolve_among(
        &mut self,
        memory: &mut impl PlainMemory,
        slot: usize,
        (location, mask): (Location, u32),
        chain: Chain,
        order: (Strength, bool),
        (origin, own): (u32, bool),
    ) -> u32 {
        let readable = self.readable(slot, mask, chain);
        let choice = if readable.count > 1 { self.choose(slot, readable.count) } else { 0 };
        let index = readable.at[choice];
        self.note_read(memory, slot, (location, mask), index, own);
        if choice > 0 {
            self.note_stale(slot, location, index, order.0, origin);
        }
        self.observe(slot, location, mask, index, order.0);
        self.histories.chains.value(index, mask)
    }

    /// Which of `count` readable messages is read: mostly the last, or any.
    pub(super) fn choose(&mut self, slot: usize, count: usize) -> usize {
        let thread = &mut self.threads[slot];
        if thread.stale_run < LONGEST_STALE_RUN && thread.reads_stale(&self.chances) {
            thread.stale_run += 1;
            return 1 + thread.one_of(count - 1);
        }
        thread.stale_run = 0;
        0
    }

    /// Whether a thread knows a message.
    #[inline]
    pub(super) fn knows(&self, slot: usize, index: u32) -> bool {
        let (message, thread) = (self.histories.chains.message(index), &self.threads[slot]);
        message.by.thread == thread.key
            || message.time <= self.clock.floor
            || knows(&thread.view, thread.key, message)
    }

    /// The messages of a granule that a thread may read for the bits of `mask`.
    pub(super) fn readable(&self, slot: usize, mask: u32, chain: Chain) -> Readable {
        self.readable_by(mask, chain, |index| self.knows(slot, index))
    }

    /// As [`Self::readable`], `knows` telling what is known.
    pub(super) fn readable_by(&self, mask: u32, chain: Chain, knows: impl Fn(u32) -> bool) -> Readable {
        let mut readable = Readable { at: [0; MOST as usize + 2], count: 0 };
        let mut index = chain.last;
        while index != NONE {
            let message = self.histories.chains.message(index);
            if message.bits.mask & mask != 0 {
                if message.state.base && message.state.forgotten && readable.count > 0 {
                    break;
                }
                readable.at[readable.count] = index;
                readable.count += 1;
            }
            if knows(index) {
                if readable.count == 0 {
                    // A known message beside the bytes asked for: what stands under it is all there is.
                    readable.at[0] = index;
                    readable.count = 1;
                }
                // Bytes that it does not write are at least as new as it.
                break;
            }
            index = message.links.older;
        }
        readable
    }

    /// A load of several granules reads one moment: in each the last message up to then, or what the thread
    /// knows if that is later.
    fn resolve_wide(
        &mut self,
        memory: &mut impl PlainMemory,
        slot: usize,
        span: GranuleSpan,
        order: (Strength, bool),
        (origin, own): (u32, bool),
        value: &mut Value,
    ) {
        let chosen = self.snapshot(slot, span, |_| true);
        for ((location, chosen), value) in span.granules().zip(chosen).zip(value.iter_mut()) {
            self.note_read(memory, slot, (location, span.mask), chosen, own);
            *value = match chosen {
                NONE => memory.read(location),
                index => {
                    self.note_stale(slot, location, index, order.0, origin);
                    self.observe(slot, location, span.mask, index, order.0);
                    self.histories.chains.value(index, span.mask)
                }
            };
            if let (Strength::Strong(scope), true) = order {
                self.acquire(slot, scope, location);
            }
        }
    }

    /// The messages that a load of several granules reads (`NONE` where there is no history), at a moment that
    /// is drawn from those that `allowed` takes.
    pub(super) fn snapshot(
        &mut self,
        slot: usize,
        span: GranuleSpan,
        allowed: impl Fn(&[u32; 4]) -> bool,
    ) -> [u32; 4] {
        let mut moments = Vec::new();
        let mut lists = [const { None }; 4];
        for (list, location) in lists.iter_mut().zip(span.granules()) {
            if let Some(chain) = self.histories.chain(location) {
                let readable = self.readable(slot, span.mask, chain);
                let times = |at: &u32| self.histories.chains.message(*at).time;
                moments.extend(readable.at[..readable.count].iter().map(times));
                *list = Some(readable);
            }
        }
        moments.sort_unstable_by(|a, b| b.cmp(a));
        moments.dedup();
        let at = |moment: u64| -> Option<[u32; 4]> {
            let mut all = [NONE; 4];
            for (place, list) in all.iter_mut().zip(&lists) {
                let Some(list) = list else { continue };
                let mut upto = list.at[..list.count]
                    .iter()
                    .filter(|at| self.histories.chains.message(**at).time <= moment);
                *place = *upto.next()?;
            }
            Some(all)
        };
        let mut choices: Vec<[u32; 4]> = moments.iter().filter_map(|moment| at(*moment)).collect();
        choices.dedup();
        let Some(newest) = choices.first().copied() else { return [NONE; 4] };
        choices.retain(&allowed);
        if choices.is_empty() {
            return newest;
        }
        let choice = if choices.len() > 1 { self.choose(slot, choices.len()) } else { 0 };
        choices[choice]
    }

    /// What a strong read of a message makes known, and what it may hand over.
    pub(super) fn observe(
        &mut self,
        slot: usize,
        location: Location,
        mask: u32,
        mut index: u32,
        strength: Strength,
    ) {
        if strength == Strength::Weak {
            return;
        }
        let key = self.threads[slot].key;
        let strong = |message: &Message| {
            message.state.base || morally_strong((message.by.thread, message.strength), (key, strength))
        };
        let top = self.histories.chains.message(index);
        if top.bits.mask & mask != 0
            && strong(top)
            && !(top.state.base
                || top.by.thread == key
                || top.time <= self.clock.floor
                || top.observed_by(key))
            && !self.threads[slot].view.knows(top.by.thread, top.time)
        {
            self.clock.now += 1;
            self.histories.chains.observe(index, key, self.clock.now);
        }
        let mut wanted = mask;
        while wanted != 0 && index != NONE {
            let message = self.histories.chains.message(index);
            let next = message.links.older;
            if message.bits.mask & wanted != 0 {
                wanted &= !message.bits.mask;
                if message.entries.is_some() && strong(message) {
                    let entries = message.entries.clone();
                    self.bank(slot, location, entries);
                }
            }
            index = next;
        }
    }

    /// A thread acquires by an access of a location.
    pub(super) fn acquire(&mut self, slot: usize, scope: Scope, location: Location) {
        self.threads[slot].edges.acquired = Edge { time: self.clock.now, scope };
        if !self.threads[slot].hands.bank.is_empty() {
            self.take_banked(slot, scope, Some(location));
        }
    }

    /// Keeps what a message hands over, for an acquire to come.
    fn bank(&mut self, slot: usize, location: Location, entries: Entries) {
        if !self.would_bank(slot, location, &entries) {
            return;
        }
        let time = self.clock.now;
        let thread = &mut self.threads[slot];
        match thread.hands.bank.get_mut(&location) {
            Some(banked) => *banked = Banked { entries: entry::both(&banked.entries, &entries), time },
            None => {
                thread.hands.bank.insert(location, Banked { entries, time });
            }
        }
    }

    /// Whether what a message hands over is new to a thread, and not kept yet.
    pub(super) fn would_bank(&self, slot: usize, location: Location, entries: &Entries) -> bool {
        let thread = &self.threads[slot];
        let Some(release) = entries else { return false };
        // Whoever spins comes across the same again and again.
        if let Some(Banked { entries: Some(banked), .. }) = thread.hands.bank.get(&location)
            && Rc::ptr_eq(banked, release)
        {
            return false;
        }
        let known = |view: Option<&Rc<View>>| view.is_none_or(|view| covers(&thread.view, thread.key, view));
        !release.reaching(thread.key, Scope::Sys).into_iter().all(known)
    }

    /// An acquire of `scope` takes what is banked, of one location or of all, and can be reached.
    pub(super) fn take_banked(&mut self, slot: usize, scope: Scope, location: Option<Location>) {
        let banked = match location {
            Some(location) => self.threads[slot].hands.bank.remove_entry(&location).into_iter().collect(),
            None => std::mem::take(&mut self.threads[slot].hands.bank),
        };
        let key = self.threads[slot].key;
        for (location, banked) in banked {
            let Some(release) = &banked.entries else { continue };
            for view in release.reaching(key, scope).into_iter().flatten() {
                self.take(slot, view);
            }
            // What only a wider acquire can take stays for one.
            if scope == Scope::Cta {
                self.bank(slot, location, banked.entries);
            }
        }
    }

    /// A thread takes what a release hands over.
    pub(super) fn take(&mut self, slot: usize, view: &Rc<View>) {
        let thread = &mut self.threads[slot];
        if !covers(&thread.view, thread.key, view) {
            thread.view = joined(&thread.view, view);
        }
    }
}

/// Whether a view, of a thread, covers another; its own earlier ones it does.
fn covers(view: &Rc<View>, of: ThreadKey, other: &Rc<View>) -> bool {
    Rc::ptr_eq(view, other) || other.owner() == Some(of) || view.covers(other)
}

/// Whether a message is known by a view of a thread.
pub(super) fn knows(view: &View, of: ThreadKey, message: &Message) -> bool {
    message.state.base
        || view.knows(message.by.thread, message.time)
        || message.observers().any(|(observer, time)| observer == of || view.knows(observer, time))
}
