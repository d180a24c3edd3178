//! What the passes write: text before and after each place, and around the module's functions.
//!
//! A pass only adds text; the program's own bytes are never touched. Texts of later passes stand
//! behind those of earlier ones, on both sides of the instruction.

use bugaroo_ptx::ast::Module;
use bugaroo_ptx::edit::Edits;

use crate::collect_sites::SiteTable;

/// The text around one place.
#[derive(Clone, Debug, Default)]
pub struct Around {
    /// Before the instruction.
    pub before: String,
    /// After it; unused for the end of a body.
    pub after: String,
}

/// All the text that is to be inserted.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Per [`SiteTable::points`].
    pub points: Vec<Around>,
    /// Per [`SiteTable::functions`]: register declarations.
    pub declarations: Vec<String>,
    /// Per [`SiteTable::functions`]: what runs first.
    pub prologues: Vec<String>,
    /// Behind the module's header: declarations of what injected code names.
    pub preamble: String,
    /// At the module's end.
    pub epilogue: String,
}

impl Plan {
    /// An empty plan for a table.
    pub fn new(table: &SiteTable) -> Plan {
        Plan {
            points: vec![Around::default(); table.points.len()],
            declarations: vec![String::new(); table.functions.len()],
            prologues: vec![String::new(); table.functions.len()],
            preamble: String::new(),
            epilogue: String::new(),
        }
    }

    /// The plan as edits of the module's text.
    pub fn edits(&self, module: &Module, table: &SiteTable) -> Edits {
        let mut edits = Edits::new();
        let mut insert = |at: usize, text: String| {
            if !text.is_empty() {
                edits.insert_before(at, text);
            }
        };
        if !self.preamble.is_empty() {
            insert(module.header_span.end, format!("\n\n{}", self.preamble));
        }
        // Inserts at one offset come out in the order in which they are made.
        let mut points = table.points.iter().zip(&self.points).peekable();
        for (index, function) in table.functions.iter().enumerate() {
            if !self.declarations[index].is_empty() {
                insert(function.declarations_at, format!("\n{}", self.declarations[index].trim_end()));
            }
            insert(function.prologue_at, leading(&self.prologues[index]));
            while let Some((point, around)) = points.next_if(|(point, _)| point.function == index) {
                insert(point.before_at, leading(&around.before));
                if !around.after.is_empty() {
                    insert(point.span.end, format!("\n{}", around.after.trim_end()));
                }
            }
        }
        if !self.epilogue.is_empty() {
            insert(module.source.len(), format!("\n{}", self.epilogue));
        }
        edits
    }
}

/// Text that stands before something on a line of its own: the program's indentation is there already,
/// and what follows gets a new one.
fn leading(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("{}\n\t", text.trim()) }
}
