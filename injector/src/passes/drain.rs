//! The call that empties a thread's buffer.

use bugaroo_device_handlers::symbols;

use crate::collect_sites::{PointKind, SiteTable};
use crate::emit::{Code, Concern, THREAD, label};
use crate::plan::Plan;

use super::places::each;

/// Drains for `event` before the places that are chosen.
pub(super) fn drain_before(
    table: &SiteTable,
    plan: &mut Plan,
    event: u32,
    chosen: impl Fn(&PointKind) -> bool,
) {
    for (index, point, around) in each(table, plan) {
        if chosen(&point.kind) {
            let mut code = Code::default();
            drain(&mut code, index, &event.to_string());
            around.before.push_str(&code.finish());
        }
    }
}

/// Calls the drain handler when the thread has entries or its CTA holds some; falls through to what
/// follows. `event` is a number or a register.
pub(super) fn drain(code: &mut Code, index: usize, event: &str) {
    let run = label(index, "run");
    code.unless_pending(Concern::Everything, &run);
    code.call(symbols::DRAIN, &[("b32", THREAD), ("b32", event)], &[]);
    code.label(&run);
}
