//! look-at-barriers: threads come to a barrier of their block and wait, and go on behind it; lanes come to one of their warp.
//!
//! Who comes to a barrier and does not wait (`bar.arrive`) is ordered behind nobody by it, and needs no clock.

use bugaroo_device_handlers::hirace::call;

use crate::emit::label;
use crate::hirace::names::NAMES;
use crate::logging::{Log, Told};
use crate::looking::{look_at_block_barriers, where_looked_at};
use crate::plan::Plan;

pub(super) fn run(log: &Log, plan: &mut Plan) {
    look_at_block_barriers(log, plan, &NAMES);
    for (index, (told, around)) in log.points.iter().zip(&mut plan.points).enumerate() {
        if let (Some(operand), Some(Told::Meet)) = (told.operand.as_deref(), told.before) {
            let meets = where_looked_at(&label(index, "looked"), |code| {
                code.call(call::MEET, &[("b32", operand)], &[]);
            });
            around.before.push_str(&meets);
        }
    }
}
