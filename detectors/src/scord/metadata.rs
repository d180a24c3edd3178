//! What the metadata of a piece of memory says, and what an access makes of it (section IV-A).

/// It has been written.
pub const MODIFIED: u8 = 1;
/// Other warps of the block have read it.
pub const BLK_SHARED: u8 = 2;
/// Other blocks have read it.
pub const DEV_SHARED: u8 = 4;
/// All three of these: nobody has accessed it.
pub const FIRST: u8 = MODIFIED | BLK_SHARED | DEV_SHARED;
/// It was last accessed by an atomic.
pub const IS_ATOM: u8 = 8;
/// The scope of that: the device, else the block.
pub const DEVICE_SCOPE: u8 = 16;
/// All accesses were strong.
pub const STRONG: u8 = 32;
/// The modification is ordered: see [`Written`].
pub const ORDERED: u8 = 64;
/// Some lanes of the warp were not there when it was accessed.
pub const DIVERGED: u8 = 128;

/// An entry, its fields apart. Numbers are as wide as the layout has them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScordEntry {
    /// The flags above.
    pub flags: u8,
    /// Who accessed last.
    pub block: u32,
    /// The warp in the block.
    pub warp: u32,
    /// The lane.
    pub thread: u32,
    /// How often lanes of the warp had come together again by then.
    pub epoch: u32,
    /// How often the warp had fenced for the device.
    pub dev_fence: u32,
    /// How often for the block.
    pub blk_fence: u32,
    /// How often the block had met at a barrier.
    pub barrier: u32,
    /// Locks that were held.
    pub bloom: u16,
    /// The instruction.
    pub site: u32,
    /// The instruction of the last modification, while there is one that an access could race with.
    pub wrote: u32,
    /// Which of the words that share the entry.
    pub tag: u32,
}

/// What is known of the last modification. The paper knows two of these; the others are what `Modified` and `Ordered` say together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// There is none that an access could race with.
    No,
    /// It is by the warp that accessed last, and ordered as far as that one's fences say.
    Last,
    /// It is ordered before all that threads of the block do from here on, and nobody else.
    InBlock,
    /// A fence of the device behind it orders it before everybody, so far as both are strong.
    ByFence,
}

impl ScordEntry {
    /// Whether nobody has accessed it.
    #[inline]
    pub fn is_initial(&self) -> bool {
        self.flags & FIRST == FIRST
    }

    /// Whether a flag is set, or one of several.
    #[inline]
    pub fn has(&self, flags: u8) -> bool {
        self.flags & flags != 0
    }

    /// Whether there is a modification that an access could race with, and all accesses since were its own warp's.
    pub fn is_alone(&self) -> bool {
        !self.has(BLK_SHARED | DEV_SHARED) && matches!(self.written(), Written::Last | Written::ByFence)
    }

    /// What is known of the last modification.
    #[inline]
    pub fn written(&self) -> Written {
        match (self.has(MODIFIED), self.has(ORDERED)) {
            (false, false) => Written::No,
            (true, false) => Written::Last,
            (true, true) => Written::InBlock,
            (false, true) => Written::ByFence,
        }
    }
}
