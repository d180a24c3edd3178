//! declare-state: our registers, and the prologue that fills those that hold throughout the function.
//!
//! A launch without features costs a function the load of one word and five instructions. Otherwise
//! the handler `__bugaroo_enter` says which thread this is, and of which CTA.

use bugaroo_device_handlers::constants::cta;
use bugaroo_device_handlers::{Features, LAUNCH_VARIABLE, symbols};

use crate::collect_sites::SiteTable;
use crate::emit::{
    ADDRESS, ANSWER, AT, CHOICE, CTA, Code, EVENT, FLAGGED, HALF, HELD, P, RESTORE, ROUTE, SLOT, THREAD,
    VALUE, WORD, function_label,
};
use crate::plan::Plan;

/// Offset of the features in the launch state.
const FEATURES: usize = std::mem::offset_of!(bugaroo_device_handlers::LaunchState, features);

/// Offset of the address of what CTAs hold.
const CTAS: usize = std::mem::offset_of!(bugaroo_device_handlers::LaunchState, ctas);

pub(super) fn run(table: &SiteTable, plan: &mut Plan) {
    for (index, function) in table.functions.iter().enumerate() {
        let mut code = Code::default();
        code.op(format!(".reg .pred {ROUTE}, {RESTORE}, {FLAGGED}, {P};"));
        code.op(format!(".reg .b16 {HALF};"));
        code.op(format!(".reg .b32 {THREAD}, {WORD}, {EVENT};"));
        code.op(format!(".reg .b64 {SLOT}, {CTA}, {ADDRESS}, {AT}, {VALUE}, {ANSWER};"));
        if function.elements > 0 {
            code.op(format!(".reg .b64 {HELD}<{0}>, {CHOICE}<{0}>;", function.elements));
        }
        plan.declarations[index].push_str(&code.finish());

        let entered = function_label(index, "entered");
        let mut code = Code::default();
        code.op(format!("ld.const.u32 {WORD}, [{LAUNCH_VARIABLE}+{FEATURES}];"));
        code.op(format!("setp.eq.u32 {P}, {WORD}, 0;"));
        for (predicate, feature) in
            [(ROUTE, Features::ROUTE), (RESTORE, Features::RESTORE), (FLAGGED, Features::FLAGS)]
        {
            code.op(format!("and.b32 {THREAD}, {WORD}, {feature};"));
            code.op(format!("setp.ne.u32 {predicate}, {THREAD}, 0;"));
        }
        code.op(format!("@{P} bra {entered};"));
        code.call(symbols::ENTER, &[], &[SLOT, ANSWER]);
        code.op(format!("cvt.u32.u64 {THREAD}, {ANSWER};"));
        code.op(format!("shr.u64 {ANSWER}, {ANSWER}, 32;"));
        code.op(format!("ld.const.u64 {CTA}, [{LAUNCH_VARIABLE}+{CTAS}];"));
        code.op(format!("mad.lo.u64 {CTA}, {ANSWER}, {}, {CTA};", cta::BYTES));
        code.label(&entered);
        plan.prologues[index].push_str(&code.finish());
    }
}
