//! Where a line is written before or behind a statement, and what else that takes: braces around the body of an
//! `if`, the end of a line between two statements.

use std::ops::Range;

use tree_sitter::Node;

use super::lines::{blank_end, code_before, indentation, line_ends, unit, with_comment};
use super::tree::{Parsed, children, depth, is_loop};
use crate::patch::{Edit, Rank};

/// How a line is written at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Writing {
    /// Where.
    pub at: usize,
    /// What comes before it.
    pub lead: String,
    /// What comes after it.
    pub trail: String,
    /// Among what is written at the same place.
    pub rank: Rank,
    /// What else is changed, once for all that is written there.
    pub around: Vec<Edit>,
}

impl Writing {
    /// The edits that write `text`.
    pub fn edits(&self, text: &str) -> Vec<Edit> {
        let line = format!("{}{text}{}", self.lead, self.trail);
        let mut edits = self.around.clone();
        edits.push(Edit::insert(self.at, line, self.rank));
        edits
    }
}

/// What a statement stands in.
#[derive(Clone, Debug)]
pub(super) enum Slot<'t> {
    /// Beside others.
    Row,
    /// Alone: the body of `header`, whose last word before it ends at `after`.
    Body { header: Node<'t>, after: usize },
}

/// How the lines around a statement are laid out.
#[derive(Clone, Debug)]
struct Layout {
    /// What is written beside it goes on its line.
    inline: bool,
    /// Line's end and indentation of the statement.
    line: String,
}

/// The statement whose place in its block is this one's: what has labels or attributes is a statement with them.
pub(super) fn with_labels(node: Node<'_>) -> Node<'_> {
    let mut whole = node;
    while let Some(parent) = whole.parent() {
        if !matches!(parent.kind(), "labeled_statement" | "attributed_statement") {
            break;
        }
        whole = parent;
    }
    whole
}

/// What a statement stands in; None where that is not understood.
pub(super) fn slot<'t>(parsed: &Parsed, node: Node<'t>) -> Option<Slot<'t>> {
    let whole = with_labels(node);
    let parent = whole.parent()?;
    match parent.kind() {
        "compound_statement" | "case_statement" => Some(Slot::Row),
        "preproc_if" | "preproc_ifdef" | "preproc_else" | "preproc_elif" | "preproc_elifdef" | "ERROR"
        | "translation_unit" => {
            // Between whole statements, whatever is wrong around them.
            matches!(code_before_directives(parsed, whole.start_byte()), Some(b';' | b'{' | b'}' | b':'))
                .then_some(Slot::Row)
        }
        kind if is_loop(kind) || matches!(kind, "if_statement" | "else_clause") => {
            let before =
                children(parent).into_iter().rfind(|child| child.end_byte() <= whole.start_byte())?;
            Some(Slot::Body { header: parent, after: before.end_byte() })
        }
        _ => None,
    }
}

/// The byte that the code before a place ends with, lines of the preprocessor left out.
fn code_before_directives(parsed: &Parsed, at: usize) -> Option<u8> {
    let mut end = at;
    loop {
        let last = parsed.text[..end].trim_end();
        let line = last.rfind('\n').map_or(0, |end| end + 1);
        if !last[line..].trim_start().starts_with('#') {
            return code_before(&parsed.text, end);
        }
        end = line;
    }
}

/// Where the block begins that a statement stands in, or that its outermost statement without braces stands in.
fn opener(parsed: &Parsed, node: Node<'_>) -> usize {
    let mut top = with_labels(node);
    while let Some(Slot::Body { header, .. }) = slot(parsed, top) {
        let statement =
            if header.kind() == "else_clause" { header.parent().unwrap_or(header) } else { header };
        top = with_labels(statement);
    }
    match top.parent() {
        Some(parent) if parent.kind() == "compound_statement" => parent.start_byte(),
        Some(parent) if parent.kind() == "case_statement" => {
            let colon = children(parent).into_iter().find(|child| child.kind() == ":");
            colon.map_or(parent.start_byte(), |colon| colon.start_byte())
        }
        _ => 0,
    }
}

/// The first code on the line of a byte.
fn line_lead(parsed: &Parsed, at: usize) -> usize {
    let mut lead = blank_end(&parsed.text, parsed.lines.start(at));
    while parsed.text[lead..at].starts_with("/*") {
        match parsed.text[lead..at].find("*/") {
            Some(length) => lead = blank_end(&parsed.text, lead + length + 2),
            None => break,
        }
    }
    lead
}

/// How the lines around a statement that stands beside others are laid out.
fn layout(parsed: &Parsed, node: Node<'_>) -> Layout {
    let whole = with_labels(node);
    let lead = line_lead(parsed, whole.start_byte());
    let block = opener(parsed, node);
    let own = || indentation(&parsed.text, &parsed.lines, whole.start_byte()).to_owned();
    let inline = block > 0 && lead <= block;
    let labelled = whole.kind() == "labeled_statement";
    let indent = if !inline && !labelled {
        own()
    } else {
        // The line begins with what the block belongs to, or with a label; so the others say how it is indented.
        let parent = whole.parent();
        let others = parent.map(children).unwrap_or_default();
        let first = others
            .iter()
            .filter(|child| child.is_named() && !child.kind().starts_with("preproc"))
            .filter(|child| child.kind() != "labeled_statement")
            .find(|child| {
                child.start_byte() > block && line_lead(parsed, child.start_byte()) == child.start_byte()
            });
        match first {
            Some(other) => indentation(&parsed.text, &parsed.lines, other.start_byte()).to_owned(),
            None if inline => own() + unit(&parsed.text),
            None => own(),
        }
    };
    Layout { inline, line: format!("{}{indent}", parsed.newline) }
}

/// How a line is written behind a statement; `depth` where another's insertions at the same place are asked for.
pub(super) fn behind(parsed: &Parsed, node: Node<'_>) -> Option<Writing> {
    let whole = with_labels(node);
    let rank = Rank::behind(depth(whole));
    let end = parsed.end_of(node);
    match slot(parsed, node)? {
        Slot::Row => {
            let layout = layout(parsed, node);
            let at = with_comment(&parsed.text, end);
            let last = line_ends(&parsed.text, at);
            if layout.inline && !last {
                return Some(Writing { at, lead: " ".into(), trail: String::new(), rank, around: vec![] });
            }
            let around = if last { vec![] } else { split(parsed, at, &layout.line).into_iter().collect() };
            Some(Writing { at, lead: layout.line, trail: String::new(), rank, around })
        }
        Slot::Body { header, after } => {
            let braces = Braces::new(parsed, whole, header, after);
            Some(Writing {
                at: braces.end,
                lead: braces.inner.clone(),
                trail: String::new(),
                rank,
                around: braces.around,
            })
        }
    }
}

/// How a line is written before a statement.
pub(super) fn before(parsed: &Parsed, node: Node<'_>) -> Option<Writing> {
    let whole = with_labels(node);
    let rank = Rank::before(depth(whole));
    // A label's jumps pass it; an attribute stays with its statement.
    let labelled = node.parent().is_some_and(|parent| parent.kind() == "labeled_statement");
    let start = if labelled { node.start_byte() } else { pragma_start(parsed, whole) };
    match slot(parsed, node)? {
        Slot::Row => {
            let layout = layout(parsed, node);
            let lead = line_lead(parsed, start);
            if start != whole.start_byte() && start != node.start_byte() {
                // A line of the preprocessor has an indentation of its own.
                let indent = layout.line[parsed.newline.len()..].to_owned();
                let at = parsed.lines.start(start);
                return Some(Writing {
                    at,
                    lead: indent,
                    trail: parsed.newline.clone(),
                    rank,
                    around: vec![],
                });
            }
            if lead == start {
                let at = blank_end(&parsed.text, parsed.lines.start(start));
                return Some(Writing { at, lead: String::new(), trail: layout.line, rank, around: vec![] });
            }
            if layout.inline || labelled {
                return Some(Writing {
                    at: start,
                    lead: String::new(),
                    trail: " ".into(),
                    rank,
                    around: vec![],
                });
            }
            let space = parsed.text[..start].trim_end_matches([' ', '\t']).len();
            let around = vec![Edit::replace(space..start, layout.line.clone())];
            Some(Writing { at: start, lead: String::new(), trail: layout.line, rank, around })
        }
        Slot::Body { header, after } => {
            let braces = Braces::new(parsed, whole, header, after);
            Some(Writing { at: start, lead: String::new(), trail: braces.inner, rank, around: braces.around })
        }
    }
}

/// Where a statement begins with the pragmas before it.
fn pragma_start(parsed: &Parsed, whole: Node<'_>) -> usize {
    let mut start = whole.start_byte();
    let mut here = whole.prev_sibling();
    while let Some(other) = here {
        if other.kind() != "preproc_call" || !parsed.text_of(other).trim_start().starts_with("#pragma") {
            break;
        }
        start = other.start_byte();
        here = other.prev_sibling();
    }
    start
}

/// Ends the line between what ends at `at` and what follows.
fn split(parsed: &Parsed, at: usize, line: &str) -> Option<Edit> {
    let next = blank_end(&parsed.text, at);
    // A brace that closes may stay on the line of what is written.
    (parsed.text.as_bytes().get(next) != Some(&b'}')).then(|| Edit::replace(at..next, line))
}

/// Braces around a statement that is all the body there is.
struct Braces {
    /// Where the statement ends, with its comment.
    end: usize,
    /// What separates two statements within the braces.
    inner: String,
    /// What makes the braces.
    around: Vec<Edit>,
}

impl Braces {
    fn new(parsed: &Parsed, body: Node<'_>, header: Node<'_>, after: usize) -> Self {
        let text = &parsed.text;
        let start = body.start_byte();
        let end = with_comment(text, parsed.end_of(body));
        let lead = line_lead(parsed, header.start_byte());
        let inline = lead <= opener(parsed, body) && opener(parsed, body) > 0;
        let outer = indentation(text, &parsed.lines, header.start_byte());
        let same_line = parsed.lines.line(after) == parsed.lines.line(start);
        let (inner, closing) = if inline && same_line {
            (" ".to_owned(), " }".to_owned())
        } else {
            let indent = if same_line {
                format!("{outer}{}", unit(text))
            } else {
                indentation(text, &parsed.lines, start).to_owned()
            };
            (format!("{}{indent}", parsed.newline), format!("{}{outer}}}", parsed.newline))
        };
        let mut around = Vec::new();
        let deep = depth(body);
        if same_line && text[after..start].trim().is_empty() {
            let space = after..start;
            around.push(if space.is_empty() {
                Edit::insert(after, format!(" {{{inner}"), Rank::opening(deep)).once()
            } else {
                Edit::replace(space, format!(" {{{inner}"))
            });
            around.extend(indent_more(parsed, start..end, outer));
        } else {
            around.push(Edit::insert(after, " {", Rank::opening(deep)).once());
        }
        around.push(Edit::insert(end, closing, Rank::closing(deep)).once());
        around.extend(rest(parsed, header, end, outer, inline && same_line));
        Self { end, inner, around }
    }
}

/// What follows a body that gets a closing brace: `else` and `while` go on its line, another statement below it.
fn rest(parsed: &Parsed, header: Node<'_>, end: usize, outer: &str, inline: bool) -> Option<Edit> {
    let next = end + parsed.text[end..].len() - parsed.text[end..].trim_start().len();
    let gap: Range<usize> = end..next;
    let word = &parsed.text[next..];
    let goes_on = header.end_byte() > next && word.starts_with("while")
        || word.starts_with("else") && !word[4..].starts_with(|c: char| c.is_alphanumeric() || c == '_');
    if goes_on {
        return Some(if gap.is_empty() {
            Edit::insert(end, " ", Rank::closing(0)).once()
        } else {
            Edit::replace(gap, " ")
        });
    }
    if inline || line_ends(&parsed.text, end) || word.starts_with('}') {
        return None;
    }
    Some(Edit::replace(end..blank_end(&parsed.text, end), format!("{}{outer}", parsed.newline)))
}

/// Indents the further lines of a body that moves to a line of its own, where they stood as far left as its header.
fn indent_more(parsed: &Parsed, body: Range<usize>, outer: &str) -> Vec<Edit> {
    let text = &parsed.text;
    text[body.clone()]
        .match_indices('\n')
        .map(|(at, _)| body.start + at + 1)
        .filter(|&start| text[start..].starts_with(outer))
        .filter(|&start| !line_ends(text, start) && !text[start..].trim_start().starts_with('#'))
        .map(|start| Edit::insert(start, unit(text), Rank::opening(0)).once())
        .collect()
}
