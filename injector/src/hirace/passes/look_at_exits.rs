//! look-at-exits: where threads end.

use bugaroo_device_handlers::hirace::call;

use super::where_looked_at;
use crate::emit::label;
use crate::logging::{Log, Told};
use crate::plan::Plan;

pub(super) fn run(log: &Log, plan: &mut Plan) {
    for (index, (told, around)) in log.points.iter().zip(&mut plan.points).enumerate() {
        if told.before == Some(Told::Exit) {
            let ends = where_looked_at(&label(index, "looked"), |code| code.call(call::EXIT, &[], &[]));
            around.before.push_str(&ends);
        }
    }
}
