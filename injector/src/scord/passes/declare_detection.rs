//! declare-detection: our registers; at the beginning of every function, whether the launch is looked at; at that of a kernel, that
//! its threads begin.

use crate::emit::{ADDRESS, ANSWER, COMPARAND, HALF, LOGGING, P, PHASE, WORD};
use crate::logging::Log;
use crate::looking::declare;
use crate::plan::Plan;
use crate::scord::names::NAMES;

pub(super) fn run(log: &Log, plan: &mut Plan) {
    let registers = [
        format!(".reg .pred {LOGGING}, {P};"),
        format!(".reg .b16 {HALF};"),
        format!(".reg .b32 {WORD}, {PHASE};"),
        format!(".reg .b64 {ADDRESS}, {ANSWER}, {COMPARAND};"),
    ];
    declare(log, plan, &NAMES, &registers);
}
