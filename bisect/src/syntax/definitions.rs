//! The macros that a file defines, and their bodies as trees.

use std::ops::Range;

use super::tree::Parsed;

/// A macro.
#[derive(Clone, Debug)]
pub(super) struct Macro {
    /// Its name.
    pub name: String,
    /// Where its definition begins.
    pub at: usize,
    /// What it stands for.
    pub value: Range<usize>,
    /// True if it takes arguments, perhaps none.
    pub function: bool,
}

/// The macros that a text defines.
pub(super) fn defined(parsed: &Parsed) -> Vec<Macro> {
    let mut macros = Vec::new();
    parsed.visit(parsed.root(), &mut |node| {
        let function = node.kind() == "preproc_function_def";
        if !function && node.kind() != "preproc_def" {
            return;
        }
        let field = |name: &str| node.child_by_field_name(name);
        let (Some(name), Some(value)) = (field("name"), field("value")) else { return };
        let text = parsed.text_of(value);
        let start = value.start_byte() + text.len() - text.trim_start_matches([' ', '\t']).len();
        macros.push(Macro {
            name: parsed.text_of(name).to_owned(),
            at: node.start_byte(),
            value: start..value.start_byte() + text.trim_end().len(),
            function,
        });
    });
    macros
}

/// Places of a word in a text.
pub(super) fn words<'t>(text: &'t str, word: &'t str) -> impl Iterator<Item = usize> + 't {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word)
        .map(|(at, _)| at)
        .filter(move |at| !text[..*at].ends_with(part) && !text[at + word.len()..].starts_with(part))
}

/// The text with a semicolon in place of the space behind uses of macros that stand where a statement does and have
/// none, as the grammar would take what follows for a part of them; None if there are none.
pub(super) fn close_uses(text: &str, macros: &[Macro]) -> Option<String> {
    let mut closed = text.as_bytes().to_vec();
    let mut changed = false;
    let statements = |defined: &&Macro| defined.function || text[..defined.value.end].ends_with([';', '}']);
    for defined in macros.iter().filter(statements) {
        for at in words(text, &defined.name) {
            if macros.iter().any(|other| other.at <= at && at < other.value.end) {
                continue;
            }
            let before = text[..at].trim_end();
            if !before.is_empty() && !before.ends_with([';', '{', '}', ')', '/']) {
                continue;
            }
            let name_end = at + defined.name.len();
            let end = if defined.function { arguments_end(text, name_end) } else { Some(name_end) };
            let Some(end) = end else { continue };
            let rest = &text[end..];
            let next = rest.trim_start();
            let word = next.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '}');
            if word && rest.starts_with(|c: char| c.is_ascii_whitespace()) && !next.starts_with("else") {
                closed[end] = b';';
                changed = true;
            }
        }
    }
    // Only white space of one byte was replaced, by another byte of ASCII.
    changed.then(|| String::from_utf8(closed).expect("still UTF-8"))
}

/// Where the arguments end that begin at a place.
fn arguments_end(text: &str, from: usize) -> Option<usize> {
    let open = from + text[from..].len() - text[from..].trim_start_matches([' ', '\t']).len();
    let mut deep = 0usize;
    for (at, byte) in text[open..].bytes().enumerate() {
        match byte {
            b'(' => deep += 1,
            b')' => {
                deep = deep.checked_sub(1)?;
                if deep == 0 {
                    return Some(open + at + 1);
                }
            }
            _ if deep == 0 => return None,
            _ => {}
        }
    }
    None
}

impl Macro {
    /// Its value as the body of a function, each byte where it is in the file.
    pub fn body(&self, text: &str, newline: &str) -> Parsed {
        const HEAD: &[u8] = b"void f(){";
        let mut body: Vec<u8> = text.as_bytes()[..self.value.end].to_vec();
        for byte in &mut body[..self.value.start] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
        // `#define X` is as long; what pushes the name to another line is left out of this.
        body[self.at..self.at + HEAD.len()].copy_from_slice(HEAD);
        for at in self.value.clone() {
            let before = at.checked_sub(1).map(|before| body[before]);
            match body[at] {
                b'\\' if text[at + 1..].starts_with(['\n', '\r']) => body[at] = b' ',
                b'#' if body.get(at + 1) == Some(&b'#') || before == Some(b'_') => body[at] = b'_',
                b'#' => body[at] = b' ',
                _ => {}
            }
        }
        body.extend_from_slice(b"\n;}");
        // Only ASCII was replaced within the value, and all of what stands before it.
        let body = String::from_utf8_lossy(&body).into_owned();
        Parsed::new(body, format!(" \\{newline}"), self.value.end)
    }
}
