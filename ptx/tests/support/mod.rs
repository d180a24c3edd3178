//! What the integration tests share: invariants that every tree satisfies.

use bugaroo_ptx::ast::{Item, Module, Span, Statement, StatementKind};

/// Panics unless the tree covers its text: spans are in order and inside of their parents, and what lies
/// between two of them is white space and comments alone. So nothing was dropped.
pub fn assert_covers(module: &Module) {
    let newlines: Vec<usize> = module.source.match_indices('\n').map(|(at, _)| at).collect();
    let mut at = module.header_span.end;
    for item in &module.items {
        let span = match item {
            Item::Variable(variable) => variable.span,
            Item::Function(function) => {
                if let Some(body) = &function.body {
                    assert_eq!(body.span.end, function.span.end, "a function ends with its body");
                    assert_block(module, &newlines, body.span, &body.statements);
                }
                assert_eq!(module.text(function.name_span), function.name);
                function.span
            }
            Item::Directive(span) => *span,
        };
        at = assert_follows(module, at, span);
    }
    assert_trivia(&module.source[at..]);
}

fn assert_block(module: &Module, newlines: &[usize], block: Span, statements: &[Statement]) {
    let text = module.text(block);
    assert!(text.starts_with('{') && text.ends_with('}'), "{text}");
    let mut at = block.start + 1;
    for statement in statements {
        at = assert_follows(module, at, statement.span);
        match &statement.kind {
            StatementKind::Block(inner) => assert_block(module, newlines, statement.span, inner),
            StatementKind::Instruction(instruction) => {
                assert_eq!(instruction.span, statement.span);
                assert!(module.text(instruction.span).ends_with(';'));
                assert!(module.text(instruction.opcode_span).starts_with(&instruction.opcode));
                let line = newlines.partition_point(|newline| *newline < instruction.span.start) + 1;
                assert_eq!(instruction.line as usize, line);
            }
            _ => {}
        }
    }
    assert!(at < block.end);
    assert_trivia(&module.source[at..block.end - 1]);
}

/// The end of `span`, which follows `at` with only trivia between. The names of one declaration share a
/// span.
fn assert_follows(module: &Module, at: usize, span: Span) -> usize {
    if span.end != at {
        assert!(at <= span.start && span.start < span.end, "{at} before {span:?}");
        assert_trivia(&module.source[at..span.start]);
    }
    span.end
}

fn assert_trivia(text: &str) {
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let comment = match rest.strip_prefix("/*") {
            Some(block) => block.split_once("*/").map(|(_, after)| after),
            None => rest.strip_prefix("//").map(|line| line.split_once('\n').map_or("", |(_, after)| after)),
        };
        rest = comment.unwrap_or_else(|| panic!("not covered by the tree: {rest:?}")).trim_start();
    }
}
