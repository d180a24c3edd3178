//! Late loads that stay pending beyond a fence or a release of their own thread.
//!
//! PTX lets them: a fence orders nothing by itself but through the strong operations before and behind it. Such a load
//! reads what it could have read where it stands in its program, so its view is kept; and never a write that
//! it comes before in causality order: whoever is about to make one, knowing of a release behind the load, has the load
//! resolved first. A strong load has still less choice: had it read from a write that is morally strong with it, the
//! fence behind it, which is past, would have had to acquire; so it reads from no such write, unless that hands
//! over nothing and is known already.

use std::rc::Rc;

use super::chains::{Chain, NONE};
use super::thread::{Late, Passed};
use super::warp::warp_and_lane;
use super::{PlainMemory, PtxMachine};
use bugaroo_semantics::location::{GranuleSpan, Location, Value};
use bugaroo_semantics::scope::{Scope, Strength, morally_strong};

/// Loads of all threads that may be pending so at once.
const MOST_PASSED: usize = 64;

impl PtxMachine {
    /// A thread is about to release: its loads are resolved, or pass; its stores are written.
    pub(super) fn order_for_release(&mut self, memory: &mut impl PlainMemory, slot: usize) {
        if self.threads[slot].loads.late.is_empty() {
            return self.order(memory, slot);
        }
        self.clock.now += 1;
        for index in 0..self.threads[slot].loads.late.len() {
            let late = &self.threads[slot].loads.late[index];
            if late.passed.is_none() {
                let (span, strength) = (late.span, late.strength);
                let passes = self.threads[slot].one_of(2) == 0;
                let passed = if passes { self.pass(slot, span, strength) } else { None };
                self.threads[slot].loads.late[index].passed = passed;
            }
        }
        self.settle_where(memory, slot, |late| late.passed.is_none());
        let (warp, lane) = warp_and_lane(slot);
        self.drain_lanes(memory, warp, 1 << lane);
    }

    /// What a load that passes may read from now on; None if it has to be resolved.
    fn pass(&mut self, slot: usize, span: GranuleSpan, strength: Strength) -> Option<Passed> {
        if self.passed.len() >= MOST_PASSED || span.count > 1 {
            return None;
        }
        let thread = &self.threads[slot];
        let passed = Passed { view: Rc::clone(&thread.view), floor: self.clock.floor, limit: self.clock.now };
        if strength != Strength::Weak
            && self.choices(slot, span, strength, &passed).is_some_and(|all| all.is_empty())
        {
            return None;
        }
        self.passed.push((span, slot));
        Some(passed)
    }

    /// An acquire at CTA scope that reads from no write that is morally strong with it acquires nothing, and may be
    /// late.
    pub(super) fn late_acquire(
        &mut self,
        slot: usize,
        span: GranuleSpan,
        strength: Strength,
    ) -> Option<Passed> {
        if strength != Strength::Strong(Scope::Cta) {
            return None;
        }
        self.clock.now += 1;
        self.pass(slot, span, strength)
    }

    /// The messages that a load which has passed may read, the last first; None if the granule has no history.
    fn choices(
        &mut self,
        slot: usize,
        span: GranuleSpan,
        strength: Strength,
        passed: &Passed,
    ) -> Option<Vec<u32>> {
        let chain = self.histories.chain(span.first)?;
        Some(self.choices_of(chain, slot, span, strength, passed))
    }

    fn choices_of(
        &self,
        chain: Chain,
        slot: usize,
        span: GranuleSpan,
        strength: Strength,
        passed: &Passed,
    ) -> Vec<u32> {
        let key = self.threads[slot].key;
        // What it has seen itself since is not known where it stands.
        let seen = |(observer, time): (_, u64)| {
            observer == key && time <= passed.limit || passed.view.knows(observer, time)
        };
        let knows = |index: u32| {
            let message = self.histories.chains.message(index);
            message.state.base
                || message.by.thread == key
                || message.time <= passed.floor
                || passed.view.knows(message.by.thread, message.time)
                || message.observers().any(seen)
        };
        let readable = self.readable_by(span.mask, chain, knows);
        let fits = |first: &u32| {
            let (mut index, mut wanted) = (*first, span.mask);
            while wanted != 0 {
                let message = self.histories.chains.message(index);
                if message.bits.mask & wanted != 0 {
                    wanted &= !message.bits.mask;
                    let bare = message.entries.is_none() && knows(index);
                    let strong = morally_strong((message.by.thread, message.strength), (key, strength));
                    if !bare && (strong || message.state.base) {
                        return false;
                    }
                }
                index = message.links.older;
            }
            true
        };
        let all = readable.at[..readable.count].iter();
        all.copied().filter(|first| strength == Strength::Weak || fits(first)).collect()
    }

    /// Draws what a load that has passed reads.
    pub(super) fn resolve_passed(
        &mut self,
        memory: &mut impl PlainMemory,
        slot: usize,
        late: &Late,
        passed: &Passed,
    ) -> Value {
        let place = self.passed.iter().position(|entry| *entry == (late.span, slot));
        if let Some(place) = place {
            self.passed.swap_remove(place);
        }
        let mut value = [0; 4];
        value[0] = match self.choices(slot, late.span, late.strength, passed) {
            None => {
                self.note_read(memory, slot, (late.span.first, late.span.mask), NONE, false);
                memory.read(late.span.first) & late.span.mask
            }
            Some(choices) => {
                let choice = if choices.len() > 1 { self.choose(slot, choices.len()) } else { 0 };
                let index = choices.get(choice).copied().unwrap_or(NONE);
                assert!(index != NONE, "what it could read when it passed is kept");
                if choice > 0 {
                    self.note_stale(slot, late.span.first, index, late.strength, late.origin);
                }
                self.note_read(memory, slot, (late.span.first, late.span.mask), index, false);
                self.histories.chains.value(index, late.span.mask)
            }
        };
        value
    }

    /// A write to a granule is about to be made by a thread: loads that come before it in causality order are resolved
    /// first, and strong ones when what they may read is about to be forgotten.
    pub(super) fn before_write(&mut self, memory: &mut impl PlainMemory, writer: usize, span: GranuleSpan) {
        let mut index = 0;
        while index < self.passed.len() {
            let (of, slot) = self.passed[index];
            if of.meets(span) && self.must_resolve(writer, slot, of) {
                let before = self.passed.len();
                self.settle_where(memory, slot, |late| late.passed.is_some() && late.span == of);
                assert!(self.passed.len() < before, "the load was pending");
            } else {
                index += 1;
            }
        }
    }

    fn must_resolve(&self, writer: usize, slot: usize, span: GranuleSpan) -> bool {
        let late = self.threads[slot].loads.late.iter().find(|late| late.span == span);
        let Some(passed) = late.and_then(|late| late.passed.as_ref()) else { return true };
        let full = self.histories.is_full(span.first);
        let key = self.threads[slot].key;
        full || writer == slot
            || passed.limit <= self.clock.floor
            || self.threads[writer].view.knows(key, passed.limit)
    }

    /// Resolves every load that has passed, of one location or of all: histories are about to be dropped.
    pub(super) fn resolve_all_passed(&mut self, memory: &mut impl PlainMemory, location: Option<Location>) {
        let concerned: Vec<usize> = self
            .passed
            .iter()
            .filter(|(span, _)| location.is_none_or(|location| span.first == location))
            .map(|(_, slot)| *slot)
            .collect();
        for slot in concerned {
            self.settle_where(memory, slot, |late| {
                late.passed.is_some() && location.is_none_or(|location| late.span.first == location)
            });
        }
    }
}
