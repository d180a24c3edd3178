//! append-handlers: the handlers' code at the module's end, and their declarations at its head.

use crate::collect_sites::SiteTable;
use crate::kits::append;
use crate::plan::Plan;

pub(super) fn run(table: &SiteTable, plan: &mut Plan) {
    append(&super::KIT.code, table, plan);
}
