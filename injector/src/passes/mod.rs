//! The passes of store buffers, one a file, and the one list that they run in.

mod append_handlers;
pub(crate) mod close_guards;
mod declare_state;
mod drain_at_exit;
mod drain_before_atomics;
mod drain_before_barriers;
mod drain_before_collectives;
mod drain_before_fences;
mod drain_before_unknown;
mod insert_fence_candidates;
pub(crate) mod open_guards;
mod route_loads;
mod route_stores;

use bugaroo_device_handlers::kit::STORE_BUFFERS;

use crate::collect_sites::{Point, PointKind, SiteTable};
use crate::emit::{Code, Concern, label};
use crate::kits::{Kit, Pass};
use crate::plan::{Around, Plan};

/// Store buffers.
pub const KIT: Kit<SiteTable> = Kit { passes: &PASSES, code: STORE_BUFFERS };

/// Every pass, in order. The order matters where two write at one place: guards open first and close
/// last, and a candidate fence stands behind what belongs to the access.
pub const PASSES: [Pass<SiteTable>; 13] = [
    Pass { name: "declare-state", run: declare_state::run },
    Pass { name: "open-guards", run: open_guards::run },
    Pass { name: "route-stores", run: route_stores::run },
    Pass { name: "route-loads", run: route_loads::run },
    Pass { name: "drain-before-atomics", run: drain_before_atomics::run },
    Pass { name: "drain-before-fences", run: drain_before_fences::run },
    Pass { name: "drain-before-barriers", run: drain_before_barriers::run },
    Pass { name: "drain-before-collectives", run: drain_before_collectives::run },
    Pass { name: "drain-before-unknown", run: drain_before_unknown::run },
    Pass { name: "drain-at-exit", run: drain_at_exit::run },
    Pass { name: "insert-fence-candidates", run: insert_fence_candidates::run },
    Pass { name: "close-guards", run: close_guards::run },
    Pass { name: "append-handlers", run: append_handlers::run },
];

/// The places with their numbers and their text.
fn each<'a>(
    table: &'a SiteTable,
    plan: &'a mut Plan,
) -> impl Iterator<Item = (usize, &'a Point, &'a mut Around)> {
    table
        .points
        .iter()
        .zip(&mut plan.points)
        .enumerate()
        .map(|(index, (point, around))| (index, point, around))
}

/// Where guarded lanes that do not take part go, and those at an omitted fence: behind everything that
/// belongs to the place. The close-guards pass writes the label.
fn skip_label(index: usize) -> String {
    label(index, "skip")
}

/// Whether a place needs its skip label.
fn has_skip(point: &Point) -> bool {
    point.guard.is_some() || matches!(point.kind, PointKind::Fence(_))
}

/// Drains for `event` before the places that are chosen.
fn drain_before(table: &SiteTable, plan: &mut Plan, event: u32, chosen: impl Fn(&PointKind) -> bool) {
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
fn drain(code: &mut Code, index: usize, event: &str) {
    use bugaroo_device_handlers::symbols;
    let run = label(index, "run");
    code.unless_pending(Concern::Everything, &run);
    code.call(symbols::DRAIN, &[("b32", crate::emit::THREAD), ("b32", event)], &[]);
    code.label(&run);
}
