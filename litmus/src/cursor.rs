//! Reading a text from left to right.

use crate::error::Problem;

/// A place in a text without comments.
#[derive(Clone, Debug)]
pub(crate) struct Cursor<'a> {
    text: &'a str,
    at: usize,
    /// Where the text lies in a larger one.
    base: usize,
}

impl<'a> Cursor<'a> {
    pub fn new(text: &'a str) -> Cursor<'a> {
        Cursor { text, at: 0, base: 0 }
    }

    /// A cursor on a part of a text, which begins at this offset there.
    pub fn within(text: &'a str, base: usize) -> Cursor<'a> {
        Cursor { text, at: 0, base }
    }

    /// What is left.
    pub fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    pub fn is_at_end(&self) -> bool {
        self.at == self.text.len()
    }

    /// The offset in the whole text.
    pub fn offset(&self) -> usize {
        self.base + self.at
    }

    /// Passes blanks and ends of lines; answers the offset of what comes next.
    pub fn skip_blanks(&mut self) -> usize {
        self.at += self.rest().len() - self.rest().trim_start().len();
        self.offset()
    }

    /// Passes so many bytes, which end at a character's end.
    pub fn pass(&mut self, bytes: usize) {
        self.at += bytes;
    }

    /// Passes this text, behind blanks, if it comes next.
    pub fn take(&mut self, wanted: &str) -> bool {
        self.skip_blanks();
        let found = self.rest().starts_with(wanted);
        if found {
            self.at += wanted.len();
        }
        found
    }

    /// Passes this word, behind blanks, if it comes next as a whole.
    pub fn take_word(&mut self, wanted: &str) -> bool {
        let before = self.at;
        let found = self.word() == wanted;
        if !found {
            self.at = before;
        }
        found
    }

    /// Passes what has to come next.
    pub fn expect(&mut self, wanted: &str) -> Result<(), Problem> {
        if self.take(wanted) { Ok(()) } else { Err(self.unexpected(&format!("'{wanted}'"))) }
    }

    /// An error that tells what comes next.
    pub fn unexpected(&mut self, wanted: &str) -> Problem {
        let at = self.skip_blanks();
        let found = match self.rest().chars().next() {
            None => "the text ends".to_owned(),
            Some(_) => {
                let found = self.clone().word();
                let first = |c: char| format!("'{}'", c.escape_default());
                if found.is_empty() {
                    format!("{} stands there", self.rest().chars().next().map(first).unwrap_or_default())
                } else {
                    format!("'{found}' stands there")
                }
            }
        };
        Problem::syntax(at, format!("{wanted} is wanted, but {found}"))
    }

    /// Passes letters, digits and what else names are made of, behind blanks; perhaps none.
    pub fn word(&mut self) -> &'a str {
        self.skip_blanks();
        let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%');
        let rest = self.rest();
        let end = rest.find(|c| !part(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    /// Passes a name.
    pub fn name(&mut self) -> Result<&'a str, Problem> {
        match self.word() {
            "" => Err(self.unexpected("a name")),
            word => Ok(word),
        }
    }

    /// Passes a number: decimal or 0x…, perhaps negative; as two's complement.
    pub fn number(&mut self) -> Result<u64, Problem> {
        let at = self.skip_blanks();
        let negative = self.take("-");
        let word = self.word();
        let value = match word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")) {
            Some(digits) => u64::from_str_radix(digits, 16).ok(),
            None => word.parse::<u64>().ok(),
        };
        match value.filter(|_| !word.is_empty()) {
            Some(value) => Ok(if negative { value.wrapping_neg() } else { value }),
            None if word.is_empty() => Err(self.unexpected("a number")),
            None => Err(Problem::syntax(at, format!("'{word}' is no number of at most 64 bits"))),
        }
    }
}
