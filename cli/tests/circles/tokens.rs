//! The words and signs of Rust source, as far as paths go: comments, strings, characters and lifetimes are left out.

/// A piece of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    /// A name or a keyword.
    Word(String),
    /// `::`
    Separator,
    /// Any other sign.
    Sign(char),
}

/// The tokens of a file. The source is one that compiles.
pub fn tokens(text: &str) -> Vec<Token> {
    let text: Vec<char> = text.chars().collect();
    let at = |index: usize| text.get(index).copied().unwrap_or('\0');
    let mut found = Vec::new();
    let mut index = 0;
    while index < text.len() {
        let (here, next) = (at(index), at(index + 1));
        index = match here {
            '/' if next == '/' => line_end(&text, index),
            '/' if next == '*' => comment_end(&text, index),
            '"' => string_end(&text, index),
            '\'' => quote_end(&text, index),
            ':' if next == ':' => {
                found.push(Token::Separator);
                index + 2
            }
            _ if here.is_alphanumeric() || here == '_' => {
                let length =
                    text[index..].iter().take_while(|here| here.is_alphanumeric() || **here == '_').count();
                let word: String = text[index..index + length].iter().collect();
                let end = index + length;
                match (word.as_str(), at(end)) {
                    ("r" | "br" | "cr", '"' | '#') if raw_string(&text, end) => raw_string_end(&text, end),
                    ("b" | "c", '"') => string_end(&text, end),
                    ("b", '\'') => quote_end(&text, end),
                    _ => {
                        found.push(Token::Word(word));
                        end
                    }
                }
            }
            _ => {
                if !here.is_whitespace() {
                    found.push(Token::Sign(here));
                }
                index + 1
            }
        };
    }
    found
}

fn line_end(text: &[char], from: usize) -> usize {
    text[from..].iter().position(|here| *here == '\n').map_or(text.len(), |length| from + length)
}

/// Behind a comment, which may hold others.
fn comment_end(text: &[char], from: usize) -> usize {
    let (mut index, mut depth) = (from, 0);
    while index < text.len() {
        match text[index..] {
            ['/', '*', ..] => (index, depth) = (index + 2, depth + 1),
            ['*', '/', ..] => (index, depth) = (index + 2, depth - 1),
            _ => index += 1,
        }
        if depth == 0 {
            break;
        }
    }
    index
}

/// Behind a string that begins with its quotation mark.
fn string_end(text: &[char], from: usize) -> usize {
    let mut index = from + 1;
    while index < text.len() && text[index] != '"' {
        index += if text[index] == '\\' { 2 } else { 1 };
    }
    index + 1
}

/// Behind a character, or a lifetime's mark.
fn quote_end(text: &[char], from: usize) -> usize {
    match text[from + 1..] {
        ['\\', ..] => {
            // What is escaped may be the quotation mark itself.
            let rest = &text[from + 3..];
            from + 3 + rest.iter().position(|here| *here == '\'').map_or(rest.len(), |length| length + 1)
        }
        [_, '\'', ..] => from + 3,
        _ => from + 1,
    }
}

/// Whether the signs behind an `r` begin a string, and not a raw name.
fn raw_string(text: &[char], from: usize) -> bool {
    text[from..].iter().find(|here| **here != '#') == Some(&'"')
}

/// Behind a raw string, from its first `#` or quotation mark on.
fn raw_string_end(text: &[char], from: usize) -> usize {
    let marks = text[from..].iter().take_while(|here| **here == '#').count();
    let mut index = from + marks + 1;
    let ends = |index: usize| {
        let behind = &text[index + 1..];
        text[index] == '"' && behind.len() >= marks && behind[..marks].iter().all(|here| *here == '#')
    };
    while index < text.len() && !ends(index) {
        index += 1;
    }
    index + 1 + marks
}
