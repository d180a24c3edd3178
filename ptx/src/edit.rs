//! Changes to a module's text: collected in any order against the offsets of the original, applied in
//! one pass, and a map from the lines of the result back to the lines of the original.

use thiserror::Error;

use crate::ast::Span;

/// A set of changes that cannot be applied.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EditError {
    /// An offset past the end of the text or inside of a character, or a span that ends before it starts.
    #[error("no place in the text: bytes {start}..{end}")]
    NoSuchPlace {
        /// First byte.
        start: usize,
        /// One past the last byte.
        end: usize,
    },
    /// A change that lies inside of a replaced span.
    #[error(
        "bytes {start}..{end} are changed inside of bytes {outer_start}..{outer_end}, which are replaced"
    )]
    Overlap {
        /// First byte of the change.
        start: usize,
        /// One past its last byte.
        end: usize,
        /// First byte of the replaced span.
        outer_start: usize,
        /// One past its last byte.
        outer_end: usize,
    },
}

/// At one place, what was put after the text before it comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Side {
    After,
    Before,
    Replace,
}

#[derive(Clone, Debug)]
struct Edit {
    span: Span,
    side: Side,
    text: String,
}

/// Changes to one text. Offsets are bytes of the original, whatever else is changed.
#[derive(Clone, Debug, Default)]
pub struct Edits {
    edits: Vec<Edit>,
}

/// A changed text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edited {
    /// The text.
    pub text: String,
    /// Where its lines come from.
    pub lines: LineMap,
}

impl Edits {
    /// No changes.
    pub fn new() -> Edits {
        Edits::default()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }

    /// Puts `text` before the byte at `offset`, say before a statement's `span.start`. Several at one
    /// place stand in the order of the calls, and after all that [`Edits::insert_after`] puts there.
    pub fn insert_before(&mut self, offset: usize, text: impl Into<String>) {
        self.push(Span { start: offset, end: offset }, Side::Before, text.into());
    }

    /// Puts `text` after the byte before `offset`, say after a statement's `span.end`. Several at one
    /// place stand in the order of the calls.
    pub fn insert_after(&mut self, offset: usize, text: impl Into<String>) {
        self.push(Span { start: offset, end: offset }, Side::After, text.into());
    }

    /// Puts `text` in place of the bytes of `span`. Insertions at its two ends stay possible.
    pub fn replace(&mut self, span: Span, text: impl Into<String>) {
        self.push(span, Side::Replace, text.into());
    }

    fn push(&mut self, span: Span, side: Side, text: String) {
        self.edits.push(Edit { span, side, text });
    }

    /// The text with all changes made.
    ///
    /// Errors: a place that `source` does not have; a change inside of a replaced span.
    pub fn apply(&self, source: &str) -> Result<Edited, EditError> {
        let mut ordered: Vec<&Edit> = self.edits.iter().collect();
        ordered.sort_by_key(|edit| (edit.span.start, edit.side));
        let inserted: usize = ordered.iter().map(|edit| edit.text.len()).sum();
        let mut writer = Writer::new(source, inserted);
        let mut replaced = Span::default();
        for edit in ordered {
            let Span { start, end } = edit.span;
            if start > end || !source.is_char_boundary(start) || !source.is_char_boundary(end) {
                return Err(EditError::NoSuchPlace { start, end });
            }
            if start < replaced.end {
                let (outer_start, outer_end) = (replaced.start, replaced.end);
                return Err(EditError::Overlap { start, end, outer_start, outer_end });
            }
            writer.copy_to(start);
            writer.insert(&edit.text);
            if edit.side == Side::Replace {
                writer.drop_to(end);
                replaced = edit.span;
            }
        }
        writer.copy_to(source.len());
        Ok(writer.finish())
    }
}

/// The text that comes out, and which line of the original each line of it stems from.
struct Writer<'s> {
    source: &'s str,
    /// How much of the source has been used.
    at: usize,
    /// The line of `at`, from 1.
    line: u32,
    text: String,
    lines: Vec<u32>,
    /// The original line of the first original byte on the line that is being written.
    stems_from: Option<u32>,
}

impl<'s> Writer<'s> {
    fn new(source: &'s str, inserted: usize) -> Self {
        let text = String::with_capacity(source.len() + inserted);
        Writer { source, at: 0, line: 1, text, lines: Vec::new(), stems_from: None }
    }

    fn copy_to(&mut self, end: usize) {
        for part in self.source[self.at..end].split_inclusive('\n') {
            self.stems_from.get_or_insert(self.line);
            self.text.push_str(part);
            if part.ends_with('\n') {
                self.end_line();
                self.line += 1;
            }
        }
        self.at = end;
    }

    fn insert(&mut self, text: &str) {
        for part in text.split_inclusive('\n') {
            self.text.push_str(part);
            if part.ends_with('\n') {
                self.end_line();
            }
        }
    }

    fn drop_to(&mut self, end: usize) {
        let newlines = self.source[self.at..end].bytes().filter(|byte| *byte == b'\n').count();
        self.line += newlines as u32;
        self.at = end;
    }

    fn end_line(&mut self) {
        self.lines.push(self.stems_from.take().unwrap_or(self.line));
    }

    fn finish(mut self) -> Edited {
        // What follows the last newline, empty or not, is a line to those who count.
        self.end_line();
        Edited { text: self.text, lines: LineMap { lines: self.lines } }
    }
}

/// For each line of a changed text, the line of the original that it stems from. A line that was
/// inserted whole stems from the line that it was inserted at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineMap {
    lines: Vec<u32>,
}

impl LineMap {
    /// From a plain list, as [`LineMap::lines`] gives it: entry `i` is the original line of line `i + 1`.
    pub fn from_lines(lines: Vec<u32>) -> LineMap {
        LineMap { lines }
    }

    /// The plain list.
    pub fn lines(&self) -> &[u32] {
        &self.lines
    }

    /// The original line (from 1) of a line (from 1) of the changed text; None past its end.
    pub fn original(&self, line: u32) -> Option<u32> {
        let index = usize::try_from(line).ok()?.checked_sub(1)?;
        self.lines.get(index).copied()
    }
}

#[cfg(test)]
mod tests;
