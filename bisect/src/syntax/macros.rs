//! Macros that the file defines: their bodies as trees, where they are used, and the spots in them.

use std::ops::Range;

use tree_sitter::Node;

use super::definitions::{Macro, words};
use super::place::{Slot, slot, with_labels};
use super::source::SourceFile;
use super::spots::{Collector, FileSpan, Form, LocTold, MacroUse, Spot};
use super::tree::{Parsed, Unit, function_name, function_of};

/// Uses of macros that hold uses of others are followed this far.
const NESTING: usize = 4;

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
        let elsewhere: Vec<FileSpan> =
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
                told: LocTold::InMacro,
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
        .map(|spot| Spot { told: LocTold::InMacro, in_macro: in_macro.clone(), ..spot })
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
