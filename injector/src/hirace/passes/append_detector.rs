//! append-detector: the detector's code at the module's end, and its declarations at the head.

use bugaroo_device_handlers::kit;

use crate::kits::append;
use crate::logging::Log;
use crate::plan::Plan;

pub(super) fn run(log: &Log, plan: &mut Plan) {
    append(&kit::HIRACE, &log.sites, plan);
}
