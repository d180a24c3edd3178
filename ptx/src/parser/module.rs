//! The top level of a module (PTX ISA 11.1 "PTX Module Directives").

use crate::ast::{Item, Module, Span};

use super::{Kind, Parsed, Parser};

/// What the header says.
struct Header {
    version: (u32, u32),
    version_span: Span,
    targets: Vec<String>,
    address_size: u32,
    end: usize,
}

impl Parser<'_> {
    pub(super) fn module(mut self) -> Parsed<Module> {
        let header = self.header()?;
        let mut items = Vec::new();
        while self.kind() != Kind::End {
            self.item(&mut items)?;
        }
        let Header { version, version_span, targets, address_size, end } = header;
        Ok(Module {
            source: self.source.to_owned(),
            version,
            version_span,
            targets,
            address_size,
            header_span: Span { start: 0, end },
            items,
            files: self.files,
        })
    }

    /// `.version`, `.target` and `.address_size`, in this order; the last may be missing (32 bits).
    fn header(&mut self) -> Parsed<Header> {
        if !self.accept_dotted("version") {
            return Err(self.error("expected `.version`, with which a module starts"));
        }
        let number = self.token();
        let version = self.text().split_once('.').and_then(|(major, minor)| {
            Some((major.parse().ok()?, minor.parse().ok()?)).filter(|_| self.kind() == Kind::Decimal)
        });
        let Some(version) = version else { return Err(self.error("expected a version such as 9.0")) };
        self.advance();
        let version_span = Span { start: number.start as usize, end: number.end as usize };
        if !self.accept_dotted("target") {
            return Err(self.error("expected `.target` after the version"));
        }
        let mut targets = Vec::new();
        loop {
            targets.push(self.name("a target such as sm_75")?.to_owned());
            if !self.accept(Kind::Comma) {
                break;
            }
        }
        let mut address_size = 32;
        if self.accept_dotted("address_size") {
            address_size = self.unsigned32("32 or 64")?;
            if !matches!(address_size, 32 | 64) {
                self.at -= 1;
                return Err(self.error("expected 32 or 64"));
            }
        }
        let end = self.span_from(0).end;
        Ok(Header { version, version_span, targets, address_size, end })
    }

    fn item(&mut self, items: &mut Vec<Item>) -> Parsed<()> {
        let (first, start) = (self.at, self.start());
        if self.kind() != Kind::Dotted {
            return Err(self.error("expected a directive"));
        }
        let linkage = self.linkage();
        match self.dotted() {
            Some("entry" | "func") => items.push(Item::Function(self.function(linkage, start)?)),
            Some("file") => {
                let span = self.file()?;
                items.push(Item::Directive(span));
            }
            Some("loc") => {
                self.loc()?;
                items.push(Item::Directive(self.span_from(start)));
            }
            _ => {
                let before = self.at;
                if let Some(variables) = self.variables(linkage, start) {
                    items.extend(variables.into_iter().map(Item::Variable));
                } else {
                    self.at = before;
                    if self.kind() != Kind::Dotted {
                        return Err(self.error("expected a declaration"));
                    }
                    self.at = first;
                    let span = self.skip_directive()?;
                    items.push(Item::Directive(span));
                }
            }
        }
        Ok(())
    }
}
