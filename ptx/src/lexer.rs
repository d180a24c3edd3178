//! Text to tokens (PTX ISA 4 "Syntax").
//!
//! White space and comments are skipped; what lies between two tokens is found again in the source.
//! A character that PTX does not have becomes [`Kind::Unknown`], so that it can stand inside an
//! instruction that is kept as it is. Only an unterminated comment or string stops the lexer.

use logos::{Lexer, Logos};

use crate::error::ParseError;

/// A kind of token.
#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
#[logos(skip r"[ \t\r\n\x0b\x0c]+")]
#[logos(error = Unterminated)]
pub enum Kind {
    /// Names: `add`, `%r1`, `$L__BB0_1`, `_`.
    #[regex(r"[A-Za-z_$%][A-Za-z0-9_$]*")]
    Ident,
    /// A dot and what belongs to it: `.reg`, `.b32`, `.2d`, `.L1::evict_last`.
    #[regex(r"\.[A-Za-z0-9_$]+(::[A-Za-z0-9_]+)*")]
    Dotted,
    /// Integers in the four bases of the ISA, with or without `U`.
    #[regex(r"[0-9]+U?")]
    #[regex(r"0[xX][0-9a-fA-F]+U?")]
    #[regex(r"0[bB][01]+U?")]
    Integer,
    /// `0f3F800000`
    #[regex(r"0[fF][0-9a-fA-F]{8}")]
    F32,
    /// `0d3FF0000000000000`
    #[regex(r"0[dD][0-9a-fA-F]{16}")]
    F64,
    /// `1.5`, `2.`, `1e-3`; also the number of `.version`.
    #[regex(r"[0-9]+\.[0-9]*([eE][+-]?[0-9]+)?")]
    #[regex(r"[0-9]+[eE][+-]?[0-9]+")]
    Decimal,
    /// `"…"`; PTX strings have no escapes and end on their line.
    #[token("\"", string)]
    Text,
    #[token("(")]
    ParenOpen,
    #[token(")")]
    ParenClose,
    #[token("[")]
    BracketOpen,
    #[token("]")]
    BracketClose,
    #[token("{")]
    BraceOpen,
    #[token("}")]
    BraceClose,
    #[token("<")]
    Less,
    #[token(">")]
    Greater,
    #[token(",")]
    Comma,
    #[token(";")]
    Semicolon,
    #[token(":")]
    Colon,
    #[token("=")]
    Equals,
    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token("!")]
    Bang,
    #[token("|")]
    Bar,
    #[token("@")]
    At,
    /// Skipped; here so that an unterminated one is noticed in one pass over the text.
    #[regex(r"//[^\n]*", logos::skip, allow_greedy = true)]
    #[token("/*", block_comment)]
    Comment,
    /// Any other character.
    #[regex(r"[^ \t\r\n\x0b\x0c]", priority = 0)]
    Unknown,
    /// The end of the text; the last token, and only that.
    End,
}

/// Why the lexer stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unterminated {
    /// `/*` without `*/`.
    Comment,
    /// `"` without another on its line.
    Text,
    /// Not produced by the rules above, which cover every character.
    #[default]
    Unexpected,
}

/// A token and its bytes.
#[derive(Clone, Copy, Debug)]
pub struct Token {
    /// Its kind.
    pub kind: Kind,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

/// All tokens of `source`, closed by one [`Kind::End`].
///
/// Errors: an unterminated comment or string, or a text of 4 GiB and more.
pub fn lex(source: &str) -> Result<Vec<Token>, ParseError> {
    if u32::try_from(source.len()).is_err() {
        return Err(ParseError::new(source, 0, 0, "a module of 4 GiB or more"));
    }
    // A dense module has a token in about four bytes.
    let mut tokens = Vec::with_capacity(source.len() / 4 + 1);
    let mut lexer = Kind::lexer(source);
    while let Some(kind) = lexer.next() {
        let span = lexer.span();
        let kind = kind.map_err(|why| {
            let message = match why {
                Unterminated::Comment => "a comment that is never closed",
                Unterminated::Text => "a string that is not closed on its line",
                Unterminated::Unexpected => "a character that cannot be read",
            };
            ParseError::new(source, span.start, span.end, message)
        })?;
        // The casts lose nothing: the length of the source fits, checked above.
        tokens.push(Token { kind, start: span.start as u32, end: span.end as u32 });
    }
    let end = source.len() as u32;
    tokens.push(Token { kind: Kind::End, start: end, end });
    Ok(tokens)
}

fn string(lexer: &mut Lexer<'_, Kind>) -> Result<(), Unterminated> {
    let rest = lexer.remainder();
    match rest.find(['"', '\n']) {
        Some(at) if rest.as_bytes()[at] == b'"' => {
            lexer.bump(at + 1);
            Ok(())
        }
        _ => Err(Unterminated::Text),
    }
}

fn block_comment(lexer: &mut Lexer<'_, Kind>) -> Result<logos::Skip, Unterminated> {
    let length = lexer.remainder().find("*/").ok_or(Unterminated::Comment)?;
    lexer.bump(length + 2);
    Ok(logos::Skip)
}

#[cfg(test)]
mod tests;
