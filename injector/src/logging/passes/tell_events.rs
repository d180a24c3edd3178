//! tell-events: everything but accesses: fences, barriers before and behind, branches, where lanes meet, where threads end.

use bugaroo_device_handlers::logging::prepare;

use super::each::each;
use crate::emit::{ANSWER, Code, WORD, label};
use crate::logging::emit;
use crate::logging::log::Log;
use crate::logging::told::Told;
use crate::plan::Plan;

pub(super) fn run(log: &Log, plan: &mut Plan) {
    for each in each(log, plan) {
        let operand = each.told.operand.as_deref();
        for (told, place, name) in
            [(each.told.before, each.before(), "told"), (each.told.behind, each.behind(), "left")]
        {
            let Some(told) = told.filter(|told| !matches!(told, Told::Access(_) | Told::Outcome)) else {
                continue;
            };
            let mut code = Code::default();
            let compute = |code: &mut Code| match (told, operand) {
                (Told::Branch { .. }, Some(guard)) => {
                    let (predicate, taken) = match guard.strip_prefix('!') {
                        Some(predicate) => (predicate, "0, 1"),
                        None => (guard, "1, 0"),
                    };
                    code.op(format!("selp.u64 {ANSWER}, {taken}, {predicate};"));
                }
                (_, Some(operand)) => {
                    code.op(format!("mov.b32 {WORD}, {operand};"));
                    code.op(format!("cvt.u64.u32 {ANSWER}, {WORD};"));
                }
                (_, None) => code.op(format!("mov.u64 {ANSWER}, 0;")),
            };
            emit::tell(&mut code, &label(each.index, name), prepare::EVENT, place, compute, &[ANSWER]);
            let text = if name == "told" { &mut each.around.before } else { &mut each.around.after };
            text.push_str(&code.finish());
        }
    }
}
