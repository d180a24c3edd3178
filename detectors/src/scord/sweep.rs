//! One access of a warp, over the metadata of all that its lanes touch.
//!
//! Words that are alike are judged once: those of neighbouring lanes mostly are.

use bugaroo_semantics::event::{Access, Addresses, each};

use super::cache::Metadata;
use super::check::{Now, RaceCondition, ScordVerdict, SinceAccess, check, is_own};
use super::fences::ScordBlocks;
use super::held::Held;
use super::layout::EntryLayout;
use super::metadata::{DIVERGED, ScordEntry};
use super::raced::{Race, Sites};
use super::report::{self, Reports};
use super::update::update;

/// What came of a word.
#[derive(Clone, Copy, Debug)]
struct Judged {
    old: u64,
    new: u64,
    race: Option<RaceCondition>,
    /// The two are in program order.
    own: bool,
    /// Of threads told apart: whether the word named the thread that accesses.
    same_thread: bool,
}

/// The access and what it is judged by.
pub(super) struct Sweep<'a> {
    pub access: &'a Access<'a>,
    pub by: Judge<'a>,
    pub reports: &'a mut Reports,
    /// Locks, where lanes hold different ones.
    pub held: Option<&'a Held>,
    pub now: Now,
    last: Option<Judged>,
    /// What a word is that nobody else has accessed, but for the thread. So it stays while the warp does the same again, and nothing that
    /// orders comes between.
    fresh: u64,
    /// Lanes whose race was told.
    told: u32,
    /// Where lane 0's access is, or would be, where lanes are next to each other; else the only lane that there is.
    lanes: Result<u64, u32>,
}

/// What accesses are judged by.
pub(super) struct Judge<'a> {
    pub layout: &'a EntryLayout,
    pub blocks: &'a ScordBlocks,
    pub sites: &'a Sites,
}

impl<'a> Sweep<'a> {
    /// Of an access as `now` says it.
    pub fn new(
        access: &'a Access<'a>,
        now: Now,
        (layout, blocks, sites): (&'a EntryLayout, &'a ScordBlocks, &'a Sites),
        held: Option<&'a Held>,
        reports: &'a mut Reports,
    ) -> Sweep<'a> {
        let fresh = fresh(layout, &now);
        Sweep {
            access,
            by: Judge { layout, blocks, sites },
            reports,
            held,
            now,
            last: None,
            fresh,
            told: 0,
            lanes: Err(0),
        }
    }

    /// Checks it and notes it, for these lanes of it.
    pub fn run(&mut self, lanes: u32, metadata: &mut Metadata) {
        let bytes = u64::from(self.access.bytes());
        match self.access.at {
            Addresses::Consecutive(first) => {
                debug_assert!(bytes.is_power_of_two(), "elements of two's powers, and as many");
                self.lanes = Ok(first);
                let mut left = lanes;
                while left != 0 {
                    let low = left.trailing_zeros();
                    let count = (left >> low).trailing_ones();
                    let start = first.wrapping_add(u64::from(low) * bytes);
                    self.span(start, u64::from(count) * bytes, metadata);
                    left &= !(u32::MAX >> (32 - count) << low);
                }
            }
            // Lanes at one place are one access, but for locks of their own.
            Addresses::Same(address) if self.held.is_none() => {
                self.lanes = Err(lanes.trailing_zeros());
                self.span(address, bytes, metadata);
            }
            Addresses::Same(_) | Addresses::Each(_) => {
                for lane in each(lanes) {
                    if self.apart() && self.met(lanes, lane) {
                        continue;
                    }
                    self.lanes = Err(lane);
                    self.span(self.access.address(lane), bytes, metadata);
                }
            }
        }
    }

    /// Whether lanes of this very access are to the metadata as threads of their own.
    #[inline]
    fn apart(&self) -> bool {
        self.now.who.flags & DIVERGED != 0
    }

    /// Whether a lane before this one is at the same place: lanes of one instruction do not race with each other.
    fn met(&self, lanes: u32, lane: u32) -> bool {
        let at = self.access.address(lane);
        each(lanes & !(u32::MAX << lane)).any(|before| self.access.address(before) == at)
    }

    /// Bytes in a row, one after the other.
    #[inline]
    fn span(&mut self, start: u64, bytes: u64, metadata: &mut Metadata) {
        let shift = self.access.bytes().trailing_zeros().min(2);
        // All bytes of an access are there, so none is beyond the last address.
        let last = start + (bytes - 1);
        let mut at = start;
        loop {
            let end = (at | 127).min(last);
            let by_word = self.held.is_none() && self.by.layout.thread_bits() == 0;
            // Without tags: what has one has no such rows.
            if by_word
                && end - at == 127
                && let Some(word) = metadata.same(at)
            {
                self.row(word, at);
                if end == last {
                    return;
                }
                at = end + 1;
                continue;
            }
            let row = metadata.row(at, shift);
            if row.tag != self.now.who.tag {
                self.now.who.tag = row.tag;
                self.last = None;
                self.fresh = fresh(self.by.layout, &self.now);
            }
            let shift = row.shift;
            let (low, high) = ((at & 127) >> shift, (end & 127) >> shift);
            let words = &mut row.words[low as usize..=high as usize];
            let first = (at & !127) + (low << shift);
            let same = match words {
                [word] if self.held.is_none() => {
                    self.one(word, first, shift, self.lane(at));
                    false
                }
                _ if !by_word => {
                    self.by_lane(words, first, shift);
                    false
                }
                _ => self.by_word(words, first, shift),
            };
            if same && shift == 2 && alike(row.words, row.words[0]) == row.words.len() {
                metadata.settle(at);
            }
            if end == last {
                return;
            }
            at = end + 1;
        }
    }

    /// All words of a row, which are the same and do not tell lanes apart.
    #[inline]
    fn row(&mut self, word: &mut u64, first: u64) {
        let old = *word;
        if old == 0 || old == self.fresh {
            *word = self.fresh;
            return;
        }
        let judged = match self.last {
            Some(last) if last.old == old => last,
            _ => self.judge(old),
        };
        self.last = Some(judged);
        *word = judged.new;
        if judged.race.is_some() {
            self.report(&judged, first, 2, (self.lane(first), self.lane(first + 124)));
        }
    }

    /// Words that do not tell lanes apart. Whether they went the same way.
    #[inline]
    fn by_word(&mut self, words: &mut [u64], first: u64, shift: u32) -> bool {
        let (mut from, mut ways) = (0, 0);
        while from < words.len() {
            let old = words[from];
            let to = from + alike(&words[from..], old);
            ways += 1;
            if old == 0 || old == self.fresh {
                if old == 0 {
                    words[from..to].fill(self.fresh);
                }
                from = to;
                continue;
            }
            let judged = match self.last {
                Some(last) if last.old == old => last,
                _ => self.judge(old),
            };
            self.last = Some(judged);
            if judged.new != old {
                words[from..to].fill(judged.new);
            }
            if judged.race.is_some() {
                let at = |index: usize| first + ((index as u64) << shift);
                let lanes = (self.lane(at(from)), self.lane(at(to - 1)));
                self.report(&judged, at(from), shift, lanes);
            }
            from = to;
        }
        ways == 1
    }

    /// Words of threads that are told apart, or that hold different locks.
    fn by_lane(&mut self, words: &mut [u64], first: u64, shift: u32) {
        for (index, word) in words.iter_mut().enumerate() {
            let at = first + ((index as u64) << shift);
            let lane = self.lane(at);
            if let Some(held) = self.held {
                let bits = self.by.layout.widths().bloom;
                self.now.who.bloom = held.bloom(lane, bits, self.now.who.block);
                self.last = None;
                self.fresh = fresh(self.by.layout, &self.now);
            }
            self.one(word, at, shift, lane);
        }
    }

    /// One word of one lane.
    #[inline]
    fn one(&mut self, word: &mut u64, at: u64, shift: u32, lane: u32) {
        let (threads, mine) = (self.by.layout.thread_bits(), self.by.layout.thread(lane));
        let old = *word;
        if old == 0 || old == self.fresh | mine {
            *word = self.fresh | mine;
            return;
        }
        let same_thread = old & threads == mine;
        let judged = match self.last {
            Some(last) if (last.old ^ old) & !threads == 0 && last.same_thread == same_thread => last,
            _ => {
                self.now.who.thread = if threads == 0 { 0 } else { lane };
                let judged = Judged { same_thread, ..self.judge(old) };
                self.last = Some(judged);
                judged
            }
        };
        *word = judged.new & !threads | mine;
        if judged.race.is_some() {
            self.report(&Judged { old, ..judged }, at, shift, (lane, lane));
        }
    }

    /// The lane that touches an address.
    #[inline]
    fn lane(&self, at: u64) -> u32 {
        match self.lanes {
            // A piece of memory may begin before the first lane's access.
            Ok(first) => ((at.max(first) - first) >> self.access.bytes().trailing_zeros()) as u32 & 31,
            Err(lane) => lane,
        }
    }

    fn judge(&self, old: u64) -> Judged {
        let md = self.by.layout.unpack(old);
        let since = self.by.blocks.since(self.by.layout, &md, self.now.who.block);
        let verdict = check(&md, &self.now, since);
        let new = self.by.layout.pack(&update(&md, &self.now, since, verdict));
        let race = if let ScordVerdict::Race(condition) = verdict { Some(condition) } else { None };
        Judged { old, new, race, own: is_own(&md, &self.now), same_thread: true }
    }

    /// Lanes race: each is told once.
    #[cold]
    fn report(&mut self, judged: &Judged, at: u64, shift: u32, (low, high): (u32, u32)) {
        let lanes = u32::MAX << low & u32::MAX >> (31 - high) & !self.told;
        let Some(condition) = judged.race else { return };
        if lanes == 0 {
            return;
        }
        self.told |= lanes;
        let lane = lanes.trailing_zeros();
        let piece = if lane == low { at } else { self.access.address(lane) & (u64::MAX << shift) };
        let race = Race {
            condition,
            layout: self.by.layout,
            sites: self.by.sites,
            md: self.by.layout.unpack(judged.old),
            own: judged.own,
            at: piece,
            piece: 1 << shift,
            lane,
            writes: self.now.writes,
            strong: self.now.strong,
            count: u64::from(lanes.count_ones()),
        };
        report::race(self.reports, self.access, self.now.who.block, &race);
    }
}

/// The word of a first access, with no thread.
#[inline]
fn fresh(layout: &EntryLayout, now: &Now) -> u64 {
    layout.pack(&update(&ScordEntry::default(), now, SinceAccess::default(), ScordVerdict::First))
        & !layout.thread_bits()
}

/// How many words from the first one on are this one.
#[inline]
fn alike(words: &[u64], word: u64) -> usize {
    let mut count = 0;
    let mut parts = words.chunks_exact(8);
    // Eight at a time: neighbours mostly are alike.
    for part in parts.by_ref() {
        if part.iter().fold(0, |other, one| other | (one ^ word)) != 0 {
            return count + part.iter().take_while(|one| **one == word).count();
        }
        count += 8;
    }
    count + parts.remainder().iter().take_while(|one| **one == word).count()
}
