//! Tokens to the lossless AST, by hand (PTX ISA 4 to 11).
//!
//! Whatever can be delimited is kept: an instruction up to its `;`, a directive up to its `;` or the
//! end of its braces. An error is only what leaves the extent of a statement or of a declaration open.
//! Time and memory are linear in the text, and nesting is bounded: no input can overflow the stack.

mod declaration;
mod directive;
mod function;
mod inline_assembly;
mod module;
mod number;
mod operand;
mod registers;
mod statement;

use crate::ast::{Module, Span};
use crate::error::ParseError;
use crate::lexer::{self, Kind, Token};
use inline_assembly::InlineAssembly;
use registers::Registers;

/// Blocks and parentheses may be nested this deep. (Compilers stay below 5.)
const DEEPEST: usize = 128;

/// Parses a module.
///
/// Errors: the first place where the text stops being PTX, with line and column. Instructions that are
/// merely unknown are no error; they decode to [`crate::op::Op::Other`].
pub fn parse(source: &str) -> Result<Module, ParseError> {
    let tokens = lexer::lex(source)?;
    let lines = std::iter::once(0)
        .chain(source.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at as u32 + 1))
        .collect();
    Parser {
        source,
        tokens,
        lines,
        inline: InlineAssembly::find(source),
        at: 0,
        registers: Registers::default(),
        files: Vec::new(),
    }
    .module()
}

type Parsed<T> = Result<T, ParseError>;

/// A cursor over the tokens, and what the text so far has declared.
struct Parser<'s> {
    source: &'s str,
    /// Closed by [`Kind::End`], which the cursor never passes.
    tokens: Vec<Token>,
    /// First byte of each line.
    lines: Vec<u32>,
    inline: InlineAssembly,
    at: usize,
    registers: Registers<'s>,
    files: Vec<(u32, String)>,
}

impl<'s> Parser<'s> {
    fn token(&self) -> Token {
        self.tokens[self.at]
    }

    fn kind(&self) -> Kind {
        self.token().kind
    }

    /// The kind of the token `ahead` of the current one.
    fn kind_at(&self, ahead: usize) -> Kind {
        self.tokens.get(self.at + ahead).map_or(Kind::End, |token| token.kind)
    }

    fn text_of(&self, token: Token) -> &'s str {
        &self.source[token.start as usize..token.end as usize]
    }

    fn text(&self) -> &'s str {
        self.text_of(self.token())
    }

    fn advance(&mut self) -> Token {
        let token = self.token();
        if token.kind != Kind::End {
            self.at += 1;
        }
        token
    }

    /// Steps over a token of this kind, if it is the next.
    fn accept(&mut self, kind: Kind) -> bool {
        let found = self.kind() == kind;
        if found {
            self.advance();
        }
        found
    }

    fn expect(&mut self, kind: Kind, what: &str) -> Parsed<Token> {
        if self.kind() == kind { Ok(self.advance()) } else { Err(self.error(format!("expected {what}"))) }
    }

    fn name(&mut self, what: &str) -> Parsed<&'s str> {
        let token = self.expect(Kind::Ident, what)?;
        Ok(self.text_of(token))
    }

    /// What follows the dot of the current token; None when it is no dotted one.
    fn dotted(&self) -> Option<&'s str> {
        (self.kind() == Kind::Dotted).then(|| &self.text()[1..])
    }

    /// Steps over `.name`, if it is the next.
    fn accept_dotted(&mut self, name: &str) -> bool {
        let found = self.dotted() == Some(name);
        if found {
            self.advance();
        }
        found
    }

    /// An error about the current token.
    fn error(&self, message: impl Into<String>) -> ParseError {
        let token = self.token();
        ParseError::new(self.source, token.start as usize, token.end as usize, message)
    }

    fn start(&self) -> usize {
        self.token().start as usize
    }

    /// From `start` to the end of the token that was stepped over last.
    fn span_from(&self, start: usize) -> Span {
        let end = self.at.checked_sub(1).map_or(start, |last| self.tokens[last].end as usize);
        Span { start, end: end.max(start) }
    }

    /// The line of a byte, from 1.
    fn line_of(&self, offset: usize) -> u32 {
        self.lines.partition_point(|start| *start as usize <= offset) as u32
    }

    /// Whether the current token stands on a later line than the one before it ends.
    fn on_new_line(&self) -> bool {
        let before = self.at.checked_sub(1).map_or(0, |before| self.tokens[before].end as usize);
        self.source[before..self.start()].contains('\n')
    }

    /// Whether the token before the cursor and the current one touch.
    fn touches(&self) -> bool {
        self.at > 0 && self.tokens[self.at - 1].end == self.token().start
    }
}

#[cfg(test)]
mod tests;
