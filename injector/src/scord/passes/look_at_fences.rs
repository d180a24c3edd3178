//! look-at-fences: before fences the detector is told their scope.

use bugaroo_device_handlers::scord::call;
use bugaroo_ptx::types::Scope;

use crate::emit::label;
use crate::logging::{Log, Told};
use crate::looking::where_looked_at;
use crate::plan::Plan;

pub(super) fn run(log: &Log, plan: &mut Plan) {
    for (index, (told, around)) in log.points.iter().zip(&mut plan.points).enumerate() {
        let Some(Told::Fence(fence)) = told.before else { continue };
        let scope = if fence.scope == Scope::Cta { "0" } else { "1" };
        let looked =
            where_looked_at(&label(index, "looked"), |code| code.call(call::FENCE, &[("b32", scope)], &[]));
        around.before.push_str(&looked);
    }
}
