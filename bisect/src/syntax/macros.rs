//! Macros that the file defines: their bodies as trees, where they are used, and the spots in them.

use std::ops::Range;

use tree_sitter::Node;

use super::SourceFile;
use super::place::{Slot, slot, with_labels};
use super::spots::{Collector, Form, MacroUse, Span, Spot, Told};
use super::tree::{Parsed, Unit, function_name, function_of};

/// A macro.
#[derive(Clone, Debug)]
pub(super) struct Macro {
    /// Its name.
    pub name: String,
    /// Where its definition begins.
    pub at: usize,
    /// What it stands for.
    pub value: Range<usize>,
    /// True if it takes arguments, perhaps none.
    pub function: bool,
}

/// Uses of macros that hold uses of others are followed this far.
const NESTING: usize = 4;

/// The macros that a text defines.
pub(super) fn defined(parsed: &Parsed) -> Vec<Macro> {
    let mut macros = Vec::new();
    parsed.visit(parsed.root(), &mut |node| {
        let function = node.kind() == "preproc_function_def";
        if !function && node.kind() != "preproc_def" {
            return;
        }
        let field = |name: &str| node.child_by_field_name(name);
        let (Some(name), Some(value)) = (field("name"), field("value")) else { return };
        let text = parsed.text_of(value);
        let start = value.start_byte() + text.len() - text.trim_start_matches([' ', '\t']).len();
        macros.push(Macro {
            name: parsed.text_of(name).to_owned(),
            at: node.start_byte(),
            value: start..value.start_byte() + text.trim_end().len(),
            function,
        });
    });
    macros
}

/// Places of a word in a text.
fn words<'t>(text: &'t str, word: &'t str) -> impl Iterator<Item = usize> + 't {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word)
        .map(|(at, _)| at)
        .filter(move |at| !text[..*at].ends_with(part) && !text[at + word.len()..].starts_with(part))
}

/// The text with a semicolon in place of the space behind uses of macros that stand where a statement does and have
/// none, as the grammar would take what follows for a part of them; None if there are none.
pub(super) fn close_uses(text: &str, macros: &[Macro]) -> Option<String> {
    let mut closed = text.as_bytes().to_vec();
    let mut changed = false;
    let statements = |defined: &&Macro| defined.function || text[..defined.value.end].ends_with([';', '}']);
    for defined in macros.iter().filter(statements) {
        for at in words(text, &defined.name) {
            if macros.iter().any(|other| other.at <= at && at < other.value.end) {
                continue;
            }
            let before = text[..at].trim_end();
            if !before.is_empty() && !before.ends_with([';', '{', '}', ')', '/']) {
                continue;
            }
            let name_end = at + defined.name.len();
            let end = if defined.function { arguments_end(text, name_end) } else { Some(name_end) };
            let Some(end) = end else { continue };
            let rest = &text[end..];
            let next = rest.trim_start();
            let word = next.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '}');
            if word && rest.starts_with(|c: char| c.is_ascii_whitespace()) && !next.starts_with("else") {
                closed[end] = b';';
                changed = true;
            }
        }
    }
    // Only white space of one byte was replaced, by another byte of ASCII.
    changed.then(|| String::from_utf8(closed).expect("still UTF-8"))
}

/// Where the arguments end that begin at a place.
fn arguments_end(text: &str, from: usize) -> Option<usize> {
    let open = from + text[from..].len() - text[from..].trim_start_matches([' ', '\t']).len();
    let mut deep = 0usize;
    for (at, byte) in text[open..].bytes().enumerate() {
        match byte {
            b'(' => deep += 1,
            b')' => {
                deep = deep.checked_sub(1)?;
                if deep == 0 {
                    return Some(open + at + 1);
                }
            }
            _ if deep == 0 => return None,
            _ => {}
        }
    }
    None
}

impl Macro {
    /// Its value as the body of a function, each byte where it is in the file.
    pub fn body(&self, text: &str, newline: &str) -> Parsed {
        const HEAD: &[u8] = b"void f(){";
        let mut body: Vec<u8> = text.as_bytes()[..self.value.end].to_vec();
        for byte in &mut body[..self.value.start] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
        // `#define X` is as long; what pushes the name to another line is left out of this.
        body[self.at..self.at + HEAD.len()].copy_from_slice(HEAD);
        for at in self.value.clone() {
            let before = at.checked_sub(1).map(|before| body[before]);
            match body[at] {
                b'\\' if text[at + 1..].starts_with(['\n', '\r']) => body[at] = b' ',
                b'#' if body.get(at + 1) == Some(&b'#') || before == Some(b'_') => body[at] = b'_',
                b'#' => body[at] = b' ',
                _ => {}
            }
        }
        body.extend_from_slice(b"\n;}");
        // Only ASCII was replaced within the value, and all of what stands before it.
        let body = String::from_utf8_lossy(&body).into_owned();
        Parsed::new(body, format!(" \\{newline}"), self.value.end)
    }
}

impl SourceFile {
    /// The macro of a name, if one definition says what it is.
    pub(super) fn macro_named(&self, name: &str) -> Option<&Macro> {
        let mut named = self.macros.iter().filter(|defined| defined.name == name);
        let first = named.next()?;
        (named.next().is_none() && first.value.start >= first.at + "#define X".len()).then_some(first)
    }

    /// The macros that a stretch of a tree names.
    pub(super) fn macros_in(&self, parsed: &Parsed, unit: &Unit<'_>) -> Vec<&Macro> {
        let mut found: Vec<&Macro> = Vec::new();
        parsed.visit(unit.node, &mut |node| {
            let named = matches!(node.kind(), "identifier" | "type_identifier");
            let own = unit.own.iter().any(|own| own.contains(&node.start_byte()));
            if let Some(defined) = self.macro_named(parsed.text_of(node)).filter(|_| named && own)
                && !found.iter().any(|other| other.at == defined.at)
            {
                found.push(defined);
            }
        });
        found
    }

    /// How often a macro is used, not counting its definition, and the statements that use it.
    pub(super) fn uses(&self, units: &[Unit<'_>], defined: &Macro) -> (usize, Vec<Range<usize>>) {
        let places: Vec<usize> = words(&self.text, &defined.name)
            .filter(|at| !(defined.at..defined.value.start).contains(at))
            .filter(|&at| {
                let here = self.parsed.root().descendant_for_byte_range(at, at);
                here.is_none_or(|node| {
                    !matches!(node.kind(), "comment" | "string_content" | "string_literal")
                })
            })
            .collect();
        let mut statements: Vec<Range<usize>> = units
            .iter()
            .filter(|unit| unit.own.iter().any(|own| places.iter().any(|at| own.contains(at))))
            .map(|unit| unit.node.start_byte()..self.parsed.end_of(unit.node))
            .collect();
        statements.dedup();
        (places.len(), statements)
    }
}

/// The spots within the definitions of macros that a statement uses.
pub(super) fn spots(file: &SourceFile, units: &[Unit<'_>], unit: &Unit<'_>) -> Vec<Spot> {
    let mut spots = Vec::new();
    let collector = Collector { parsed: &file.parsed, lines: &file.lines, units };
    let here = unit.node.start_byte()..file.parsed.end_of(unit.node);
    let mut seen: Vec<usize> = Vec::new();
    let mut ahead: Vec<(&Macro, usize)> =
        file.macros_in(&file.parsed, unit).into_iter().map(|defined| (defined, 1)).collect();
    while let Some((defined, nesting)) = ahead.pop() {
        if seen.contains(&defined.at) {
            continue;
        }
        seen.push(defined.at);
        let body = defined.body(&file.text, file.newline);
        let inner = body.units();
        if nesting < NESTING {
            let further = inner.iter().flat_map(|unit| file.macros_in(&body, unit));
            ahead.extend(further.map(|defined| (defined, nesting + 1)));
        }
        let (uses, statements) = file.uses(units, defined);
        let elsewhere: Vec<Span> =
            statements.iter().filter(|bytes| **bytes != here).map(|bytes| collector.span(bytes)).collect();
        let alone = units.iter().any(|unit| {
            statements.contains(&(unit.node.start_byte()..file.parsed.end_of(unit.node)))
                && matches!(slot(&file.parsed, unit.node), Some(Slot::Body { .. }))
        });
        for spot in within(file, defined, (&body, &inner), alone) {
            spots.push(Spot {
                span: collector.span(&here),
                elsewhere: elsewhere.clone(),
                function: function_name(&file.parsed, unit.node),
                told: Told::InMacro,
                in_macro: Some(MacroUse { name: defined.name.clone(), uses }),
                ..spot
            });
        }
    }
    spots
}

/// The spots within the definition of a macro that another file uses so often.
pub(super) fn spots_for(file: &SourceFile, name: &str, uses: usize) -> Vec<Spot> {
    let Some(defined) = file.macro_named(name) else { return Vec::new() };
    let body = defined.body(&file.text, file.newline);
    let in_macro = Some(MacroUse { name: name.to_owned(), uses });
    // What its uses are the body of is not known here.
    within(file, defined, (&body, &body.units()), true)
        .into_iter()
        .map(|spot| Spot { told: Told::InMacro, in_macro: in_macro.clone(), ..spot })
        .collect()
}

/// The spots within the definition of a macro.
fn within(
    file: &SourceFile,
    defined: &Macro,
    (body, units): (&Parsed, &[Unit<'_>]),
    alone: bool,
) -> Vec<Spot> {
    // What is one expression may stand in another.
    let open = |node: Node<'_>| node.end_byte() > defined.value.end;
    let one = units.first().is_some_and(|unit| {
        open(unit.node)
            && unit.node.start_byte() <= defined.value.start
            && unit.node.kind() == "expression_statement"
    });
    if one {
        return Vec::new();
    }
    let collector = Collector { parsed: body, lines: &file.lines, units };
    let mut spots: Vec<Spot> = Vec::new();
    for unit in units {
        // One statement that becomes two is no body of an `if` any more.
        let top = function_of(unit.node).and_then(|function| function.child_by_field_name("body"));
        if alone && with_labels(unit.node).parent() == top {
            continue;
        }
        for spot in collector.spots(unit.node) {
            let function = matches!(spot.form, Form::FunctionStart | Form::FunctionEnd);
            // Behind what has no semicolon yet stands that of the use.
            let closed = file.text[..defined.value.end].ends_with([';', '}']);
            let last = spot.writing.at >= defined.value.end && spot.writing.around.is_empty() && !closed;
            let known = spots.iter().any(|other| other.side == spot.side && other.bytes == spot.bytes);
            if spot.depth == 0 && !function && !known && !last {
                spots.push(spot);
            }
        }
    }
    spots
}
