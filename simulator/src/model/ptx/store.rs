//! Stores and atomics: when they become messages, and where in coherence order.

use std::rc::Rc;

use super::entry::{self, Entries, Entry};
use super::history::{Message, NONE};
use super::scope::{Scope, Strength, morally_strong};
use super::stale::Edge;
use super::thread::Waiting;
use super::{Machine, Plain, Span, Value};

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
struct Write {
    span: Span,
    value: Value,
    strength: Strength,
    origin: u32,
}

impl Machine {
    /// A store of a thread, a release or not.
    pub fn store(
        &mut self,
        memory: &mut impl Plain,
        slot: usize,
        span: Span,
        value: Value,
        (strength, release): (Strength, bool),
        origin: u32,
    ) {
        self.step(memory, slot, Some(span));
        let write = Write { span, value, strength, origin };
        if release {
            self.order_for_release(memory, slot);
            let Strength::Strong(scope) = strength else { unreachable!("a release is strong") };
            let entry = self.release_entry(slot, scope);
            self.threads[slot].released = Edge { time: self.now + 1, scope };
            self.commit(memory, slot, write, Some(entry));
            return;
        }
        let thread = &mut self.threads[slot];
        if thread.store_waits(&self.chances) {
            let due = thread.count + thread.patience();
            thread.due = thread.due.min(due);
            self.waited += 1;
            thread.waiting.push(Waiting { span, value, strength, due, origin });
            return;
        }
        if !thread.waiting.is_empty() {
            self.drain_where(memory, slot, |store| store.meets(span));
        }
        self.commit(memory, slot, write, None);
    }

    /// Writes the waiting stores that `which` says, and those before them to the same granules.
    pub(super) fn drain_where(&mut self, memory: &mut impl Plain, slot: usize, which: impl Fn(Span) -> bool) {
        let mut waiting = std::mem::take(&mut self.threads[slot].waiting);
        if waiting.len() == 1 {
            if which(waiting[0].span) {
                let Waiting { span, value, strength, origin, .. } = waiting[0];
                waiting.clear();
                self.commit(memory, slot, Write { span, value, strength, origin }, None);
            }
            self.threads[slot].waiting = waiting;
            self.threads[slot].set_due();
            return;
        }
        let mut out = vec![false; waiting.len()];
        for last in (0..waiting.len()).rev() {
            let later = |next: usize| out[next] && waiting[next].span.meets(waiting[last].span);
            out[last] = which(waiting[last].span) || (last + 1..waiting.len()).any(later);
        }
        let mut index = 0;
        waiting.retain(|store| {
            index += 1;
            if out[index - 1] {
                let Waiting { span, value, strength, origin, .. } = *store;
                self.commit(memory, slot, Write { span, value, strength, origin }, None);
            }
            !out[index - 1]
        });
        self.threads[slot].waiting = waiting;
        self.threads[slot].set_due();
    }

    /// What a strong store of a thread to a granule carries.
    fn carried(&self, slot: usize, granule: u64, strength: Strength, release: Option<&Entry>) -> Entries {
        if strength == Strength::Weak {
            return None;
        }
        let thread = &self.threads[slot];
        // A release operation on a location also heads the pattern of its thread's later stores there.
        let mut earlier: Vec<Entry> = Vec::new();
        let mut index = self.histories.chain(granule).map_or(NONE, |chain| chain.last);
        while index != NONE {
            let message = self.histories.message(index);
            if (message.thread == thread.key || message.base)
                && let Some(entries) = &message.entries
            {
                let own = entries.iter().filter(|entry| entry.thread == thread.key);
                own.for_each(|own| entry::add(&mut earlier, own.clone()));
            }
            index = message.older;
        }
        if release.is_none() && earlier.is_empty() {
            return (!thread.fences.is_empty()).then(|| Rc::clone(&thread.fences));
        }
        thread.fences.iter().for_each(|fence| entry::add(&mut earlier, fence.clone()));
        if let Some(release) = release {
            entry::add(&mut earlier, release.clone());
        }
        (!earlier.is_empty()).then(|| Rc::new(earlier))
    }

    /// A store becomes a message.
    fn commit(&mut self, memory: &mut impl Plain, slot: usize, write: Write, release: Option<Entry>) {
        self.before_write(memory, slot, write.span);
        self.now += 1;
        let Write { span, value, strength, origin } = write;
        for (granule, value) in span.granules().zip(value) {
            let entries = self.carried(slot, granule, strength, release.as_ref());
            let before = if span.count == 1 { self.place(slot, granule) } else { NONE };
            let thread = self.threads[slot].key;
            let message = Message {
                time: self.now,
                thread,
                strength,
                value: value & span.mask,
                mask: span.mask,
                older: NONE,
                attached: false,
                base: false,
                forgotten: false,
                origin,
                entries,
            };
            self.append(memory, granule, message, before);
        }
        self.sweep(memory);
    }

    /// Adds a message before another (or last, with `NONE`), and keeps memory at the last value.
    fn append(&mut self, memory: &mut impl Plain, granule: u64, message: Message, before: u32) {
        if self.histories.chain(granule).is_none() {
            let value = memory.read(granule);
            self.histories.open(granule, value);
        }
        let (value, mask) = (message.value, message.mask);
        self.histories.insert(granule, message, before);
        if before == NONE {
            memory.write(granule, value, mask);
        } else if self.histories.message(before).mask != u32::MAX {
            // Its own bytes only: beside them there may be another allocation, or none.
            let chain = self.histories.chain(granule).expect("a message was put there");
            memory.write(granule, self.histories.value(chain.last, mask), mask);
        }
    }

    /// Where in coherence order a store comes: before any message that its thread doesn't know, but not
    /// between an atomic and what that has read.
    fn place(&mut self, slot: usize, granule: u64) -> u32 {
        let Some(chain) = self.histories.chain(granule) else { return NONE };
        if self.knows(slot, granule, chain.last) || !self.threads[slot].stores_early(&self.chances) {
            return NONE;
        }
        let mut places = Vec::new();
        let mut index = chain.last;
        while !self.knows(slot, granule, index) {
            let message = self.histories.message(index);
            // Before the first that is kept there would be nothing left to be read.
            if self.histories.message(message.older).forgotten {
                break;
            }
            if !message.attached {
                places.push(index);
            }
            index = message.older;
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
        memory: &mut impl Plain,
        slot: usize,
        span: Span,
        order: AtomicOrder,
        origin: u32,
        change: impl FnOnce(Value) -> Option<Value>,
    ) -> Value {
        self.step(memory, slot, Some(span));
        let AtomicOrder { scope, acquire, release } = order;
        let strength = Strength::Strong(scope);
        if release {
            self.order_for_release(memory, slot);
        } else if !self.threads[slot].waiting.is_empty() {
            self.drain_where(memory, slot, |store| store.meets(span));
        }
        self.before_write(memory, slot, span);
        let read = self.atomic_read(memory, slot, span, strength);
        let mut old = [0; 4];
        for ((granule, at), old) in span.granules().zip(read).zip(&mut old) {
            let whole = if at == NONE { memory.read(granule) } else { self.histories.value(at, u32::MAX) };
            *old = whole & span.mask;
        }
        let new = change(old);
        for (granule, at) in span.granules().zip(read) {
            if at != NONE {
                self.note_stale(slot, granule, at, strength, origin);
            }
        }
        if release {
            self.threads[slot].released = Edge { time: self.now + 1, scope };
        }
        for (granule, at) in span.granules().zip(read) {
            if at != NONE {
                self.observe(slot, granule, span.mask, at, (strength, acquire));
            }
        }
        // What the atomic acquires, it releases as well.
        let entry = release.then(|| self.release_entry(slot, scope));
        self.now += 1;
        for (index, (granule, at)) in span.granules().zip(read).enumerate() {
            let entries = self.carried(slot, granule, strength, entry.as_ref());
            let inherited = self.inherited(slot, at, strength);
            match new {
                Some(new) => {
                    let entries = self.both(entries, inherited);
                    self.write_after_read(
                        memory,
                        slot,
                        (granule, span.mask),
                        at,
                        new[index],
                        origin,
                        (scope, entries),
                    );
                }
                None if at != NONE => {
                    self.resolve_all_passed(memory, Some(granule));
                    self.add_entries(at, entries);
                }
                None => {}
            }
        }
        self.sweep(memory);
        old
    }

    /// The messages that an atomic reads: none that a later, morally strong message has replaced.
    fn atomic_read(
        &mut self,
        _memory: &mut impl Plain,
        slot: usize,
        span: Span,
        strength: Strength,
    ) -> [u32; 4] {
        let key = self.threads[slot].key;
        if span.count > 1 {
            let histories = &self.histories;
            let lasts: Vec<u32> = span
                .granules()
                .map(|granule| histories.chain(granule).map_or(NONE, |chain| chain.last))
                .collect();
            let mut replaced = Vec::new();
            for last in lasts {
                let mut index = last;
                while index != NONE {
                    let message = self.histories.message(index);
                    if morally_strong((message.thread, message.strength), (key, strength)) {
                        // Everything before this has been replaced.
                        let mut older = message.older;
                        while older != NONE {
                            replaced.push(older);
                            older = self.histories.message(older).older;
                        }
                        break;
                    }
                    index = message.older;
                }
            }
            return self.snapshot(slot, span, |choice| choice.iter().all(|at| !replaced.contains(at)));
        }
        let Some(chain) = self.histories.chain(span.granule) else { return [NONE; 4] };
        let readable = self.readable(slot, span.granule, span.mask, chain);
        let mut count = 1;
        let mut index = chain.last;
        while count < readable.count && index != readable.at[count] {
            let message = self.histories.message(index);
            if message.mask & span.mask != 0
                && morally_strong((message.thread, message.strength), (key, strength))
            {
                break;
            }
            index = message.older;
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
        let message = self.histories.message(at);
        let strong = message.base
            || morally_strong((message.thread, message.strength), (self.threads[slot].key, strength));
        if strong { message.entries.clone() } else { None }
    }

    fn both(&self, own: Entries, inherited: Entries) -> Entries {
        match (own, inherited) {
            (own, None) => own,
            (None, inherited) => inherited,
            (Some(own), Some(inherited)) => {
                let mut all = inherited.to_vec();
                own.iter().for_each(|entry| entry::add(&mut all, entry.clone()));
                entry::bound(&mut all, |granule, a, b| self.histories.later(granule, a, b));
                Some(Rc::new(all))
            }
        }
    }

    #[allow(clippy::too_many_arguments, reason = "an atomic's message has as many parts")]
    fn write_after_read(
        &mut self,
        memory: &mut impl Plain,
        slot: usize,
        (granule, mask): (u64, u32),
        at: u32,
        value: u32,
        origin: u32,
        (scope, entries): (Scope, Entries),
    ) {
        // What came between the message that was read and this one must stay the only things there.
        let mut index = self.histories.chain(granule).map_or(NONE, |chain| chain.last);
        while index != NONE && index != at {
            let message = self.histories.message_mut(index);
            message.attached = true;
            index = message.older;
        }
        let message = Message {
            time: self.now,
            thread: self.threads[slot].key,
            strength: Strength::Strong(scope),
            value: value & mask,
            mask,
            older: NONE,
            attached: true,
            base: false,
            forgotten: false,
            origin,
            entries,
        };
        self.append(memory, granule, message, NONE);
    }

    /// An atomic that wrote nothing hands over what its write would have carried: whoever reads the message
    /// next may count on it.
    fn add_entries(&mut self, at: u32, new: Entries) {
        let Some(new) = new else { return };
        let old = self.histories.message(at).entries.clone();
        let carried = |entry: &Entry| {
            old.as_ref().is_some_and(|old| {
                old.iter().any(|old| {
                    old.thread == entry.thread && old.time >= entry.time && old.scope >= entry.scope
                })
            })
        };
        if !new.iter().all(carried) {
            let both = self.both(Some(new), old);
            self.histories.message_mut(at).entries = both;
        }
    }
}
