//! `.entry` and `.func`: signature, directives, body (PTX ISA 11.2 and 11.4).

use crate::ast::{Body, Function, FunctionKind, Linkage, Span};
use crate::source_lines::SourceLines;

use super::{Kind, Parsed, Parser};

impl Parser<'_> {
    /// From `.entry` or `.func` on; `start` is where the linkage started.
    pub(super) fn function(&mut self, linkage: Linkage, start: usize) -> Parsed<Function> {
        let scope = self.registers.enter();
        let kind = if self.dotted() == Some("entry") { FunctionKind::Entry } else { FunctionKind::Func };
        self.advance();
        let mut directives = Vec::new();
        self.function_directives(&mut directives)?;
        let returns = if kind == FunctionKind::Func { self.params()? } else { Vec::new() };
        let name_token = self.expect(Kind::Ident, "a function's name")?;
        let name = self.text_of(name_token).to_owned();
        let params = self.params()?;
        self.function_directives(&mut directives)?;
        let body = if self.accept(Kind::Semicolon) {
            None
        } else {
            let start = self.start();
            self.expect(Kind::BraceOpen, "a function's body or `;`")?;
            let mut lines = SourceLines::default();
            let statements = self.block(&mut lines, 0)?;
            Some(Body { span: self.span_from(start), statements })
        };
        self.registers.leave(scope);
        Ok(Function {
            kind,
            linkage,
            name,
            name_span: Span { start: name_token.start as usize, end: name_token.end as usize },
            returns,
            params,
            directives,
            body,
            span: self.span_from(start),
        })
    }

    /// `.maxntid 256, 1, 1`, `.noreturn`, `.attribute(…)`, `.pragma "…";`
    fn function_directives(&mut self, directives: &mut Vec<(String, Vec<u64>)>) -> Parsed<()> {
        while let Some(name) = self.dotted() {
            self.advance();
            let mut values = Vec::new();
            match name {
                "pragma" => {
                    self.expect(Kind::Text, "a pragma's text")?;
                    while self.accept(Kind::Comma) {
                        self.expect(Kind::Text, "a pragma's text")?;
                    }
                    self.expect(Kind::Semicolon, "`;` after a pragma")?;
                }
                "attribute" => {
                    if self.skip_parentheses().is_none() {
                        return Err(self.error("expected an attribute in parentheses"));
                    }
                }
                _ => {
                    while self.kind() == Kind::Integer {
                        values.push(self.unsigned("a number")?);
                        if !self.accept(Kind::Comma) {
                            break;
                        }
                    }
                }
            }
            directives.push((name.to_owned(), values));
        }
        Ok(())
    }
}
