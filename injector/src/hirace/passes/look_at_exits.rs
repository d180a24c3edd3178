//! look-at-exits: where threads end.

use crate::hirace::names::NAMES;
use crate::logging::Log;
use crate::plan::Plan;

pub(super) fn run(log: &Log, plan: &mut Plan) {
    crate::looking::look_at_exits(log, plan, &NAMES);
}
