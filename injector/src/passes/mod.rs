//! The passes of store buffers, one a file, and the one list that they run in.

mod append_handlers;
pub(crate) mod close_guards;
mod declare_state;
mod drain;
mod drain_at_exit;
mod drain_before_atomics;
mod drain_before_barriers;
mod drain_before_collectives;
mod drain_before_fences;
mod drain_before_unknown;
mod insert_fence_candidates;
pub(crate) mod open_guards;
mod places;
mod route_loads;
mod route_stores;

use bugaroo_device_handlers::kit::STORE_BUFFERS;

use crate::collect_sites::SiteTable;
use crate::kits::{Kit, Pass};

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
