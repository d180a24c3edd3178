//! What an access is by its words: whether others wait for it, or it waits for others.
//!
//! This is what an author reads, not what the machine does: a relaxed `atomicExch` whose value nobody uses is how a
//! lock is given back, and a fence stands before it. What comes of it is an order of candidates and nothing more.

use tree_sitter::Node;

use super::source::SourceFile;
use super::tree::{Parsed, Unit, is_loop};

/// What a statement does to other threads, by its words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Synchronising {
    /// Nothing: its accesses are plain.
    #[default]
    None,
    /// It looks for what others publish: a fence stands behind it.
    Acquiring,
    /// It publishes: a fence stands before it.
    Releasing,
    /// Both, as an atomic that counts arrivals.
    Both,
}

impl Synchronising {
    /// True if a fence behind it orders something.
    pub fn acquires(self) -> bool {
        matches!(self, Self::Acquiring | Self::Both)
    }

    /// True if a fence before it orders something.
    pub fn releases(self) -> bool {
        matches!(self, Self::Releasing | Self::Both)
    }

    /// What two of them are together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self.acquires() || other.acquires(), self.releases() || other.releases()) {
            (false, false) => Self::None,
            (true, false) => Self::Acquiring,
            (false, true) => Self::Releasing,
            (true, true) => Self::Both,
        }
    }
}

/// What the own words of a statement say.
pub(super) fn synchronising(file: &SourceFile, parsed: &Parsed, unit: &Unit<'_>) -> Synchronising {
    let mut all = Synchronising::None;
    parsed.visit(unit.node, &mut |node| {
        if unit.own.iter().any(|own| own.contains(&node.start_byte())) {
            all = all.and(of_node(file, parsed, node));
        }
    });
    all
}

/// What one expression says.
fn of_node(file: &SourceFile, parsed: &Parsed, node: Node<'_>) -> Synchronising {
    match node.kind() {
        "call_expression" => call(parsed, node),
        "identifier" | "field_identifier" if file.watched.contains(parsed.text_of(node)) => {
            volatile(parsed, node)
        }
        "pointer_expression" | "subscript_expression" if cast_to_volatile(parsed, node) => {
            volatile(parsed, node)
        }
        "gnu_asm_expression" => {
            let text = parsed.text_of(node);
            let has = |word: &str| text.contains(word);
            let access = match () {
                () if has("atom.") => Synchronising::Both,
                () if has("st.") || has("red.") => Synchronising::Releasing,
                () if has("ld.") => Synchronising::Acquiring,
                () => Synchronising::None,
            };
            let strong = [".relaxed", ".acquire", ".release", ".acq_rel", ".volatile", "atom.", "red."];
            if strong.into_iter().any(has) { access } else { Synchronising::None }
        }
        _ => Synchronising::None,
    }
}

/// True for a pointer that is cast to one to volatile where it is used.
fn cast_to_volatile(parsed: &Parsed, node: Node<'_>) -> bool {
    let argument = node.child_by_field_name("argument");
    let mut inner = argument;
    while let Some(node) = inner.filter(|node| node.kind() == "parenthesized_expression") {
        inner = node.named_child(0);
    }
    inner.is_some_and(|node| {
        let cast = match node.kind() {
            "cast_expression" => node.child_by_field_name("type"),
            "call_expression" => node.child_by_field_name("function"),
            _ => None,
        };
        cast.is_some_and(|cast| parsed.text_of(cast).contains("volatile"))
    })
}

/// A volatile name is written if it is what is assigned to, and else read. What only names it, as an address or the
/// object of a call, is neither.
fn volatile(parsed: &Parsed, node: Node<'_>) -> Synchronising {
    let mut here = node;
    while let Some(parent) = here.parent() {
        match parent.kind() {
            "assignment_expression" if parent.child_by_field_name("left") == Some(here) => {
                let compound =
                    parent.child_by_field_name("operator").is_some_and(|sign| parsed.text_of(sign) != "=");
                return if compound { Synchronising::Both } else { Synchronising::Releasing };
            }
            "update_expression" => return Synchronising::Both,
            "pointer_expression" if parsed.text_of(parent).starts_with('&') => return Synchronising::None,
            "subscript_expression" | "field_expression"
                if parent.child_by_field_name("argument") == Some(here)
                    || parent.child_by_field_name("field") == Some(here) =>
            {
                here = parent;
            }
            "pointer_expression" | "parenthesized_expression" => here = parent,
            // The object of a member function; that says itself what it does.
            "call_expression" if parent.child_by_field_name("function") == Some(here) => {
                return Synchronising::None;
            }
            "init_declarator" if parent.child_by_field_name("declarator") == Some(here) => {
                return Synchronising::None;
            }
            "declaration" | "parameter_declaration" | "pointer_declarator" | "array_declarator" => {
                return Synchronising::None;
            }
            _ => return Synchronising::Acquiring,
        }
    }
    Synchronising::None
}

/// What a call of an atomic says, by its name and its order.
fn call(parsed: &Parsed, node: Node<'_>) -> Synchronising {
    let Some(function) = node.child_by_field_name("function") else { return Synchronising::None };
    let (name, member) = match function.child_by_field_name("field") {
        Some(field) => (parsed.text_of(field), true),
        None => (parsed.text_of(function).rsplit("::").next().unwrap_or(""), false),
    };
    let unused = node.parent().is_some_and(|parent| parent.kind() == "expression_statement");
    let waited_for = std::iter::successors(node.parent(), Node::parent)
        .take_while(|node| !matches!(node.kind(), "compound_statement" | "expression_statement"))
        .any(|node| is_loop(node.kind()));
    let changes = if unused {
        Synchronising::Releasing
    } else if waited_for {
        Synchronising::Acquiring
    } else {
        Synchronising::Both
    };
    let role = match name {
        "load" | "wait" | "test" if member => Synchronising::Acquiring,
        "store" | "clear" if member => Synchronising::Releasing,
        "exchange" | "compare_exchange_weak" | "compare_exchange_strong" | "test_and_set" if member => {
            changes
        }
        name if member && name.starts_with("fetch_") => changes,
        "atomic_load" | "atomic_load_explicit" => Synchronising::Acquiring,
        "atomic_store" | "atomic_store_explicit" => Synchronising::Releasing,
        "atomic_thread_fence" | "atomic_signal_fence" => Synchronising::None,
        name if name.starts_with("__nv_atomic_load") => Synchronising::Acquiring,
        name if name.starts_with("__nv_atomic_store") => Synchronising::Releasing,
        name if name.starts_with("atomic") && !member || name.starts_with("__nv_atomic_") => changes,
        _ => Synchronising::None,
    };
    if role == Synchronising::None {
        return role;
    }
    let arguments = node.child_by_field_name("arguments").map_or("", |arguments| parsed.text_of(arguments));
    let arguments = arguments.to_ascii_lowercase();
    let order = |word: &str| {
        arguments.contains(&format!("memory_order_{word}"))
            || arguments.contains(&format!("memory_order::{word}"))
            || arguments.contains(&format!("atomic_{word}"))
    };
    // An order that is said says it; a relaxed one says nothing.
    match () {
        () if order("acq_rel") || order("seq_cst") && role == changes => Synchronising::Both,
        () if order("release") => Synchronising::Releasing,
        () if order("acquire") || order("consume") => Synchronising::Acquiring,
        () => role,
    }
}
