//! look-at-outcomes: behind a compare-and-swap the detector is told the address, and whether it has written: whether it has found what it
//! compares with. Before it, that it releases.

use bugaroo_device_handlers::scord::call;

use crate::emit::{ADDRESS, ANSWER, COMPARAND, P, WORD, label};
use crate::logging::{Log, Told};
use crate::looking::where_looked_at;
use crate::plan::Plan;
use crate::scord::word::{is_wide, looked_at, releases, word};

pub(super) fn run(log: &Log, plan: &mut Plan) {
    let points = log.sites.points.iter().zip(&log.points).zip(&mut plan.points);
    for (index, ((point, told), around)) in points.enumerate() {
        let (Some(access), Some(Told::Access(stated)), Some((result, comparand, bits))) =
            (looked_at(&point.kind), told.before, &told.compared)
        else {
            continue;
        };
        let what = format!("{:#x}", word(index, &stated));
        // The result may go where the address or the comparand stands.
        let kept = where_looked_at(&label(index, "kept"), |code| {
            code.address(access);
            if releases(&stated) {
                let scope = if is_wide(&stated) { "1" } else { "0" };
                code.call(call::RELEASE, &[("b64", ADDRESS), ("b32", scope)], &[]);
            }
            code.widen(COMPARAND, comparand, *bits, "");
        });
        let tells = where_looked_at(&label(index, "outcome"), |code| {
            code.widen(ANSWER, result, *bits, "");
            code.op(format!("setp.eq.u64 {P}, {ANSWER}, {COMPARAND};"));
            code.op(format!("selp.u32 {WORD}, 1, 0, {P};"));
            code.call(call::SWAPPED, &[("b64", ADDRESS), ("b64", &what), ("b32", WORD)], &[]);
        });
        around.before.push_str(&kept);
        around.after.push_str(&tells);
    }
}
