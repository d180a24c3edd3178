//! What a thread knows of the writes of others: the part of causality order that ends in it.
//!
//! A view is a vector clock along the hierarchy of threads: up to what time the messages of a thread, of all
//! threads of a warp, or of a whole CTA are known. Barriers make known what all who met have written, so one entry
//! for a CTA stands for its threads. What a strong read has seen by itself is not here: it stands with the message
//! that was read ([`super::chains`]), by reader and time.
//!
//! Invariant: an entry means that its threads' own views of that time are part of the view, too. So a view that was
//! a thread's own at some time is covered by whoever knows that thread up to then ([`View::covers`]): most
//! acquires end there.

use std::rc::Rc;

use super::shared_map::{Joined, SharedMap};
use crate::event::each;
use crate::scope::ThreadKey;

/// Entries of one CTA share a chunk: where all its threads have entries, a change of one copies no others.
const RANGE: u32 = CTA_SHIFT;
/// Bits of a key below the CTA's number.
const CTA_SHIFT: u32 = 12;
/// Codes below the CTA's number: the CTA itself, its warps, its threads.
const WARPS: u64 = 1;
const THREADS: u64 = 64;

/// Whose writes an entry speaks of, as a number to sort by: a CTA comes before its warps, and these before its threads.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct WriterSet(u64);

impl WriterSet {
    /// One thread.
    #[inline]
    pub fn thread(thread: ThreadKey) -> WriterSet {
        WriterSet(u64::from(thread.cta()) << CTA_SHIFT | (THREADS + u64::from(thread.place())))
    }

    /// All threads of this one's warp.
    #[inline]
    pub fn warp(thread: ThreadKey) -> WriterSet {
        WriterSet(u64::from(thread.cta()) << CTA_SHIFT | (WARPS + u64::from(thread.place() >> 5)))
    }

    /// All threads of a CTA.
    #[inline]
    pub fn cta(cta: u32) -> WriterSet {
        WriterSet(u64::from(cta) << CTA_SHIFT)
    }
}

/// The code of a key below its CTA's number: 0 for the CTA, then warps, then threads.
fn code(key: u64) -> u64 {
    key & ((1 << CTA_SHIFT) - 1)
}

/// A view.
#[derive(Clone, Debug, Default)]
pub struct View {
    clocks: SharedMap<u64>,
    /// The latest of the clocks.
    latest: u64,
    /// It was this thread's own view at this time.
    of: Option<(ThreadKey, u64)>,
}

impl View {
    /// Whether the message of this time by `writer` is known by what is known of its writer.
    #[inline]
    pub fn knows(&self, writer: ThreadKey, time: u64) -> bool {
        time <= self.latest && self.knows_by_entries(writer, time)
    }

    fn knows_by_entries(&self, writer: ThreadKey, time: u64) -> bool {
        let cta = WriterSet::cta(writer.cta()).0;
        let items = self.clocks.range::<RANGE>(cta);
        let first = items.partition_point(|item| item.0 < cta);
        let Some(whole) = items.get(first) else { return false };
        if whole.0 == cta && whole.1 >= time {
            return true;
        }
        let items = &items[first..];
        let has = |writers: WriterSet| {
            items.binary_search_by_key(&writers.0, |item| item.0).is_ok_and(|at| items[at].1 >= time)
        };
        has(WriterSet::thread(writer)) || has(WriterSet::warp(writer))
    }

    /// Up to what time the messages of all threads of a CTA are known.
    pub fn of_cta(&self, cta: u32) -> u64 {
        self.clocks.get::<RANGE>(WriterSet::cta(cta).0).copied().unwrap_or(0)
    }

    /// The CTAs of which everything is known up to some time, with that time.
    pub fn whole_ctas(&self) -> impl Iterator<Item = (u32, u64)> {
        let whole = self.clocks.iter().filter(|item| code(item.0) == 0);
        whole.map(|item| ((item.0 >> CTA_SHIFT) as u32, item.1))
    }

    /// Whether everything that `other` knows is known here, as far as that can be told at a glance.
    #[inline]
    pub fn covers(&self, other: &View) -> bool {
        other.clocks.is_empty() || other.of.is_some_and(|(thread, time)| self.knows(thread, time))
    }

    /// From now on all messages of `writers` up to `time` are known, and what they knew: that has been joined.
    pub fn advance(&mut self, writers: WriterSet, time: u64) {
        self.of = None;
        self.latest = self.latest.max(time);
        let key = writers.0;
        self.clocks.change::<RANGE>(key, |old| {
            let mut items = Vec::with_capacity(old.len() + 1);
            // What the new entry says already is left out.
            let said = |item: &(u64, u64)| {
                item.1 <= time
                    && (item.0 == key || item.0 >> CTA_SHIFT == key >> CTA_SHIFT && within(item.0, key))
            };
            let mut is_in = old.iter().any(|item| item.1 > time && (item.0 == key || contains(item.0, key)));
            for item in old.iter().filter(|item| !said(item)) {
                if !is_in && item.0 > key {
                    items.push((key, time));
                    is_in = true;
                }
                items.push(*item);
            }
            if !is_in {
                items.push((key, time));
            }
            items
        });
    }

    /// [`Self::advance`] for each of these threads of a warp, of which `first` is the first.
    pub fn advance_lanes(&mut self, first: ThreadKey, lanes: u32, time: u64) {
        if lanes == 0 {
            return;
        }
        self.of = None;
        self.latest = self.latest.max(time);
        let first = WriterSet::thread(first).0;
        let new: Vec<(u64, u64)> = each(lanes).map(|lane| (first + u64::from(lane), time)).collect();
        self.clocks.change::<RANGE>(first, |old| merged(old, &new));
    }

    /// It is a thread's own view at this time.
    pub fn belongs_to(&mut self, thread: ThreadKey, time: u64) {
        self.of = Some((thread, time));
    }

    /// Whose own view it was.
    pub fn owner(&self) -> Option<ThreadKey> {
        self.of.map(|of| of.0)
    }

    /// Drops what says nothing any more: everything up to `floor` is known to all.
    pub fn forget(&mut self, floor: u64) {
        self.clocks.retain(|time| *time > floor);
    }
}

/// Whether the threads of one key, of the same CTA, are among those of another, wider one.
fn within(narrow: u64, wide: u64) -> bool {
    match (code(narrow), code(wide)) {
        (_, 0) => true,
        (thread, warp) if thread >= THREADS && warp < THREADS => (thread - THREADS) >> 5 == warp - WARPS,
        _ => false,
    }
}

/// Whether the threads of `narrow` are among those of `wide`, another key.
fn contains(wide: u64, narrow: u64) -> bool {
    wide != narrow && wide >> CTA_SHIFT == narrow >> CTA_SHIFT && within(narrow, wide)
}

/// What both know: one of the two where it says all.
pub fn joined(one: &Rc<View>, other: &Rc<View>) -> Rc<View> {
    if Rc::ptr_eq(one, other) || one.covers(other) {
        return Rc::clone(one);
    }
    if other.covers(one) {
        return Rc::clone(other);
    }
    match one.clocks.join(&other.clocks, merged, |a, b| a == b) {
        Joined::First => Rc::clone(one),
        Joined::Second => Rc::clone(other),
        Joined::New(clocks) => Rc::new(View { clocks, latest: one.latest.max(other.latest), of: None }),
    }
}

/// Two sorted lists of clocks as one: of each the later, and nothing that a wider entry says.
fn merged(a: &[(u64, u64)], b: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let mut all: Vec<(u64, u64)> = Vec::with_capacity(a.len() + b.len());
    let (mut i, mut j) = (0, 0);
    // The CTA and the times of its whole and of its warps, as far as they have come by.
    let (mut cta, mut whole, mut warps) = (u64::MAX, 0, [0; 32]);
    loop {
        let (key, time) = match (a.get(i), b.get(j)) {
            (None, None) => return all,
            (Some(x), Some(y)) if x.0 == y.0 => {
                (i, j) = (i + 1, j + 1);
                (x.0, x.1.max(y.1))
            }
            (Some(x), y) if y.is_none_or(|y| x.0 < y.0) => {
                i += 1;
                *x
            }
            (_, Some(y)) => {
                j += 1;
                *y
            }
            (Some(_), None) => unreachable!("the arm before takes it"),
        };
        if key >> CTA_SHIFT != cta {
            (cta, whole, warps) = (key >> CTA_SHIFT, 0, [0; 32]);
        }
        let code = code(key);
        if code == 0 {
            whole = time;
        } else if time <= whole {
            continue;
        } else if code < THREADS {
            warps[(code - WARPS) as usize & 31] = time;
        } else if time <= warps[((code - THREADS) >> 5) as usize & 31] {
            continue;
        }
        all.push((key, time));
    }
}
