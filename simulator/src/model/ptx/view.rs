//! What a thread knows of the writes of others: the part of causality order that ends in it.
//!
//! A view is not a map from locations to positions: most of what a barrier or an acquire makes known is
//! "all that this CTA (warp, thread) has written up to now", and is kept as that, in one entry. Only what
//! a strong read has seen by itself (observation order, which hands on nothing else) is kept by location.
//!
//! What is forgotten: with too many entries, several become one that says more (a CTA's in place of its
//! threads', the whole grid's in place of its CTAs'). A view that knows more forbids more, so this is sound.

use super::scope::ThreadKey;

/// Entries of one kind beyond which they are merged.
const MOST: usize = 192;
/// Observed locations beyond which they become entries of their writers.
const MOST_SEEN: usize = 64;

/// Whose writes an entry speaks of, as a number to sort by.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Writers(u64);

impl Writers {
    const WARP: u64 = 1 << 32;
    const CTA: u64 = 2 << 32;

    /// One thread.
    pub fn thread(thread: ThreadKey) -> Writers {
        Writers(u64::from(thread.number()))
    }

    /// All threads of this one's warp.
    pub fn warp(thread: ThreadKey) -> Writers {
        Writers(Self::WARP | u64::from(thread.number() >> 5))
    }

    /// All threads of a CTA.
    pub fn cta(cta: u32) -> Writers {
        Writers(Self::CTA | u64::from(cta & 0x3f_ffff))
    }

    /// The CTA that these writers belong to.
    fn widened(self) -> Writers {
        let number = self.0 & 0xffff_ffff;
        match self.0 & !0xffff_ffff {
            0 => Writers::cta((number >> 10) as u32),
            Self::WARP => Writers::cta((number >> 5) as u32),
            _ => self,
        }
    }
}

/// A message that a strong read has seen.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    pub granule: u64,
    pub time: u64,
    pub writer: ThreadKey,
}

#[derive(Clone, Debug, Default)]
pub struct View {
    /// Every message up to this time is known, whoever wrote it.
    floor: u64,
    /// Sorted: up to what time the messages of these writers are known.
    clocks: Vec<(Writers, u64)>,
    /// Sorted by granule: messages known one by one.
    seen: Vec<Seen>,
}

impl View {
    fn clock(&self, writers: Writers) -> u64 {
        match self.clocks.binary_search_by_key(&writers, |entry| entry.0) {
            Ok(index) => self.clocks[index].1,
            Err(_) => 0,
        }
    }

    /// Whether the message of this time by `writer` is known by what is known of its writer.
    #[inline]
    pub fn knows(&self, writer: ThreadKey, time: u64) -> bool {
        if time <= self.floor {
            return true;
        }
        !self.clocks.is_empty()
            && (self.clock(Writers::cta(writer.cta())) >= time
                || self.clock(Writers::thread(writer)) >= time
                || self.clock(Writers::warp(writer)) >= time)
    }

    /// The time of the message that was seen by itself in a granule.
    #[inline]
    pub fn seen(&self, granule: u64) -> Option<u64> {
        if self.seen.is_empty() {
            return None;
        }
        let index = self.seen.binary_search_by_key(&granule, |seen| seen.granule).ok()?;
        Some(self.seen[index].time)
    }

    /// From now on all messages of `writers` up to `time` are known.
    pub fn advance(&mut self, writers: Writers, time: u64) {
        match self.clocks.binary_search_by_key(&writers, |entry| entry.0) {
            Ok(index) => self.clocks[index].1 = self.clocks[index].1.max(time),
            Err(index) => self.clocks.insert(index, (writers, time)),
        }
        if writers.0 & Writers::CTA != 0 {
            let said = |entry: &(Writers, u64)| {
                entry.0 != writers && entry.0.widened() == writers && entry.1 <= time
            };
            self.clocks.retain(|entry| !said(entry));
        }
        self.bound();
    }

    /// From now on this message is known; it is the latest in coherence order of those known there.
    pub fn see(&mut self, new: Seen) {
        match self.seen.binary_search_by_key(&new.granule, |seen| seen.granule) {
            Ok(index) => self.seen[index] = new,
            Err(index) => self.seen.insert(index, new),
        }
        self.bound();
    }

    /// Drops what says nothing any more: everything up to `floor` is known to all.
    pub fn forget(&mut self, floor: u64) {
        self.floor = self.floor.max(floor);
        let floor = self.floor;
        self.clocks.retain(|entry| entry.1 > floor);
        self.seen.retain(|seen| seen.time > floor);
    }

    /// Whether everything that `other` knows is known here (as far as that is cheap to tell).
    pub fn covers(&self, other: &View) -> bool {
        let clock = |entry: &(Writers, u64)| {
            entry.1 <= self.floor
                || self.clock(entry.0) >= entry.1
                || self.clock(entry.0.widened()) >= entry.1
        };
        other.floor <= self.floor
            && other.clocks.iter().all(clock)
            && other
                .seen
                .iter()
                .all(|seen| self.knows(seen.writer, seen.time) || self.seen(seen.granule) == Some(seen.time))
    }

    /// Takes over what `other` knows. `later` says which of two messages of a granule, by their times, is
    /// later in coherence order.
    pub fn join(&mut self, other: &View, mut later: impl FnMut(u64, u64, u64) -> u64) {
        self.floor = self.floor.max(other.floor);
        if !other.clocks.is_empty() {
            self.clocks = merged(&self.clocks, &other.clocks, |entry| entry.0, |a, b| (a.0, a.1.max(b.1)));
        }
        if !other.seen.is_empty() {
            self.seen = merged(
                &self.seen,
                &other.seen,
                |seen| seen.granule,
                |a, b| {
                    if a.time == b.time || later(a.granule, a.time, b.time) == a.time { *a } else { *b }
                },
            );
        }
        self.bound();
    }

    fn bound(&mut self) {
        if self.seen.len() > MOST_SEEN {
            for seen in std::mem::take(&mut self.seen) {
                self.advance(Writers::thread(seen.writer), seen.time);
            }
        }
        if self.clocks.len() <= MOST {
            return;
        }
        let mut wide: Vec<(Writers, u64)> =
            self.clocks.iter().map(|entry| (entry.0.widened(), entry.1)).collect();
        wide.sort_unstable();
        wide.dedup_by(|later, kept| {
            let same = later.0 == kept.0;
            if same {
                kept.1 = kept.1.max(later.1);
            }
            same
        });
        if wide.len() > MOST / 2 {
            self.floor = wide.iter().map(|entry| entry.1).max().unwrap_or(0).max(self.floor);
            wide.clear();
        }
        self.clocks = wide;
        let floor = self.floor;
        self.seen.retain(|seen| seen.time > floor);
    }
}

/// Two sorted lists as one; what is in both becomes what `both` makes of it.
fn merged<T: Copy, K: Ord>(
    a: &[T],
    b: &[T],
    key: impl Fn(&T) -> K,
    mut both: impl FnMut(&T, &T) -> T,
) -> Vec<T> {
    let mut all = Vec::with_capacity(a.len() + b.len());
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        match key(&a[i]).cmp(&key(&b[j])) {
            std::cmp::Ordering::Less => {
                all.push(a[i]);
                i += 1;
            }
            std::cmp::Ordering::Greater => {
                all.push(b[j]);
                j += 1;
            }
            std::cmp::Ordering::Equal => {
                all.push(both(&a[i], &b[j]));
                i += 1;
                j += 1;
            }
        }
    }
    all.extend_from_slice(&a[i..]);
    all.extend_from_slice(&b[j..]);
    all
}
