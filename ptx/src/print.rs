//! The tree back to text, and small questions to the tree.

use crate::ast::{Function, Instruction, Item, Module, Span, Statement, StatementKind};

impl Module {
    /// The module's text. The tree keeps its source, so this is byte for byte what was parsed; changes
    /// are made to the text, with [`crate::edit::Edits`].
    pub fn print(&self) -> String {
        self.source.clone()
    }

    /// The bytes of a node.
    pub fn text(&self, span: Span) -> &str {
        &self.source[span.start..span.end]
    }

    /// The path of the `.file` directive with this index (the first one, should there be several).
    pub fn file(&self, index: u32) -> Option<&str> {
        self.files.iter().find(|(at, _)| *at == index).map(|(_, path)| path.as_str())
    }

    /// All functions, declared and defined, in the order of the text.
    pub fn functions(&self) -> impl Iterator<Item = &Function> {
        self.items.iter().filter_map(|item| match item {
            Item::Function(function) => Some(function),
            Item::Variable(_) | Item::Directive(_) => None,
        })
    }

    /// The function of this name: its definition, or else its declaration.
    pub fn function(&self, name: &str) -> Option<&Function> {
        let named = || self.functions().filter(|function| function.name == name);
        named().find(|function| function.body.is_some()).or_else(|| named().next())
    }
}

impl Function {
    /// All instructions of the body, those in nested blocks too, in the order of the text. Positions in
    /// this list are what [`crate::cfg::Cfg`] speaks of.
    pub fn instructions(&self) -> Vec<&Instruction> {
        let mut instructions = Vec::new();
        self.walk(&mut |statement| {
            if let StatementKind::Instruction(instruction) = &statement.kind {
                instructions.push(instruction);
            }
        });
        instructions
    }

    /// Visits every statement in the order of the text; a block comes before what it holds.
    pub fn walk<'a>(&'a self, visit: &mut dyn FnMut(&'a Statement)) {
        fn descend<'a>(statements: &'a [Statement], visit: &mut dyn FnMut(&'a Statement)) {
            for statement in statements {
                visit(statement);
                if let StatementKind::Block(inner) = &statement.kind {
                    descend(inner, visit);
                }
            }
        }
        if let Some(body) = &self.body {
            descend(&body.statements, visit);
        }
    }
}
