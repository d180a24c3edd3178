//! drain-before-atomics: an atomic sees the thread's own stores to the bytes that it touches; one that
//! is a release has everything drained before it.

use bugaroo_device_handlers::symbols;

use crate::collect_sites::{PointKind, SiteTable};
use crate::emit::{ADDRESS, Code, Concern, THREAD, immediate, label};
use crate::plan::Plan;

use super::places::each;

pub(super) fn run(table: &SiteTable, plan: &mut Plan) {
    for (index, point, around) in each(table, plan) {
        let (PointKind::Atomic(access), Some(site)) = (&point.kind, point.site) else { continue };
        let run = label(index, "run");
        let mut code = Code::default();
        code.unless_pending(Concern::of(access), &run);
        code.address(access);
        let word = immediate(access.word(site, 0, 0));
        code.call(symbols::ATOMIC, &[("b32", THREAD), ("b64", ADDRESS), ("b64", &word)], &[]);
        code.label(&run);
        around.before.push_str(&code.finish());
    }
}
