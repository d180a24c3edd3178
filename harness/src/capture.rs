//! What is kept of a program's output: never more than stated bounds, however much it prints.

use crate::digest::Digest;

/// Bytes kept of the end of an output, for diagnosis.
pub const TAIL_BYTES: usize = 64 << 10;

/// Bytes kept of the beginning of an output, for oracles that read it.
pub const HEAD_BYTES: usize = 16 << 20;

/// What Bugaroo's own lines begin with.
const NOTICE: &str = "bugaroo: ";

/// What to keep of an output besides its tail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keep {
    /// Its first [`HEAD_BYTES`].
    pub head: bool,
    /// Its digest.
    pub digest: bool,
}

/// One output of a program, as it comes in.
#[derive(Debug)]
pub struct Capture {
    head: Option<Vec<u8>>,
    digest: Option<Digest>,
    /// Holds the tail at its end; cut back whenever it has grown to twice the bound.
    tail: Vec<u8>,
    bytes: u64,
}

impl Capture {
    /// An output of which nothing has come yet.
    pub fn new(keep: Keep) -> Self {
        Self {
            head: keep.head.then(Vec::new),
            digest: keep.digest.then(Digest::default),
            tail: Vec::new(),
            bytes: 0,
        }
    }

    /// Takes what came next.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        if let Some(digest) = &mut self.digest {
            digest.update(bytes);
        }
        if let Some(head) = &mut self.head {
            let room = HEAD_BYTES - head.len();
            head.extend_from_slice(&bytes[..bytes.len().min(room)]);
        }
        self.tail.extend_from_slice(&bytes[bytes.len().saturating_sub(TAIL_BYTES)..]);
        if self.tail.len() > 2 * TAIL_BYTES {
            self.tail.drain(..self.tail.len() - TAIL_BYTES);
        }
    }

    /// No more will come.
    pub fn finish(mut self) -> Output {
        self.tail.drain(..self.tail.len().saturating_sub(TAIL_BYTES));
        Output {
            head: self.head.unwrap_or_default(),
            digest: self.digest.map(Digest::finish),
            tail: self.tail,
            bytes: self.bytes,
        }
    }
}

/// One output of a program that has ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// Its beginning, at most [`HEAD_BYTES`]; empty unless it was to be kept.
    pub head: Vec<u8>,
    /// SHA-256 of all of it, hexadecimal, if it was asked for.
    pub digest: Option<String>,
    /// Its end, at most [`TAIL_BYTES`].
    pub tail: Vec<u8>,
    /// Its length in bytes.
    pub bytes: u64,
}

impl Output {
    /// Whether the head is not all of it.
    pub fn head_is_cut(&self) -> bool {
        self.bytes > self.head.len() as u64
    }

    /// What [`Self::last_lines`] gives, and before it the last three lines, if they came earlier, in which Bugaroo's libraries say
    /// what they cannot do: what the program made of that may be long.
    pub fn last_lines_and_notices(&self, lines: usize, bytes: usize) -> String {
        let last = self.last_lines(lines, bytes);
        let all = self.last_lines(usize::MAX, usize::MAX);
        let mut notices = Vec::new();
        for line in all.lines().filter(|line| line.starts_with(NOTICE)) {
            if !last.contains(line) && !notices.contains(&line) {
                notices.push(line);
            }
        }
        notices.drain(..notices.len().saturating_sub(3));
        notices.push(&last);
        notices.join("\n")
    }

    /// At most so many of its last lines, cut to at most so many bytes from their end; what is no UTF-8
    /// and what would move a terminal's cursor is replaced.
    pub fn last_lines(&self, lines: usize, bytes: usize) -> String {
        let text = String::from_utf8_lossy(&self.tail);
        let text = text.trim_end();
        let mut start = text.rmatch_indices('\n').nth(lines.saturating_sub(1)).map_or(0, |(at, _)| at + 1);
        start = start.max(text.len().saturating_sub(bytes));
        while !text.is_char_boundary(start) {
            start += 1;
        }
        let lines = text[start..].split('\n').map(|line| printable(&line.replace('\r', "")));
        lines.collect::<Vec<_>>().join("\n")
    }
}

/// A line of a program's output for a terminal: what would move the cursor is replaced.
pub fn printable(line: &str) -> String {
    line.chars().map(|c| if c.is_control() && c != '\t' { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// What a program has left that printed this.
#[cfg(test)]
pub(crate) fn printed(text: &str) -> Output {
    let mut capture = Capture::new(Keep { head: true, digest: false });
    capture.push(text.as_bytes());
    capture.finish()
}

#[cfg(test)]
mod tests;
