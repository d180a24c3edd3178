//! A warp and its stack of active masks (K of the paper).
//!
//! The stack is kept flat: entries that are being executed or wait partition the lanes, and an entry below others is nothing but
//! those above it, so it need not be kept. `if` makes two entries of one, `fi` one of two. The joins of `if` and `else` tell
//! their lanes nothing: an `endi` has joined the same lanes, and no access has come since.

use bugaroo_semantics::event::SiteNumber;

use super::clock::{Group, Home};

/// A warp.
#[derive(Clone, Debug, Default)]
pub(super) struct Warp {
    /// Where it is.
    pub home: Home,
    /// Lanes that it began with.
    pub lanes: u32,
    /// Lanes that have not exited.
    pub alive: u32,
    /// The stack's entries.
    pub groups: Vec<Group>,
}

impl Warp {
    /// It begins anew.
    pub fn begin(&mut self, home: Home, lanes: u32) {
        self.home = home;
        (self.lanes, self.alive) = (lanes, lanes);
        self.groups.clear();
        if lanes != 0 {
            self.groups.push(Group::new(lanes));
        }
    }

    /// The entry that these lanes are in, if it is one.
    #[inline]
    pub fn whole(&self, mask: u32) -> Option<usize> {
        if let [one] = &self.groups[..] {
            return (one.mask & mask == mask).then_some(0);
        }
        self.groups.iter().position(|group| group.mask & mask == mask)
    }

    /// `if`: lanes part.
    pub fn split(&mut self, by: u32, taken: u32, site: SiteNumber) {
        let sides = [by & taken, by & !taken];
        if sides.contains(&0) {
            return;
        }
        let mut at = 0;
        while at < self.groups.len() {
            let mask = self.groups[at].mask & self.alive;
            if mask & sides[0] == 0 || mask & sides[1] == 0 {
                at += 1;
                continue;
            }
            let whole = self.groups.remove(at);
            for part in [mask & sides[0], mask & sides[1], mask & !by] {
                if part != 0 {
                    let mut part = whole.part(part, self.lanes);
                    part.parted_at = Some(site);
                    self.groups.insert(at, part);
                    at += 1;
                }
            }
        }
    }

    /// `fi`: lanes are together again.
    pub fn join(&mut self, mask: u32) {
        let mask = mask & self.alive;
        let apart = |group: &Group| group.mask & mask != 0 && group.mask & self.alive & !mask != 0;
        if self.groups.iter().any(apart) {
            let mut all = Vec::with_capacity(self.groups.len() + 1);
            for group in self.groups.drain(..) {
                let (these, others) = (group.mask & mask, group.mask & self.alive & !mask);
                if these == 0 || others == 0 {
                    all.push(group);
                } else {
                    all.push(group.part(these, self.lanes));
                    all.push(group.part(others, self.lanes));
                }
            }
            self.groups = all;
        }
        let Some(first) = self.groups.iter().position(|group| group.mask & mask != 0) else { return };
        if self.groups[first].mask & mask == mask {
            return;
        }
        let (these, others): (Vec<Group>, Vec<Group>) =
            std::mem::take(&mut self.groups).into_iter().partition(|group| group.mask & mask != 0);
        self.groups = others;
        let one = Group::together(&these, mask, self.lanes);
        self.groups.insert(first.min(self.groups.len()), one);
    }
}
