//! Which pairs of `fence.sc` are in the one order in every execution with the same reads and the same coherence order.

use std::collections::HashMap;

use bugaroo_ptx::types::Scope;
use bugaroo_semantics::event::WhoseBytes;

use crate::axioms::{Axioms, Matrix, What};

impl Axioms {
    /// Whether it reaches the whole device.
    pub fn is_wide(&self, fence: usize) -> bool {
        matches!(self.scope(fence), Some(Scope::Gpu | Scope::Sys))
    }

    /// Adds to base causality order the pairs that communication forces, until there are no more.
    pub fn force(&self, base: &mut Matrix) {
        let n = self.nodes.len();
        let sc = |node: &usize| matches!(self.nodes[*node].what, What::Fence { sc: true, .. });
        let fences: Vec<usize> = (0..n).filter(sc).filter(|node| self.is_wide(*node)).collect();
        if fences.len() < 2 {
            return;
        }
        let communicates = self.communication();
        loop {
            let mut new = Vec::new();
            for (index, b) in fences.iter().enumerate() {
                for a in &fences[..index] {
                    let works = (self.nodes[*a].agent.work(), self.nodes[*b].agent.work());
                    if works.0 != works.1 || base.has(*a, *b) {
                        continue;
                    }
                    let forced = communicates
                        .iter()
                        .any(|(earlier, later)| base.has(*a, *earlier) && base.has(*later, *b));
                    if forced {
                        new.push((*a, *b));
                    }
                }
            }
            if new.is_empty() {
                return;
            }
            new.iter().for_each(|(a, b)| base.set(*a, *b));
            base.close(n);
        }
    }

    /// Pairs of accesses of a byte of which the first is read or overwritten by the second, or reads what that has overwritten, in
    /// one step or more.
    fn communication(&self) -> Vec<(usize, usize)> {
        // By byte: accesses by where they are in coherence order; a read is right behind what it reads.
        let mut places: HashMap<(WhoseBytes, u64), Vec<(usize, usize)>> = HashMap::new();
        for (byte, writes) in &self.coherence {
            let all = places.entry(*byte).or_default();
            all.extend(writes.iter().enumerate().map(|(index, write)| (2 * index + 2, *write)));
        }
        for (me, node) in self.nodes.iter().enumerate() {
            let What::Memory { memory, address, how, .. } = &node.what else { continue };
            for (index, source) in node.from.iter().enumerate().filter(|_| !how.own && !self.writes(me)) {
                let byte = (*memory, address + index as u64);
                let order = self.coherence.get(&byte);
                let at = match source {
                    None => Some(0),
                    Some(write) => {
                        order.and_then(|order| order.iter().position(|other| other == write)).map(|at| at + 1)
                    }
                };
                if let Some(at) = at {
                    places.entry(byte).or_default().push((2 * at + 1, me));
                }
            }
        }
        let mut pairs = Vec::new();
        for all in places.values() {
            for (at, a) in all {
                pairs.extend(all.iter().filter(|(other, b)| other > at && b != a).map(|(_, b)| (*a, *b)));
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }
}
