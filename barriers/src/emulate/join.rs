//! What is known of lanes where ways end, and where they meet: what is known on all of them and equal.

use super::local::Local;
use super::machine::Machine;
use super::registers::{Registers, Why, lanes};
use super::symbol::Symbol;
use bugaroo_simulator::alu::Width;

/// What is known of some lanes.
pub(super) struct State<'a> {
    pub mask: u32,
    pub registers: Registers<'a>,
    pub local: Local,
}

/// Where lanes end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    At(u32),
    Returned,
    Exited,
}

/// States by where their lanes end.
pub(super) type Ends<'a> = Vec<(End, State<'a>)>;

impl<'a> Machine<'a> {
    /// What is known in a frame now, of some lanes.
    pub fn state(&self, w: usize, frame: u32, mask: u32) -> State<'a> {
        let registers = self.frames[frame as usize].registers.clone();
        State { mask, registers, local: self.warps[w].local.clone() }
    }

    /// Takes a state over into the frame.
    pub fn install(&mut self, w: usize, frame: u32, state: &State<'a>) {
        let head = &mut self.frames[frame as usize];
        let rows = &self.set.flows[head.function as usize].rows;
        head.registers.take(&state.registers, state.mask, rows);
        self.warps[w].local.take(&state.local, state.mask);
    }

    /// Joins lanes, as they are in the frame now, into where they end.
    pub fn end(&self, w: usize, frame: u32, ends: &mut Ends<'a>, end: End, mask: u32, why: Why) {
        match ends.iter_mut().find(|(known, _)| *known == end) {
            None => ends.push((end, self.state(w, frame, mask))),
            Some((_, state)) => {
                let now = State {
                    mask,
                    registers: self.frames[frame as usize].registers.clone(),
                    local: self.warps[w].local.clone(),
                };
                self.merge(frame, state, &now, why);
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
        let rows = &self.set.flows[self.frames[frame as usize].function as usize].rows;
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
        let rows = &self.set.flows[self.frames[frame as usize].function as usize].rows;
        let both = into.mask & from.mask;
        let mut changed = both != 0 && into.registers.join(&from.registers, both, rows, why);
        changed |= both != 0 && into.local.join(&from.local, both, why);
        into.registers.take(&from.registers, from.mask & !both, rows);
        into.local.take(&from.local, from.mask & !both);
        into.mask |= from.mask;
        changed
    }
}
