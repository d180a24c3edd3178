//! The passes that have HiRace look at a module, one a file, and the one list that they run in.

mod append_detector;
mod declare_detection;
mod look_at_accesses;
mod look_at_barriers;
mod look_at_exits;

use bugaroo_device_handlers::kit;

use crate::kits::{Kit, Pass};
use crate::logging::Log;
use crate::plan::Plan;

/// HiRace.
pub const KIT: Kit<Log> = Kit { passes: &PASSES, code: kit::HIRACE };

/// Every pass, in order: guards open first and close last.
pub const PASSES: [Pass<Log>; 7] = [
    Pass { name: "declare-detection", run: declare_detection::run },
    Pass { name: "open-guards", run: open_guards },
    Pass { name: "look-at-accesses", run: look_at_accesses::run },
    Pass { name: "look-at-barriers", run: look_at_barriers::run },
    Pass { name: "look-at-exits", run: look_at_exits::run },
    Pass { name: "close-guards", run: close_guards },
    Pass { name: "append-detector", run: append_detector::run },
];

fn open_guards(log: &Log, plan: &mut Plan) {
    crate::passes::open_guards::run(&log.sites, plan);
}

fn close_guards(log: &Log, plan: &mut Plan) {
    crate::passes::close_guards::run(&log.sites, plan);
}
