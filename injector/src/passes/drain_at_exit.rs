//! drain-at-exit: nothing stays in a buffer when its thread ends.

use bugaroo_device_handlers::constants::event;

use crate::collect_sites::{PointKind, SiteTable};
use crate::plan::Plan;

pub(super) fn run(table: &SiteTable, plan: &mut Plan) {
    super::drain_before(table, plan, event::EXIT, |kind| *kind == PointKind::Exit);
}
