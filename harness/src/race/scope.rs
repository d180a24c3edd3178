//! Which races are asked for: those of the kernels and the memory whose stores are delayed, so that `--kernel` and `--space`
//! mean the same for both.

use bugaroo_protocol::{DelayedSpace, Race, RaceClass, Variation};
use regex::Regex;

/// See the head of this file.
#[derive(Clone, Debug)]
pub struct RaceScope {
    kernel: Option<Regex>,
    space: DelayedSpace,
    within_blocks: bool,
}

/// Whether both threads are of one block.
pub fn is_within_a_block(race: &Race) -> bool {
    matches!(race.class, RaceClass::IntraWarp | RaceClass::Divergence | RaceClass::IntraBlock)
}

impl RaceScope {
    /// What a variation asks for. A regular expression that is none selects everything.
    pub fn of(variation: &Variation) -> RaceScope {
        let kernel = variation.kernel.as_ref().and_then(|pattern| Regex::new(pattern).ok());
        RaceScope { kernel, space: variation.space, within_blocks: variation.within_blocks }
    }

    /// Whether a race is in there: one of its accesses is.
    pub fn takes_in(&self, race: &Race) -> bool {
        let kernel =
            |kernel: &Regex| [&race.first, &race.second].iter().any(|by| kernel.is_match(&by.kernel));
        let space = match self.space {
            DelayedSpace::Both => true,
            DelayedSpace::Shared => race.shared,
            DelayedSpace::Global => !race.shared,
        };
        let near = !self.within_blocks || is_within_a_block(race);
        near && space && self.kernel.as_ref().is_none_or(kernel)
    }
}
