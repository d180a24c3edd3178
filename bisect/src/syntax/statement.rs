//! The statements that a position can mean.

use std::ops::Range;

use bugaroo_protocol::Position;
use tree_sitter::Node;

use super::access::{self, Synchronising, synchronising};
use super::macros;
use super::refusal::{SourceRefusal, short};
use super::source::SourceFile;
use super::spots::{Collector, FileSpan, LocTold, Spot, node_is_broken};
use super::tree::{Parsed, Unit, function_name};

/// A statement, and where a line can be written for the accesses in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceStatement {
    /// Where it stands, with what is in its blocks.
    pub span: FileSpan,
    /// Its own words on one line, without those of its blocks.
    pub text: String,
    /// The function that it stands in.
    pub function: Option<String>,
    /// Whether positions tell it from others.
    pub told: LocTold,
    /// What it does to other threads, by its words.
    pub synchronising: Synchronising,
    /// Beside it, in it and around it; what is next to it first.
    pub spots: Vec<Spot>,
    /// Its bytes.
    pub(super) bytes: Range<usize>,
}

/// The statements at a position.
pub(super) fn at(file: &SourceFile, at: Position) -> Result<Vec<SourceStatement>, SourceRefusal> {
    let units = file.parsed.units();
    let found = units_at(file, &units, at);
    if found.is_empty() {
        return Err(SourceRefusal::NoStatement { line: at.line });
    }
    let collector = Collector { parsed: &file.parsed, lines: &file.lines, units: &units };
    let mut statements = Vec::new();
    let mut refused = None;
    for unit in found {
        let text = own_text(file, unit);
        if node_is_broken(unit.node) {
            refused = Some(SourceRefusal::NotUnderstood {
                line: file.lines.position(unit.node.start_byte()).line,
                text,
            });
            continue;
        }
        let mut synchronising = synchronising(file, &file.parsed, unit);
        for defined in file.macros_in(&file.parsed, unit) {
            let body = defined.body(&file.text, file.newline);
            for inner in body.units() {
                synchronising = synchronising.and(access::synchronising(file, &body, &inner));
            }
        }
        let mut statement = statement(&collector, unit, text, synchronising);
        statement.spots.extend(macros::spots(file, &units, unit));
        statements.push(statement);
    }
    match refused {
        Some(refused) if statements.is_empty() => Err(refused),
        _ => Ok(statements),
    }
}

/// A statement with its spots.
fn statement(
    collector: &Collector<'_>,
    unit: &Unit<'_>,
    text: String,
    synchronising: Synchronising,
) -> SourceStatement {
    let parsed = collector.parsed;
    let bytes = unit.node.start_byte()..parsed.end_of(unit.node);
    SourceStatement {
        span: collector.span(&bytes),
        text,
        function: function_name(parsed, unit.node),
        told: collector.told(&bytes),
        synchronising,
        spots: collector.spots(unit.node),
        bytes,
    }
}

/// A statement's own words.
fn own_text(file: &SourceFile, unit: &Unit<'_>) -> String {
    let end = |own: &Range<usize>| own.end.min(file.text.len());
    let parts: Vec<&str> = unit.own.iter().map(|own| &file.text[own.start..end(own)]).collect();
    short(&parts.join(" … "))
}

/// The units of which code stands on a line, from where a position can mean them.
pub(super) fn units_at<'u, 't>(file: &SourceFile, units: &'u [Unit<'t>], at: Position) -> Vec<&'u Unit<'t>> {
    let Some(line) = file.lines.range(at.line, &file.text) else { return Vec::new() };
    let touches = |own: &Range<usize>, range: &Range<usize>| own.start < range.end && range.start < own.end;
    let on = |range: &Range<usize>| -> Vec<&'u Unit<'t>> {
        units.iter().filter(|unit| unit.own.iter().any(|own| touches(own, range))).collect()
    };
    let column = usize::try_from(at.column).unwrap_or(0);
    let all = on(&line);
    let start = line.start + column.saturating_sub(1);
    if column == 0 || start >= line.end || !believed(&file.parsed, &line, start) {
        return all;
    }
    let mut rest = on(&(start..line.end));
    // What holds the place itself comes first, the narrowest of it.
    let width = |unit: &&Unit<'_>| {
        let holding = unit.own.iter().filter(|own| own.contains(&start)).map(ExactSizeIterator::len).min();
        holding.unwrap_or(usize::MAX)
    };
    rest.sort_by_key(width);
    if rest.is_empty() { all } else { rest }
}

/// True if a column can be believed: a word begins there, and no macro is expanded before it on the line.
fn believed(parsed: &Parsed, line: &Range<usize>, start: usize) -> bool {
    let before = &parsed.text[line.start..start];
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let macros = before.split(|c| !word(c)).any(|name| {
        let loud = name.len() > 1 && name.chars().all(|c| c.is_uppercase() || c.is_ascii_digit() || c == '_');
        name.starts_with("__") || loud && !name.starts_with(|c: char| c.is_ascii_digit())
    });
    let node: Option<Node<'_>> = parsed.root().descendant_for_byte_range(start, start);
    !macros && node.is_some_and(|node| node.start_byte() == start)
}
