//! declare-log-state: our registers; at the beginning of every function, whether there are queues; at that of a kernel, that its
//! threads begin.

use bugaroo_device_handlers::logging::{LOG_VARIABLE, prepare, record};

use crate::emit::{
    ADDRESS, ANSWER, AT, CAPACITY, COMPARAND, Code, FIRST, HALF, HIGH, LANES, LEADER, LOGGED, LOGGING, NEXT,
    P, QUEUE, RECORD, TICKET, VALUE, WARP, WORD, WRITE, function_label,
};
use crate::logging::emit;
use crate::logging::log::Log;
use crate::plan::Plan;

/// The elements of a store beside [`VALUE`], the first: a family.
pub(super) const MORE: &str = "%bugaroo_more";

pub(super) fn run(log: &Log, plan: &mut Plan) {
    for (index, kernel) in log.kernels.iter().enumerate() {
        let mut code = Code::default();
        code.op(format!(".reg .pred {LOGGING}, {LEADER}, {P};"));
        code.op(format!(".reg .b16 {HALF};"));
        code.op(format!(".reg .b32 {WORD}, {HIGH}, {FIRST}, {LANES}, {WARP}, {TICKET};"));
        code.op(format!(".reg .b64 {ADDRESS}, {VALUE}, {ANSWER}, {COMPARAND}, {MORE}<4>;"));
        code.op(format!(".reg .b64 {RECORD}, {QUEUE}, {WRITE}, {LOGGED}, {NEXT}, {CAPACITY}, {AT};"));
        plan.declarations[index].push_str(&code.finish());

        let mut code = Code::default();
        code.op(format!("ld.const.u64 {ADDRESS}, [{LOG_VARIABLE}];"));
        code.op(format!("setp.ne.u64 {LOGGING}, {ADDRESS}, 0;"));
        let entered = function_label(index, "entered");
        if *kernel {
            emit::tell(&mut code, &entered, prepare::EVENT, record::BEGIN, |_| {}, &["0"]);
        } else {
            code.label(&entered);
        }
        plan.prologues[index].push_str(&code.finish());
    }
}
