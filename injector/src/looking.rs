//! What the passes share of kits that look for races on the device: where threads begin and end, and barriers of blocks.

use crate::emit::{ADDRESS, Code, LOGGING, PHASE, function_label, label};
use crate::logging::{Log, Told};
use crate::plan::Plan;

/// What a kit's code is called by.
pub(crate) struct Names {
    /// The variable of a launch, which begins with 0 where the launch is not looked at.
    pub variable: &'static str,
    /// `()`: a thread of a kernel begins.
    pub begin: &'static str,
    /// `()`: it ends.
    pub exit: &'static str,
    /// `(u32 barrier) -> u32 phase`: it comes to a barrier of the block, where it waits.
    pub arrive: &'static str,
    /// `(u32 barrier, u32 phase)`: it goes on behind it.
    pub leave: &'static str,
}

/// What is done where the launch is looked at, and passed over where it is not. The label is written behind it.
pub(crate) fn where_looked_at(label: &str, does: impl FnOnce(&mut Code)) -> String {
    let mut code = Code::default();
    code.op(format!("@!{LOGGING} bra {label};"));
    does(&mut code);
    code.label(label);
    code.finish()
}

/// Our registers, those of `registers` among them; at the beginning of every function, whether the launch is looked at; at that of a
/// kernel, that its threads begin.
pub(crate) fn declare(log: &Log, plan: &mut Plan, names: &Names, registers: &[String]) {
    for (index, kernel) in log.kernels.iter().enumerate() {
        let mut code = Code::default();
        registers.iter().for_each(|text| code.op(text));
        plan.declarations[index].push_str(&code.finish());

        let mut code = Code::default();
        code.op(format!("ld.const.u64 {ADDRESS}, [{}];", names.variable));
        code.op(format!("setp.ne.u64 {LOGGING}, {ADDRESS}, 0;"));
        let entered = function_label(index, "entered");
        if !kernel {
            code.label(&entered);
        }
        plan.prologues[index].push_str(&code.finish());
        if *kernel {
            let begins = where_looked_at(&entered, |code| code.call(names.begin, &[], &[]));
            plan.prologues[index].push_str(&begins);
        }
    }
}

/// Threads come to a barrier of their block and wait, and go on behind it. Who comes and does not wait (`bar.arrive`) is ordered
/// behind nobody by it.
pub(crate) fn look_at_block_barriers(log: &Log, plan: &mut Plan, names: &Names) {
    for (index, (told, around)) in log.points.iter().zip(&mut plan.points).enumerate() {
        let (Some(operand), Some(Told::Arrive { waits: true, .. })) = (told.operand.as_deref(), told.before)
        else {
            continue;
        };
        let comes = where_looked_at(&label(index, "looked"), |code| {
            code.call(names.arrive, &[("b32", operand)], &[PHASE]);
        });
        let goes = where_looked_at(&label(index, "left"), |code| {
            code.call(names.leave, &[("b32", operand), ("b32", PHASE)], &[]);
        });
        around.before.push_str(&comes);
        around.after.push_str(&goes);
    }
}

/// Threads end.
pub(crate) fn look_at_exits(log: &Log, plan: &mut Plan, names: &Names) {
    for (index, (told, around)) in log.points.iter().zip(&mut plan.points).enumerate() {
        if told.before == Some(Told::Exit) {
            let ends = where_looked_at(&label(index, "looked"), |code| code.call(names.exit, &[], &[]));
            around.before.push_str(&ends);
        }
    }
}
