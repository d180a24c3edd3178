//! append-handlers: the handlers' code at the module's end, and their declarations at its head.
//!
//! They become the module's own: not visible to others, so that several instrumented modules can be
//! linked. Comments and the header of `handlers.ptx` stay behind.

use bugaroo_device_handlers::PTX;
use bugaroo_ptx::ast::{Item, Linkage};

use crate::collect_sites::SiteTable;
use crate::plan::Plan;

pub(super) fn run(table: &SiteTable, plan: &mut Plan) {
    // Nobody would call them: such a module stays as it is.
    if table.functions.is_empty() {
        return;
    }
    append(PTX, plan);
}

/// Appends device code that is checked in.
pub(crate) fn append(text: &str, plan: &mut Plan) {
    let handlers = bugaroo_ptx::parse(text).expect("what is checked in parses: a test");
    for item in &handlers.items {
        match item {
            Item::Variable(variable) => {
                plan.preamble.push_str(&handlers.source[variable.span.start..variable.span.end]);
                plan.preamble.push('\n');
            }
            Item::Function(function) => {
                let Some(body) = &function.body else { continue };
                let text = |start, end| {
                    let text: &str = &handlers.source[start..end];
                    if function.linkage == Linkage::Visible {
                        text.replacen(".visible ", "", 1)
                    } else {
                        text.to_owned()
                    }
                };
                let prototype = text(function.span.start, body.span.start);
                plan.preamble
                    .push_str(&format!("{};\n", prototype.split_whitespace().collect::<Vec<_>>().join(" ")));
                plan.epilogue.push_str(&format!("{}\n", text(function.span.start, body.span.end)));
            }
            Item::Directive(_) => {}
        }
    }
}
