//! Lanes of a warp.

use super::numbers::WorkId;

/// Lanes of a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lanes {
    /// The grid's work.
    pub grid: WorkId,
    /// Slot of the warp in the grid.
    pub warp: u32,
    /// Slot of its CTA in the grid.
    pub cta: u32,
    /// Linear index of the CTA in the grid.
    pub block: u64,
    /// Linear index in the CTA of the thread in lane 0; lane `i` has the index `i` more.
    pub first: u32,
    /// The lanes; never empty.
    pub mask: u32,
}

impl Lanes {
    /// Each lane's number.
    pub fn each(self) -> impl Iterator<Item = u32> {
        each(self.mask)
    }
}

/// The lanes of a mask, ascending.
pub fn each(mut mask: u32) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        if mask == 0 {
            return None;
        }
        let lane = mask.trailing_zeros();
        mask &= mask - 1;
        Some(lane)
    })
}
