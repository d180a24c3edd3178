//! open-guards: lanes whose guard is false go past everything that belongs to a guarded instruction.

use crate::collect_sites::SiteTable;
use crate::emit::Code;
use crate::plan::Plan;

use super::places::{each, skip_label};

pub(crate) fn run(table: &SiteTable, plan: &mut Plan) {
    for (index, point, around) in each(table, plan) {
        if let Some(guard) = &point.guard {
            let mut code = Code::default();
            let sign = if guard.negated { "" } else { "!" };
            code.op(format!("@{sign}{} bra {};", guard.register, skip_label(index)));
            around.before.push_str(&code.finish());
        }
    }
}
