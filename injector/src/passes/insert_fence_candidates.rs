//! insert-fence-candidates: after each access, the fence that the site table may ask for.

use bugaroo_device_handlers::symbols;

use crate::collect_sites::SiteTable;
use crate::emit::{Code, FLAGGED, THREAD, label};
use crate::plan::Plan;

use super::places::each;

pub(super) fn run(table: &SiteTable, plan: &mut Plan) {
    for (index, point, around) in each(table, plan) {
        let (Some(site), true) = (point.site, point.takes_fence) else { continue };
        let passed = label(index, "passed");
        let mut code = Code::default();
        code.op(format!("@!{FLAGGED} bra {passed};"));
        code.call(symbols::INSERTED_FENCE, &[("b32", THREAD), ("b32", &site.to_string())], &[]);
        code.label(&passed);
        around.after.push_str(&code.finish());
    }
}
