//! look-at-accesses: before loads, stores and atomics the detector is told the address, and what is done there. Of a
//! compare-and-swap it is told so behind it (look-at-outcomes).

use bugaroo_device_handlers::scord::call;

use crate::emit::{ADDRESS, label};
use crate::logging::{Log, Told};
use crate::looking::where_looked_at;
use crate::plan::Plan;
use crate::scord::word::{looked_at, word};

pub(super) fn run(log: &Log, plan: &mut Plan) {
    let points = log.sites.points.iter().zip(&log.points).zip(&mut plan.points);
    for (index, ((point, told), around)) in points.enumerate() {
        let (Some(access), Some(Told::Access(stated)), None) =
            (looked_at(&point.kind), told.before, &told.compared)
        else {
            continue;
        };
        let what = format!("{:#x}", word(index, &stated));
        let looked = where_looked_at(&label(index, "looked"), |code| {
            code.address(access);
            code.call(call::ACCESS, &[("b64", ADDRESS), ("b64", &what)], &[]);
        });
        around.before.push_str(&looked);
    }
}
