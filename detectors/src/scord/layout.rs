//! Where the fields of a metadata word lie (figure 7).
//!
//! A word of zeros is memory that nobody has accessed: the three flags that the paper initialises to true are stored inverted.

use super::metadata::{FIRST, ScordEntry};

/// Bits of a metadata word.
pub const BITS: u32 = 64;

/// Bits that the flags take: seven, and one more where threads are told apart.
const FLAGS: u32 = 7;

/// How wide each field is, in bits. The flags come on top.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Widths {
    /// Which of the words that share the entry (section IV-B). 0 without the cache.
    pub tag: u32,
    /// Block that accessed last.
    pub block: u32,
    /// Its warp.
    pub warp: u32,
    /// Lane in the warp; 0 where a warp is one. With it comes the flag that the warp had diverged (section VI).
    pub thread: u32,
    /// How often the warp's lanes had come together again.
    pub epoch: u32,
    /// Device fences of the warp.
    pub dev_fence: u32,
    /// Block fences of the warp.
    pub blk_fence: u32,
    /// Barriers of the block.
    pub barrier: u32,
    /// Locks that were held.
    pub bloom: u32,
    /// Instruction that accessed last.
    pub site: u32,
    /// Instruction of the last modification.
    pub wrote: u32,
}

/// What a launch needs of a layout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaunchFacts {
    /// Blocks of the grid.
    pub blocks: u64,
    /// Warps of a block.
    pub warps: u32,
    /// Threads of a warp are told apart.
    pub threads: bool,
    /// Bits of the tag.
    pub tag: u32,
    /// Instructions of the program, if that is known.
    pub sites: Option<u32>,
    /// Some thread may fence.
    pub fences: bool,
    /// Some thread may lock.
    pub locks: bool,
}

/// Where fields are in the word: the lowest bit, and how many there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fields {
    /// Locks that were held.
    pub bloom: (u32, u32),
    /// Flags ([`super::metadata`]).
    pub flags: (u32, u32),
    /// Barriers of the block.
    pub barrier: (u32, u32),
    /// Block fences of the warp.
    pub blk_fence: (u32, u32),
    /// Device fences of the warp.
    pub dev_fence: (u32, u32),
    /// Warp.
    pub warp: (u32, u32),
    /// Block.
    pub block: (u32, u32),
    /// Instruction.
    pub site: (u32, u32),
    /// Instruction of the last modification.
    pub wrote: (u32, u32),
}

/// A field's place in the word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Field {
    shift: u32,
    mask: u32,
}

impl Field {
    #[inline]
    fn get(self, word: u64) -> u32 {
        (word >> self.shift) as u32 & self.mask
    }

    #[inline]
    fn put(self, value: u32) -> u64 {
        u64::from(value & self.mask) << self.shift
    }
}

/// Where each field lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryLayout {
    widths: Widths,
    bloom: Field,
    flags: Field,
    barrier: Field,
    blk_fence: Field,
    dev_fence: Field,
    warp: Field,
    block: Field,
    tag: Field,
    thread: Field,
    epoch: Field,
    site: Field,
    wrote: Field,
}

impl EntryLayout {
    /// Fields of these widths, from the low end in the order of figure 7; what the paper's base design has not comes above. None
    /// where they take more than a word, or two instructions are not as wide as each other.
    pub fn new(widths: Widths) -> Option<EntryLayout> {
        let mut used = 0;
        let mut field = |bits: u32| {
            let shift = used;
            used += bits;
            // A field without bits may not be shifted out of the word.
            let mask = ((1u64 << bits.min(32)) - 1) as u32;
            (bits <= 32).then_some(Field { shift: if bits == 0 { 0 } else { shift }, mask })
        };
        let layout = EntryLayout {
            widths,
            bloom: field(widths.bloom)?,
            flags: field(flags_of(&widths))?,
            barrier: field(widths.barrier)?,
            blk_fence: field(widths.blk_fence)?,
            dev_fence: field(widths.dev_fence)?,
            warp: field(widths.warp)?,
            block: field(widths.block)?,
            tag: field(widths.tag)?,
            thread: field(widths.thread)?,
            epoch: field(widths.epoch)?,
            site: field(widths.site)?,
            wrote: field(widths.wrote)?,
        };
        let sites = widths.wrote == 0 || widths.wrote == widths.site;
        (used <= BITS && sites && matches!(widths.bloom, 0 | 8 | 16)).then_some(layout)
    }

    /// That of figure 7. With `threads`, the lane takes the unused bits and the flag of divergence a bit of the barrier's
    /// (section VI).
    pub fn paper(threads: bool) -> EntryLayout {
        let widths = Widths {
            tag: 4,
            block: 7,
            warp: 5,
            thread: if threads { 5 } else { 0 },
            epoch: 0,
            dev_fence: 6,
            blk_fence: 6,
            barrier: if threads { 7 } else { 8 },
            bloom: 16,
            site: 0,
            wrote: 0,
        };
        EntryLayout::of(widths)
    }

    /// What suits a launch best. Each number that names an accessor has all the bits that it needs, if there are so many. Fences, barriers
    /// and locks have none where there are none, else the paper's. The rest goes to fences and barriers, to the
    /// instruction if all of them fit, to that of the last modification if there is room for it, too, and then to fences and barriers
    /// again.
    ///
    /// Block numbers have as many bits without fences and locks as with them, so that a grid can change its layout.
    pub fn fit(facts: &LaunchFacts) -> EntryLayout {
        let mut widths = Widths {
            tag: facts.tag,
            warp: bits_for(u64::from(facts.warps)),
            thread: if facts.threads { 5 } else { 0 },
            epoch: if facts.threads { 2 } else { 0 },
            dev_fence: 6,
            blk_fence: 6,
            barrier: 8,
            bloom: 8,
            ..Widths::default()
        };
        widths.block = bits_for(facts.blocks).min(32).min(BITS.saturating_sub(taken(&widths)));
        if !facts.fences {
            (widths.dev_fence, widths.blk_fence) = (0, 0);
        }
        widths.bloom = if facts.locks { 16 } else { 0 };
        if taken(&widths) > BITS {
            widths.bloom = 8;
        }
        let fences = |most: u32| if facts.fences { most } else { 0 };
        widths.grow(fences(8), 10, if facts.threads { 8 } else { 0 });
        let left = BITS - taken(&widths);
        widths.site = match facts.sites {
            // One number more: none of them.
            Some(sites) => Some(bits_for(u64::from(sites) + 1)).filter(|bits| *bits <= left).unwrap_or(0),
            // Instructions with larger numbers are not named.
            None => (if left < 16 { left } else { left / 2 }).min(16),
        };
        widths.wrote = if left >= 2 * widths.site { widths.site } else { 0 };
        widths.grow(fences(12), 16, if facts.threads { 12 } else { 0 });
        EntryLayout::of(widths)
    }

    /// Of widths that fit.
    fn of(widths: Widths) -> EntryLayout {
        EntryLayout::new(widths).expect("the sum was kept to a word")
    }

    /// Where the fields are that a word has without the cache and with warps that are one.
    pub fn fields(&self) -> Fields {
        let of = |field: Field| (field.shift, field.mask.count_ones());
        Fields {
            bloom: of(self.bloom),
            flags: of(self.flags),
            barrier: of(self.barrier),
            blk_fence: of(self.blk_fence),
            dev_fence: of(self.dev_fence),
            warp: of(self.warp),
            block: of(self.block),
            site: of(self.site),
            wrote: of(self.wrote),
        }
    }

    /// Whether the instruction of the last modification is kept beside that of the last access.
    #[inline]
    pub fn keeps_both(&self) -> bool {
        self.wrote.mask != 0
    }

    /// How wide the fields are.
    pub fn widths(&self) -> &Widths {
        &self.widths
    }

    /// The word of an entry; numbers that do not fit wrap.
    #[inline]
    pub fn pack(&self, entry: &ScordEntry) -> u64 {
        self.bloom.put(u32::from(entry.bloom))
            | self.flags.put(u32::from(entry.flags ^ FIRST))
            | self.barrier.put(entry.barrier)
            | self.blk_fence.put(entry.blk_fence)
            | self.dev_fence.put(entry.dev_fence)
            | self.warp.put(entry.warp)
            | self.block.put(entry.block)
            | self.tag.put(entry.tag)
            | self.thread.put(entry.thread)
            | self.epoch.put(entry.epoch)
            | self.site.put(entry.site)
            | self.wrote.put(entry.wrote)
    }

    /// The entry of a word.
    #[inline]
    pub fn unpack(&self, word: u64) -> ScordEntry {
        ScordEntry {
            bloom: self.bloom.get(word) as u16,
            flags: self.flags.get(word) as u8 ^ FIRST,
            barrier: self.barrier.get(word),
            blk_fence: self.blk_fence.get(word),
            dev_fence: self.dev_fence.get(word),
            warp: self.warp.get(word),
            block: self.block.get(word),
            tag: self.tag.get(word),
            thread: self.thread.get(word),
            epoch: self.epoch.get(word),
            site: self.site.get(word),
            wrote: self.wrote.get(word),
        }
    }

    /// What of a word says which thread of the warp.
    #[inline]
    pub fn thread_bits(&self) -> u64 {
        self.thread.put(u32::MAX)
    }

    /// A lane as a word has it.
    #[inline]
    pub fn thread(&self, lane: u32) -> u64 {
        self.thread.put(lane)
    }

    /// The number of an instruction in the site field: the highest one stands for all that do not fit.
    #[inline]
    pub fn site(&self, instruction: u32) -> u32 {
        instruction.min(self.site.mask)
    }

    /// The instruction that a site field names.
    pub fn instruction(&self, site: u32) -> Option<u32> {
        (site < self.site.mask).then_some(site)
    }

    /// The instruction that the field of the last modification names.
    pub fn writer(&self, wrote: u32) -> Option<u32> {
        (wrote < self.wrote.mask).then_some(wrote)
    }

    /// A block's number in an entry.
    #[inline]
    pub fn block(&self, block: u64) -> u32 {
        block as u32 & self.block.mask
    }

    /// Numbers of blocks that are told apart.
    pub fn blocks(&self) -> u64 {
        u64::from(self.block.mask) + 1
    }

    /// The numbers of fences and barriers as an entry keeps them.
    #[inline]
    pub fn dev_fence(&self, count: u32) -> u32 {
        count & self.dev_fence.mask
    }

    /// As [`EntryLayout::dev_fence`].
    #[inline]
    pub fn blk_fence(&self, count: u32) -> u32 {
        count & self.blk_fence.mask
    }

    /// As [`EntryLayout::dev_fence`].
    #[inline]
    pub fn barrier(&self, count: u32) -> u32 {
        count & self.barrier.mask
    }

    /// As [`EntryLayout::dev_fence`].
    #[inline]
    pub fn epoch(&self, count: u32) -> u32 {
        count & self.epoch.mask
    }
}

impl Widths {
    /// Widens fences, barrier and epoch by turns up to these widths, while there are bits.
    fn grow(&mut self, fences: u32, barrier: u32, epoch: u32) {
        let mut left = BITS.saturating_sub(taken(self));
        loop {
            let before = left;
            for (bits, most) in [
                (&mut self.dev_fence, fences),
                (&mut self.blk_fence, fences),
                (&mut self.barrier, barrier),
                (&mut self.epoch, epoch),
            ] {
                if *bits < most && left > 0 {
                    *bits += 1;
                    left -= 1;
                }
            }
            if left == before {
                return;
            }
        }
    }
}

fn flags_of(widths: &Widths) -> u32 {
    if widths.thread > 0 { FLAGS + 1 } else { FLAGS }
}

/// Bits that fields and flags take.
fn taken(w: &Widths) -> u32 {
    let accessor = w.tag + w.block + w.warp + w.thread + w.epoch + w.site + w.wrote;
    accessor + w.dev_fence + w.blk_fence + w.barrier + w.bloom + flags_of(w)
}

/// Bits for so many numbers.
fn bits_for(numbers: u64) -> u32 {
    64 - numbers.saturating_sub(1).leading_zeros()
}
