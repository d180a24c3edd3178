//! The linked text.

use std::fmt::Write as _;

use rustc_hash::FxHashSet;

use crate::ast::{Function, FunctionKind, Init, Item, Linkage, Span, StatementKind};
use crate::lexer::Kind;

use super::header::Header;
use super::resolve::{Place, Symbols, Unit, linkage_of};

/// Writes everything that is kept.
pub(super) fn write(units: &[Unit<'_>], header: &Header, symbols: &Symbols, variables: &[Place]) -> String {
    let mut out = Writer { units, header, symbols, text: String::new() };
    out.head();
    out.directives(false);
    out.declarations();
    for (unit, item) in variables {
        if let Item::Variable(variable) = &units[*unit].module.items[*item] {
            out.copy(*unit, variable.span, &[], None);
        }
    }
    for (unit, parsed) in units.iter().enumerate() {
        for (item, node) in parsed.module.items.iter().enumerate() {
            if let Item::Function(function) = node {
                out.function(function, (unit, item));
            }
        }
    }
    out.directives(true);
    out.strings();
    out.text
}

struct Writer<'a> {
    units: &'a [Unit<'a>],
    header: &'a Header,
    symbols: &'a Symbols,
    text: String,
}

impl Writer<'_> {
    fn head(&mut self) {
        let Header { version: (major, minor), targets, address_size, files, .. } = self.header;
        let targets = targets.join(", ");
        // Writing into a string does not fail.
        let _ = writeln!(
            self.text,
            ".version {major}.{minor}\n.target {targets}\n.address_size {address_size}\n"
        );
        for (index, path) in files.iter().enumerate() {
            let _ = writeln!(self.text, ".file {} \"{path}\"", index + 1);
        }
    }

    /// Directives that are kept as they stand: aliases speak of functions, and come `last`.
    fn directives(&mut self, last: bool) {
        for (unit, parsed) in self.units.iter().enumerate() {
            for item in &parsed.module.items {
                let Item::Directive(span) = item else { continue };
                let text = parsed.module.text(*span);
                let dropped = [".file", ".section", ".loc"].iter().any(|name| text.starts_with(name));
                if !dropped && text.starts_with(".alias") == last {
                    self.copy(unit, *span, &[], None);
                }
            }
        }
    }

    /// Device functions that other modules see, and those whose address a variable holds.
    fn declarations(&mut self) {
        let mut pointed_at: FxHashSet<(usize, &str)> = FxHashSet::default();
        let units = self.units;
        for (unit, parsed) in units.iter().enumerate() {
            for item in &parsed.module.items {
                let Item::Variable(variable) = item else { continue };
                for init in &variable.init {
                    if let Init::Symbol { name, .. } = init {
                        pointed_at.insert((unit, name));
                    }
                }
            }
        }
        let mut wanted = Vec::new();
        for (unit, parsed) in units.iter().enumerate() {
            for (item, node) in parsed.module.items.iter().enumerate() {
                let Item::Function(function) = node else { continue };
                let place = (unit, item);
                let Some(body) = &function.body else {
                    if self.symbols.declared.contains(&place) {
                        wanted.push((unit, function, function.span.end));
                    }
                    continue;
                };
                let declared = function.kind == FunctionKind::Func
                    && match linkage_of(function) {
                        Linkage::Internal => pointed_at.contains(&(unit, function.name.as_str())),
                        linkage => self.symbols.keeps(&function.name, linkage, place),
                    };
                if declared {
                    wanted.push((unit, function, body.span.start));
                }
            }
        }
        for (unit, function, end) in wanted {
            let span = Span { start: function.span.start, end };
            let tokens = units[unit].tokens_of(span);
            // A pragma belongs to the body, and its `;` would end the declaration.
            let pragma = tokens.iter().find(|token| units[unit].token_text(**token) == ".pragma");
            let end = pragma.map_or(end, |token| token.start as usize);
            self.copy(unit, Span { end, ..span }, &[], Some(function));
            let written = self.text.trim_end().len();
            self.text.truncate(written);
            self.text.push_str(if self.text.ends_with(';') { "\n" } else { ";\n" });
        }
    }

    fn function(&mut self, function: &Function, place: Place) {
        let linkage = linkage_of(function);
        // Declarations of what others see were written already.
        let kept = if function.body.is_some() {
            self.symbols.keeps(&function.name, linkage, place)
        } else {
            linkage == Linkage::Internal
        };
        if kept {
            let mut lines = Vec::new();
            function.walk(&mut |statement| {
                if matches!(statement.kind, StatementKind::Loc(_)) {
                    lines.push(statement.span);
                }
            });
            self.copy(place.0, function.span, &lines, Some(function));
        }
    }

    /// The names of inlined functions, in one section.
    fn strings(&mut self) {
        let mut sections = Vec::new();
        for (unit, parsed) in self.units.iter().enumerate() {
            for item in &parsed.module.items {
                let Item::Directive(span) = item else { continue };
                let tokens = parsed.tokens_of(*span);
                let open = tokens.iter().find(|token| token.kind == Kind::BraceOpen);
                let close = tokens.iter().rfind(|token| token.kind == Kind::BraceClose);
                if let (true, Some(open), Some(close)) = (parsed.is_strings(*span), open, close) {
                    sections.push((unit, Span { start: open.end as usize, end: close.start as usize }));
                }
            }
        }
        if !sections.is_empty() {
            self.text.push_str(".section .debug_str\n{\n");
            for (unit, span) in sections {
                self.copy(unit, span, &[], None);
            }
            self.text.push_str("}\n");
        }
    }

    /// Copies a node and ends the line: renamed symbols by their new names, but those that `inside`
    /// declares itself; the numbers of files in the `.loc` directives at `lines` by ours.
    fn copy(&mut self, unit: usize, span: Span, lines: &[Span], inside: Option<&Function>) {
        let parsed = &self.units[unit];
        let source = &parsed.module.source;
        let renamed = &self.symbols.renamed[unit];
        let mut done = span.start;
        let mut lines = lines.iter().copied().peekable();
        let mut before = "";
        for token in parsed.tokens_of(span) {
            let (start, end) = (token.start as usize, token.end as usize);
            while lines.next_if(|line| line.end <= start).is_some() {}
            let text = parsed.token_text(*token);
            let mut number = String::new();
            let other = match token.kind {
                Kind::Ident => renamed
                    .get(text)
                    .filter(|_| !inside.is_some_and(|function| declares(function, text)))
                    .map(String::as_str),
                Kind::Integer
                    if lines.peek().is_some_and(|line| line.start <= start)
                        && matches!(before, ".loc" | "inlined_at") =>
                {
                    let known = text.parse().ok().and_then(|file: u32| self.header.numbers[unit].get(&file));
                    known.map(|known| {
                        number = known.to_string();
                        number.as_str()
                    })
                }
                _ => None,
            };
            if let Some(other) = other {
                self.text.push_str(&source[done..start]);
                self.text.push_str(other);
                done = end;
            }
            before = text;
        }
        self.text.push_str(&source[done..span.end]);
        self.text.push('\n');
    }
}

/// Whether a function has something of this name of its own.
fn declares(function: &Function, name: &str) -> bool {
    let params = || function.params.iter().chain(&function.returns);
    let mut found = params().any(|param| param.variable.name == name);
    function.walk(&mut |statement| {
        found |= match &statement.kind {
            StatementKind::Label(label) => label == name,
            StatementKind::Variable(variable) => variable.name == name,
            StatementKind::Registers(registers) => registers.iter().any(|register| register.name == name),
            StatementKind::Prototype(prototype) => prototype.name == name,
            StatementKind::Targets { name: label, .. } => label == name,
            _ => false,
        };
    });
    found
}
