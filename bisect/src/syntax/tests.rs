//! What the edits make of the text.

mod cases;
mod changes;
mod compiled;
mod insertions;
mod patched;
mod properties;
mod statements;

use bugaroo_protocol::{Inserted, Position, Side};

use super::{Form, SourceFile, Spot};
use crate::patch::{Edit, apply};

use cases::{Case, cases};

/// Carries out the edits of a table of cases and compares what comes of the texts.
fn assert_table(table: &'static str, edits: impl Fn(&Case) -> Result<Vec<Edit>, String>) {
    let mut wrong = String::new();
    for case in cases(table) {
        let made = edits(&case).map(|edits| apply(&case.text, &edits).expect("no overlap"));
        let made = made.unwrap_or_else(|refused| format!("refused: {refused}"));
        if made != case.expected {
            wrong.push_str(&format!("== {}\n{}\n---\n{made}---\n", case.name, case.asked));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
