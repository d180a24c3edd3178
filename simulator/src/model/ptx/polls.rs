//! Atomics that write nothing, done again and again by threads that poll.
//!
//! Once a thread has read the last message of a granule by a morally strong atomic, it reads it again with each further one, for as
//! long as nothing is added: there is nothing to draw, and nothing to learn. What is left are counts and times.

use super::PtxMachine;
use super::chains::Message;
use super::kept::{Kept, Several};
use super::stale::Edge;
use super::store::AtomicOrder;
use super::warp::warp_and_lane;
use bugaroo_semantics::clocks::release as entry;
use bugaroo_semantics::location::GranuleSpan;
use bugaroo_semantics::scope::{Strength, morally_strong};

impl PtxMachine {
    /// Whether an atomic that a thread has done, and that wrote nothing, would now read the same without a draw, and change nothing
    /// but counts and times. Memory holds `value` there. `false` may be said of any.
    pub(super) fn atomic_is_idle(
        &self,
        slot: usize,
        span: GranuleSpan,
        order: AtomicOrder,
        value: u32,
    ) -> bool {
        let thread = &self.threads[slot];
        let (warp, lane) = warp_and_lane(slot);
        let holds_nothing = self.holding(warp) >> lane & 1 == 0;
        if order.release || span.count != 1 || !holds_nothing || !self.passed.is_empty() {
            return false;
        }
        let location = span.first;
        if order.acquire && thread.hands.bank.contains_key(&location) {
            return false;
        }
        let chain = match self.histories.kept(location) {
            None => return true,
            Some(Kept::Several(Several::Chain(chain))) => chain,
            Some(_) => return false,
        };
        let last = self.histories.chains.message(chain.last);
        let own = (thread.key, Strength::Strong(order.scope));
        self.has_observed(slot, last)
            && last.bits.mask & span.mask == span.mask
            && morally_strong((last.by.thread, last.strength), own)
            && self.histories.chains.value(chain.last, u32::MAX) & span.mask == value & span.mask
            && self.has_banked(slot, span, last)
            && self.has_handed_over(slot, span, last)
    }

    /// Counts so many atomics of each of these threads, which take turns.
    pub(super) fn count_idle_atomics(
        &mut self,
        slots: impl Iterator<Item = usize> + Clone,
        order: AtomicOrder,
        times: u32,
    ) -> bool {
        let threads = slots.clone().count() as u32;
        let Some(all) = threads.checked_mul(times).filter(|all| self.budget.count(*all)) else {
            return false;
        };
        let last_round = self.clock.now + u64::from(all - threads);
        for (slot, place) in slots.zip(0..) {
            let (warp, lane) = self.warp(slot);
            warp.advance(lane, times);
            if order.acquire {
                self.threads[slot].edges.acquired = Edge { time: last_round + place, scope: order.scope };
            }
        }
        self.clock.now += u64::from(all);
        true
    }

    /// A strong read of the message adds nothing to who is known to have seen it.
    fn has_observed(&self, slot: usize, message: &Message) -> bool {
        let thread = &self.threads[slot];
        message.state.base
            || message.by.thread == thread.key
            || message.time <= self.clock.floor
            || message.observed_by(thread.key)
            || thread.view.knows(message.by.thread, message.time)
    }

    /// Nor anything to what the thread may acquire.
    fn has_banked(&self, slot: usize, span: GranuleSpan, message: &Message) -> bool {
        message.entries.is_none() || !self.would_bank(slot, span.first, &message.entries)
    }

    /// Nor to what the message hands over.
    fn has_handed_over(&self, slot: usize, span: GranuleSpan, message: &Message) -> bool {
        let thread = &self.threads[slot];
        if thread.hands.released_at.contains_key(&span.first) {
            return false;
        }
        thread.hands.fences.is_none()
            || thread.hands.handed.as_deref().is_some_and(|(given, got)| {
                entry::is_same(given, &thread.hands.fences) && entry::is_same(got, &message.entries)
            })
    }
}
