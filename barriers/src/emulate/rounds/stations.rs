//! Where rounds begin whose number is not known: the first instructions of loops in which predicates are decided by assumption, another one
//! in each round.

use rustc_hash::FxHashMap;

use super::seen::Rounds;
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
        self.decided.entry((w, pc)).or_default().extend(symbol);
    }
}

impl Machine<'_> {
    /// The first instructions of the loops that end nobody knows when, ascending, and the most rounds that a warp has gone round in one of which
    /// that was not known.
    pub fn stations(&self) -> (Vec<u32>, u32) {
        let mut turns: FxHashMap<u32, usize> = FxHashMap::default();
        for ((_, pc), symbols) in &self.ways.rounds.decided {
            let most = turns.entry(*pc).or_default();
            *most = symbols.len().max(*most);
        }
        let (mut found, mut most) = (Vec::new(), 0);
        for (pc, count) in turns {
            let Some(first) = self.loop_around(pc) else { continue };
            if count >= ENOUGH {
                found.push(first);
            }
            if !self.ways.rounds.begins(first) {
                most = most.max(count as u32);
            }
        }
        found.sort_unstable();
        found.dedup();
        (found, most)
    }

    /// The first instruction of the innermost loop around an instruction, by where its branches go back.
    fn loop_around(&self, pc: u32) -> Option<u32> {
        let image = &self.set.code.image;
        let defined = |number: &usize| image.functions[*number].defined;
        let function =
            (0..image.functions.len()).filter(defined).find(|f| self.set.code.flows[*f].holds(pc))?;
        let flow = &self.set.code.flows[function];
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
