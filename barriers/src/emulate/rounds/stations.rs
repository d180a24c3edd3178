//! Where rounds begin whose number is not known: the first instructions of loops in which predicates are decided by assumption, another one
//! in each round.

use rustc_hash::FxHashMap;

use super::Rounds;
use crate::emulate::flow::successors;
use crate::emulate::machine::Machine;
use crate::emulate::symbol::Symbol;

/// Different predicates that are decided at one instruction of a loop whose end is not known.
const ENOUGH: usize = 3;

impl Rounds<'_> {
    /// Whether warps wait for each other where rounds begin.
    pub fn has_stations(&self) -> bool {
        !self.stations.is_empty()
    }

    /// Whether a round begins at an instruction.
    #[inline(always)]
    pub fn begins(&self, pc: u32) -> bool {
        !self.stations.is_empty() && self.stations[pc as usize]
    }

    /// A predicate of a warp was decided by assumption.
    pub fn decided(&mut self, w: usize, pc: u32, symbol: Option<Symbol>) {
        let found = self.decided.entry((w, pc)).or_default();
        found.extend(symbol);
        self.turns = self.turns.max(found.len() as u32);
    }
}

impl Machine<'_> {
    /// The first instructions of the loops that end nobody knows when, ascending.
    pub fn stations(&self) -> Vec<u32> {
        let often: FxHashMap<u32, ()> = self
            .rounds
            .decided
            .iter()
            .filter(|(_, symbols)| symbols.len() >= ENOUGH)
            .map(|((_, pc), _)| (*pc, ()))
            .collect();
        let mut found: Vec<u32> = often.keys().filter_map(|pc| self.loop_around(*pc)).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The first instruction of the innermost loop around an instruction, by where its branches go back.
    fn loop_around(&self, pc: u32) -> Option<u32> {
        let image = &self.set.image;
        let defined = |number: &usize| image.functions[*number].defined;
        let function = (0..image.functions.len()).filter(defined).find(|f| self.set.flows[*f].holds(pc))?;
        let flow = &self.set.flows[function];
        let mut innermost: Option<(u32, u32)> = None;
        for last in pc..=flow.last() {
            successors(image, last, |first| {
                if first <= pc && flow.holds(first) && first <= last {
                    let length = last - first;
                    if innermost.is_none_or(|(shortest, _)| length < shortest) {
                        innermost = Some((length, first));
                    }
                }
            });
        }
        innermost.map(|(_, first)| first)
    }
}
