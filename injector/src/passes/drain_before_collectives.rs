//! drain-before-collectives: strong stores drain before a `shfl`, `vote` or `match` that waits.
//!
//! These order no memory, so weak stores stay. But a thread that waits calls no handler, and the bounded
//! while after which a strong store is seen would not end: a lane that spins on it before it comes to the
//! same instruction would spin for ever, which no GPU shows.

use bugaroo_device_handlers::constants::event;

use crate::collect_sites::{PointKind, SiteTable};
use crate::plan::Plan;

use super::drain::drain_before;

pub(super) fn run(table: &SiteTable, plan: &mut Plan) {
    drain_before(table, plan, event::COLLECTIVE, |kind| *kind == PointKind::Collective);
}
