//! drain-before-barriers: both buffers drain before a CTA or warp barrier (under model bugaroo, which
//! the handler knows, only the shared one, and nothing before a warp barrier).

use bugaroo_device_handlers::constants::event;

use crate::collect_sites::{PointKind, SiteTable};
use crate::plan::Plan;

use super::drain::drain_before;

pub(super) fn run(table: &SiteTable, plan: &mut Plan) {
    drain_before(table, plan, event::BARRIER, |kind| *kind == PointKind::Barrier);
    drain_before(table, plan, event::WARP_BARRIER, |kind| *kind == PointKind::WarpBarrier);
}
