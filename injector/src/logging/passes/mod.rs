//! The passes that make a module log, one a file, and the one list that they run in.

mod append_logger;
mod declare_log_state;
mod each;
mod tell_accesses;
mod tell_events;
mod tell_outcomes;

use super::log::Log;
use crate::kits::{Kit, Pass};
use crate::plan::Plan;

/// The log.
pub const KIT: Kit<Log> = Kit { passes: &PASSES, code: bugaroo_device_handlers::kit::LOG };

/// Every pass, in order: guards open first and close last.
pub const PASSES: [Pass<Log>; 7] = [
    Pass { name: "declare-log-state", run: declare_log_state::run },
    Pass { name: "open-guards", run: open_guards },
    Pass { name: "tell-events", run: tell_events::run },
    Pass { name: "tell-accesses", run: tell_accesses::run },
    Pass { name: "tell-outcomes", run: tell_outcomes::run },
    Pass { name: "close-guards", run: close_guards },
    Pass { name: "append-logger", run: append_logger::run },
];

fn open_guards(log: &Log, plan: &mut Plan) {
    crate::passes::open_guards::run(&log.sites, plan);
}

fn close_guards(log: &Log, plan: &mut Plan) {
    crate::passes::close_guards::run(&log.sites, plan);
}
