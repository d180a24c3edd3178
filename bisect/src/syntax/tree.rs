//! A text and its syntax tree.

use std::ops::Range;

use tree_sitter::{Node, Parser, Tree};

use super::lines::Lines;

/// A text as it was parsed. Its bytes stand where they stand in the file, but what the grammar cannot take may be
/// written over; so texts are taken from the file, and structure from here.
#[derive(Clone, Debug)]
pub(super) struct Parsed {
    /// What was parsed.
    pub text: String,
    /// Its tree.
    tree: Tree,
    /// Its lines.
    pub lines: Lines,
    /// What ends a line: with a backslash in the definition of a macro.
    pub newline: String,
    /// Where it ends in the file.
    pub end: usize,
}

/// A statement that can hold accesses, and the code that is its own and not that of a statement within it.
#[derive(Clone, Debug)]
pub(super) struct Unit<'t> {
    /// It.
    pub node: Node<'t>,
    /// Its own code.
    pub own: Vec<Range<usize>>,
}

impl Parsed {
    /// Parses `text`, in which lines end with `newline`.
    pub fn new(text: String, newline: String, end: usize) -> Self {
        let mut parser = Parser::new();
        // Neither fails: the grammar is of a version that the library reads, and there is no limit to its time.
        parser.set_language(&tree_sitter_cuda::LANGUAGE.into()).expect("the grammar fits the library");
        let tree = parser.parse(&text, None).expect("parsing has no time limit");
        let lines = Lines::new(&text);
        Self { text, tree, lines, newline, end }
    }

    /// The whole tree.
    pub fn root(&self) -> Node<'_> {
        self.tree.root_node()
    }

    /// Where a node ends in the file.
    pub fn end_of(&self, node: Node<'_>) -> usize {
        node.end_byte().min(self.end)
    }

    /// A node's text.
    pub fn text_of(&self, node: Node<'_>) -> &str {
        &self.text[node.byte_range()]
    }

    /// The statements in the order of the text, outer ones first.
    pub fn units(&self) -> Vec<Unit<'_>> {
        let mut units = Vec::new();
        self.visit(self.root(), &mut |node| {
            if is_statement(node) {
                let own = own_code(node);
                if !own.is_empty() && node.start_byte() < self.end {
                    units.push(Unit { node, own });
                }
            }
        });
        units
    }

    /// All nodes, parents first.
    pub fn visit<'t>(&'t self, node: Node<'t>, see: &mut dyn FnMut(Node<'t>)) {
        // A chain of operators nests as deep as it is long, so no recursion.
        let mut cursor = node.walk();
        loop {
            see(cursor.node());
            if cursor.goto_first_child() {
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return;
                }
            }
        }
    }
}

/// How deep a node stands.
pub(super) fn depth(node: Node<'_>) -> usize {
    std::iter::successors(node.parent(), Node::parent).count()
}

/// Its children, but for comments.
pub(super) fn children<'t>(node: Node<'t>) -> Vec<Node<'t>> {
    let mut cursor = node.walk();
    node.children(&mut cursor).filter(|child| child.kind() != "comment").collect()
}

/// Its named children, but for comments.
pub(super) fn named_children<'t>(node: Node<'t>) -> Vec<Node<'t>> {
    children(node).into_iter().filter(Node::is_named).collect()
}

/// Loops.
pub(super) fn is_loop(kind: &str) -> bool {
    matches!(kind, "for_statement" | "for_range_loop" | "while_statement" | "do_statement")
}

/// Statements without a statement in them.
fn is_simple(kind: &str) -> bool {
    matches!(
        kind,
        "expression_statement"
            | "declaration"
            | "return_statement"
            | "break_statement"
            | "continue_statement"
            | "goto_statement"
            | "throw_statement"
    )
}

/// True for a statement, but not for a block, nor for what is part of another's header.
pub(super) fn is_statement(node: Node<'_>) -> bool {
    let kind = node.kind();
    if is_loop(kind) || matches!(kind, "if_statement" | "switch_statement") {
        return true;
    }
    let Some(parent) = node.parent() else { return false };
    let header = match parent.kind() {
        "for_statement" | "for_range_loop" => parent.child_by_field_name("body") != Some(node),
        "condition_clause" | "init_statement" => true,
        "translation_unit" | "declaration_list" | "field_declaration_list" | "template_declaration" => true,
        _ => false,
    };
    is_simple(kind) && !header
}

/// The code of a statement that is not that of statements within it.
fn own_code(node: Node<'_>) -> Vec<Range<usize>> {
    let field = |name: &str| node.child_by_field_name(name).map(|child| child.byte_range());
    match node.kind() {
        "if_statement" | "while_statement" | "switch_statement" => {
            // Its keyword, too: where the macro of a condition is expanded, the position may be that of the keyword.
            field("condition").map(|condition| node.start_byte()..condition.end).into_iter().collect()
        }
        "do_statement" => field("condition").into_iter().collect(),
        "for_statement" | "for_range_loop" => {
            let close = children(node).into_iter().rfind(|child| child.kind() == ")");
            close.map(|close| node.start_byte()..close.end_byte()).into_iter().collect()
        }
        _ => {
            // What a lambda does, it does elsewhere.
            let mut own = Vec::new();
            let mut from = node.start_byte();
            for body in lambda_bodies(node) {
                own.push(from..body.start + 1);
                from = body.end - 1;
            }
            own.push(from..node.end_byte());
            own
        }
    }
}

/// Bodies of the outermost lambdas in a node, in order.
fn lambda_bodies(node: Node<'_>) -> Vec<Range<usize>> {
    let mut bodies: Vec<Range<usize>> = Vec::new();
    let mut cursor = node.walk();
    loop {
        let here = cursor.node();
        let body = here.kind() == "compound_statement" && here.byte_range().len() > 1;
        if body {
            bodies.push(here.byte_range());
        }
        if !body && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return bodies;
            }
        }
    }
}

/// The definition, or the lambda, that a node stands in.
pub(super) fn function_of(node: Node<'_>) -> Option<Node<'_>> {
    std::iter::successors(node.parent(), Node::parent)
        .find(|node| matches!(node.kind(), "function_definition" | "lambda_expression"))
}

/// The name of the function that a node stands in; of that around it in a lambda.
pub(super) fn function_name(parsed: &Parsed, node: Node<'_>) -> Option<String> {
    let definition = std::iter::successors(node.parent(), Node::parent)
        .filter(|node| node.kind() == "function_definition")
        .find(|node| !is_macro_loop(*node))?;
    let mut declarator = definition.child_by_field_name("declarator")?;
    while let Some(inner) = declarator.child_by_field_name("declarator").or_else(|| {
        declarator
            .named_child(0)
            .filter(|_| matches!(declarator.kind(), "reference_declarator" | "pointer_declarator"))
    }) {
        declarator = inner;
    }
    Some(parsed.text_of(declarator).to_owned())
}

/// True for what the grammar takes for a function within a function: a macro with a block behind it.
pub(super) fn is_macro_loop(node: Node<'_>) -> bool {
    node.kind() == "function_definition"
        && node.child_by_field_name("type").is_none()
        && std::iter::successors(node.parent(), Node::parent).any(|node| node.kind() == "compound_statement")
}
