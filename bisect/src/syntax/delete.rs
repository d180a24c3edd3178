//! What takes a call out of the source: with its line where it stands alone, with the `if` that governs nothing else,
//! and never so that an `if` comes to govern something else.

use std::ops::Range;

use tree_sitter::Node;

use super::lines::{blank_end, line_ends, with_comment};
use super::place::{Slot, slot, with_labels};
use super::refusal::{SourceRefusal, short};
use super::source::SourceFile;
use super::tree::{Parsed, is_loop, named_children};
use crate::patch::Edit;

/// Variables that every kernel has.
const BUILT_IN: [&str; 5] = ["threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize"];

/// The edits that take a call out.
pub(super) fn expression(
    file: &SourceFile,
    parsed: &Parsed,
    node: Node<'_>,
) -> Result<Vec<Edit>, SourceRefusal> {
    let refused = || {
        let line = file.lines.position(node.start_byte()).line;
        Err(SourceRefusal::InExpression { line, text: short(parsed.text_of(node)) })
    };
    let Some(parent) = node.parent() else { return refused() };
    match parent.kind() {
        "expression_statement" => {
            if parent.end_byte() > parsed.end && slot(parsed, parent).is_some() && is_first(parent) {
                // All of a macro: its uses are expressions.
                return Ok(vec![Edit::replace(node.byte_range(), "((void)0)")]);
            }
            statement(file, parsed, parent)
        }
        "comma_expression" => {
            let (left, right) = (parent.child_by_field_name("left"), parent.child_by_field_name("right"));
            match (left, right) {
                (Some(left), Some(right)) if left == node => {
                    Ok(vec![Edit::replace(node.start_byte()..right.start_byte(), "")])
                }
                (Some(left), _) => Ok(vec![Edit::replace(left.end_byte()..node.end_byte(), "")]),
                _ => refused(),
            }
        }
        "for_statement" if parent.child_by_field_name("condition") != Some(node) => {
            let update = parent.child_by_field_name("update") == Some(node);
            let text = &parsed.text;
            let start = if update { text[..node.start_byte()].trim_end().len() } else { node.start_byte() };
            Ok(vec![Edit::replace(start..node.end_byte(), "")])
        }
        "cast_expression" | "parenthesized_expression" => expression(file, parsed, parent),
        "conditional_expression" if parent.child_by_field_name("condition") != Some(node) => {
            Ok(vec![Edit::replace(node.byte_range(), "(void)0")])
        }
        "return_statement" => {
            let space = parsed.text[..node.start_byte()].trim_end().len();
            Ok(vec![Edit::replace(space..node.end_byte(), "")])
        }
        _ => refused(),
    }
}

/// True if nothing stands before a statement in its block.
fn is_first(node: Node<'_>) -> bool {
    node.parent().and_then(|parent| named_children(parent).into_iter().next()) == Some(node)
}

/// The edits that take a statement out.
fn statement(file: &SourceFile, parsed: &Parsed, node: Node<'_>) -> Result<Vec<Edit>, SourceRefusal> {
    let whole = with_labels(node);
    let bytes = node.start_byte()..parsed.end_of(node);
    if node.parent().is_some_and(|parent| parent.kind() == "labeled_statement") {
        return Ok(vec![Edit::replace(bytes, ";")]);
    }
    match slot(parsed, node) {
        None => {
            let line = file.lines.position(bytes.start).line;
            Err(SourceRefusal::NotUnderstood { line, text: short(&parsed.text[bytes]) })
        }
        Some(Slot::Row) => in_row(file, parsed, whole),
        Some(Slot::Body { header, after }) => match header.kind() {
            "if_statement"
                if header.child_by_field_name("alternative").is_none() && is_idle(file, parsed, header) =>
            {
                statement(file, parsed, header)
            }
            "else_clause" if !takes_else(header) => Ok(vec![without_else(parsed, header)]),
            _ => {
                // On the line of what it belongs to, unless a comment stands between.
                let (start, end) = (whole.start_byte(), parsed.end_of(whole));
                let blank = parsed.text[after..start].trim().is_empty();
                let (start, text) = if blank { (after, " {}") } else { (start, "{}") };
                Ok(vec![Edit::replace(start..end, text)])
            }
        },
    }
}

/// A statement beside others.
fn in_row(file: &SourceFile, parsed: &Parsed, whole: Node<'_>) -> Result<Vec<Edit>, SourceRefusal> {
    let Some(block) = whole.parent() else { return Ok(Vec::new()) };
    let others = named_children(block).len() > 1;
    if block.kind() == "case_statement" {
        // A label must have a statement, and what is last in a switch has none behind it.
        let value = block.child_by_field_name("value");
        let rest = named_children(block).into_iter().filter(|child| Some(*child) != value && *child != whole);
        let last = block.next_named_sibling().is_none();
        if last && rest.count() == 0 {
            return Ok(vec![Edit::replace(whole.start_byte()..parsed.end_of(whole), "break;")]);
        }
    } else if !others && block.kind() == "compound_statement" {
        match slot(parsed, block) {
            Some(Slot::Body { header, .. }) if header.kind() == "else_clause" && !takes_else(header) => {
                return Ok(vec![without_else(parsed, header)]);
            }
            Some(Slot::Body { header, .. })
                if header.kind() == "if_statement"
                    && header.child_by_field_name("alternative").is_none()
                    && header.child_by_field_name("consequence") == Some(block)
                    && is_idle(file, parsed, header) =>
            {
                return statement(file, parsed, header);
            }
            _ => {}
        }
    }
    Ok(vec![Edit::replace(row(parsed, whole.start_byte()..parsed.end_of(whole)), "")])
}

/// The bytes to take out with a statement: its lines, if it stands there alone; else the space before or behind it.
fn row(parsed: &Parsed, bytes: Range<usize>) -> Range<usize> {
    let text = &parsed.text;
    let line = parsed.lines.start(bytes.start);
    let first = text[line..bytes.start].trim().is_empty();
    let end = with_comment(text, bytes.end);
    if first && line_ends(text, end) {
        let next = blank_end(text, end);
        if next >= parsed.end {
            // The last line of a file or of a macro: the end of the line before goes with it.
            let before = text[..line].trim_end_matches([' ', '\t', '\r', '\n']).len();
            return before..end.min(parsed.end);
        }
        let length = text[next..].find('\n').map_or(0, |length| length + 1);
        return line..next + length;
    }
    if first {
        return bytes.start..blank_end(text, bytes.end);
    }
    text[..bytes.start].trim_end_matches([' ', '\t']).len()..bytes.end
}

/// Takes an `else` out.
fn without_else(parsed: &Parsed, clause: Node<'_>) -> Edit {
    let end = parsed.end_of(clause);
    let before = parsed.text[..clause.start_byte()].trim_end().len();
    // A comment behind what comes before stays.
    Edit::replace(before..end, "")
}

/// True if an `if` without this `else` would take the `else` of another one.
fn takes_else(clause: Node<'_>) -> bool {
    let Some(mut inner) = clause.parent() else { return false };
    while let Some(outer) = inner.parent() {
        let body = match outer.kind() {
            "if_statement" => {
                if outer.child_by_field_name("alternative").is_some_and(|other| other != inner) {
                    return true;
                }
                true
            }
            kind => {
                matches!(kind, "else_clause" | "labeled_statement" | "attributed_statement") || is_loop(kind)
            }
        };
        if !body {
            return false;
        }
        inner = outer;
    }
    false
}

/// True if nothing is missed where the condition of an `if` is not asked any more: it calls nothing, changes nothing
/// and reads nothing that others see it read.
fn is_idle(file: &SourceFile, parsed: &Parsed, header: Node<'_>) -> bool {
    let Some(condition) = header.child_by_field_name("condition") else { return false };
    let mut idle = !parsed.text_of(condition).contains("volatile");
    parsed.visit(condition, &mut |node| {
        idle &= match node.kind() {
            "call_expression"
            | "assignment_expression"
            | "update_expression"
            | "init_statement"
            | "declaration"
            | "co_await_expression"
            | "gnu_asm_expression"
            | "lambda_expression"
            | "ERROR" => false,
            "identifier" | "field_identifier" => {
                // What is declared elsewhere may be volatile.
                let name = parsed.text_of(node);
                let number = file.macro_named(name).map(|found| &file.text[found.value.clone()]);
                number.is_some_and(|value| value.starts_with(|c: char| c.is_ascii_digit()))
                    || BUILT_IN.contains(&name)
                    || node.kind() == "field_identifier" && ["x", "y", "z"].contains(&name)
                    || file.names.contains(name) && !file.watched.contains(name)
            }
            _ => true,
        };
    });
    idle
}
