//! look-at-exits: where threads end.

use crate::logging::Log;
use crate::plan::Plan;
use crate::scord::names::NAMES;

pub(super) fn run(log: &Log, plan: &mut Plan) {
    crate::looking::look_at_exits(log, plan, &NAMES);
}
