//! tell-outcomes: behind a compare-and-swap, which lanes have written: those that have found what they compare with.

use bugaroo_device_handlers::logging::prepare;

use super::each::each;
use crate::emit::{ANSWER, COMPARAND, Code, LOGGING, P, label};
use crate::logging::emit;
use crate::logging::log::Log;
use crate::logging::told::Told;
use crate::plan::Plan;

pub(super) fn run(log: &Log, plan: &mut Plan) {
    for each in each(log, plan) {
        let (Some(Told::Outcome), Some((result, comparand, bits))) = (each.told.behind, &each.told.compared)
        else {
            continue;
        };
        // The result may go where the comparand stands. This stands between ticket and instruction, so it is no branch.
        let mut code = Code::default();
        code.widen(COMPARAND, comparand, *bits, &format!("@{LOGGING} "));
        code.label(&label(each.index, "compared"));
        each.around.before.push_str(&code.finish());

        let mut code = Code::default();
        let told = label(each.index, "outcome");
        let compute = |code: &mut Code| {
            code.widen(ANSWER, result, *bits, "");
            code.op(format!("setp.eq.u64 {P}, {ANSWER}, {COMPARAND};"));
            code.op(format!("selp.u64 {ANSWER}, 1, 0, {P};"));
        };
        emit::tell(&mut code, &told, prepare::EVENT, each.behind(), compute, &[ANSWER]);
        each.around.after.push_str(&code.finish());
    }
}
