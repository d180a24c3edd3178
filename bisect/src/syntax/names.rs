//! The variables that a file declares.

use std::collections::BTreeSet;

use tree_sitter::Node;

use super::tree::{Parsed, children, named_children};

/// The names of variables that a text declares, and of them those that are volatile or atomic.
pub(super) fn declared_names(parsed: &Parsed) -> (BTreeSet<String>, BTreeSet<String>) {
    let mut names = BTreeSet::new();
    let mut watched = BTreeSet::new();
    parsed.visit(parsed.root(), &mut |node| {
        let declares = matches!(
            node.kind(),
            "declaration" | "parameter_declaration" | "field_declaration" | "optional_parameter_declaration"
        );
        if !declares {
            return;
        }
        let words = |child: &Node<'_>| {
            let text = parsed.text_of(*child);
            let kind = child.kind();
            kind == "type_qualifier" && text == "volatile"
                || matches!(kind, "qualified_identifier" | "template_type") && text.contains("atomic")
        };
        let others_see = children(node).iter().any(words);
        let mut cursor = node.walk();
        for declarator in node.children_by_field_name("declarator", &mut cursor) {
            if let Some(name) = declared_name(declarator) {
                let name = parsed.text_of(name).to_owned();
                if others_see {
                    watched.insert(name.clone());
                }
                names.insert(name);
            }
        }
    });
    (names, watched)
}

/// The name in a declarator.
pub(super) fn declared_name(declarator: Node<'_>) -> Option<Node<'_>> {
    let mut here = declarator;
    loop {
        if matches!(here.kind(), "identifier" | "field_identifier") {
            return Some(here);
        }
        here = here
            .child_by_field_name("declarator")
            .or_else(|| named_children(here).into_iter().find(|child| child.kind() != "type_qualifier"))?;
    }
}
