//! Loads: what may be read, which of it is, and what that makes known.

use std::rc::Rc;

use super::entry::Entry;
use super::history::{Chain, MOST, NONE};
use super::scope::{Scope, Strength, morally_strong};
use super::stale::Edge;
use super::thread::{Banked, Late};
use super::view::Seen;
use super::{Machine, Plain, Span, Value};

/// Stale reads in a row after which a thread reads the last value: whoever spins gets on.
const LONGEST_STALE_RUN: u32 = 32;
/// Entries that a thread keeps for a later fence.
const MOST_BANKED: usize = 32;

/// What a load gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Loaded {
    /// Its value.
    Now(Value),
    /// It is pending under its token: [`Machine::settle`] gives the value, [`Machine::take_settled`] tells of
    /// those that had to be resolved meanwhile.
    Late,
}

/// What of a granule a load can read: from the last message to the first that it may.
pub(super) struct Readable {
    pub(super) at: [u32; MOST as usize + 2],
    pub(super) count: usize,
}

impl Machine {
    /// A load of a thread, an acquire or not. With a token it may be resolved late.
    pub fn load(
        &mut self,
        memory: &mut impl Plain,
        slot: usize,
        span: Span,
        (strength, acquire): (Strength, bool),
        origin: u32,
        token: Option<u64>,
    ) -> Loaded {
        self.step(memory, slot, Some(span));
        if let Some(value) = self.forwarded(memory, slot, span) {
            return Loaded::Now(value);
        }
        if let Some(token) = token
            && self.threads[slot].loads_late(&self.chances)
            && let passed = acquire.then(|| self.late_acquire(slot, span, strength))
            && !matches!(passed, Some(None))
        {
            let thread = &mut self.threads[slot];
            let due = thread.count + thread.patience();
            thread.due = thread.due.min(due);
            thread.late.push(Late { token, span, strength, due, origin, passed: passed.flatten() });
            return Loaded::Late;
        }
        Loaded::Now(self.resolve(memory, slot, span, (strength, acquire), origin))
    }

    /// The value of the thread's own waiting stores, if they hold all that is asked for. If they hold a part,
    /// they are written first.
    fn forwarded(&mut self, memory: &mut impl Plain, slot: usize, span: Span) -> Option<Value> {
        let waiting = &self.threads[slot].waiting;
        let last = waiting.iter().rposition(|store| store.span.overlaps(span))?;
        let store = &waiting[last];
        if store.span.covers(span) {
            let first = ((span.granule - store.span.granule) / 4) as usize;
            let mut value = [0; 4];
            let count = usize::from(span.count);
            value[..count].copy_from_slice(&store.value[first..first + count]);
            return Some(value.map(|word| word & span.mask));
        }
        self.drain_where(memory, slot, |store| store.overlaps(span));
        None
    }

    /// Draws what a load reads. Late loads come here, too, when they are resolved.
    pub(super) fn resolve(
        &mut self,
        memory: &mut impl Plain,
        slot: usize,
        span: Span,
        order: (Strength, bool),
        origin: u32,
    ) -> Value {
        let mut value = [0; 4];
        if span.count > 1 {
            self.resolve_wide(memory, slot, span, order, origin, &mut value);
            return value;
        }
        let Some(chain) = self.histories.chain(span.granule) else {
            value[0] = memory.read(span.granule) & span.mask;
            return value;
        };
        let readable = self.readable(slot, span.granule, span.mask, chain);
        let choice = if readable.count > 1 { self.choose(slot, readable.count) } else { 0 };
        let index = readable.at[choice];
        value[0] = self.histories.value(index, span.mask);
        if choice > 0 {
            self.note_stale(slot, span.granule, index, order.0, origin);
        }
        if order.0 != Strength::Weak {
            self.observe(slot, span.granule, span.mask, index, order);
        }
        value
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
    pub(super) fn knows(&self, slot: usize, granule: u64, index: u32) -> bool {
        let (message, thread) = (self.histories.message(index), &self.threads[slot]);
        message.base
            || message.thread == thread.key
            || message.time <= self.floor
            || thread.view.knows(message.thread, message.time)
            || thread.view.seen(granule) == Some(message.time)
    }

    /// The messages of a granule that a thread may read for the bits of `mask`.
    pub(super) fn readable(&self, slot: usize, granule: u64, mask: u32, chain: Chain) -> Readable {
        self.readable_by(mask, chain, |index| self.knows(slot, granule, index))
    }

    /// As [`Self::readable`], `knows` telling what is known.
    pub(super) fn readable_by(&self, mask: u32, chain: Chain, knows: impl Fn(u32) -> bool) -> Readable {
        let mut readable = Readable { at: [0; MOST as usize + 2], count: 0 };
        let mut index = chain.last;
        while index != NONE {
            let message = self.histories.message(index);
            if message.mask & mask != 0 {
                if message.base && message.forgotten && readable.count > 0 {
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
            index = message.older;
        }
        readable
    }

    /// A load of several granules reads one moment: in each the last message up to then, or what the thread
    /// knows if that is later.
    fn resolve_wide(
        &mut self,
        memory: &mut impl Plain,
        slot: usize,
        span: Span,
        order: (Strength, bool),
        origin: u32,
        value: &mut Value,
    ) {
        let chosen = self.snapshot(slot, span, |_| true);
        for ((granule, chosen), value) in span.granules().zip(chosen).zip(value.iter_mut()) {
            *value = match chosen {
                NONE => memory.read(granule),
                index => {
                    let read = self.histories.value(index, span.mask);
                    self.note_stale(slot, granule, index, order.0, origin);
                    if order.0 != Strength::Weak {
                        self.observe(slot, granule, span.mask, index, order);
                    }
                    read
                }
            };
        }
    }

    /// The messages that a load of several granules reads (`NONE` where there is no history), at a moment that
    /// is drawn from those that `allowed` takes.
    pub(super) fn snapshot(
        &mut self,
        slot: usize,
        span: Span,
        allowed: impl Fn(&[u32; 4]) -> bool,
    ) -> [u32; 4] {
        let mut moments = Vec::new();
        let mut lists = [const { None }; 4];
        for (list, granule) in lists.iter_mut().zip(span.granules()) {
            if let Some(chain) = self.histories.chain(granule) {
                let readable = self.readable(slot, granule, span.mask, chain);
                moments
                    .extend(readable.at[..readable.count].iter().map(|at| self.histories.message(*at).time));
                *list = Some(readable);
            }
        }
        moments.sort_unstable_by(|a, b| b.cmp(a));
        moments.dedup();
        let at = |moment: u64| -> Option<[u32; 4]> {
            let mut all = [NONE; 4];
            for (place, list) in all.iter_mut().zip(&lists) {
                let Some(list) = list else { continue };
                let mut upto =
                    list.at[..list.count].iter().filter(|at| self.histories.message(**at).time <= moment);
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
        granule: u64,
        mask: u32,
        mut index: u32,
        (strength, acquire): (Strength, bool),
    ) {
        let Strength::Strong(scope) = strength else { return };
        let key = self.threads[slot].key;
        let top = self.histories.message(index);
        if top.mask & mask != 0
            && morally_strong((top.thread, top.strength), (key, strength))
            && !self.knows(slot, granule, index)
        {
            let seen = Seen { granule, time: top.time, writer: top.thread };
            Rc::make_mut(&mut self.threads[slot].view).see(seen);
        }
        let mut wanted = mask;
        while wanted != 0 && index != NONE {
            let message = self.histories.message(index);
            let next = message.older;
            if message.mask & wanted != 0 {
                wanted &= !message.mask;
                let strong =
                    message.base || morally_strong((message.thread, message.strength), (key, strength));
                if strong {
                    let entries = message.entries.clone();
                    if let Some(entries) = entries {
                        for entry in entries.iter().filter(|entry| entry.thread != key) {
                            self.bank(slot, granule, entry);
                        }
                    }
                }
            }
            index = next;
        }
        if acquire {
            self.threads[slot].acquired = Edge { time: self.now, scope };
        }
        if acquire && !self.threads[slot].bank.is_empty() {
            self.take_banked(slot, scope, Some(granule));
        }
    }

    /// Keeps an entry for an acquire to come.
    fn bank(&mut self, slot: usize, granule: u64, entry: &Entry) {
        let bank = &mut self.threads[slot].bank;
        let known = |banked: &Banked| {
            banked.granule == granule
                && banked.entry.thread == entry.thread
                && banked.entry.time >= entry.time
                && banked.entry.scope >= entry.scope
        };
        if bank.iter().any(known) {
            return;
        }
        bank.retain(|banked| {
            banked.granule != granule
                || banked.entry.thread != entry.thread
                || banked.entry.time > entry.time
                || banked.entry.scope > entry.scope
        });
        bank.push(Banked { granule, entry: entry.clone() });
        if bank.len() > MOST_BANKED {
            // Too many: the oldest is taken as if a fence had been there, which only forbids.
            let oldest = bank.remove(0);
            self.take(slot, &oldest.entry);
        }
    }

    /// An acquire of `scope` takes what is banked, of one granule or of all, and can be reached.
    pub(super) fn take_banked(&mut self, slot: usize, scope: Scope, granule: Option<u64>) {
        let key = self.threads[slot].key;
        let bank = std::mem::take(&mut self.threads[slot].bank);
        let mut kept = Vec::new();
        for banked in bank {
            let here = granule.is_none_or(|granule| granule == banked.granule);
            if here && banked.entry.reaches(key, scope) {
                self.take(slot, &banked.entry);
            } else {
                kept.push(banked);
            }
        }
        self.threads[slot].bank = kept;
    }
}
