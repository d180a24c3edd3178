//! A place of the source that something can be written at, and what it stands beside.

use std::sync::Arc;

use bugaroo_protocol::{Inserted, Insertion, Side, Site, SiteId, SiteKind, SourceSpan};

use crate::syntax::{Form, Spot};

/// A place of the source that something can be written at.
#[derive(Clone, Debug, PartialEq)]
pub struct WritablePlace {
    /// The file, as the compiler calls it.
    pub file: String,
    /// Where in it, and how.
    pub spot: Arc<Spot>,
    /// How many calls lie between the access and the function that this is in.
    pub depth: usize,
    /// How far out it lies: 0 beside the statement itself. Behind a loop that does nothing but wait is nearer than in it.
    pub nesting: usize,
    /// What it is beside.
    pub beside: Beside,
    /// Where its position does not tell: the sites that what is written there comes directly behind.
    pub behind: Vec<SiteId>,
    /// What a fence is that is written there, where its block is not enough.
    pub fence: Inserted,
    /// At the start of a macro's definition: the statements that use it, before which that is.
    pub uses: Vec<SourceSpan>,
}

/// What a place stands beside, of what counts for a fence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Beside {
    /// It comes before an atomic or a strong store, which may release.
    pub releases: bool,
    /// It comes behind an atomic or a strong load, which may acquire.
    pub acquires: bool,
    /// It comes behind a store.
    pub stored: bool,
    /// It stands beside a barrier.
    pub barrier: bool,
}

impl Beside {
    /// Takes in a site by this spot of its statement.
    pub fn add(&mut self, site: &Site, spot: &Spot) {
        // Where a condition leads to is behind the condition.
        let behind = spot.side == Side::Behind || matches!(spot.form, Form::BodyStart | Form::ElseStart);
        if behind { self.after(site) } else { self.before(site) }
    }

    /// It comes behind this site.
    pub fn after(&mut self, site: &Site) {
        match site.kind {
            SiteKind::Atomic => self.acquires = true,
            SiteKind::Store => self.stored = true,
            SiteKind::Load => self.acquires |= strong(site),
            SiteKind::Barrier => self.barrier = true,
            SiteKind::Fence => {}
        }
    }

    /// It comes before this site.
    pub fn before(&mut self, site: &Site) {
        match site.kind {
            SiteKind::Atomic => self.releases = true,
            SiteKind::Store => self.releases |= strong(site),
            SiteKind::Barrier => self.barrier = true,
            SiteKind::Load | SiteKind::Fence => {}
        }
    }
}

impl WritablePlace {
    /// On which side.
    pub fn side(&self) -> Side {
        self.spot.side
    }

    /// What is written for it: a fence gets the scope that it has to have here.
    pub fn written(&self, what: Inserted) -> Inserted {
        if what == Inserted::Fence { self.fence } else { what }
    }

    /// What it takes to have something there; nothing where sites tell the place.
    pub fn insertions(&self, what: Inserted) -> Vec<Insertion> {
        let what = self.written(what);
        if !self.uses.is_empty() {
            let before = |span: &SourceSpan| Insertion { span: span.clone(), side: Side::Before, what };
            return self.uses.iter().map(before).collect();
        }
        match self.behind.is_empty() {
            true => self.spot.insertions(&self.file, what),
            false => Vec::new(),
        }
    }
}

/// Whether an access is a strong one: relaxed at least, or volatile (PTX ISA, memory consistency model: strong operations).
pub fn strong(site: &Site) -> bool {
    let words = [".volatile", ".relaxed", ".acquire", ".release", ".acq_rel", ".mmio"];
    site.kind == SiteKind::Atomic || words.iter().any(|word| site.instruction.contains(word))
}
