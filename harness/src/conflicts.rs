//! The conflicts of a trial: those of its launches, one for each pair of instructions.

use bugaroo_protocol::{Conflict, Party};

/// Different pairs that are kept of a trial.
const MOST: usize = 512;

/// What a trial's launches told of accesses whose order nothing settles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conflicts {
    /// In the order in which they were first seen; the example is the first launch's.
    pub pairs: Vec<Conflict>,
    /// How often there was one of a pair that is not among these, or an access that was not looked at, for lack of room.
    pub more: u64,
}

/// Whether two accesses are by the same instruction. A line of PTX has one, but for what macros write.
fn same(a: &Party, b: &Party) -> bool {
    (a.site, a.at.ptx_line, &a.at.function, &a.at.instruction)
        == (b.site, b.at.ptx_line, &b.at.function, &b.at.instruction)
}

impl Conflicts {
    /// Takes those of a launch.
    pub(crate) fn take(&mut self, conflicts: Vec<Conflict>, more: u64) {
        self.more += more;
        for conflict in conflicts {
            let alike = |known: &Conflict| {
                (known.kind, known.relation, known.shared)
                    == (conflict.kind, conflict.relation, conflict.shared)
                    && same(&known.first, &conflict.first)
                    && same(&known.second, &conflict.second)
                    && match (&known.between, &conflict.between) {
                        (Some(known), Some(one)) => same(known, one),
                        (None, None) => true,
                        _ => false,
                    }
            };
            match self.pairs.iter().position(alike) {
                Some(known) => self.pairs[known].count += conflict.count,
                None if self.pairs.len() < MOST => self.pairs.push(conflict),
                None => self.more += conflict.count,
            }
        }
    }
}

#[cfg(test)]
mod tests;
