//! drain-before-unknown: everything drains before what is not taken apart, as it may read memory, order
//! it, or leave the module. It stands as it is, byte for byte.

use bugaroo_device_handlers::constants::event;

use crate::collect_sites::{PointKind, SiteTable};
use crate::plan::Plan;

use super::drain::drain_before;

pub(super) fn run(table: &SiteTable, plan: &mut Plan) {
    drain_before(table, plan, event::UNKNOWN, |kind| *kind == PointKind::Unknown);
}
