//! The places of which something is told.

use crate::collect_sites::InjectionPoint;
use crate::logging::log::{Log, LogPoint};
use crate::plan::{Around, Plan};

/// A place with what belongs to it.
pub(super) struct Each<'a> {
    /// Its number.
    pub(super) index: usize,
    pub(super) point: &'a InjectionPoint,
    pub(super) told: &'a LogPoint,
    pub(super) around: &'a mut Around,
}

impl Each<'_> {
    /// The number of its record before the instruction.
    pub(super) fn before(&self) -> u32 {
        2 * self.index as u32
    }

    /// The number of its record behind the instruction.
    pub(super) fn behind(&self) -> u32 {
        self.before() + 1
    }
}

/// The places of which something is told.
pub(super) fn each<'a>(log: &'a Log, plan: &'a mut Plan) -> impl Iterator<Item = Each<'a>> {
    let all = log.sites.points.iter().zip(&log.points).zip(&mut plan.points).enumerate();
    all.map(|(index, ((point, told), around))| Each { index, point, told, around })
        .filter(|each| !each.told.pruned)
}
