//! Who waits at the barriers of a block, as the records show it.
//!
//! Lanes are told at a barrier before they come to it, and behind it when they go on. That it has completed shows with the first lanes
//! that go on: then all who wait there go on, and are told so before anything else that they do. What the
//! others tell themselves, later, is told already: they do not wait there any more, or wait there again.

use std::collections::BTreeMap;

use bugaroo_semantics::event::{Lanes, SiteNumber};

/// Lanes that wait.
#[derive(Clone, Copy, Debug)]
pub(super) struct Party {
    pub by: Lanes,
    pub site: SiteNumber,
}

/// Where lanes wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum At {
    /// The CTA barrier of this number.
    Barrier(u32),
    /// In this warp, for the lanes of this mask.
    Meeting(u32, u32),
}

/// Who waits where.
#[derive(Debug, Default)]
pub(super) struct Waiting(BTreeMap<At, Vec<Party>>);

impl Waiting {
    /// Lanes come and wait.
    pub fn comes(&mut self, at: At, party: Party) {
        let parties = self.0.entry(at).or_default();
        match parties.iter_mut().find(|one| one.by.warp == party.by.warp) {
            Some(known) => known.by.mask |= party.by.mask,
            None => parties.push(party),
        }
    }

    /// Lanes go on: all who go on with them, by warp; nobody where that is known already.
    pub fn goes_on(&mut self, at: At, by: Lanes) -> Vec<Party> {
        let waits = |party: &Party| party.by.warp == by.warp && party.by.mask & by.mask != 0;
        match self.0.get(&at) {
            Some(parties) if parties.iter().any(waits) => self.0.remove(&at).unwrap_or_default(),
            _ => Vec::new(),
        }
    }
}
