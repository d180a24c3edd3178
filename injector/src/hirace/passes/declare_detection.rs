//! declare-detection: our registers; at the beginning of every function, whether the launch is looked at; at that of a kernel, that
//! its threads begin.

use crate::emit::{ADDRESS, LOGGING, PHASE, WORD};
use crate::hirace::names::NAMES;
use crate::logging::Log;
use crate::looking::declare;
use crate::plan::Plan;

pub(super) fn run(log: &Log, plan: &mut Plan) {
    let registers = [
        format!(".reg .pred {LOGGING};"),
        format!(".reg .b32 {WORD}, {PHASE};"),
        format!(".reg .b64 {ADDRESS};"),
    ];
    declare(log, plan, &NAMES, &registers);
}
