//! The places of a module as passes go through them.

use crate::collect_sites::{InjectionPoint, PointKind, SiteTable};
use crate::emit::label;
use crate::plan::{Around, Plan};

/// The places with their numbers and their text.
pub(super) fn each<'a>(
    table: &'a SiteTable,
    plan: &'a mut Plan,
) -> impl Iterator<Item = (usize, &'a InjectionPoint, &'a mut Around)> {
    table
        .points
        .iter()
        .zip(&mut plan.points)
        .enumerate()
        .map(|(index, (point, around))| (index, point, around))
}

/// Where guarded lanes that do not take part go, and those at an omitted fence: behind everything that
/// belongs to the place. The close-guards pass writes the label.
pub(super) fn skip_label(index: usize) -> String {
    label(index, "skip")
}

/// Whether a place needs its skip label.
pub(super) fn has_skip(point: &InjectionPoint) -> bool {
    point.guard.is_some() || matches!(point.kind, PointKind::Fence(_))
}
