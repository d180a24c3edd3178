//! The 64-bit word that describes a site to the handlers; an immediate in the injected code.

/// The buffer that an access goes to, as far as the instruction says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BufferSpace {
    /// Global memory.
    Global = 0,
    /// Shared memory.
    Shared = 1,
    /// Decided at run time by the address.
    Generic = 2,
}

/// A site, as the handlers see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SiteWord {
    /// Its number in the module: what the coin and the flags table know it by.
    pub site: u32,
    /// log2 of the bytes of one element, 0 to 3.
    pub width_log2: u8,
    /// Which buffer.
    pub space: BufferSpace,
    /// A strong store (volatile, relaxed): drains after a bounded while.
    pub strong: bool,
    /// A store or atomic that is a release (everything drains first), or an `mmio` access, which is
    /// neither delayed nor forwarded.
    pub drains: bool,
    /// log2 of the number of elements, 0 to 3.
    pub elements_log2: u8,
    /// Which element of the vector this call is for.
    pub element: u8,
    /// For stores: its place among the module's store sites, which have a coin counter each.
    pub slot: u32,
}

impl SiteWord {
    /// Bit positions, lowest first: site (32 bits), width (2), space (2), strong, drains, elements (2),
    /// element (3), slot (the rest).
    pub const WIDTH_SHIFT: u32 = 32;
    /// See [`Self::WIDTH_SHIFT`].
    pub const SPACE_SHIFT: u32 = 34;
    /// See [`Self::WIDTH_SHIFT`].
    pub const STRONG_SHIFT: u32 = 36;
    /// See [`Self::WIDTH_SHIFT`].
    pub const DRAINS_SHIFT: u32 = 37;
    /// See [`Self::WIDTH_SHIFT`].
    pub const ELEMENTS_SHIFT: u32 = 38;
    /// See [`Self::WIDTH_SHIFT`].
    pub const ELEMENT_SHIFT: u32 = 40;
    /// See [`Self::WIDTH_SHIFT`].
    pub const SLOT_SHIFT: u32 = 43;
    /// Most store sites that a module can have.
    pub const MAX_SLOTS: u32 = 1 << (64 - Self::SLOT_SHIFT);

    /// The word.
    ///
    /// # Panics
    /// When a field does not fit its bits: widths and counts come from PTX types, which fit, and the
    /// injector refuses modules with more store sites than [`Self::MAX_SLOTS`].
    pub fn encode(self) -> u64 {
        assert!(self.width_log2 < 4 && self.elements_log2 < 4 && self.element < 8, "{self:?}");
        assert!(self.slot < Self::MAX_SLOTS, "{self:?}");
        u64::from(self.site)
            | u64::from(self.width_log2) << Self::WIDTH_SHIFT
            | (self.space as u64) << Self::SPACE_SHIFT
            | u64::from(self.strong) << Self::STRONG_SHIFT
            | u64::from(self.drains) << Self::DRAINS_SHIFT
            | u64::from(self.elements_log2) << Self::ELEMENTS_SHIFT
            | u64::from(self.element) << Self::ELEMENT_SHIFT
            | u64::from(self.slot) << Self::SLOT_SHIFT
    }

    /// Reads what [`Self::encode`] wrote; None when the space's bits name none.
    pub fn decode(word: u64) -> Option<Self> {
        let field = |shift: u32, mask: u64| ((word >> shift) & mask) as u8;
        Some(SiteWord {
            site: word as u32,
            width_log2: field(Self::WIDTH_SHIFT, 3),
            space: match field(Self::SPACE_SHIFT, 3) {
                0 => BufferSpace::Global,
                1 => BufferSpace::Shared,
                2 => BufferSpace::Generic,
                _ => return None,
            },
            strong: field(Self::STRONG_SHIFT, 1) == 1,
            drains: field(Self::DRAINS_SHIFT, 1) == 1,
            elements_log2: field(Self::ELEMENTS_SHIFT, 3),
            element: field(Self::ELEMENT_SHIFT, 7),
            slot: (word >> Self::SLOT_SHIFT) as u32,
        })
    }
}

#[cfg(test)]
mod tests;
