//! When what waits happens: with each access of its lane somebody looks.

use super::spans::Spans;
use super::waiting::left;
use super::warp::{WarpState, slot_of, warp_and_lane};
use super::{PlainMemory, PtxMachine};
use crate::exec::lanes as each;

impl PtxMachine {
    /// What is kept of a slot's warp, and its lane there.
    #[inline(always)]
    pub(super) fn warp(&mut self, slot: usize) -> (&mut WarpState, usize) {
        let (warp, lane) = warp_and_lane(slot);
        (&mut self.held.warps[warp], lane)
    }

    /// Lanes of a warp that have stores that wait or loads that are late.
    #[inline(always)]
    pub(super) fn holding(&self, warp: usize) -> u32 {
        self.held.warps.get(warp).map_or(0, WarpState::holding)
    }

    /// See [`super::waiting::Queue::forward`].
    #[inline]
    pub(super) fn forward(
        &self,
        warp: usize,
        lanes: u32,
        spans: &Spans,
        values: &mut [u32; 32],
    ) -> (u32, u32) {
        let waiting = &self.held.warps[warp].waiting;
        if waiting.lanes() & lanes == 0 { (0, 0) } else { waiting.forward(lanes, spans, values) }
    }

    /// An access by these lanes begins: what is due happens. None of them has late loads of the same bytes.
    #[inline]
    pub(super) fn step_lanes(&mut self, memory: &mut impl PlainMemory, warp: usize, lanes: u32) {
        if self.held.warps[warp].advance_all(lanes) {
            self.do_what_is_due(memory, warp, lanes);
        }
    }

    /// What is due of these lanes happens.
    fn do_what_is_due(&mut self, memory: &mut impl PlainMemory, warp: usize, lanes: u32) {
        let (counts, most) = self.held.warps[warp].counts();
        for lane in each(self.held.warps[warp].late & lanes) {
            self.settle_where(memory, slot_of(warp, lane), |late| left(late.due, counts[lane]) <= 0);
        }
        if self.held.warps[warp].waiting.mark_due(lanes, (&counts, most)) {
            self.drain(memory, warp);
        }
        // When something is due next.
        let state = &mut self.held.warps[warp];
        let late = each(state.late).flat_map(|lane| &self.threads[slot_of(warp, lane)].loads.late);
        let first = late.map(|late| left(late.due, most)).chain(state.waiting.first_due(most)).min();
        state.set_due(first);
    }

    /// Writes the stores of a warp that are marked, and those before them to the same granules.
    pub(super) fn drain(&mut self, memory: &mut impl PlainMemory, warp: usize) {
        // While they are written, nobody asks what waits.
        let mut waiting = std::mem::take(&mut self.held.warps[warp].waiting);
        waiting.mark_earlier();
        for row in waiting.rows().filter(|row| row.going != 0) {
            self.commit_row(memory, warp, row);
        }
        waiting.take_out(&mut self.held.spare);
        self.held.warps[warp].waiting = waiting;
    }
}
