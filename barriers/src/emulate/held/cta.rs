//! What the threads of a CTA share.

use rustc_hash::FxHashMap;

use super::named::Named;
use super::phases::Phases;
use crate::emulate::alike::Products;
use crate::emulate::shared::Shared;

/// A CTA.
pub(in crate::emulate) struct Cta {
    pub shared: Shared,
    pub barriers: [Named; 16],
    pub mbarriers: FxHashMap<u32, Phases>,
    /// By warpgroup; as many as have multiplied.
    pub products: Vec<Products>,
    /// Threads that have not exited.
    pub alive: u32,
    pub index: [u32; 3],
}
