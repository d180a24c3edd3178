//! A part of a warp at a barrier.

use bugaroo_semantics::event::{Lanes, SiteNumber};

/// Lanes that have come without others of their warp.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub by: Lanes,
    pub site: SiteNumber,
    pub barrier: u32,
    /// The others.
    pub absent: u32,
    /// Where they parted.
    pub parted_at: Option<SiteNumber>,
}
