//! Kits: what a module is instrumented with. A kit is a list of passes, and the device code that they call, which comes with the
//! header that host and device share ([`bugaroo_device_handlers::kit`]).
//!
//! | kit | its passes | what its code does |
//! |---|---|---|
//! | store buffers | [`crate::passes`] | delays stores, omits and inserts fences |
//! | log | [`crate::logging::passes`] | tells the host what threads do |
//! | HiRace | [`crate::hirace::passes`] | looks for races itself, and tells the host of those |
//! | ScoRD | [`crate::scord::passes`] | likewise, by scopes, fences and locks |

use bugaroo_device_handlers::kit::DeviceCode;
use bugaroo_ptx::ast::{Item, Linkage, Module};
use bugaroo_ptx::edit::Edited;

use crate::collect_sites::SiteTable;
use crate::error::InstrumentError;
use crate::plan::Plan;

/// What passes read: the places of a module, and what a kit has to know of them.
pub trait Table {
    /// The places.
    fn sites(&self) -> &SiteTable;
}

impl Table for SiteTable {
    fn sites(&self) -> &SiteTable {
        self
    }
}

/// A step: reads the table, adds text to the plan.
pub struct Pass<T: 'static> {
    /// Verb and noun.
    pub name: &'static str,
    /// What it does.
    pub run: fn(&T, &mut Plan),
}

/// See the head.
pub struct Kit<T: 'static> {
    /// Every pass, in order. The order matters where two write at one place: guards open first and close last. The last
    /// one merges the code in.
    pub passes: &'static [Pass<T>],
    /// What they call.
    pub code: DeviceCode,
}

/// Does some passes on a module.
///
/// # Errors
/// Where the text of two contradicts each other.
pub(crate) fn apply<T: Table>(
    (module, source): (&Module, &str),
    table: &T,
    passes: &[Pass<T>],
) -> Result<Edited, InstrumentError> {
    let mut plan = Plan::new(table.sites());
    for pass in passes {
        (pass.run)(table, &mut plan);
    }
    Ok(plan.edits(module, table.sites()).apply(source)?)
}

/// Appends device code: its functions at the module's end, and their declarations at its head. Where no function has a place,
/// nobody would call it: such a module stays as it is.
///
/// It becomes the module's own: not visible to others, so that several instrumented modules can be
/// linked. Comments and the header of the compiled code stay behind.
pub(crate) fn append(code: &DeviceCode, table: &SiteTable, plan: &mut Plan) {
    if table.functions.is_empty() {
        return;
    }
    let handlers = bugaroo_ptx::parse(code.ptx).expect("what is checked in parses: a test");
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
