//! The output as the original's statements with injected ones in the gaps between them.

use bugaroo_ptx::ast::{Function, Instruction, Item, Module, Statement, StatementKind};

use super::violation::Violation;
use crate::collect_sites::{InjectionPoint, SiteTable};

/// Every name of ours contains this, and every injected statement contains a name of ours.
const MARK: &str = "bugaroo_";

/// The output, seen from the original.
pub(super) struct View<'a> {
    pub(super) original: &'a Module,
    pub(super) output: &'a Module,
    pub(super) table: &'a SiteTable,
    /// Functions of the program, paired.
    pub(super) functions: Vec<FunctionView<'a>>,
}

/// One function of the program.
pub(super) struct FunctionView<'a> {
    pub(super) name: &'a str,
    /// The program's tokens, in order. `gaps[i]` stands before `tokens[i]`; the last one at the end.
    pub(super) tokens: Vec<Token<'a>>,
    pub(super) gaps: Vec<Vec<&'a Statement>>,
}

/// A statement, or a brace of a block.
#[derive(Clone, Copy, Debug)]
pub(super) enum Token<'a> {
    /// Where it stands.
    Open(usize),
    Close,
    Statement(&'a Statement),
}

/// The injected statements before and after a place, in order, with the blocks of calls opened.
pub(super) struct Place<'a> {
    pub(super) index: usize,
    pub(super) point: &'a InjectionPoint,
    pub(super) before: Vec<&'a Statement>,
    pub(super) after: Vec<&'a Statement>,
}

impl<'a> View<'a> {
    /// Pairs the functions, and the statements within; an error where the program's differ.
    pub(super) fn new(
        original: &'a Module,
        table: &'a SiteTable,
        output: &'a Module,
    ) -> Result<Self, Violation> {
        let kept = |what: String| Violation { rule: "the program's text stays", what };
        let defined = |module: &'a Module| {
            module.items.iter().filter_map(|item| match item {
                Item::Function(function) if !function.name.starts_with("__bugaroo_") => {
                    function.body.as_ref().map(|body| (function, body.statements.as_slice()))
                }
                _ => None,
            })
        };
        let mut functions = Vec::new();
        let mut theirs = defined(output);
        for (function, statements) in defined(original) {
            let Some((twin, injected)) = theirs.next() else {
                return Err(kept(format!("{} is gone", function.name)));
            };
            let head = |module: &'a Module, function: &Function| {
                let end = function.body.as_ref().map_or(function.span.end, |body| body.span.start);
                module.source[function.span.start..end].to_owned()
            };
            if head(original, function) != head(output, twin) {
                return Err(kept(format!("the head of {} differs", function.name)));
            }
            let mut tokens = Vec::new();
            flatten(statements, &mut tokens);
            let mut view = FunctionView { name: &function.name, tokens, gaps: vec![Vec::new()] };
            let mut expected = view.tokens.clone().into_iter();
            split(injected, output, original, &mut expected, &mut view.gaps)
                .map_err(|what| kept(format!("in {}: {what}", function.name)))?;
            if let Some(token) = expected.next() {
                return Err(kept(format!("{} lacks {token:?}", function.name)));
            }
            functions.push(view);
        }
        if let Some((function, _)) = theirs.next() {
            return Err(kept(format!("{} came from nowhere", function.name)));
        }
        Ok(View { original, output, table, functions })
    }

    /// The text of a statement of the output.
    pub(super) fn text(&self, statement: &Statement) -> &'a str {
        &self.output.source[statement.span.start..statement.span.end]
    }

    /// The places of the table with what was injected around them.
    pub(super) fn places(&self) -> impl Iterator<Item = Place<'_>> {
        self.table.points.iter().enumerate().map(|(index, point)| {
            let name = &self.table.functions[point.function].name;
            let function = self.functions.iter().find(|function| function.name == name.as_str());
            let function = function.expect("every function of the table was paired");
            let start = |token: &Token<'_>| match token {
                Token::Statement(statement) => statement.span.start,
                Token::Open(start) => *start,
                Token::Close => 0,
            };
            let at = |offset: usize| function.tokens.iter().position(|token| start(token) == offset);
            let end = function.tokens.len();
            let key = index.to_string();
            let before = owned(&function.gaps[at(point.before_at).unwrap_or(end)], &key);
            let after = match at(point.span.start) {
                Some(token) => owned(&function.gaps[token + 1], &key),
                None => Vec::new(),
            };
            Place { index, point, before, after }
        })
    }
}

/// Statements and braces, in order.
fn flatten<'a>(statements: &'a [Statement], tokens: &mut Vec<Token<'a>>) {
    for statement in statements {
        match &statement.kind {
            StatementKind::Block(inner) => {
                tokens.push(Token::Open(statement.span.start));
                flatten(inner, tokens);
                tokens.push(Token::Close);
            }
            _ => tokens.push(Token::Statement(statement)),
        }
    }
}

/// Sorts the output's statements into the program's, which have to be the expected ones, and gaps.
fn split<'a>(
    statements: &'a [Statement],
    output: &'a Module,
    original: &'a Module,
    expected: &mut impl Iterator<Item = Token<'a>>,
    gaps: &mut Vec<Vec<&'a Statement>>,
) -> Result<(), String> {
    for statement in statements {
        let text = &output.source[statement.span.start..statement.span.end];
        if let StatementKind::Block(inner) = &statement.kind {
            if injected_block(inner, output) {
                gaps.last_mut().expect("there is always a last gap").push(statement);
                continue;
            }
            let Some(Token::Open(_)) = expected.next() else {
                return Err(format!("a block that was not there: {text}"));
            };
            gaps.push(Vec::new());
            split(inner, output, original, expected, gaps)?;
            let Some(Token::Close) = expected.next() else {
                return Err(format!("a block ends early: {text}"));
            };
            gaps.push(Vec::new());
        } else if text.contains(MARK) {
            gaps.last_mut().expect("there is always a last gap").push(statement);
        } else {
            match expected.next() {
                Some(Token::Statement(twin)) if original.source[twin.span.start..twin.span.end] == *text => {
                    gaps.push(Vec::new());
                }
                other => return Err(format!("'{text}' where {other:?} stood")),
            }
        }
    }
    Ok(())
}

fn injected_block(statements: &[Statement], output: &Module) -> bool {
    !statements.is_empty()
        && statements
            .iter()
            .all(|statement| output.source[statement.span.start..statement.span.end].contains(MARK))
}

fn opened<'a>(statements: &[&'a Statement]) -> Vec<&'a Statement> {
    let mut all = Vec::new();
    for statement in statements {
        match &statement.kind {
            StatementKind::Block(inner) => all.extend(inner.iter()),
            _ => all.push(statement),
        }
    }
    all
}

/// The statements of a gap, the blocks of calls opened, each with its owner. Whatever a pass writes ends
/// with a label or jump of its own, so a statement belongs to the one that the next label or jump names.
pub(super) fn owners<'a>(gap: &[&'a Statement]) -> Vec<(Option<&'a str>, &'a Statement)> {
    let mut owner = None;
    let mut all: Vec<_> = opened(gap)
        .into_iter()
        .rev()
        .map(|statement| {
            let named = match &statement.kind {
                StatementKind::Label(name) => owner_of(name),
                StatementKind::Instruction(instruction) => jump_target(instruction).and_then(owner_of),
                _ => None,
            };
            owner = named.or(owner);
            (owner, statement)
        })
        .collect();
    all.reverse();
    all
}

/// The part of a gap that has this owner.
fn owned<'a>(gap: &[&'a Statement], key: &str) -> Vec<&'a Statement> {
    owners(gap).into_iter().filter(|(owner, _)| *owner == Some(key)).map(|(_, statement)| statement).collect()
}

/// The owner in a label of ours: the place `12` in `$bugaroo_12_done`, the function `f3` in
/// `$bugaroo_f3_entered`.
pub(super) fn owner_of(label: &str) -> Option<&str> {
    label.strip_prefix(crate::emit::LABEL_PREFIX)?.split('_').next()
}

/// Where a branch goes.
pub(super) fn jump_target(instruction: &Instruction) -> Option<&str> {
    use bugaroo_ptx::ast::Operand;
    match (&instruction.op, instruction.operands.first()) {
        (bugaroo_ptx::op::Op::Bra { .. }, Some(Operand::Symbol { name, .. })) => Some(name),
        _ => None,
    }
}
