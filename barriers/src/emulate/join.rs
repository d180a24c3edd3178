//! What is known of lanes where ways end, and where they meet: what is known on all of them and equal.

use super::local::Local;
use super::machine::Machine;
use super::registers::{Registers, Why, lanes};
use super::states::{End, Ends, State};
use super::symbol::Symbol;
use bugaroo_simulator::alu::Width;

impl<'a> Machine<'a> {
    /// Leaves known of the entry of a loop what all rounds leave that it took when it was run before, if it was entered with no less known then.
    pub fn resume(&self, frame: u32, branch: u32, entry: &mut State<'a>, why: Why) {
        let Some([before, after]) = self.ways.loops.get(&(frame, branch, entry.mask)) else { return };
        let rows = &self.set.code.flows[self.calls.frames[frame as usize].function as usize].rows;
        let grown = entry.registers.covers(&before.registers, entry.mask, rows)
            && entry.local.covers(&before.local, entry.mask);
        if grown {
            self.merge(frame, entry, after, why);
        }
    }

    /// What is known in a frame now, of some lanes.
    pub fn state(&self, w: usize, frame: u32, mask: u32) -> State<'a> {
        let registers = self.calls.frames[frame as usize].registers.clone();
        State { mask, registers, local: self.warps[w].local.clone() }
    }

    /// Takes a state over into the frame.
    pub fn install(&mut self, w: usize, frame: u32, state: &State<'a>) {
        let head = &mut self.calls.frames[frame as usize];
        let rows = &self.set.code.flows[head.function as usize].rows;
        head.registers.take(&state.registers, state.mask, rows);
        self.warps[w].local.take(&state.local, state.mask);
    }

    /// Joins lanes, as they are in the frame now, into where they end.
    pub fn end(&self, w: usize, frame: u32, ends: &mut Ends<'a>, end: End, mask: u32, why: Why) {
        match ends.iter_mut().find(|(known, _)| *known == end) {
            None => ends.push((end, self.state(w, frame, mask))),
            Some((_, state)) => {
                let now = (&self.calls.frames[frame as usize].registers, &self.warps[w].local);
                self.merge_lanes(frame, state, mask, now, why);
            }
        }
    }

    /// Joins where lanes end by way of another arm. A predicate that is known in both arms and not the same is `condition`, under which the other
    /// arm is run, or its negation.
    pub fn join_arms(
        &self,
        frame: u32,
        ends: &mut Ends<'a>,
        others: Ends<'a>,
        condition: Option<Symbol>,
        why: Why,
    ) {
        let rows = &self.set.code.flows[self.calls.frames[frame as usize].function as usize].rows;
        for (end, other) in others {
            let Some((_, state)) = ends.iter_mut().find(|(known, _)| *known == end) else {
                ends.push((end, other));
                continue;
            };
            let both = state.mask & other.mask;
            let mut chosen = Vec::new();
            for (row, _) in rows.iter().filter(|(_, width)| *width == Width::Pred && condition.is_some()) {
                let (a, b, slot) = (&state.registers, &other.registers, *row as i32);
                let differ = a.known(slot) & b.known(slot) & (a.predicate(slot) ^ b.predicate(slot)) & both;
                chosen.push((*row, differ, b.predicate(slot)));
            }
            self.merge(frame, state, &other, why);
            for (row, differ, holds) in chosen {
                for lane in lanes(differ) {
                    let symbol = condition.map(|c| if holds >> lane & 1 != 0 { c } else { c.not() });
                    symbol.into_iter().for_each(|symbol| state.registers.set_symbol(row, lane, symbol));
                }
            }
        }
    }

    /// Joins a state into another; answers whether anything was forgotten.
    pub fn merge(&self, frame: u32, into: &mut State<'a>, from: &State<'a>, why: Why) -> bool {
        self.merge_lanes(frame, into, from.mask, (&from.registers, &from.local), why)
    }

    /// The same of lanes with these registers and local memory.
    fn merge_lanes(
        &self,
        frame: u32,
        into: &mut State<'a>,
        mask: u32,
        (registers, local): (&Registers<'a>, &Local),
        why: Why,
    ) -> bool {
        let rows = &self.set.code.flows[self.calls.frames[frame as usize].function as usize].rows;
        let both = into.mask & mask;
        let mut changed = both != 0 && into.registers.join(registers, both, rows, why);
        changed |= both != 0 && into.local.join(local, both, why);
        into.registers.take(registers, mask & !both, rows);
        into.local.take(local, mask & !both);
        into.mask |= mask;
        changed
    }
}
