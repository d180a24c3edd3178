//! append-logger: the logger's code at the module's end, and its declarations at the head.

use bugaroo_device_handlers::logging::LOGGING_PTX;

use crate::logging::Log;
use crate::passes::append_handlers::append;
use crate::plan::Plan;

pub(super) fn run(log: &Log, plan: &mut Plan) {
    // Nobody would call it: such a module stays as it is.
    if !log.sites.functions.is_empty() {
        append(LOGGING_PTX, plan);
    }
}
