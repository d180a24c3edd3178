//! The shadow word: 64 bits for each element of memory.
//!
//! Source: figure 2 of the paper: block clock, warp clock, thread and state. What they leave free of the 64 bits says which
//! instruction accessed last and what it did, so that a report can name it. The machine does not need that.
//!
//! From the lowest bit: state, action, whether the access left the bytes as they were, thread in the block, block, warp clock,
//! block clock, site. A word of 0 is an element that nobody has accessed.

use bugaroo_semantics::event::{Shape, SiteNumber};
use bugaroo_semantics::history::table::{HistoryMachine, StateNumber};
use bugaroo_semantics::history::word::{ACTION_AT, KEPT_AT, LANE_BITS, STATE, THREAD_AT};
use bugaroo_semantics::history::{Action, Apart, Since};

/// The word of one thread further.
pub(super) const NEXT_THREAD: u64 = 1 << THREAD_AT;
/// Bits that a clock takes at most: more are of no use.
const MOST_CLOCK: u32 = 24;
/// Bits that the two clocks have before the site gets any.
const FEWEST_CLOCKS: u32 = 16;

/// Widths that the user asks for; None: as many bits as the grid leaves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Widths {
    /// Of the block clock.
    pub block_clock: Option<u32>,
    /// Of the warp clock.
    pub warp_clock: Option<u32>,
    /// Of the site; 0: reports do not name the earlier instruction.
    pub site: Option<u32>,
}

/// Where the fields are, for one grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WordLayout {
    thread: u32,
    block: u32,
    warp_clock: u32,
    block_clock: u32,
    site: u32,
    masks: Masks,
}

/// What two words are compared by. The fields need not be shifted for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Masks {
    /// Thread and block.
    thread: u64,
    /// Warp and block.
    warp: u64,
    block: u64,
    clocks: u64,
    block_clock: u64,
}

/// So many bits from there on.
fn field(at: u32, bits: u32) -> u64 {
    u64::MAX.checked_shr(64_u32.saturating_sub(bits)).unwrap_or(0).checked_shl(at).unwrap_or(0)
}

impl WordLayout {
    /// That of a grid whose program has so many instructions; None where 64 bits do not hold it.
    pub fn fit(shape: &Shape, instructions: u64, widths: Widths) -> Option<WordLayout> {
        let thread = bits(u64::from(shape.warps_per_cta) * 32);
        let block = bits(shape.blocks);
        let left = (64 - THREAD_AT).checked_sub(thread + block)?;
        let wanted = |width: Option<u32>| width.unwrap_or(0);
        let clocks = match (widths.block_clock, widths.warp_clock) {
            (Some(block), Some(warp)) => block + warp,
            (one, other) => (wanted(one) + wanted(other)).max(FEWEST_CLOCKS),
        };
        let of_site = bits(instructions + 1);
        let site = widths.site.unwrap_or(if left >= clocks + of_site { of_site } else { 0 });
        let left = left.checked_sub(site)?;
        let warp_clock = match (widths.warp_clock, widths.block_clock) {
            (Some(warp), _) => warp,
            (None, Some(block)) => left.checked_sub(block)?.min(MOST_CLOCK),
            (None, None) => (left / 2).min(MOST_CLOCK),
        };
        let block_clock = widths.block_clock.unwrap_or(left.checked_sub(warp_clock)?.min(MOST_CLOCK));
        let fits = warp_clock + block_clock <= left && warp_clock > 0 && block_clock > 0;
        let clock_at = THREAD_AT + thread + block;
        let masks = Masks {
            thread: field(THREAD_AT, thread + block),
            warp: field(THREAD_AT + LANE_BITS, (thread + block).saturating_sub(LANE_BITS)),
            block: field(THREAD_AT + thread, block),
            clocks: field(clock_at, warp_clock + block_clock),
            block_clock: field(clock_at + warp_clock, block_clock),
        };
        fits.then_some(WordLayout { thread, block, warp_clock, block_clock, site, masks })
    }

    /// Bits of the fields, in the order in which they stand: thread, block, warp clock, block clock, site.
    pub fn widths(self) -> [u32; 5] {
        [self.thread, self.block, self.warp_clock, self.block_clock, self.site]
    }

    /// The word with another instruction; none where there is no room for it.
    pub fn with_site(self, word: u64, site: Option<SiteNumber>) -> u64 {
        let bare = if self.site == 0 { word } else { word & ((1_u64 << self.site_at()) - 1) };
        bare | site.map_or(0, |site| self.site_field(site))
    }

    /// An instruction, where it stands in the word. Those that have no room are not named.
    fn site_field(self, site: SiteNumber) -> u64 {
        let site = Some(u64::from(site) + 1).filter(|site| bits(site + 1) <= self.site);
        // Without any bits for it the place may be behind the word's last.
        site.map_or(0, |site| site << self.site_at())
    }

    /// The highest value of the block clock, and that of the warp clock.
    pub fn latest(self) -> (u32, u32) {
        (((1_u64 << self.block_clock) - 1) as u32, ((1_u64 << self.warp_clock) - 1) as u32)
    }

    fn block_at(self) -> u32 {
        THREAD_AT + self.thread
    }

    fn clock_at(self) -> u32 {
        self.block_at() + self.block
    }

    fn site_at(self) -> u32 {
        self.clock_at() + self.warp_clock + self.block_clock
    }

    /// The word of an access by the first thread of a block, without a state.
    pub fn template(self, now: &Now) -> u64 {
        let clock = u64::from(now.block_clock) << self.warp_clock | u64::from(now.warp_clock);
        self.site_field(now.site)
            | clock << self.clock_at()
            | now.block << self.block_at()
            | u64::from(!now.writes) << KEPT_AT
            | (now.action as u64) << ACTION_AT
    }

    /// Where threads of a warp are one.
    pub fn in_lockstep(self) -> WordLayout {
        WordLayout { masks: Masks { thread: self.masks.warp, ..self.masks }, ..self }
    }

    /// How a thread that accesses stands to the word of the last access, by the numbers of [`Apart`] and [`Since`]. The threads of
    /// both are in their words.
    #[inline(always)]
    fn relation_numbers(self, old: u64, new: u64) -> (u64, u64) {
        let masks = &self.masks;
        let differs = old ^ new;
        let further = |mask: u64| u64::from(differs & mask != 0);
        let later = |mask: u64| u64::from(new & mask > old & mask);
        let apart = further(masks.thread) + further(masks.warp) + further(masks.block);
        (apart, later(masks.clocks) + later(masks.block_clock))
    }

    /// The bits of words that say what the machine does.
    #[inline(always)]
    pub fn relates(self) -> u64 {
        STATE | self.masks.thread | self.masks.clocks
    }

    /// Those of a word of the block's before its last barrier.
    #[inline(always)]
    pub fn relates_behind_barrier(self) -> u64 {
        STATE | self.masks.block | self.masks.block_clock
    }

    /// Whether one word is of a block before a barrier, and the other one of the same block behind it.
    #[inline(always)]
    pub fn is_behind_barrier(self, old: u64, new: u64) -> bool {
        let Masks { block, block_clock, .. } = self.masks;
        (old ^ new) & block == 0 && new & block_clock > old & block_clock
    }

    /// What the machine is told of an access whose word is `new`, behind that of `old`.
    #[inline(always)]
    pub fn input(self, old: u64, new: u64) -> u64 {
        let (apart, since) = self.relation_numbers(old, new);
        (new >> ACTION_AT & 3) << 4 | apart << 2 | since
    }

    /// Whether two words are of threads of two warps, or it does not matter which threads of a warp they are of.
    #[inline(always)]
    pub fn are_of_two_warps(self, old: u64, new: u64) -> bool {
        let Masks { thread, warp, .. } = self.masks;
        (old ^ new) & warp != 0 || thread == warp
    }

    /// How a thread that accesses stands to the word of the last access.
    pub fn relation(self, old: u64, new: u64) -> (Apart, Since) {
        let (apart, since) = self.relation_numbers(old, new);
        (Apart::ALL[apart as usize], Since::ALL[since as usize])
    }

    /// The bits of a word by which it is sure that an access which leaves its state as it is leaves all to come as it would be with
    /// it: whoever of the same threads has accessed last. 0 where it matters who it was.
    pub fn who_matters(self, spread: Apart) -> u64 {
        let Masks { warp, block, clocks, block_clock, .. } = self.masks;
        match spread {
            Apart::Thread => 0,
            Apart::Warp => STATE | warp | clocks,
            Apart::Block => STATE | block | block_clock,
            Apart::Grid => STATE,
        }
    }

    /// Takes the word apart.
    pub fn last(self, word: u64) -> Last {
        let field = |at: u32, bits: u32| word.checked_shr(at).unwrap_or(0) & ((1_u64 << bits) - 1);
        let site = if self.site == 0 { 0 } else { field(self.site_at(), self.site) };
        Last {
            action: Action::ALL[field(ACTION_AT, 2) as usize],
            writes: field(KEPT_AT, 1) == 0,
            thread: field(THREAD_AT, self.thread) as u32,
            block: field(self.block_at(), self.block),
            site: site.checked_sub(1).map(|site| site as SiteNumber),
        }
    }
}

/// Who accesses, and what.
#[derive(Clone, Copy, Debug)]
pub struct Now {
    pub action: Action,
    /// It is no load, however strong.
    pub writes: bool,
    pub block: u64,
    pub block_clock: u32,
    pub warp_clock: u32,
    /// Counted from the program's first one.
    pub site: SiteNumber,
}

/// What a word says of the last access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Last {
    pub action: Action,
    pub writes: bool,
    pub thread: u32,
    pub block: u64,
    /// Counted from the program's first one; None where there was no room.
    pub site: Option<SiteNumber>,
}

/// The state of a word.
#[inline(always)]
pub(super) fn state(word: u64) -> StateNumber {
    (word & STATE) as StateNumber
}

/// A word with this state.
#[inline(always)]
pub(super) fn with_state(word: u64, state: StateNumber) -> u64 {
    word | u64::from(state)
}

/// The lane of the thread in a word.
#[inline(always)]
pub(super) fn lane(word: u64) -> u32 {
    (word >> THREAD_AT) as u32 & ((1 << LANE_BITS) - 1)
}

/// The word of a thread so many further.
#[inline(always)]
pub(super) fn of_thread(template: u64, thread: u32) -> u64 {
    template | u64::from(thread) << THREAD_AT
}

/// The state behind an access whose word is `new`, but for its state.
#[inline(always)]
pub(super) fn step(machine: &HistoryMachine, layout: WordLayout, old: u64, new: u64) -> StateNumber {
    machine.step(state(old), layout.input(old, new) as usize)
}

/// Bits that numbers below this one need.
fn bits(count: u64) -> u32 {
    64 - count.saturating_sub(1).leading_zeros()
}

#[cfg(test)]
mod tests;
