//! Loads that need no draw: the thread knows the last write there.

use super::PtxMachine;
use super::kept::{AtOnce, Kept, Several, Single};
use super::runs::Run;
use super::warp::warp_and_lane;
use bugaroo_semantics::location::GranuleSpan;

impl PtxMachine {
    /// Whether a thread knows the one message of a granule.
    #[inline]
    pub(super) fn knows_single(&self, slot: usize, single: &Single) -> bool {
        let thread = &self.threads[slot];
        let time = single.time.get();
        single.thread == thread.key || time <= self.clock.floor || thread.view.knows(single.thread, time)
    }

    /// Whether a thread knows the last store of a run.
    #[inline]
    pub(super) fn knows_run(&self, slot: usize, run: &Run) -> bool {
        let thread = &self.threads[slot];
        run.thread == thread.key || {
            let time = self.histories.runs.last_time(run);
            time <= self.clock.floor || thread.view.knows(run.thread, time)
        }
    }

    /// The value of a granule that is no chain, if the thread knows its last message: whoever reads that, however strongly, draws
    /// nothing, and nothing is handed over.
    #[inline]
    pub(super) fn known_value(&self, slot: usize, kept: &Kept) -> Option<u32> {
        match kept {
            Kept::Single(single) => self.knows_single(slot, single).then_some(single.value),
            Kept::Several(Several::Run(run)) => self.knows_run(slot, run).then_some(run.value),
            Kept::Several(Several::Chain(_)) => None,
        }
    }

    /// What a load by a thread reads, if that can be told without a draw. `held`: the granule as memory holds it, for loads of one
    /// whole granule that acquire nothing. `may_own`: stores of these bytes may wait in the thread.
    #[inline]
    pub(super) fn at_once(
        &self,
        slot: usize,
        span: GranuleSpan,
        (weak, may_own): (bool, bool),
        held: impl FnOnce() -> Option<u32>,
    ) -> AtOnce {
        let (warp, lane) = warp_and_lane(slot);
        let own = if may_own { self.held.warps[warp].waiting.newest(lane, span) } else { None };
        if own.is_none() && self.is_plain(slot, span, weak) {
            return AtOnce::Memory;
        }
        let Some(held) = held() else { return AtOnce::No };
        let kept = self.histories.kept(span.first);
        // Where memory has changed by itself, the machine has to believe it first.
        if kept.is_some_and(|kept| self.histories.last_of(&kept) != held) {
            return AtOnce::No;
        }
        let value = match own {
            Some(store) if store.span.covers(span) => {
                Some(store.value[((span.first.offset - store.span.first.offset) / 4) as usize])
            }
            Some(_) => None,
            None => kept.and_then(|kept| self.known_value(slot, &kept)),
        };
        value.map_or(AtOnce::No, AtOnce::Value)
    }

    /// Whether a load by a thread that has no stores of these bytes waiting reads what memory holds, and hands over nothing.
    #[inline]
    fn is_plain(&self, slot: usize, span: GranuleSpan, weak: bool) -> bool {
        span.granules().all(|location| match self.histories.kept(location) {
            None => true,
            // Beside the bytes of a narrow message there may be others that the thread doesn't know.
            Some(Kept::Several(Several::Chain(chain))) => {
                weak && self.histories.chains.message(chain.last).bits.mask == u32::MAX
                    && self.knows(slot, chain.last)
            }
            Some(kept) => weak && self.known_value(slot, &kept).is_some(),
        })
    }
}
