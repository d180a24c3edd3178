//! drain-at-exit: nothing stays in a buffer when its thread ends, and nothing with its CTA when the last
//! thread does, which takes counting them: the handler is called by every thread.

use bugaroo_device_handlers::constants::event;
use bugaroo_device_handlers::symbols;

use crate::collect_sites::{PointKind, SiteTable};
use crate::emit::{Code, THREAD, label};
use crate::plan::Plan;

use super::places::each;

pub(super) fn run(table: &SiteTable, plan: &mut Plan) {
    for (index, point, around) in each(table, plan) {
        if point.kind != PointKind::Exit {
            continue;
        }
        let run = label(index, "run");
        let mut code = Code::default();
        code.unless_routed(&run);
        code.call(symbols::DRAIN, &[("b32", THREAD), ("b32", &event::EXIT.to_string())], &[]);
        code.label(&run);
        around.before.push_str(&code.finish());
    }
}
