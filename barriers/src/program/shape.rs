//! How many threads run together, and the limits of that.

use serde::Serialize;

/// The most threads a CTA can have.
pub const MAX_THREADS: u32 = 1024;
/// The named barriers of a CTA.
pub const NAMED_BARRIERS: u32 = 16;
/// The lanes of a warp.
pub const LANES: u32 = 32;
/// A shared address is `rank << RANK_SHIFT | offset`: the CTA's rank in its cluster, the offset in its shared window.
pub const RANK_SHIFT: u32 = 24;

/// How many CTAs of how many threads run together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ProgramShape {
    /// CTAs of the cluster; 1 without clusters.
    pub ctas: u32,
    /// Threads of each.
    pub threads: u32,
}

impl ProgramShape {
    /// Warps of one CTA.
    pub fn warps_per_cta(self) -> u32 {
        self.threads.div_ceil(LANES)
    }
    /// Warps of all CTAs. Warp `w` belongs to CTA `w / warps_per_cta()`.
    pub fn warps(self) -> u32 {
        self.ctas * self.warps_per_cta()
    }
    /// The CTA's rank of a warp.
    pub fn cta_of(self, warp: u32) -> u32 {
        warp / self.warps_per_cta()
    }
    /// The lanes of a warp that are threads.
    pub fn lanes(self, warp: u32) -> u32 {
        let first = (warp % self.warps_per_cta()) * LANES;
        match (self.threads - first).min(LANES) {
            LANES => u32::MAX,
            n => (1 << n) - 1,
        }
    }
}
