//! A `return` that holds an access: what comes behind the access comes before the return, so the value gets a name.

use tree_sitter::Node;

use super::lines::{indentation, line_ends, unit, with_comment};
use super::place::{Slot, Writing, behind, slot, with_labels};
use super::tree::{Parsed, depth, function_of, named_children};
use crate::patch::{Edit, Rank};

/// How a line is written behind the value of a `return`; None where it has none that can be named.
pub(super) fn behind_value(parsed: &Parsed, node: Node<'_>) -> Option<Writing> {
    let value = named_children(node).into_iter().next()?;
    if value.kind() == "initializer_list" || node.has_error() {
        return None;
    }
    let deep = depth(with_labels(node));
    let mut writing = behind(parsed, node)?;
    let comma = value.kind() == "comma_expression";
    let (open, close) = if comma { ("(", ")") } else { ("", "") };
    let (head, tail) = match returned(parsed, node) {
        Returned::Nothing => (String::new(), "return;".to_owned()),
        Returned::Value => {
            let name = free_name(parsed);
            (format!("const auto {name} = {open}"), format!("return {name};"))
        }
        Returned::Reference => {
            let name = free_name(parsed);
            (format!("auto &&{name} = {open}"), format!("return {name};"))
        }
    };
    let words = node.start_byte()..value.start_byte();
    let end = with_comment(&parsed.text, parsed.end_of(node));
    if comma && !head.is_empty() {
        writing.around.push(Edit::insert(value.end_byte(), close, Rank::tail(deep)).once());
    }
    // A name may not be declared where a jump to a label passes it.
    if matches!(slot(parsed, node)?, Slot::Row) && !head.is_empty() && has_jumps(node) {
        let own_line = !writing.lead.trim_matches(' ').is_empty() || line_ends(&parsed.text, end);
        let mut outer = writing.lead.clone();
        if own_line {
            let indent = indentation(&parsed.text, &parsed.lines, node.start_byte());
            outer = format!("{}{indent}", parsed.newline);
            writing.lead = format!("{outer}{}", unit(&parsed.text));
        }
        writing.around.push(Edit::replace(words, format!("{{{}{head}", writing.lead)));
        writing.around.push(Edit::insert(end, format!("{}{tail}", writing.lead), Rank::tail(deep)).once());
        writing.around.push(Edit::insert(end, format!("{outer}}}"), Rank::closing(deep)).once());
        return Some(writing);
    }
    writing.around.push(Edit::replace(words, head));
    writing.around.push(Edit::insert(end, format!("{}{tail}", writing.lead), Rank::tail(deep)).once());
    Some(writing)
}

/// What a function returns.
enum Returned {
    /// `void`
    Nothing,
    Value,
    Reference,
}

/// What the function returns that a statement stands in.
fn returned(parsed: &Parsed, node: Node<'_>) -> Returned {
    let Some(function) = function_of(node) else { return Returned::Value };
    let Some(declarator) = function.child_by_field_name("declarator") else { return Returned::Value };
    if declarator.kind() == "reference_declarator" {
        return Returned::Reference;
    }
    // `-> T` comes last.
    let trailing =
        named_children(declarator).into_iter().find(|child| child.kind() == "trailing_return_type");
    let kind = match trailing {
        Some(kind) => parsed.text_of(kind).trim_start_matches("->").trim(),
        None => function.child_by_field_name("type").map_or("", |kind| parsed.text_of(kind)),
    };
    match kind {
        "void" if declarator.kind() == "function_declarator" || trailing.is_some() => Returned::Nothing,
        kind if kind.ends_with('&') => Returned::Reference,
        _ => Returned::Value,
    }
}

/// True if labels stand beside a statement, or somewhere in its function.
fn has_jumps(node: Node<'_>) -> bool {
    let whole = with_labels(node);
    if whole != node || whole.parent().is_some_and(|parent| parent.kind() == "case_statement") {
        return true;
    }
    let Some(function) = function_of(node) else { return false };
    let mut found = false;
    let mut cursor = function.walk();
    loop {
        found |= cursor.node().kind() == "labeled_statement";
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return found;
            }
        }
    }
}

/// A name that the text does not use.
fn free_name(parsed: &Parsed) -> String {
    let used = |name: &str| {
        let word = |c: char| c.is_alphanumeric() || c == '_';
        parsed.text.match_indices(name).any(|(at, _)| {
            !parsed.text[..at].ends_with(word) && !parsed.text[at + name.len()..].starts_with(word)
        })
    };
    let numbered = (2..).map(|number| format!("result_{number}"));
    let mut names = std::iter::once("result".to_owned()).chain(numbered);
    names.find(|name| !used(name)).expect("a text has an end, and the names have none")
}
