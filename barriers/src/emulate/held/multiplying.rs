//! Multiplications of a warp that are under way ([`crate::emulate::warpgroup`]).

use rustc_hash::FxHashSet;

/// What a warp has under way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::emulate) struct Multiplying {
    /// There was a `wgmma.fence`.
    pub fenced: bool,
    /// Registers of the groups that were committed and not waited for, and of the group to come.
    pub committed: Vec<Rows>,
    pub open: Rows,
}

/// Registers of a frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::emulate) struct Rows {
    pub results: FxHashSet<(u32, u32)>,
    pub factors: FxHashSet<(u32, u32)>,
}

impl Multiplying {
    /// Whether any multiplication was not waited for.
    pub fn is_under_way(&self) -> bool {
        !self.committed.is_empty() || !self.open.results.is_empty()
    }

    fn all(&self) -> impl Iterator<Item = &Rows> {
        self.committed.iter().chain(std::iter::once(&self.open))
    }

    pub fn has_result(&self, row: (u32, u32)) -> bool {
        self.all().any(|rows| rows.results.contains(&row))
    }

    pub fn has(&self, row: (u32, u32)) -> bool {
        self.all().any(|rows| rows.results.contains(&row) || rows.factors.contains(&row))
    }
}
