//! Locations: where a granule of four bytes is.
//!
//! Shared memory is one space for each block, so an offset alone names nothing: a location says whose it is. Blocks
//! are told apart by the slot of their CTA, as one slot holds one block at a time; when its block ends, what
//! was known of the slot's shared memory ends, too.

/// Bytes of a row, as a power of two.
const ROW: u32 = 7;

/// Which memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum MemorySpace {
    /// Global memory: one for all.
    Global,
    /// Shared memory of one block.
    Shared,
}

/// A granule: four bytes at a multiple of four in a space.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Location {
    /// Which memory.
    pub space: MemorySpace,
    /// The slot of the CTA whose shared memory it is; 0 for global memory.
    pub block: u32,
    /// The address in global memory, or the offset in the block's shared memory, in bytes; a multiple of four.
    pub offset: u64,
}

impl Location {
    /// The granule of a global address.
    #[inline]
    pub fn global(address: u64) -> Location {
        Location { space: MemorySpace::Global, block: 0, offset: address & !3 }
    }

    /// The granule of an offset in the shared memory of the block in a CTA slot.
    #[inline]
    pub fn shared(block: u32, offset: u64) -> Location {
        Location { space: MemorySpace::Shared, block, offset: offset & !3 }
    }

    /// The row of 32 granules that it is in, as a place of its own: the offset counts rows.
    #[inline]
    pub fn row(self) -> Location {
        Location { offset: self.offset >> ROW, ..self }
    }

    /// Which granule of its row it is.
    #[inline]
    pub fn place_in_row(self) -> u32 {
        (self.offset >> 2) as u32 & 31
    }

    /// The location `granules` further on.
    #[inline]
    pub fn plus(self, granules: u64) -> Location {
        Location { offset: self.offset + granules * 4, ..self }
    }
}

/// The bytes that an access touches: up to four granules in a row, all of them whole if more than one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GranuleSpan {
    /// The first granule.
    pub first: Location,
    /// Granules.
    pub count: u8,
    /// The bits of each granule.
    pub mask: u32,
}

impl GranuleSpan {
    /// The span of `size` bytes (1, 2, 4, 8, 16 or 32) whose first one is byte `byte` (0 to 3) of a granule; naturally
    /// aligned.
    #[inline]
    pub fn new(first: Location, byte: u32, size: u32) -> GranuleSpan {
        if size >= 4 {
            return GranuleSpan { first, count: (size / 4) as u8, mask: u32::MAX };
        }
        let mask = ((1u32 << (size * 8)) - 1) << (byte * 8);
        GranuleSpan { first, count: 1, mask }
    }

    /// Its granules, one after the other.
    #[inline]
    pub fn granules(self) -> impl Iterator<Item = Location> {
        (0..u64::from(self.count)).map(move |index| self.first.plus(index))
    }

    fn end(self) -> u64 {
        self.first.offset + u64::from(self.count) * 4
    }

    fn same_memory(self, other: GranuleSpan) -> bool {
        self.first.space == other.first.space && self.first.block == other.first.block
    }

    /// Whether they share a byte.
    #[inline]
    pub fn overlaps(self, other: GranuleSpan) -> bool {
        self.meets(other) && (self.count > 1 || other.count > 1 || self.mask & other.mask != 0)
    }

    /// Whether they share a granule, be it different bytes of it.
    #[inline]
    pub fn meets(self, other: GranuleSpan) -> bool {
        self.first.offset < other.end() && other.first.offset < self.end() && self.same_memory(other)
    }

    /// Whether all bytes of `other` are among its own.
    #[inline]
    pub fn covers(self, other: GranuleSpan) -> bool {
        self.first.offset <= other.first.offset
            && other.end() <= self.end()
            && self.mask & other.mask == other.mask
            && self.same_memory(other)
    }
}

/// The values of a span's granules, in place.
pub type Value = [u32; 4];
