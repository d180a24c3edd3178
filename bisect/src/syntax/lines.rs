//! Lines of a text: where they begin, how they are indented, what stands on them.

use bugaroo_protocol::Position;

/// Where the lines of a text begin.
#[derive(Clone, Debug)]
pub(super) struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    /// Of a text.
    pub fn new(text: &str) -> Self {
        Self { starts: std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect() }
    }

    /// The line that a byte stands on, from 0.
    pub fn line(&self, at: usize) -> usize {
        self.starts.partition_point(|&start| start <= at).saturating_sub(1)
    }

    /// Where the line of a byte begins.
    pub fn start(&self, at: usize) -> usize {
        self.starts[self.line(at)]
    }

    /// The bytes of a line (from 1) with its end.
    pub fn range(&self, line: u32, text: &str) -> Option<std::ops::Range<usize>> {
        let index = usize::try_from(line).ok()?.checked_sub(1)?;
        let start = *self.starts.get(index)?;
        Some(start..self.starts.get(index + 1).copied().unwrap_or(text.len()))
    }

    /// A byte as `.loc` counts it.
    pub fn position(&self, at: usize) -> Position {
        let line = self.line(at);
        let number = |n: usize| u32::try_from(n + 1).unwrap_or(u32::MAX);
        Position { line: number(line), column: number(at - self.starts[line]) }
    }
}

/// Spaces and tabs that the line of a byte begins with.
pub(super) fn indentation<'t>(text: &'t str, lines: &Lines, at: usize) -> &'t str {
    let start = lines.start(at);
    let line = &text[start..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// What a block is indented by in this text, against what it stands in: that of the first line that is indented,
/// within reason.
pub(super) fn unit(text: &str) -> &str {
    let mut before = 0;
    for line in text.lines() {
        let body = line.trim_start_matches([' ', '\t']);
        let indentation = &line[..line.len() - body.len()];
        if body.is_empty() || body.starts_with(['*', '#', '/', ':']) {
            continue;
        }
        if indentation.starts_with('\t') {
            return "\t";
        }
        if before == 0 && (2..=8).contains(&indentation.len()) && indentation.len() != 3 {
            return indentation;
        }
        before = indentation.len();
    }
    "    "
}

/// Where the code before a byte ends, white space and comments left out; what stands there is its last byte.
pub(super) fn code_before(text: &str, at: usize) -> Option<u8> {
    let mut rest = text[..at].trim_end();
    loop {
        if let Some(inside) = rest.strip_suffix("*/") {
            rest = inside.rfind("/*").map_or("", |start| &inside[..start]).trim_end();
            continue;
        }
        let line = rest.rfind('\n').map_or(0, |end| end + 1);
        match rest[line..].find("//") {
            Some(start) => rest = rest[..line + start].trim_end(),
            None => return rest.bytes().last(),
        }
    }
}

/// How far white space without a line's end reaches from a byte on.
pub(super) fn blank_end(text: &str, at: usize) -> usize {
    let rest = &text[at..];
    at + rest.len() - rest.trim_start_matches([' ', '\t']).len()
}

/// True if nothing but white space stands between a byte and the end of its line.
pub(super) fn line_ends(text: &str, at: usize) -> bool {
    matches!(text.as_bytes().get(blank_end(text, at)), None | Some(b'\n' | b'\r'))
}

/// Where a statement that ends at `at` ends with the comment that follows it on its line, if nothing follows that.
pub(super) fn with_comment(text: &str, at: usize) -> usize {
    let mut end = at;
    loop {
        let next = blank_end(text, end);
        let rest = &text[next..];
        if rest.starts_with("//") {
            let line = rest.find('\n').unwrap_or(rest.len());
            return next + rest[..line].trim_end().len();
        }
        match rest.strip_prefix("/*").and_then(|inside| inside.find("*/")) {
            Some(length) if !rest[..length].contains('\n') => end = next + length + 4,
            _ => break,
        }
    }
    if line_ends(text, end) { end } else { at }
}
