//! Fences and barriers that the source has: where they are called, what removes them, what changes their scope.

use std::ops::Range;

use bugaroo_protocol::Position;
use tree_sitter::Node;

use super::delete;
use super::refusal::{SourceRefusal, short};
use super::source::SourceFile;
use super::spots::{FileSpan, MacroUse};
use super::statement::units_at;
use super::tree::{Parsed, Unit, children, function_name, named_children};
use crate::patch::Edit;

/// Whom a fence orders accesses for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FenceScope {
    /// The thread's block.
    Block,
    /// The whole GPU.
    Gpu,
    /// The host and other GPUs, too.
    System,
}

/// What a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SourceCall {
    /// A fence.
    Fence(FenceScope),
    /// `__syncthreads()` and its like.
    BlockBarrier,
    /// `__syncwarp()`
    WarpBarrier,
}

/// A fence or a barrier in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FenceCall {
    /// What it is.
    pub kind: SourceCall,
    /// Where it stands; in a macro's definition, there.
    pub span: FileSpan,
    /// Its words.
    pub text: String,
    /// The function that it stands in.
    pub function: Option<String>,
    /// The macro in whose definition it stands, and is changed for all uses.
    pub in_macro: Option<MacroUse>,
    /// The function or macro, of which it is all that it does, whose use this is. Its scope is changed there, and not
    /// here.
    pub wrapper: Option<String>,
    /// What takes it out.
    pub delete: Result<Vec<Edit>, SourceRefusal>,
    /// Where its scope is said.
    scope: Result<ScopeWords, SourceRefusal>,
}

/// The words that say a scope.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ScopeWords {
    bytes: Range<usize>,
    /// What they become, by scope: block, GPU, system.
    become_: [&'static str; 3],
}

impl FenceCall {
    /// The edits that give a fence another scope.
    pub fn with_scope(&self, scope: FenceScope) -> Result<Vec<Edit>, SourceRefusal> {
        let words = self.scope.clone()?;
        Ok(vec![Edit::replace(words.bytes, words.become_[scope as usize])])
    }
}

/// The fences and barriers in the statements at a position.
pub(super) fn at(file: &SourceFile, at: Position) -> Result<Vec<FenceCall>, SourceRefusal> {
    let units = file.parsed.units();
    let mut calls = Vec::new();
    let mut refused = SourceRefusal::NotThere { what: "fence or barrier", line: at.line };
    for unit in units_at(file, &units, at) {
        of_unit(file, &file.parsed, unit, None, &mut calls, &mut refused);
        for defined in file.macros_in(&file.parsed, unit) {
            let body = defined.body(&file.text, file.newline);
            let (uses, _) = file.uses(&units, defined);
            let name = MacroUse { name: defined.name.clone(), uses };
            let before = calls.len();
            for inner in body.units() {
                of_unit(file, &body, &inner, Some(&name), &mut calls, &mut refused);
            }
            // A macro that is but a fence can be left out where it is used.
            let value = &file.text[defined.value.clone()];
            if let [only] = &calls[before..]
                && is_all(value, &only.text)
                && let Some(used) = use_of(&file.parsed, unit, &defined.name)
            {
                let wrapped = FenceCall { wrapper: Some(defined.name.clone()), ..only.clone() };
                calls.push(as_use(file, used, wrapped));
            }
        }
    }
    if calls.is_empty() { Err(refused) } else { Ok(calls) }
}

/// True if a body is one call, or a block around it.
fn is_all(body: &str, call: &str) -> bool {
    let bare = |text: &str| -> String { text.chars().filter(|c| !c.is_whitespace() && *c != '\\').collect() };
    let body = bare(body);
    let body = body.strip_prefix("do{").and_then(|rest| rest.strip_suffix("}while(0)")).unwrap_or(&body);
    let body = body.trim_matches(['{', '}', ';', '(', ')']);
    body == bare(call).trim_matches(['(', ')'])
}

/// The expression in a statement that uses a name.
fn use_of<'t>(parsed: &Parsed, unit: &Unit<'t>, name: &str) -> Option<Node<'t>> {
    let mut found = None;
    let mut cursor = unit.node.walk();
    loop {
        let node = cursor.node();
        if node.kind() == "identifier" && parsed.text_of(node) == name {
            let call = node.parent().filter(|parent| {
                parent.kind() == "call_expression" && parent.child_by_field_name("function") == Some(node)
            });
            found = found.or(Some(call.unwrap_or(node)));
        }
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

/// A call as the use of what wraps it.
fn as_use(file: &SourceFile, used: Node<'_>, call: FenceCall) -> FenceCall {
    let text = short(file.parsed.text_of(used));
    let line = file.lines.position(used.start_byte()).line;
    FenceCall {
        span: span(file, used),
        function: function_name(&file.parsed, used),
        in_macro: None,
        delete: delete::expression(file, &file.parsed, used),
        scope: Err(SourceRefusal::NoScope {
            line,
            text: text.clone(),
            why: "it is said where that is defined".into(),
        }),
        text,
        ..call
    }
}

fn span(file: &SourceFile, node: Node<'_>) -> FileSpan {
    FileSpan { from: file.lines.position(node.start_byte()), to: file.lines.position(node.end_byte()) }
}

/// The calls in the own code of a statement.
fn of_unit(
    file: &SourceFile,
    parsed: &Parsed,
    unit: &Unit<'_>,
    in_macro: Option<&MacroUse>,
    calls: &mut Vec<FenceCall>,
    refused: &mut SourceRefusal,
) {
    let mut found = Vec::new();
    parsed.visit(unit.node, &mut |node| {
        let own = unit.own.iter().any(|own| own.contains(&node.start_byte()));
        if own && matches!(node.kind(), "call_expression" | "gnu_asm_expression") {
            found.push(node);
        }
    });
    for node in found {
        let line = file.lines.position(node.start_byte()).line;
        let text = short(parsed.text_of(node));
        let (kind, scope) = match node.kind() {
            "gnu_asm_expression" => match assembly(parsed, node, line) {
                Some(Ok(found)) => found,
                Some(Err(mixed)) => {
                    *refused = mixed;
                    continue;
                }
                None => continue,
            },
            _ => match fence(parsed, node, line, &text) {
                Some(found) => found,
                None => {
                    calls.extend(wrapped(file, parsed, node).filter(|_| in_macro.is_none()));
                    continue;
                }
            },
        };
        calls.push(FenceCall {
            kind,
            span: span(file, node),
            text,
            function: function_name(parsed, node).filter(|_| in_macro.is_none()),
            in_macro: in_macro.cloned(),
            wrapper: None,
            delete: delete::expression(file, parsed, node),
            scope,
        });
    }
}

type Found = (SourceCall, Result<ScopeWords, SourceRefusal>);

/// What a call is, if it is one of a fence or a barrier.
fn fence(parsed: &Parsed, node: Node<'_>, line: u32, text: &str) -> Option<Found> {
    let function = node.child_by_field_name("function")?;
    let full = parsed.text_of(function);
    let name = full.rsplit("::").next().unwrap_or(full).trim();
    let no_scope =
        |why: &str| Err(SourceRefusal::NoScope { line, text: text.to_owned(), why: why.to_owned() });
    let scope = match name {
        "__threadfence_block" => FenceScope::Block,
        "__threadfence" => FenceScope::Gpu,
        "__threadfence_system" => FenceScope::System,
        "__syncwarp" => return Some((SourceCall::WarpBarrier, no_scope("a barrier has none"))),
        name if name.starts_with("__syncthreads") || name == "__barrier_sync" => {
            return Some((SourceCall::BlockBarrier, no_scope("a barrier has none")));
        }
        "atomic_thread_fence" => {
            let arguments = named_children(node.child_by_field_name("arguments")?);
            let Some(scope) = arguments.get(1) else {
                return Some((SourceCall::Fence(FenceScope::System), no_scope("it has no argument for one")));
            };
            let words = parsed.text_of(*scope);
            let start = scope.end_byte() - words.rsplit("thread_scope_").next().map_or(0, str::len);
            let kind = match &parsed.text[start..scope.end_byte()] {
                "block" => FenceScope::Block,
                "device" => FenceScope::Gpu,
                "system" => FenceScope::System,
                _ => {
                    return Some((
                        SourceCall::Fence(FenceScope::System),
                        no_scope("its argument is no constant"),
                    ));
                }
            };
            let bytes = start..scope.end_byte();
            return Some((
                SourceCall::Fence(kind),
                Ok(ScopeWords { bytes, become_: ["block", "device", "system"] }),
            ));
        }
        _ => return None,
    };
    let bytes = function.end_byte() - name.len()..function.end_byte();
    let become_ = ["__threadfence_block", "__threadfence", "__threadfence_system"];
    Some((SourceCall::Fence(scope), Ok(ScopeWords { bytes, become_ })))
}

/// What a string of assembly is, if a fence or a barrier is in it; refused where other instructions are, too.
fn assembly(parsed: &Parsed, node: Node<'_>, line: u32) -> Option<Result<Found, SourceRefusal>> {
    let code = node.child_by_field_name("assembly_code")?;
    let text = parsed.text_of(code);
    let inner = text.trim_matches('"');
    let instructions: Vec<&str> = inner
        .split([';', '"'])
        .map(|part| part.trim_matches(|c: char| c.is_whitespace() || matches!(c, '{' | '}')))
        .map(|part| part.trim_start_matches("\\n").trim_start_matches("\\t").trim_end_matches("\\t"))
        .map(|part| part.trim_end_matches("\\n").trim())
        .filter(|part| !part.is_empty())
        .collect();
    let ordering =
        |part: &&&str| ["membar.", "fence.", "bar.", "barrier."].iter().any(|start| part.starts_with(start));
    let found = *instructions.iter().find(ordering)?;
    if instructions.len() > 1 {
        return Some(Err(SourceRefusal::MixedAssembly { line, text: short(text) }));
    }
    let no_scope = |why: &str| Err(SourceRefusal::NoScope { line, text: short(text), why: why.to_owned() });
    let kind = |kind: SourceCall, words: Result<ScopeWords, SourceRefusal>| Some(Ok((kind, words)));
    if found.starts_with("bar.warp") {
        return kind(SourceCall::WarpBarrier, no_scope("a barrier has none"));
    }
    if found.starts_with("bar") {
        return kind(SourceCall::BlockBarrier, no_scope("a barrier has none"));
    }
    let start = code.start_byte() + text.find(found).unwrap_or(0);
    let membar = found.starts_with("membar.");
    let (spelled, become_) = if membar {
        (["cta", "gl", "sys"], ["cta", "gl", "sys"])
    } else {
        (["cta", "gpu", "sys"], ["cta", "gpu", "sys"])
    };
    let word = found.split('.').next_back().unwrap_or("");
    let scopes = [FenceScope::Block, FenceScope::Gpu, FenceScope::System];
    let scope = spelled.iter().zip(scopes).find(|(spelled, _)| **spelled == word);
    match scope {
        Some((_, scope)) => {
            let bytes = start + found.len() - word.len()..start + found.len();
            kind(SourceCall::Fence(scope), Ok(ScopeWords { bytes, become_ }))
        }
        None => kind(SourceCall::Fence(FenceScope::System), no_scope("its scope is not one of those")),
    }
}

/// The call of a function of this file that does nothing but fence.
fn wrapped(file: &SourceFile, parsed: &Parsed, node: Node<'_>) -> impl Iterator<Item = FenceCall> {
    let one = || {
        let called =
            node.child_by_field_name("function").filter(|function| function.kind() == "identifier")?;
        let name = parsed.text_of(called);
        let mut definition = None;
        file.parsed.visit(file.parsed.root(), &mut |node| {
            let declarator =
                (node.kind() == "function_definition").then(|| node.child_by_field_name("declarator"));
            let named =
                declarator.flatten().and_then(|declarator| declarator.child_by_field_name("declarator"));
            if named.is_some_and(|named| file.parsed.text_of(named) == name) {
                definition = Some(node);
            }
        });
        let body = definition?.child_by_field_name("body")?;
        let [only] = named_children(body)[..] else { return None };
        let call =
            named_children(only).into_iter().next().filter(|_| only.kind() == "expression_statement")?;
        let line = file.lines.position(call.start_byte()).line;
        let (kind, scope) = match call.kind() {
            "gnu_asm_expression" => assembly(&file.parsed, call, line)?.ok()?,
            _ => fence(&file.parsed, call, line, file.parsed.text_of(call))?,
        };
        let inner = FenceCall {
            kind,
            span: span(file, call),
            text: String::new(),
            function: None,
            in_macro: None,
            wrapper: Some(name.to_owned()),
            delete: Ok(Vec::new()),
            scope,
        };
        debug_assert!(!children(node).is_empty(), "a call has parts");
        Some(as_use(file, node, inner))
    };
    one().into_iter()
}
