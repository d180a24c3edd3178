//! Findings: the first ones in full, folded, and the others in a line each; races again by their lines.

use std::collections::BTreeMap;

use maud::{Markup, html};

use crate::night::{NightFinding, NightProgram};
use crate::plan::expect::Expected;
use crate::reports::text::{self, count, number};

use super::code;
use super::parts::MOST_IN_FULL;

/// New findings that stand open.
const MOST_OPEN: usize = 3;
/// Most characters of a text of several lines.
const MOST: usize = 4000;
/// Places of a finding that are shown.
const MOST_PLACES: usize = 8;

/// All findings of a program, which take of the room.
pub fn all(at: usize, program: &NightProgram, room: &mut usize) -> Markup {
    if program.findings.is_empty() {
        return html! {};
    }
    let mut full: Vec<Markup> = Vec::new();
    let mut open = 0;
    for (number, finding) in program.findings.iter().enumerate().take(MOST_IN_FULL) {
        let opened = finding.new && finding.expected.is_none() && open < MOST_OPEN;
        let shown = in_full(&anchor(at, number), finding, opened);
        // One line costs little; this is about what is in full.
        let Some(left) = room.checked_sub(shown.0.len()) else { break };
        *room = left;
        open += usize::from(opened);
        full.push(shown);
    }
    let rest = &program.findings[full.len()..];
    let first = full.len();
    html! {
        h3 { "Findings" }
        @for finding in full { (finding) }
        @if !rest.is_empty() {
            p.soft { (count(rest.len() as u64, "finding", "findings")) " more in a line each; " (crate::reports::files::JSON) " has them in full." }
            ul.list { @for (number, finding) in (first..).zip(rest) { li id=(anchor(at, number)) { (headline(finding)) } } }
        }
    }
}

fn anchor(at: usize, number: usize) -> String {
    format!("p{at}-{number}")
}

fn headline(finding: &NightFinding) -> Markup {
    html! {
        @match &finding.expected {
            Some(_) => span.badge { "expected" },
            None if finding.new => span.badge.fail { "new" },
            None => span.badge.warning { "known" },
        }
        " " span.badge { (text::kind(finding.kind)) } " "
        h4 { (text::short(&finding.title, 200)) }
        " " span.soft.small {
            @if let Some(place) = finding.places.first() { (text::short(&text::place(place), 120)) " · " }
            @if !finding.cells.is_empty() {
                (number(finding.trials.seen)) " of " (count(finding.trials.of, "trial", "trials"))
            }
        }
    }
}

fn in_full(id: &str, finding: &NightFinding, open: bool) -> Markup {
    html! {
        details.finding id=(id) open[open] {
            summary { (headline(finding)) }
            div.body {
                @if let Some(reason) = &finding.expected { p { strong { "Expected: " } (text::short(reason, MOST)) } }
                @if !finding.message.is_empty() { pre.message tabindex="0" { (text::bounded(&finding.message, MOST)) } }
                div.places { @for place in finding.places.iter().take(MOST_PLACES) { div { (code::place(place)) } } }
                @if finding.places.len() > MOST_PLACES {
                    p.soft.small { (count((finding.places.len() - MOST_PLACES) as u64, "place", "places")) " more in " (crate::reports::files::JSON) }
                }
                @if !finding.patch.is_empty() {
                    p { strong { "Proposed cure" } @if !finding.patch_note.is_empty() { ": " (text::short(&finding.patch_note, MOST)) } }
                    (code::patch(&finding.patch))
                }
                @if !finding.replay.is_empty() {
                    p { strong { "See it again" } span.soft.small { " (one click marks it all)" } }
                    pre.once tabindex="0" { (text::bounded(&finding.replay, MOST)) }
                }
                p.soft.small {
                    @if !finding.cells.is_empty() { "Seen in " (text::short(&finding.cells.join(", "), 400)) " · " }
                    "fingerprint " code { (text::short(&finding.fingerprint, 80)) }
                }
            }
        }
    }
}

/// Races by the two lines that they are between.
pub fn races(at: usize, program: &NightProgram) -> Markup {
    let mut pairs: BTreeMap<[String; 2], Vec<(usize, &NightFinding)>> = BTreeMap::new();
    for (number, finding) in program.findings.iter().enumerate().filter(|(_, it)| it.kind == Expected::Race) {
        let place = |at: usize| finding.places.get(at).map_or("unknown".to_owned(), text::place);
        let mut pair = [place(0), place(usize::from(finding.places.len() > 1))];
        pair.sort();
        pairs.entry(pair).or_default().push((number, finding));
    }
    html! {
        @if !pairs.is_empty() {
            h3 { "Races by their lines" }
            div.box tabindex="0" role="region" aria-label="Races by their lines" {
                table {
                    thead {
                        tr {
                            th scope="col" { "One access" } th scope="col" { "The other" } th.n scope="col" { "Races" }
                            th.n scope="col" { "New" } th scope="col" { "Findings" }
                        }
                    }
                    tbody {
                        @for ([one, other], findings) in &pairs {
                            tr {
                                td { code { (text::short(one, 60)) } }
                                td { @if one == other { span.soft { "the same line" } } @else { code { (text::short(other, 60)) } } }
                                td.n { (number(findings.len() as u64)) }
                                td.n { (number(findings.iter().filter(|(_, it)| it.new).count() as u64)) }
                                td {
                                    @for (place, (number, _)) in findings.iter().take(8).enumerate() {
                                        @if place > 0 { ", " }
                                        a href={ "#" (anchor(at, *number)) } aria-label={ "finding " (number + 1) } { (number + 1) }
                                    }
                                    @if findings.len() > 8 { " and " (findings.len() - 8) " more" }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
