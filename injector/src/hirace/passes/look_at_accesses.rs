//! look-at-accesses: before loads, stores and atomics the detector is told the address, and what is done there.

use bugaroo_device_handlers::hirace::call;

use crate::collect_sites::PointKind;
use crate::emit::{ADDRESS, label};
use crate::hirace::word::word;
use crate::logging::{Log, Told};
use crate::looking::where_looked_at;
use crate::plan::Plan;

pub(super) fn run(log: &Log, plan: &mut Plan) {
    let points = log.sites.points.iter().zip(&log.points).zip(&mut plan.points);
    for (index, ((point, told), around)) in points.enumerate() {
        let (PointKind::Store { access, .. } | PointKind::Load(access) | PointKind::Atomic(access)) =
            &point.kind
        else {
            continue;
        };
        let Some(Told::Access(stated)) = told.before else { continue };
        let what = format!("{:#x}", word(index, &stated));
        let looked = where_looked_at(&label(index, "looked"), |code| {
            code.address(access);
            code.call(call::ACCESS, &[("b64", ADDRESS), ("b64", &what)], &[]);
        });
        around.before.push_str(&looked);
    }
}
