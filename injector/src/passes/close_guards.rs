//! close-guards: the labels behind guarded instructions and fences.

use crate::collect_sites::SiteTable;
use crate::emit::Code;
use crate::plan::Plan;

use super::places::{each, has_skip, skip_label};

pub(crate) fn run(table: &SiteTable, plan: &mut Plan) {
    for (index, point, around) in each(table, plan) {
        if has_skip(point) {
            let mut code = Code::default();
            code.label(&skip_label(index));
            around.after.push_str(&code.finish());
        }
    }
}
