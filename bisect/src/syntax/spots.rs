//! Where a line can be written for an access: the spots of a statement.

use std::ops::Range;

use bugaroo_protocol::{Inserted, Insertion, Position, Side, SourceSpan};
use tree_sitter::Node;

use super::lines::Lines;
use super::place::{Slot, Writing, before, behind, slot, with_labels};
use super::take_apart::behind_value;
use super::tree::{
    Parsed, Unit, function_name, function_of, is_loop, is_macro_loop, is_statement, named_children,
};
use crate::patch::Edit;

/// A stretch of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileSpan {
    /// Where it begins.
    pub from: Position,
    /// Where what follows begins.
    pub to: Position,
}

impl FileSpan {
    /// True if it holds a position. One whose column is not known is held by every stretch that holds a part of its
    /// line.
    pub fn holds(&self, at: Position) -> bool {
        if at.column == 0 {
            return self.from.line <= at.line
                && (at.line < self.to.line || at.line == self.to.line && self.to.column > 1);
        }
        self.from <= at && at < self.to
    }
}

/// What a spot is beside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Form {
    /// A statement without others in it.
    Statement,
    /// A `return` (before it), or the value of one (behind), which then gets a name.
    Return,
    /// A whole loop, whose header or condition holds the access.
    Loop,
    /// A whole `if` or `switch`, whose condition holds the access.
    Branch,
    /// The first statement of the body that the condition leads to.
    BodyStart,
    /// The first statement of the `else`.
    ElseStart,
    /// A loop around the statement.
    EnclosingLoop,
    /// An `if`, `switch` or block around the statement.
    EnclosingBranch,
    /// All of the function, from its first statement.
    FunctionStart,
    /// All of the function, to its end.
    FunctionEnd,
}

/// Whether positions of `.loc` tell a stretch from what stands around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LocTold {
    /// Nothing else stands on its lines.
    ByPosition,
    /// Other statements stand on its first or last line, and have the same positions.
    SharesLine,
    /// It is a part of a macro's definition: everything in a use of the macro has the position of the use.
    InMacro,
}

/// The macro that a spot lies in.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MacroUse {
    /// Its name.
    pub name: String,
    /// How often the file uses it: what is written there is written for all of them.
    pub uses: usize,
}

/// A place where a line can be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    /// On which side of the stretch.
    pub side: Side,
    /// The stretch that it is beside. In a macro, the statement of the use that was asked for.
    pub span: FileSpan,
    /// Stretches that are changed with it: the other uses of the macro.
    pub elsewhere: Vec<FileSpan>,
    /// What it is beside.
    pub form: Form,
    /// How far out it lies: 0 beside the statement itself, 1 beside what is next around it, and so on.
    pub depth: u32,
    /// The function that it stands in.
    pub function: Option<String>,
    /// The line, as the file stands, that it is written behind or before.
    pub line: u32,
    /// Whether the stretch can be told from what stands around it.
    pub told: LocTold,
    /// The macro in whose definition it is written.
    pub in_macro: Option<MacroUse>,
    /// How it is written.
    pub(super) writing: Writing,
    /// The bytes of the stretch.
    pub(super) bytes: Range<usize>,
}

impl Spot {
    /// The bytes of the stretch; of a statement in a macro, those in its definition.
    pub fn bytes(&self) -> Range<usize> {
        self.bytes.clone()
    }

    /// The edits that write a line there.
    pub fn write(&self, line: &str) -> Vec<Edit> {
        self.writing.edits(line)
    }

    /// The edits that write a call there.
    pub fn insert(&self, what: Inserted) -> Vec<Edit> {
        self.write(call(what))
    }

    /// Its effect, for a file that the compiler calls `file`; several if it is written into a macro.
    pub fn insertions(&self, file: &str, what: Inserted) -> Vec<Insertion> {
        std::iter::once(&self.span)
            .chain(&self.elsewhere)
            .map(|span| Insertion {
                span: SourceSpan { file: file.to_owned(), from: span.from, to: span.to },
                side: self.side,
                what,
            })
            .collect()
    }
}

/// What is inserted, as a statement of CUDA C++.
pub fn call(what: Inserted) -> &'static str {
    match what {
        Inserted::Fence => "__threadfence();",
        Inserted::SystemFence => "__threadfence_system();",
        Inserted::BlockFence => "__threadfence_block();",
        Inserted::BlockBarrier => "__syncthreads();",
        Inserted::WarpBarrier => "__syncwarp();",
    }
}

/// Collects the spots of a statement.
pub(super) struct Collector<'p> {
    /// The text.
    pub parsed: &'p Parsed,
    /// Its lines as they are in the file.
    pub lines: &'p Lines,
    /// All statements of the text.
    pub units: &'p [Unit<'p>],
}

impl Collector<'_> {
    /// All spots for an access in the own code of a statement: beside it, where its condition leads to, and beside
    /// what is around it.
    pub fn spots(&self, node: Node<'_>) -> Vec<Spot> {
        let mut spots = Vec::new();
        self.own(node, &mut spots);
        self.around(node, &mut spots);
        spots
    }

    /// Where what follows a byte begins.
    fn next_code(&self, at: usize) -> usize {
        let text = &self.parsed.text;
        let mut at = at.min(text.len());
        loop {
            let rest = &text[at..];
            let blank = rest.len() - rest.trim_start().len();
            let rest = rest.trim_start();
            at += blank;
            if rest.starts_with("//") {
                at += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                at += rest.find("*/").map_or(rest.len(), |length| length + 2);
            } else {
                return at;
            }
        }
    }

    /// A stretch from its bytes.
    pub fn span(&self, bytes: &Range<usize>) -> FileSpan {
        FileSpan {
            from: self.lines.position(bytes.start),
            to: self.lines.position(self.next_code(bytes.end)),
        }
    }

    /// Whether other statements stand on the lines that a stretch begins and ends on.
    pub fn told(&self, bytes: &Range<usize>) -> LocTold {
        let line = |at: usize| self.lines.line(at);
        let (first, last) = (line(bytes.start), line(bytes.end.saturating_sub(1).max(bytes.start)));
        let others = self.units.iter().flat_map(|unit| &unit.own).any(|own| {
            let outside = own.start < bytes.start || own.end > bytes.end;
            let touches = |at: usize| line(own.start) <= at && at <= line(own.end.saturating_sub(1));
            outside && (touches(first) || touches(last))
        });
        if others { LocTold::SharesLine } else { LocTold::ByPosition }
    }

    fn push(
        &self,
        spots: &mut Vec<Spot>,
        (side, form, depth): (Side, Form, u32),
        (node, bytes): (Node<'_>, Range<usize>),
        writing: Option<Writing>,
    ) {
        let Some(writing) = writing else { return };
        let edge = match side {
            Side::Before => bytes.start,
            Side::Behind => bytes.end.saturating_sub(1),
        };
        spots.push(Spot {
            side,
            span: self.span(&bytes),
            elsewhere: Vec::new(),
            form,
            depth,
            function: function_name(self.parsed, node),
            line: self.lines.position(edge).line,
            told: self.told(&bytes),
            in_macro: None,
            writing,
            bytes,
        });
    }

    /// Beside the statement itself, and where its condition leads to.
    fn own(&self, node: Node<'_>, spots: &mut Vec<Spot>) {
        let parsed = self.parsed;
        let whole = node.start_byte()..parsed.end_of(node);
        let kind = node.kind();
        let form = match kind {
            "return_statement" => Form::Return,
            "if_statement" | "switch_statement" => Form::Branch,
            kind if is_loop(kind) => Form::Loop,
            _ => Form::Statement,
        };
        if node_is_broken(node) {
            return;
        }
        let jumps =
            matches!(kind, "break_statement" | "continue_statement" | "goto_statement" | "throw_statement");
        let behind = match kind {
            _ if jumps => None,
            "return_statement" => behind_value(parsed, node),
            _ => behind(parsed, node),
        };
        self.push(spots, (Side::Behind, form, 0), (node, whole.clone()), behind);
        self.push(spots, (Side::Before, form, 0), (node, whole), before(parsed, node));
        let bodies = match kind {
            "if_statement" => {
                vec![("consequence", Form::BodyStart), ("alternative", Form::ElseStart)]
            }
            "while_statement" | "for_statement" | "for_range_loop" => vec![("body", Form::BodyStart)],
            _ => vec![],
        };
        for (field, form) in bodies {
            let Some(body) = node.child_by_field_name(field) else { continue };
            let body = if body.kind() == "else_clause" {
                named_children(body).into_iter().next_back().unwrap_or(body)
            } else {
                body
            };
            self.start_of(body, form, spots);
        }
    }

    /// Before the first statement of a body.
    fn start_of(&self, body: Node<'_>, form: Form, spots: &mut Vec<Spot>) {
        let (first, bytes) = match body.kind() {
            "compound_statement" => {
                let statements: Vec<Node<'_>> = named_children(body);
                let Some(first) = statements.iter().copied().find(|node| stands(*node)) else { return };
                // What surely touches no memory says nothing about where it stands.
                let reaching = statements.iter().copied().find(|node| stands(*node) && !is_local(*node));
                let last = reaching.unwrap_or(first);
                (first, first.start_byte()..self.parsed.end_of(last))
            }
            "expression_statement" if body.named_child_count() == 0 => return,
            _ => (body, body.start_byte()..self.parsed.end_of(body)),
        };
        if node_is_broken(first) {
            return;
        }
        let writing = before(self.parsed, inner_of(first));
        self.push(spots, (Side::Before, form, 0), (first, bytes), writing);
    }

    /// Beside what is around a statement, up to its function.
    fn around(&self, node: Node<'_>, spots: &mut Vec<Spot>) {
        let parsed = self.parsed;
        let mut depth = 0;
        let mut here = node;
        while let Some(outer) = here.parent() {
            here = outer;
            let kind = outer.kind();
            if matches!(kind, "function_definition" | "lambda_expression") {
                break;
            }
            let block = kind == "compound_statement" && matches!(slot(parsed, outer), Some(Slot::Row));
            let statement = is_statement(outer) && !is_lambda_holder(node, outer);
            if !(block || statement) || node_is_broken(outer) {
                continue;
            }
            let else_if = outer.parent().is_some_and(|parent| parent.kind() == "else_clause");
            if else_if {
                continue;
            }
            depth += 1;
            let form = if is_loop(kind) { Form::EnclosingLoop } else { Form::EnclosingBranch };
            let bytes = outer.start_byte()..parsed.end_of(outer);
            self.push(spots, (Side::Behind, form, depth), (outer, bytes.clone()), behind(parsed, outer));
            self.push(spots, (Side::Before, form, depth), (outer, bytes), before(parsed, outer));
        }
        if let Some(function) = function_of(node) {
            self.function(function, depth + 1, spots);
        }
    }

    /// At the start and the end of a function.
    fn function(&self, function: Node<'_>, depth: u32, spots: &mut Vec<Spot>) {
        let parsed = self.parsed;
        if is_macro_loop(function) {
            return;
        }
        let Some(body) = function.child_by_field_name("body") else { return };
        let statements: Vec<Node<'_>> =
            named_children(body).into_iter().filter(|node| stands(*node)).collect();
        let (Some(&first), Some(&last)) = (statements.first(), statements.last()) else { return };
        let bytes = first.start_byte()..parsed.end_of(last);
        if !node_is_broken(first) {
            let writing = before(parsed, inner_of(first));
            self.push(spots, (Side::Before, Form::FunctionStart, depth), (first, bytes.clone()), writing);
        }
        let mut returns = false;
        parsed.visit(body, &mut |node| {
            returns |= node.kind() == "return_statement" && function_of(node) == Some(function);
        });
        if !returns && !node_is_broken(last) {
            let writing = behind(parsed, inner_of(last));
            self.push(spots, (Side::Behind, Form::FunctionEnd, depth), (last, bytes), writing);
        }
    }
}

/// True for what stands in a row of statements.
fn stands(node: Node<'_>) -> bool {
    is_statement(node)
        || matches!(node.kind(), "compound_statement" | "labeled_statement" | "attributed_statement")
}

/// The statement behind labels is what is written beside; behind attributes, too.
fn inner_of(node: Node<'_>) -> Node<'_> {
    let mut inner = node;
    while matches!(inner.kind(), "labeled_statement" | "attributed_statement") {
        match named_children(inner).into_iter().next_back() {
            Some(next) => inner = next,
            None => break,
        }
    }
    debug_assert!(with_labels(inner) == with_labels(node), "labels are around it");
    inner
}

/// True if the statement holds the other in a lambda.
fn is_lambda_holder(node: Node<'_>, outer: Node<'_>) -> bool {
    function_of(node).is_some_and(|function| outer.start_byte() < function.start_byte())
}

/// True if the grammar could not make sense of a statement's own words; what stands in its blocks is another matter.
pub(super) fn node_is_broken(node: Node<'_>) -> bool {
    if node.is_missing() || node.is_error() || is_macro_loop(node) {
        return true;
    }
    if !node.has_error() {
        return false;
    }
    let mut cursor = node.walk();
    node.children(&mut cursor).any(|child| child.kind() != "compound_statement" && node_is_broken(child))
}

/// True if a statement touches nothing but variables of its function, as far as its words say.
fn is_local(node: Node<'_>) -> bool {
    if node.kind() != "declaration" {
        return false;
    }
    let mut local = true;
    let mut cursor = node.walk();
    loop {
        local &= !matches!(
            cursor.node().kind(),
            "call_expression"
                | "subscript_expression"
                | "pointer_expression"
                | "field_expression"
                | "assignment_expression"
                | "update_expression"
                | "argument_list"
                | "initializer_list"
                | "lambda_expression"
                | "identifier"
        ) || is_declared(cursor.node());
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return local;
            }
        }
    }
}

/// True for the name in a declarator.
fn is_declared(node: Node<'_>) -> bool {
    node.kind() == "identifier"
        && node.parent().is_some_and(|parent| parent.child_by_field_name("declarator") == Some(node))
}
