//! Atomics of a narrow scope, made atomics of the GPU.

use bugaroo_protocol::Position;
use tree_sitter::Node;

use super::names::declared_name;
use super::refusal::{SourceRefusal, short};
use super::source::SourceFile;
use super::spots::MacroUse;
use super::statement::units_at;
use super::tree::{Parsed, Unit};
use crate::patch::Edit;

/// An atomic of a narrow scope, and what widens it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Widening {
    /// The access.
    pub text: String,
    /// The line of what is changed: of the access, or of the declaration of its object.
    pub line: u32,
    /// The macro in whose definition it stands, and is changed for all uses.
    pub in_macro: Option<MacroUse>,
    /// What gives it the scope of the GPU.
    pub edits: Vec<Edit>,
}

/// The atomics of a narrow scope in the statements at a position.
pub(super) fn at(file: &SourceFile, at: Position) -> Result<Vec<Widening>, SourceRefusal> {
    let units = file.parsed.units();
    let mut found = Vec::new();
    let mut refused = SourceRefusal::NotThere { what: "atomic of a narrow scope", line: at.line };
    for unit in units_at(file, &units, at) {
        of_unit(file, &file.parsed, unit, None, &mut found, &mut refused);
        for defined in file.macros_in(&file.parsed, unit) {
            let body = defined.body(&file.text, file.newline);
            let name = MacroUse { name: defined.name.clone(), uses: file.uses(&units, defined).0 };
            for inner in body.units() {
                of_unit(file, &body, &inner, Some(&name), &mut found, &mut refused);
            }
        }
    }
    if found.is_empty() { Err(refused) } else { Ok(found) }
}

/// Those in the own code of a statement.
fn of_unit(
    file: &SourceFile,
    parsed: &Parsed,
    unit: &Unit<'_>,
    in_macro: Option<&MacroUse>,
    found: &mut Vec<Widening>,
    refused: &mut SourceRefusal,
) {
    parsed.visit(unit.node, &mut |node| {
        if !unit.own.iter().any(|own| own.contains(&node.start_byte())) {
            return;
        }
        let edits = match node.kind() {
            "call_expression" => call(file, parsed, node),
            "gnu_asm_expression" => assembly(file, parsed, node),
            _ => return,
        };
        match edits {
            Ok(edits) => {
                let Some(first) = edits.first() else { return };
                let line = file.lines.position(first.range.start).line;
                let text = short(parsed.text_of(node));
                let known = found.iter().any(|other| other.edits == edits);
                if !known {
                    found.push(Widening { text, line, in_macro: in_macro.cloned(), edits });
                }
            }
            Err(why) => *refused = why,
        }
    });
}

/// A call of an atomic; no edits if it is none, or wide enough.
fn call(file: &SourceFile, parsed: &Parsed, node: Node<'_>) -> Result<Vec<Edit>, SourceRefusal> {
    let Some(function) = node.child_by_field_name("function") else { return Ok(Vec::new()) };
    let name = parsed.text_of(function);
    if let Some(wide) = name.strip_suffix("_block")
        && name.starts_with("atomic")
    {
        return Ok(vec![Edit::replace(function.start_byte() + wide.len()..function.end_byte(), "")]);
    }
    if name.starts_with("__nv_atomic") {
        let Some(arguments) = node.child_by_field_name("arguments") else { return Ok(Vec::new()) };
        return Ok(narrow_words(parsed, arguments));
    }
    let Some(object) = function.child_by_field_name("argument") else { return Ok(Vec::new()) };
    let member = function.child_by_field_name("field").map_or("", |field| parsed.text_of(field));
    let atomic = matches!(member, "load" | "store" | "exchange" | "wait" | "notify_one" | "notify_all")
        || member.starts_with("fetch_")
        || member.starts_with("compare_exchange");
    if !atomic {
        return Ok(Vec::new());
    }
    let here = narrow_words(parsed, object);
    if !here.is_empty() {
        return Ok(here);
    }
    declaration(file, parsed, object)
}

/// Where the scope of an object is said that is declared in this file.
fn declaration(file: &SourceFile, parsed: &Parsed, object: Node<'_>) -> Result<Vec<Edit>, SourceRefusal> {
    let mut named = object;
    while let Some(inner) =
        named.child_by_field_name("argument").filter(|_| named.kind() != "field_expression")
    {
        named = inner;
    }
    let named = named.child_by_field_name("field").unwrap_or(named);
    let name = parsed.text_of(named);
    let whole = &file.parsed;
    let mut declared: Vec<Node<'_>> = Vec::new();
    whole.visit(whole.root(), &mut |node| {
        if matches!(node.kind(), "declaration" | "parameter_declaration" | "field_declaration") {
            let mut cursor = node.walk();
            let names = node.children_by_field_name("declarator", &mut cursor).filter_map(declared_name);
            if names.into_iter().any(|declared| whole.text_of(declared) == name) {
                declared.push(node);
            }
        }
    });
    let narrow: Vec<Vec<Edit>> = declared
        .iter()
        .filter_map(|node| node.child_by_field_name("type"))
        .map(|kind| {
            let here = narrow_words(whole, kind);
            if here.is_empty() { alias(file, whole.text_of(kind)) } else { here }
        })
        .collect();
    match narrow.as_slice() {
        [edits] => Ok(edits.clone()),
        [] => Ok(Vec::new()),
        many if many.iter().all(Vec::is_empty) => Ok(Vec::new()),
        _ => Err(SourceRefusal::NoScope {
            line: file.lines.position(object.start_byte()).line,
            text: short(parsed.text_of(object)),
            why: format!("{} declarations are called `{name}`", narrow.len()),
        }),
    }
}

/// The words of a narrow scope in what a name of a type stands for.
fn alias(file: &SourceFile, name: &str) -> Vec<Edit> {
    let whole = &file.parsed;
    let mut edits = Vec::new();
    whole.visit(whole.root(), &mut |node| {
        let names = match node.kind() {
            "alias_declaration" => node.child_by_field_name("name"),
            "type_definition" => node.child_by_field_name("declarator"),
            _ => None,
        };
        if names.is_some_and(|named| whole.text_of(named) == name)
            && let Some(kind) = node.child_by_field_name("type")
        {
            edits.extend(narrow_words(whole, kind));
        }
    });
    edits
}

/// Makes the narrow scopes in an expression or a type those of the GPU.
fn narrow_words(parsed: &Parsed, node: Node<'_>) -> Vec<Edit> {
    let mut edits = Vec::new();
    parsed.visit(node, &mut |inner| {
        if inner.child_count() > 0 {
            return;
        }
        let wide = match parsed.text_of(inner) {
            "thread_scope_block" | "thread_scope_thread" => "thread_scope_device",
            "__NV_THREAD_SCOPE_BLOCK" | "__NV_THREAD_SCOPE_CLUSTER" | "__NV_THREAD_SCOPE_THREAD" => {
                "__NV_THREAD_SCOPE_DEVICE"
            }
            _ => return,
        };
        edits.push(Edit::replace(inner.byte_range(), wide));
    });
    edits
}

/// An access in a string of assembly; no edits if none is narrow.
fn assembly(file: &SourceFile, parsed: &Parsed, node: Node<'_>) -> Result<Vec<Edit>, SourceRefusal> {
    let Some(code) = node.child_by_field_name("assembly_code") else { return Ok(Vec::new()) };
    let text = parsed.text_of(code);
    let access = ["ld.", "st.", "atom.", "red."].iter().any(|start| text.contains(start));
    let narrow: Vec<usize> = [".cta.", ".cluster."]
        .iter()
        .flat_map(|scope| text.match_indices(scope).map(|(at, found)| at + found.len()))
        .collect();
    match narrow[..] {
        [] => Ok(Vec::new()),
        [end] if access && text.matches(';').count() <= 1 => {
            let word = text[..end - 1].rfind('.').map_or(0, |dot| dot + 1);
            Ok(vec![Edit::replace(code.start_byte() + word..code.start_byte() + end - 1, "gpu")])
        }
        _ => {
            let line = file.lines.position(node.start_byte()).line;
            Err(SourceRefusal::MixedAssembly { line, text: short(text) })
        }
    }
}
