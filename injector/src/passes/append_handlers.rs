//! append-handlers: the handlers' code at the module's end, and their declarations at its head.

use bugaroo_device_handlers::kit::STORE_BUFFERS;

use crate::collect_sites::SiteTable;
use crate::kits::append;
use crate::plan::Plan;

pub(super) fn run(table: &SiteTable, plan: &mut Plan) {
    append(&STORE_BUFFERS, table, plan);
}
