//! tell-accesses: loads, stores and atomics, with their addresses; stores with what they store.

use bugaroo_device_handlers::logging::prepare;

use super::declare_log_state::MORE;
use super::each::each;
use crate::access::AccessOperand;
use crate::collect_sites::PointKind;
use crate::emit::{ADDRESS, Code, VALUE, label};
use crate::logging::emit;
use crate::logging::log::Log;
use crate::logging::told::Told;
use crate::plan::Plan;

pub(super) fn run(log: &Log, plan: &mut Plan) {
    for each in each(log, plan) {
        let (PointKind::Store { access, .. } | PointKind::Load(access) | PointKind::Atomic(access)) =
            &each.point.kind
        else {
            continue;
        };
        let (before, behind) = (each.before(), each.behind());
        let told = label(each.index, "told");
        let mut code = Code::default();
        if let Some(Told::Access(_)) = each.told.behind {
            // The load may overwrite what its address is made of.
            code.op(format!("@!{} bra {};", crate::emit::LOGGING, label(each.index, "kept")));
            code.address(access);
            code.label(&label(each.index, "kept"));
            each.around.before.push_str(&code.finish());
            let mut code = Code::default();
            emit::tell(&mut code, &told, prepare::ACCESS, behind, |_| {}, &[ADDRESS]);
            each.around.after.push_str(&code.finish());
            continue;
        }
        if let PointKind::Store { .. } = each.point.kind {
            let values: Vec<String> = (0..4)
                .map(|at| if at < access.elements.len() { format!("{MORE}{at}") } else { "0".to_owned() })
                .collect();
            let mut parameters = vec![ADDRESS];
            parameters.extend(values.iter().map(String::as_str));
            emit::tell(&mut code, &told, prepare::STORE, before, |code| stored(code, access), &parameters);
        } else {
            emit::tell(&mut code, &told, prepare::ACCESS, before, |code| code.address(access), &[ADDRESS]);
        }
        each.around.before.push_str(&code.finish());
    }
}

/// Puts the address and the bits of each element where the call takes them from.
fn stored(code: &mut Code, access: &AccessOperand) {
    code.address(access);
    for (at, element) in access.elements.iter().enumerate() {
        code.take(element);
        let cut = u64::MAX >> (64 - access.ty.bits());
        code.op(format!("and.b64 {MORE}{at}, {VALUE}, {cut:#x};"));
    }
}
