//! Where lanes of a warp access together: the spans of an instruction.

use crate::model::targets::{Targets, overlap};
use bugaroo_semantics::location::{GranuleSpan, Location, MemorySpace};

/// As many rows of granules as a warp mostly touches.
const FEW: u64 = 6;

/// The spans of some lanes: as many granules each, in one memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spans {
    space: MemorySpace,
    /// See [`Location::block`].
    block: u32,
    /// Granules of each lane.
    pub count: u8,
    /// The offsets of the first ones.
    targets: Targets,
}

impl Spans {
    /// Spans of so many granules, with these offsets in a space.
    #[inline]
    pub fn new(space: MemorySpace, block: u32, count: u8, targets: Targets) -> Spans {
        Spans { space, block, count, targets }
    }

    /// That of one lane.
    pub fn of_lane(lane: usize, span: GranuleSpan) -> Spans {
        let Location { space, block, offset } = span.first;
        let step = u64::from(span.count) * 4;
        let targets = Targets::stepped(offset.wrapping_sub(step.wrapping_mul(lane as u64)), step);
        Spans { space, block, count: span.count, targets }
    }

    /// Whether a span can be that of one more lane.
    pub fn has_form_of(&self, span: GranuleSpan) -> bool {
        (self.space, self.block, self.count) == (span.first.space, span.first.block, span.count)
    }

    /// The span of one more lane begins there.
    pub fn add(&mut self, lane: usize, first: Location) {
        if self.targets.step.is_some() && self.targets.address(lane) == first.offset {
            return;
        }
        if self.targets.step.is_some() {
            self.targets.each = std::array::from_fn(|lane| self.targets.address(lane));
            self.targets.step = None;
        }
        self.targets.each[lane] = first.offset;
    }

    #[inline]
    fn bytes(&self) -> u32 {
        u32::from(self.count) * 4
    }

    /// Lane 0's first granule, whether it has one or not, and from one lane to the next, where that is the same for all.
    #[inline(always)]
    pub fn step(&self) -> Option<(Location, u64)> {
        self.targets.step.map(|step| (self.first(0), step))
    }

    /// A lane's first granule.
    #[inline(always)]
    pub fn first(&self, lane: usize) -> Location {
        Location { space: self.space, block: self.block, offset: self.targets.address(lane) }
    }

    /// A lane's span, of these bits of each granule.
    #[inline(always)]
    pub fn span(&self, lane: usize, mask: u32) -> GranuleSpan {
        GranuleSpan { first: self.first(lane), count: self.count, mask }
    }

    /// The rows that hold all granules of these lanes, where they are few.
    pub fn rows(&self, lanes: u32) -> Option<impl Iterator<Item = Location> + use<>> {
        let (first, last) = self.targets.hull(lanes, self.bytes());
        let [first, last] =
            [first, last].map(|offset| Location { space: self.space, block: self.block, offset }.row());
        let rows = last.offset - first.offset;
        (rows < FEW).then(|| (0..=rows).map(move |row| Location { offset: first.offset + row, ..first }))
    }

    fn in_one_memory(&self, other: &Spans) -> bool {
        (self.space, self.block) == (other.space, other.block)
    }

    /// Which of these lanes have a granule of what they have elsewhere.
    #[inline]
    pub fn meeting(&self, other: &Spans, lanes: u32) -> u32 {
        if lanes == 0 || !self.in_one_memory(other) {
            return 0;
        }
        let bytes = (self.bytes(), other.bytes());
        self.which(other, lanes, |one, other| overlap((one, bytes.0), (other, bytes.1)))
    }

    /// Which of these lanes have the very granules that they have elsewhere.
    #[inline]
    pub fn same(&self, other: &Spans, lanes: u32) -> u32 {
        if lanes == 0 || self.count != other.count || !self.in_one_memory(other) {
            return 0;
        }
        self.which(other, lanes, |one, other| one == other)
    }

    /// Of which of these lanes the two offsets are such, which does not change when both are moved.
    #[inline(always)]
    fn which(&self, other: &Spans, lanes: u32, such: impl Fn(u64, u64) -> bool) -> u32 {
        let such = |lane| such(self.targets.address(lane), other.targets.address(lane));
        // Those of all are, or of none, where the steps are the same.
        let alike = self.targets.step.is_some() && self.targets.step == other.targets.step;
        if alike || lanes.is_power_of_two() {
            return if such(lanes.trailing_zeros() as usize) { lanes } else { 0 };
        }
        (0..32).fold(0, |all, lane| all | u32::from(such(lane)) << lane) & lanes
    }
}
