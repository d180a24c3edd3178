//! Asynchronous copies, and mbarriers that count them.
//!
//! A copy is an agent of its own, forked from its issuer: it knows what the issuer knew then. Its accesses come before whatever
//! is behind its issuer's wait for it, and before what is behind a passed phase that counted it: a phase is known like a time of a
//! thread that stands for the mbarrier.

use std::rc::Rc;

use bugaroo_semantics::clocks::{View, WriterSet};
use bugaroo_semantics::event::{CopyId, Proxy, Range, SiteNumber};
use bugaroo_semantics::scope::ThreadKey;
use rustc_hash::FxHashMap;

use super::known::Known;
use super::places::Place;

/// A copy.
#[derive(Debug)]
pub(super) struct Copy {
    pub issuer: Issuer,
    pub proxy: Proxy,
    pub site: SiteNumber,
    pub from: Option<Range>,
    pub to: Option<Range>,
    /// When its issuer had waited for it.
    pub waited: Option<u32>,
    /// And for its reads.
    pub waited_reads: Option<u32>,
    /// Which mbarriers count it, and the first phase of each that does: who has passed a later one has passed that.
    pub counted: Vec<(ThreadKey, u32)>,
}

/// Who issued a copy, when, and what it knew.
#[derive(Debug)]
pub(super) struct Issuer {
    pub slot: u32,
    pub cta: u32,
    pub place: u32,
    pub time: u32,
    pub known: Known,
}

impl Copy {
    /// When its issuer knew that it had been done: its writes, or its reads.
    #[inline]
    pub fn awaited(&self, writes: bool) -> Option<u32> {
        if writes { self.waited } else { self.waited_reads.or(self.waited) }
    }
}

/// An mbarrier.
#[derive(Debug)]
pub(super) struct Mbarrier {
    pub token: ThreadKey,
    pub phase: u32,
    /// What those know that have arrived in this phase.
    pub gathering: Rc<View>,
    /// And in the last one.
    pub done: Rc<View>,
}

/// Those of a grid.
#[derive(Debug, Default)]
pub(super) struct Copies {
    copies: FxHashMap<u32, Copy>,
    mbarriers: FxHashMap<Place, Mbarrier>,
    tokens: u32,
}

impl Copies {
    pub fn add(&mut self, id: CopyId, copy: Copy) {
        self.copies.insert(id as u32, copy);
    }

    /// Whether there has been none.
    pub fn is_empty(&self) -> bool {
        self.copies.is_empty()
    }

    pub fn get(&self, link: u32) -> Option<&Copy> {
        self.copies.get(&link)
    }

    pub fn get_mut(&mut self, id: CopyId) -> Option<&mut Copy> {
        self.copies.get_mut(&(id as u32))
    }

    /// The mbarrier at a place.
    pub fn mbarrier(&mut self, place: Place) -> &mut Mbarrier {
        let tokens = &mut self.tokens;
        self.mbarriers.entry(place).or_insert_with(|| {
            *tokens += 1;
            // Numbers that no block has: from the end.
            let token = ThreadKey::new(0x3f_fffe - (*tokens >> 10), *tokens & 0x3ff);
            Mbarrier { token, phase: 1, gathering: Rc::default(), done: Rc::default() }
        })
    }

    /// What an mbarrier's phase has gathered is complete.
    pub fn complete(&mut self, place: Place) {
        if !self.mbarriers.contains_key(&place) {
            return;
        }
        let mbarrier = self.mbarrier(place);
        let gathered = std::mem::take(&mut mbarrier.gathering);
        let mut done = View::clone(&gathered);
        done.advance(WriterSet::thread(mbarrier.token), u64::from(mbarrier.phase));
        mbarrier.done = Rc::new(done);
        mbarrier.phase += 1;
    }

    pub fn held(&self) -> u64 {
        ((self.copies.len() * (size_of::<Copy>() + 8)) + self.mbarriers.len() * size_of::<Mbarrier>()) as u64
    }
}
