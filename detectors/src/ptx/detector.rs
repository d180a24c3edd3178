//! What the detector keeps.

use bugaroo_semantics::event::WorkId;
use rustc_hash::FxHashMap;

use super::devices::Devices;
use super::grids::Grids;
use super::host_log::HostLog;
use super::links::Links;
use super::report::Report;
use super::rows::{Row, Spare};
use super::works::Works;
use crate::shadow::Shadow;

/// The detector.
#[derive(Debug, Default)]
pub struct ExactDetector {
    pub(super) works: Works,
    pub(super) grids: Grids,
    pub(super) shadow: Shadow<Row>,
    pub(super) host: HostLog,
    pub(super) links: Links,
    /// Whether anything was ever written strongly, to global and to shared memory: else nobody comes across a message there.
    pub(super) told: [bool; 2],
    /// Granules of rows that are not kept by granules any more.
    pub(super) spare: Spare,
    /// Grids that have done a `fence.sc` that reaches others: by chain, in the order of their places there.
    pub(super) fenced: FxHashMap<u32, Vec<(u32, WorkId)>>,
    /// What grids of several devices know of each other.
    pub(super) devices: Devices,
    pub(super) report: Report,
}

impl ExactDetector {
    /// One that has seen nothing.
    pub fn new() -> ExactDetector {
        ExactDetector::default()
    }
}
