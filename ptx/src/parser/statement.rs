//! Statements of a body (PTX ISA 4.3).

use crate::ast::{Guard, Instruction, Prototype, Span, Statement, StatementKind};
use crate::decode;
use crate::op::Op;
use crate::source_lines::SourceLines;

use super::declaration::space;
use super::{DEEPEST, Kind, Parsed, Parser};

impl Parser<'_> {
    /// Statements up to and including the `}`; the `{` has been stepped over.
    pub(super) fn block(&mut self, lines: &mut SourceLines, depth: usize) -> Parsed<Vec<Statement>> {
        if depth >= DEEPEST {
            return Err(self.error("blocks nested too deeply"));
        }
        let scope = self.registers.enter();
        let mut statements = Vec::new();
        loop {
            let start = self.start();
            let kind = match self.kind() {
                Kind::BraceClose => {
                    self.advance();
                    self.registers.leave(scope);
                    return Ok(statements);
                }
                Kind::BraceOpen => {
                    self.advance();
                    StatementKind::Block(self.block(lines, depth + 1)?)
                }
                Kind::Dotted => {
                    self.declaration(&mut statements, lines)?;
                    continue;
                }
                Kind::Semicolon => {
                    self.advance();
                    StatementKind::Directive
                }
                Kind::Ident if self.kind_at(1) == Kind::Colon => self.labelled()?,
                Kind::Ident | Kind::At => StatementKind::Instruction(self.instruction(lines)?),
                Kind::End => return Err(self.error("a body without its closing brace")),
                _ => return Err(self.error("expected a statement")),
            };
            statements.push(Statement { kind, span: self.span_from(start) });
        }
    }

    /// A statement that starts with a dot; several variables of one declaration become one statement
    /// each, with the same span.
    fn declaration(&mut self, statements: &mut Vec<Statement>, lines: &mut SourceLines) -> Parsed<()> {
        let (first, start) = (self.at, self.start());
        let linkage = self.linkage();
        let kind = match self.dotted() {
            Some("reg") => self.register_declarations().map(StatementKind::Registers),
            Some("loc") => {
                let loc = self.loc()?;
                if !self.inline.holds(start) {
                    lines.enter(&loc);
                }
                Some(StatementKind::Loc(loc))
            }
            Some("file") => {
                self.file()?;
                Some(StatementKind::Directive)
            }
            Some(name) if space(name).is_some() => {
                if let Some(variables) = self.variables(linkage, start) {
                    statements.extend(variables.into_iter().map(|variable| Statement {
                        span: variable.span,
                        kind: StatementKind::Variable(variable),
                    }));
                    return Ok(());
                }
                None
            }
            _ => None,
        };
        let (kind, span) = match kind {
            Some(kind) => (kind, self.span_from(start)),
            None => {
                self.at = first;
                (StatementKind::Directive, self.skip_directive()?)
            }
        };
        statements.push(Statement { kind, span });
        Ok(())
    }

    /// `name:`, and what belongs to the label when it names a prototype or a table.
    fn labelled(&mut self) -> Parsed<StatementKind> {
        let name = self.text().to_owned();
        self.advance();
        self.advance();
        match self.dotted() {
            Some("callprototype") => {
                self.advance();
                // The parameters' names mean nothing outside.
                let scope = self.registers.enter();
                let returns = self.params()?;
                self.name("the prototype's name `_`")?;
                let params = self.params()?;
                self.registers.leave(scope);
                while self.kind() != Kind::Semicolon {
                    if !matches!(self.kind(), Kind::Dotted | Kind::Integer) {
                        return Err(self.error("expected `;` after a prototype"));
                    }
                    self.advance();
                }
                self.advance();
                Ok(StatementKind::Prototype(Prototype { name, returns, params }))
            }
            Some("branchtargets" | "calltargets") => {
                self.advance();
                let mut targets = Vec::new();
                loop {
                    targets.push(self.name("a label")?.to_owned());
                    if self.accept(Kind::Semicolon) {
                        return Ok(StatementKind::Targets { name, targets });
                    }
                    self.expect(Kind::Comma, "`,` or `;` after a label")?;
                }
            }
            _ => Ok(StatementKind::Label(name)),
        }
    }

    fn instruction(&mut self, lines: &SourceLines) -> Parsed<Instruction> {
        let start = self.start();
        let guard = if self.accept(Kind::At) {
            let negated = self.accept(Kind::Bang);
            Some(Guard { register: self.name("a predicate")?.to_owned(), negated })
        } else {
            None
        };
        let opcode_start = self.start();
        let opcode = self.name("an opcode")?;
        if opcode.starts_with('%') {
            self.at -= 1;
            return Err(self.error("expected an opcode"));
        }
        let mut modifiers = Vec::new();
        // A dot on the next line starts a directive: a `;` is missing here.
        while let Some(modifier) = self.dotted().filter(|_| !self.on_new_line()) {
            modifiers.push(modifier.to_owned());
            self.advance();
        }
        let opcode_span = self.span_from(opcode_start);
        let Some((operands, understood)) =
            self.operands(matches!(opcode, "cp" | "tex" | "tld4" | "suld" | "sust"))
        else {
            return Err(self.error(format!("expected `;` after `{}`", self.quote(opcode_span))));
        };
        let op = if understood { decode::decode(opcode, &modifiers, &operands) } else { Op::Other };
        Ok(Instruction {
            guard,
            opcode: opcode.to_owned(),
            modifiers,
            operands,
            op,
            span: self.span_from(start),
            opcode_span,
            line: self.line_of(start),
            source: lines.here(),
        })
    }

    fn quote(&self, span: Span) -> String {
        self.source[span.start..span.end].chars().take(40).collect()
    }
}
