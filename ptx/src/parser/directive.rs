//! Directives: the few that are read (`.file`, `.loc`), and the extent of all others
//! (PTX ISA 11 "Directives").

use crate::ast::{Linkage, Loc, Span};

use super::{Kind, Parsed, Parser};

impl Parser<'_> {
    /// `.extern`, `.visible`, `.weak`, `.common`; Internal, and no step, without.
    pub(super) fn linkage(&mut self) -> Linkage {
        let linkage = match self.dotted() {
            Some("visible") => Linkage::Visible,
            Some("extern") => Linkage::Extern,
            Some("weak") => Linkage::Weak,
            Some("common") => Linkage::Common,
            _ => return Linkage::Internal,
        };
        self.advance();
        linkage
    }

    /// `.file index "path"[, time, size]`
    pub(super) fn file(&mut self) -> Parsed<Span> {
        let start = self.start();
        self.advance();
        let index = self.unsigned32("the index of a file")?;
        let path = self.expect(Kind::Text, "the path of a file")?;
        let path = self.text_of(path).trim_matches('"').to_owned();
        for _ in 0..2 {
            if self.accept(Kind::Comma) {
                self.unsigned("a number")?;
            }
        }
        self.files.push((index, path));
        Ok(self.span_from(start))
    }

    /// `.loc file line column[, function_name label[+n], inlined_at file line column]`
    pub(super) fn loc(&mut self) -> Parsed<Loc> {
        self.advance();
        let (file, line, column) = self.position()?;
        let mut inlined_at = None;
        while self.accept(Kind::Comma) {
            match self.name("`function_name` or `inlined_at`")? {
                "function_name" => {
                    if !matches!(self.kind(), Kind::Ident | Kind::Dotted) {
                        return Err(self.error("expected the label of a function's name"));
                    }
                    self.advance();
                    if self.offset().is_none() {
                        return Err(self.error("expected an offset"));
                    }
                }
                "inlined_at" => inlined_at = Some(self.position()?),
                _ => {
                    self.at -= 1;
                    return Err(self.error("expected `function_name` or `inlined_at`"));
                }
            }
        }
        Ok(Loc { file, line, column, inlined_at })
    }

    fn position(&mut self) -> Parsed<(u32, u32, u32)> {
        let file = self.unsigned32("the index of a file")?;
        let line = self.unsigned32("a line")?;
        Ok((file, line, self.unsigned32("a column")?))
    }

    /// Steps over a directive that is kept as it stands: up to its `;`, or to the end of its braces.
    pub(super) fn skip_directive(&mut self) -> Parsed<Span> {
        let first = self.at;
        let start = self.start();
        self.advance();
        let mut depth = 0_usize;
        loop {
            match self.kind() {
                Kind::Semicolon if depth == 0 => {
                    self.advance();
                    break;
                }
                Kind::BraceOpen => depth += 1,
                Kind::BraceClose if depth == 1 => {
                    self.advance();
                    match self.kind() {
                        Kind::Comma => depth = 0,
                        _ => {
                            self.accept(Kind::Semicolon);
                            break;
                        }
                    }
                }
                Kind::BraceClose if depth > 1 => depth -= 1,
                Kind::BraceClose | Kind::End => return Err(self.unfinished(first)),
                // Without this, a misspelt directive would swallow the function after it.
                Kind::Dotted if depth == 0 && matches!(self.text(), ".entry" | ".func" | ".version") => {
                    return Err(self.unfinished(first));
                }
                _ => {}
            }
            self.advance();
        }
        Ok(self.span_from(start))
    }

    fn unfinished(&mut self, first: usize) -> crate::ParseError {
        self.at = first;
        self.error("a directive that does not end")
    }
}
