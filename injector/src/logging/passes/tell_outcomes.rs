//! tell-outcomes: behind a compare-and-swap, which lanes have written: those that have found what they compare with.

use bugaroo_device_handlers::logging::prepare;

use super::declare_log_state::COMPARAND;
use super::each;
use crate::emit::{ANSWER, Code, HALF, LOGGING, P, WORD, label};
use crate::logging::{Log, Told, emit};
use crate::plan::Plan;

pub(super) fn run(log: &Log, plan: &mut Plan) {
    for each in each(log, plan) {
        let (Some(Told::Outcome), Some((result, comparand, bits))) = (each.told.behind, &each.told.compared)
        else {
            continue;
        };
        // The result may go where the comparand stands. This stands between ticket and instruction, so it is no branch.
        let mut code = Code::default();
        widen(&mut code, COMPARAND, comparand, *bits, &format!("@{LOGGING} "));
        code.label(&label(each.index, "compared"));
        each.around.before.push_str(&code.finish());

        let mut code = Code::default();
        let told = label(each.index, "outcome");
        let compute = |code: &mut Code| {
            widen(code, ANSWER, result, *bits, "");
            code.op(format!("setp.eq.u64 {P}, {ANSWER}, {COMPARAND};"));
            code.op(format!("selp.u64 {ANSWER}, 1, 0, {P};"));
        };
        emit::tell(&mut code, &told, prepare::EVENT, each.behind(), compute, &[ANSWER]);
        each.around.after.push_str(&code.finish());
    }
}

/// Puts an operand of so many bits into 64, with zeros.
fn widen(code: &mut Code, to: &str, operand: &str, bits: u32, guard: &str) {
    match bits {
        64 => code.op(format!("{guard}mov.b64 {to}, {operand};")),
        32 => {
            code.op(format!("{guard}mov.b32 {WORD}, {operand};"));
            code.op(format!("{guard}cvt.u64.u32 {to}, {WORD};"));
        }
        _ => {
            code.op(format!("{guard}mov.b16 {HALF}, {operand};"));
            code.op(format!("{guard}cvt.u64.u16 {to}, {HALF};"));
        }
    }
}
