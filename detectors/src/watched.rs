//! Which accesses of a grid a detector looks at. For detectors whose orders come from barriers and fences, or from accesses that they go by
//! whether or not they look at them: an access that is left out can neither race nor be the reason of a false report.

use bugaroo_semantics::splitmix::{GOLDEN, mix};
use std::ops::Range;

use bugaroo_semantics::event::{Access, WhoseBytes};

/// Numbers, by ranges that neither touch nor overlap, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Numbers(Vec<Range<u64>>);

impl Numbers {
    /// All that there are.
    pub fn all() -> Numbers {
        Numbers::of(std::iter::once(0..u64::MAX))
    }

    /// Those in any of these ranges.
    pub fn of(ranges: impl IntoIterator<Item = Range<u64>>) -> Numbers {
        let mut sorted: Vec<Range<u64>> = ranges.into_iter().filter(|range| !range.is_empty()).collect();
        sorted.sort_by_key(|range| range.start);
        let mut all: Vec<Range<u64>> = Vec::new();
        for range in sorted {
            match all.last_mut() {
                Some(last) if last.end >= range.start => last.end = last.end.max(range.end),
                _ => all.push(range),
            }
        }
        Numbers(all)
    }

    /// The ranges, in order; none of them is empty.
    pub fn ranges(&self) -> &[Range<u64>] {
        &self.0
    }

    /// The first range that ends behind a number.
    #[inline]
    fn at_or_behind(&self, number: u64) -> Option<&Range<u64>> {
        self.0.get(self.0.partition_point(|range| range.end <= number))
    }

    /// Whether a number is among them.
    #[inline]
    pub fn has(&self, number: u64) -> bool {
        self.at_or_behind(number).is_some_and(|range| range.start <= number)
    }

    /// Whether one of `count` numbers from `first` on is among them.
    #[inline]
    pub fn meet(&self, first: u64, count: u64) -> bool {
        self.at_or_behind(first).is_some_and(|range| range.start < first.saturating_add(count))
    }
}

/// What of a grid is looked at: accesses that all of this allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watched {
    /// Bytes of global memory.
    pub global: Numbers,
    /// Bytes of a block's shared memory.
    pub shared: Numbers,
    /// Blocks, by linear index in the grid.
    pub blocks: Numbers,
    /// Warps, by index in the block.
    pub warps: Numbers,
    /// Of the blocks one in so many, and by what they are chosen.
    pub one_block_in: Option<(u64, u64)>,
}

impl Default for Watched {
    fn default() -> Watched {
        Watched {
            global: Numbers::all(),
            shared: Numbers::all(),
            blocks: Numbers::all(),
            warps: Numbers::all(),
            one_block_in: None,
        }
    }
}

impl Watched {
    /// Nothing at all.
    pub fn nothing() -> Watched {
        Watched { blocks: Numbers::of([]), ..Watched::default() }
    }

    /// Whether a block is chosen.
    pub fn has_block(&self, block: u64) -> bool {
        let chosen = |(count, seed): (u64, u64)| {
            mix(block.wrapping_add(seed).wrapping_mul(GOLDEN)).is_multiple_of(count.max(1))
        };
        self.blocks.has(block) && self.one_block_in.is_none_or(chosen)
    }

    /// The lanes of an access that are looked at.
    pub fn lanes(&self, access: &Access<'_>) -> u32 {
        let by = access.by;
        if !self.warps.has(u64::from(by.first / 32)) || !self.has_block(by.block) {
            return 0;
        }
        let memory = match access.memory {
            WhoseBytes::Global => &self.global,
            WhoseBytes::Shared(_) => &self.shared,
        };
        let bytes = u64::from(access.bytes());
        by.each()
            .filter(|lane| memory.meet(access.address(*lane), bytes))
            .fold(0, |lanes, lane| lanes | 1 << lane)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_put_together() {
        let some = Numbers::of([8..9, 2..4, 4..6, 3..5, 12..12]);
        assert_eq!(some, Numbers(vec![2..6, 8..9]));
        let among: Vec<u64> = (0..12).filter(|number| some.has(*number)).collect();
        assert_eq!(among, [2, 3, 4, 5, 8]);
        assert!(
            some.meet(6, 3) && !some.meet(6, 2) && some.meet(0, 3) && !some.meet(0, 2) && !some.meet(9, 99)
        );
        assert!(Numbers::all().has(u64::MAX - 1) && !Numbers::of([]).meet(0, u64::MAX));
    }

    /// One in four, about, and others with another seed.
    #[test]
    fn blocks_are_sampled() {
        let chosen = |seed| {
            let watched = Watched { one_block_in: Some((4, seed)), ..Watched::default() };
            (0..4096).filter(|block| watched.has_block(*block)).collect::<Vec<u64>>()
        };
        assert!((900..1150).contains(&chosen(1).len()), "{}", chosen(1).len());
        let both = chosen(1).iter().filter(|block| chosen(2).contains(block)).count();
        assert!((200..320).contains(&both), "{both}");
        assert!(!Watched::nothing().has_block(0));
    }
}
