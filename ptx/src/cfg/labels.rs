//! Labels and branch tables by scope: every block `{ … }` of a body is one (PTX ISA 4.3, "Labels").

use rustc_hash::FxHashMap;

use crate::ast::{Function, Instruction, Statement, StatementKind};

/// A body, flattened, with what its scopes declare.
#[derive(Default)]
pub(super) struct Labels<'a> {
    /// Every instruction with its scope, in the order of the text.
    pub(super) instructions: Vec<(&'a Instruction, usize)>,
    /// The scope around each scope; the body itself is scope 0 and its own parent.
    parents: Vec<usize>,
    /// The instruction that follows a label.
    positions: FxHashMap<(usize, &'a str), usize>,
    /// What a `.branchtargets` lists.
    tables: FxHashMap<(usize, &'a str), &'a [String]>,
}

impl<'a> Labels<'a> {
    pub(super) fn collect(function: &'a Function) -> Labels<'a> {
        let mut labels = Labels::default();
        if let Some(body) = &function.body {
            labels.enter(&body.statements, 0);
        }
        labels
    }

    fn enter(&mut self, statements: &'a [Statement], parent: usize) {
        let scope = self.parents.len();
        self.parents.push(parent);
        for statement in statements {
            match &statement.kind {
                StatementKind::Label(name) => {
                    // Of two labels of one name, which PTX forbids, the first counts.
                    self.positions.entry((scope, name)).or_insert(self.instructions.len());
                }
                StatementKind::Targets { name, targets } => {
                    self.tables.entry((scope, name)).or_insert(targets);
                }
                StatementKind::Instruction(instruction) => self.instructions.push((instruction, scope)),
                StatementKind::Block(inner) => self.enter(inner, scope),
                _ => {}
            }
        }
    }

    /// The scopes from this one outwards.
    fn outwards(&self, scope: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(scope), |scope| (*scope != 0).then(|| self.parents[*scope]))
    }

    /// The instruction that the label means here.
    pub(super) fn position(&self, scope: usize, name: &str) -> Option<usize> {
        self.outwards(scope).find_map(|scope| self.positions.get(&(scope, name)).copied())
    }

    /// The labels of the table that the name means here, and the scope that they are named in.
    pub(super) fn table(&self, scope: usize, name: &str) -> Option<(&'a [String], usize)> {
        self.outwards(scope)
            .find_map(|scope| self.tables.get(&(scope, name)).map(|targets| (*targets, scope)))
    }
}
