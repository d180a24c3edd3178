//! Fences, barriers and atomics that are there: taken out, narrowed, widened.

use super::cases::Case;
use super::insertions::position;
use super::*;
use crate::syntax::FenceScope;

/// What becomes of them.
pub const CHANGES: &str = include_str!("changes.txt");

/// The edits of a case.
pub fn edits(case: &Case) -> Result<Vec<Edit>, String> {
    let file = SourceFile::parse("a.cu", case.text.as_str());
    let at = position(&case.text, case.at);
    if case.asked == "widen" {
        let found = file.widenings_at(at).map_err(|refused| refused.to_string())?;
        return Ok(found.into_iter().flat_map(|widening| widening.edits).collect());
    }
    let mut calls = file.fences_at(at).map_err(|refused| refused.to_string())?;
    let call = if case.asked == "delete-use" { calls.pop() } else { calls.into_iter().next() };
    let call = call.expect("one at least");
    let edits = match case.asked {
        "to block" => call.with_scope(FenceScope::Block),
        "to gpu" => call.with_scope(FenceScope::Gpu),
        _ => call.delete,
    };
    edits.map_err(|refused| refused.to_string())
}

#[test]
fn fences_are_taken_out_and_scopes_changed_so_that_nothing_else_changes() {
    assert_table(CHANGES, edits);
}
