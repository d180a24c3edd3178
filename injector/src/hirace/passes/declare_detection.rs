//! declare-detection: our registers; at the beginning of every function, whether the launch is looked at; at that of a kernel, that
//! its threads begin.

use bugaroo_device_handlers::hirace::{HIRACE_VARIABLE, call};

use super::where_looked_at;
use crate::emit::{ADDRESS, Code, LOGGING, PHASE, WORD, function_label};
use crate::logging::Log;
use crate::plan::Plan;

pub(super) fn run(log: &Log, plan: &mut Plan) {
    for (index, kernel) in log.kernels.iter().enumerate() {
        let mut code = Code::default();
        code.op(format!(".reg .pred {LOGGING};"));
        code.op(format!(".reg .b32 {WORD}, {PHASE};"));
        code.op(format!(".reg .b64 {ADDRESS};"));
        plan.declarations[index].push_str(&code.finish());

        let mut code = Code::default();
        code.op(format!("ld.const.u64 {ADDRESS}, [{HIRACE_VARIABLE}];"));
        code.op(format!("setp.ne.u64 {LOGGING}, {ADDRESS}, 0;"));
        let entered = function_label(index, "entered");
        if !kernel {
            code.label(&entered);
        }
        plan.prologues[index].push_str(&code.finish());
        if *kernel {
            let begins = where_looked_at(&entered, |code| code.call(call::BEGIN, &[], &[]));
            plan.prologues[index].push_str(&begins);
        }
    }
}
