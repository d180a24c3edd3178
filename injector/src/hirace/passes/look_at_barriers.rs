//! look-at-barriers: threads come to a barrier of their block and wait, and go on behind it; lanes come to one of their warp.
//!
//! Who comes to a barrier and does not wait (`bar.arrive`) is ordered behind nobody by it, and needs no clock.

use bugaroo_device_handlers::hirace::call;

use super::where_looked_at;
use crate::emit::{PHASE, label};
use crate::logging::{Log, Told};
use crate::plan::Plan;

pub(super) fn run(log: &Log, plan: &mut Plan) {
    for (index, (told, around)) in log.points.iter().zip(&mut plan.points).enumerate() {
        let Some(operand) = told.operand.as_deref() else { continue };
        match told.before {
            Some(Told::Arrive { waits: true, .. }) => {
                let comes = where_looked_at(&label(index, "looked"), |code| {
                    code.call(call::ARRIVE, &[("b32", operand)], &[PHASE]);
                });
                let goes = where_looked_at(&label(index, "left"), |code| {
                    code.call(call::LEAVE, &[("b32", operand), ("b32", PHASE)], &[]);
                });
                around.before.push_str(&comes);
                around.after.push_str(&goes);
            }
            Some(Told::Meet) => {
                let meets = where_looked_at(&label(index, "looked"), |code| {
                    code.call(call::MEET, &[("b32", operand)], &[]);
                });
                around.before.push_str(&meets);
            }
            _ => {}
        }
    }
}
