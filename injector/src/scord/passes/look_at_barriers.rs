//! look-at-barriers: threads come to a barrier of their block and wait, and go on behind it. Those of a warp are one, and its barriers
//! order nothing more.

use crate::logging::Log;
use crate::looking::look_at_block_barriers;
use crate::plan::Plan;
use crate::scord::names::NAMES;

pub(super) fn run(log: &Log, plan: &mut Plan) {
    look_at_block_barriers(log, plan, &NAMES);
}
