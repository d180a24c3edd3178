//! Lines of source with the place's line marked, and patches by their colours.

use maud::{Markup, html};

use crate::night::{Excerpt, NightPlace};
use crate::reports::text;

/// Most characters of a line.
const MOST: usize = 300;
/// Most lines of a patch.
const MOST_LINES: usize = 400;

pub fn place(place: &NightPlace) -> Markup {
    html! {
        p.small {
            @if !place.role.is_empty() { strong { (text::short(&place.role, 100)) } " at " }
            code { (text::short(&text::place(place), 300)) }
            @if place.file.is_some() && !place.kernel.is_empty() { " in " code { (text::short(&place.kernel, 300)) } }
            @if let (Some(_), Some(line)) = (&place.file, place.ptx_line) { span.soft { " (PTX line " (line) ")" } }
        }
        @if let Some(excerpt) = &place.excerpt { (lines(excerpt, place.line)) }
    }
}

fn lines(excerpt: &Excerpt, marked: Option<u32>) -> Markup {
    // Wider than a line number, so that nothing that a report says makes it run over.
    let first = u64::from(excerpt.first);
    let last = first + excerpt.lines.len() as u64;
    let width = last.to_string().len();
    html! {
        pre tabindex="0" {
            @for (number, line) in (first..).zip(&excerpt.lines) {
                @let here = marked.map(u64::from) == Some(number);
                span.l.here[here] {
                    span.g { @if here { "▶ " } @else { "  " } (format!("{number:width$}  ")) }
                    (cut(line)) "\n"
                }
            }
        }
    }
}

pub fn patch(patch: &str) -> Markup {
    let more = patch.lines().count().saturating_sub(MOST_LINES);
    html! {
        pre tabindex="0" {
            @for line in patch.lines().take(MOST_LINES) {
                @let class = match line.as_bytes().first() {
                    _ if line.starts_with("--- ") || line.starts_with("+++ ") => "l at",
                    Some(b'+') => "l add",
                    Some(b'-') => "l del",
                    Some(b' ') | None => "l",
                    Some(_) => "l at",
                };
                span class=(class) { (cut(line)) "\n" }
            }
            @if more > 0 { span.l.at { "(" (more) " lines more in " (crate::reports::files::JSON) ")" } }
        }
    }
}

/// A line with its blanks, no longer than can be read.
fn cut(line: &str) -> String {
    text::bounded(line, MOST).replace('\n', " ")
}
