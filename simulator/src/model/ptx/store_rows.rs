//! Stores by the lanes of a warp, as rows: what they do alike is done at once.

use super::chains::Store;
use super::kept::Single;
use super::store::Write;
use super::waiting::{Manner, StoreRow, Stored};
use super::warp::slot_of;
use super::{PlainMemory, PtxMachine, stepped};
use crate::exec::lanes as each;
use crate::model::notes::{Note, Notes};
use bugaroo_semantics::location::Location;
use bugaroo_semantics::scope::Strength;
use std::num::NonZeroU64;

/// So many lanes ahead, what is kept of granules is fetched.
const AHEAD: usize = 4;

/// What a lane of these stores.
fn write(stored: &Stored<'_>, lane: usize, own: bool) -> Write {
    let (span, value) = (stored.spans.span(lane, u32::MAX), stored.values.map(|plane| plane[lane]));
    let Manner { strength, origin, .. } = stored.manner;
    Write { span, value, strength, origin, name: 0, own }
}

impl PtxMachine {
    /// A store by these lanes, which is no release. Those of `waits` wait.
    pub(super) fn store_row(
        &mut self,
        memory: &mut impl PlainMemory,
        warp: usize,
        row: &Stored<'_>,
        waits: u32,
    ) {
        self.step_lanes(memory, warp, row.lanes);
        let at_once = row.lanes & !waits;
        if self.held.warps[warp].waiting.mark_met(at_once, row.spans) {
            self.drain(memory, warp);
        }
        if waits != 0 {
            self.told.waited += u64::from(waits.count_ones());
            let mut accesses = [0; 32];
            for (lane, accesses) in accesses.iter_mut().enumerate() {
                *accesses = match self.held.together.of(lane) {
                    Some(accesses) => accesses,
                    None if waits >> lane & 1 != 0 => self.threads[slot_of(warp, lane)].patience(),
                    None => 0,
                };
            }
            self.make_room(memory, slot_of(warp, 0));
            let names = memory.notes().map(|notes| self.name_waiting(waits, notes));
            let warp = &mut self.held.warps[warp];
            let due = warp.add_all_due(waits, &accesses);
            warp.waiting.push(waits, row, &due, names.as_ref(), &mut self.held.spare);
        }
        self.commit_lanes(memory, warp, (at_once, true), row);
    }

    /// The stores of these lanes are about to wait: how they are called.
    fn name_waiting(&mut self, lanes: u32, notes: &mut Notes) -> [u64; 32] {
        let mut names = [0; 32];
        for lane in each(lanes) {
            self.begin_naming();
            names[lane] = self.told.names.of_waiting();
            notes.push(Note::Held(names[lane]));
            notes.push(Note::Did(lane as u32));
        }
        names
    }

    /// Stores of a row that have waited become messages: those that are marked.
    pub(super) fn commit_row(&mut self, memory: &mut impl PlainMemory, warp: usize, row: &StoreRow) {
        if row.manner.narrow || memory.notes().is_some() {
            for lane in each(row.going) {
                self.commit(memory, slot_of(warp, lane), Write::waited(&row.store(lane)), &None);
            }
            return;
        }
        let (spans, manner, values) = (&row.spans, row.manner, row.values.each_ref());
        self.commit_lanes(
            memory,
            warp,
            (row.going, false),
            &Stored { lanes: row.lanes, spans, manner, values },
        );
    }

    /// Stores of whole granules become messages, lane after lane. `own`: they are done with their instruction.
    fn commit_lanes(
        &mut self,
        memory: &mut impl PlainMemory,
        warp: usize,
        (lanes, own): (u32, bool),
        row: &Stored<'_>,
    ) {
        if let Some((first, step)) = row.spans.step()
            && step != 0
            && row.spans.count == 1
            && self.passed.is_empty()
            && memory.notes().is_none()
            && self.budget.count(lanes.count_ones())
        {
            return self.commit_stepped(memory, warp, lanes, (first, step), row);
        }
        for lane in each(lanes) {
            if own {
                self.begin_naming();
            }
            self.commit(memory, slot_of(warp, lane), write(row, lane, own), &None);
            if own && let Some(notes) = memory.notes() {
                notes.push(Note::Did(lane as u32));
            }
        }
    }

    /// The same of stores of a granule each, all different ones, with a step, whose messages have been counted. Those that hand nothing over
    /// and are the first there, or behind their threads' own, are written to memory together.
    fn commit_stepped(
        &mut self,
        memory: &mut impl PlainMemory,
        warp: usize,
        lanes: u32,
        (first, step): (Location, u64),
        row: &Stored<'_>,
    ) {
        let Manner { strength, origin, .. } = row.manner;
        let values = &row.values[0];
        let mut bases = [0; 32];
        memory.read_each(lanes, (first, step), &mut bases);
        // Lane by lane, as their granules lie in a row.
        let mut together = if strength == Strength::Weak && step == 4 && first.place_in_row() == 0 {
            let keys = &self.held.warps[warp].keys;
            let single = |lane: usize| {
                self.clock.now += 1;
                let time = NonZeroU64::new(self.clock.now)?;
                Some(Single { time, base: bases[lane], value: values[lane], thread: keys[lane], origin })
            };
            self.histories.add_fresh(first.row(), lanes, single)
        } else {
            0
        };
        let mut at = None;
        for lane in each(lanes & !together) {
            self.histories.fetch(stepped(first, step, lane + AHEAD));
            let location = stepped(first, step, lane);
            if self.carries_nothing(slot_of(warp, lane), location, strength, &None) {
                let place = location.row();
                let history = match at {
                    Some((known, history)) if known == place => history,
                    _ => self.histories.row_for(place, 1),
                };
                at = Some((place, history));
                let store = Store { time: self.clock.now + 1, value: values[lane], origin };
                let by = (self.held.warps[warp].keys[lane], strength);
                let granule = (history, location.place_in_row());
                if self.histories.add_store(granule, || bases[lane], by, store) {
                    self.clock.now += 1;
                    together |= 1 << lane;
                    continue;
                }
            }
            self.become_message(memory, slot_of(warp, lane), write(row, lane, false), &None);
        }
        memory.write_each(together, (first, step), values);
    }
}
