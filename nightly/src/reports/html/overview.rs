//! The top of the page: the verdict, what it does not say, what has changed, and the programs in a table.

use maud::{Markup, html};

use crate::night::{Change, Night, NightVerdict};
use crate::reports::limits::{self, Level, Limit};
use crate::reports::text::{self, count, duration, number};
use crate::reports::totals::{Totals, standing};

/// Lines of a list on top that stand open; the others fold.
const MOST_OPEN: usize = 12;

pub fn header(night: &Night) -> Markup {
    let ended = night.ended.as_deref().map_or("not".into(), text::moment);
    let took = (night.began.parse::<jiff::Timestamp>().ok())
        .zip(night.ended.as_ref().and_then(|ended| ended.parse::<jiff::Timestamp>().ok()))
        .and_then(|(began, ended)| u64::try_from(ended.duration_since(began).as_millis()).ok());
    html! {
        header {
            div.title {
                @match night.verdict {
                    NightVerdict::Green => span.badge.verdict.green { "GREEN" },
                    NightVerdict::Red => span.badge.verdict.red { "RED" },
                }
                h1 { (text::short(&night.plan, 120)) " " span.soft { (text::short(&night.label, 120)) } }
            }
            dl.facts {
                div { dt { "began " } dd { (text::moment(&night.began)) } }
                div { dt { "ended " } dd { (ended) } }
                @if let Some(took) = took { div { dt { "took " } dd { (duration(took)) } } }
                div {
                    dt { "compared with " }
                    dd { (night.compared_with.as_deref().map_or("nothing: the first night".into(), text::line)) }
                }
            }
            (alert(night))
        }
    }
}

/// How much there is that the verdict does not cover, where everyone sees it.
fn alert(night: &Night) -> Markup {
    let all = limits::all(night);
    let of = |level: Level| all.iter().filter(|limit| limit.level == level).count() as u64;
    let (errors, warnings) = (of(Level::Error), of(Level::Warning));
    html! {
        @if errors + warnings > 0 {
            p.alert {
                @if errors > 0 { span.badge.error { (number(errors)) " not tested" } " " }
                @if warnings > 0 { span.badge.warning { (number(warnings)) " tested less than it seems" } " " }
                a href="#limits" { "What this night does not say" }
            }
        }
    }
}

pub fn summary(night: &Night) -> Markup {
    let totals = Totals::of_night(night);
    html! {
        (figures(night, &totals))
        div.pair { (changes(night)) (limits_of(night)) }
        (table(night))
    }
}

fn figures(night: &Night, totals: &Totals) -> Markup {
    let figure = |name: &str, value: String, alarm: bool| {
        html! { div.alarm[alarm] { dt { (name) } dd { (value) } } }
    };
    html! {
        dl.figures {
            (figure("programs", number(night.programs.len() as u64), false))
            (figure("trials", number(totals.trials), totals.trials == 0))
            (figure("failing trials", number(totals.failures), totals.failures > 0))
            (figure("failing cells and kernels", number(totals.failing), totals.failing > 0))
            (figure("passing cells and kernels", number(totals.passing), false))
            (figure("new findings", number(totals.new), totals.new > 0))
            (figure("known findings", number(totals.known), totals.known > 0))
            (figure("expected findings", number(totals.accepted), false))
            (figure("time of trials", duration(totals.spent_ms), false))
        }
    }
}

fn limits_of(night: &Night) -> Markup {
    let all = limits::all(night);
    let one = |limit: &Limit| {
        html! {
            li {
                span class={ "badge " (limit.level.name()) } { (limit.level.name()) }
                span {
                    @if let Some((at, program)) = limit.program.and_then(|at| Some((at, night.programs.get(at)?))) {
                        a href={ "#p" (at) } { (text::short(&program.name, 60)) } ": "
                    }
                    (limit.text)
                }
            }
        }
    };
    let (open, folded) = all.split_at(all.len().min(MOST_OPEN));
    html! {
        section.card aria-labelledby="limits" {
            h2 #limits { "What this night does not say" }
            @if all.is_empty() { p.soft { "Nothing to tell: all of the plan was tested." } }
            @else { ul.limits { @for limit in open { (one(limit)) } } }
            @if !folded.is_empty() {
                details {
                    summary { (number(folded.len() as u64)) " more" }
                    ul.limits { @for limit in folded { (one(limit)) } }
                }
            }
        }
    }
}

/// What is new since the night before.
fn changes(night: &Night) -> Markup {
    let mut lines: Vec<Markup> = Vec::new();
    for (at, program) in night.programs.iter().enumerate() {
        let name = html! { a href={ "#p" (at) } { (text::short(&program.name, 60)) } };
        for cell in &program.cells {
            let how = match cell.change {
                Change::First | Change::None => continue,
                Change::New { .. } => "fail",
                Change::Changed { .. } => "nothing",
                Change::Cured { .. } => "pass",
            };
            let change = text::change(&cell.change).unwrap_or_default();
            let now = cell.rate.map_or("no rate".into(), text::percent);
            lines.push(html! {
                li {
                    span class={ "badge " (how) } { (now) }
                    span { (name) ": " code { (text::short(&cell.key, 120)) } " – " (change) }
                }
            });
        }
        for (number, finding) in program.findings.iter().enumerate() {
            if finding.new && finding.expected.is_none() {
                lines.push(html! {
                    li {
                        span.badge.fail { "new" }
                        span { (name) ": " a href={ "#p" (at) "-" (number) } { (text::short(&finding.title, 160)) } }
                    }
                });
            }
        }
    }
    let (open, folded) = lines.split_at(lines.len().min(MOST_OPEN));
    html! {
        section.card aria-labelledby="changes" {
            h2 #changes {
                @match &night.compared_with {
                    Some(before) => { "Changed since " (text::short(before, 80)) },
                    None => { "New: there is no night before" },
                }
            }
            @if lines.is_empty() { p.soft { "Nothing that chance does not explain." } }
            @else { ul.limits { @for line in open { (line) } } }
            @if !folded.is_empty() {
                details { summary { (number(folded.len() as u64)) " more" } ul.limits { @for line in folded { (line) } } }
            }
        }
    }
}

fn table(night: &Night) -> Markup {
    html! {
        section.card #programs aria-labelledby="table" {
            h2 #table { "Programs" }
            @if night.programs.is_empty() { p.soft { "There is none." } }
            @else {
                div.box tabindex="0" role="region" aria-labelledby="table" {
                    table {
                        thead {
                            tr {
                                th scope="col" { "Status" } th scope="col" { "Program" }
                                th.n scope="col" { "Cells" } th.n scope="col" { "Kernels" } th.n scope="col" { "Trials" }
                                th.n scope="col" { "Failing" } th.n scope="col" { "New" } th.n scope="col" { "Known" }
                                th.n scope="col" { "Expected" } th.n scope="col" { "Time" }
                            }
                        }
                        tbody {
                            @for (at, program) in night.programs.iter().enumerate() {
                                @let totals = Totals::of(program);
                                tr {
                                    td { (super::parts::badge(standing(program))) }
                                    th scope="row" {
                                        a href={ "#p" (at) } { (text::short(&program.name, 48)) }
                                        @if let Some(error) = &program.error {
                                            div.why.long { (text::stage(error.stage)) ": " (text::short(&error.message, 90)) }
                                        }
                                    }
                                    td.n { (number(program.cells.len() as u64)) }
                                    td.n { (number(program.kernels.len() as u64)) }
                                    td.n { (number(totals.trials)) }
                                    td.n { (number(totals.failures)) }
                                    td.n { (number(totals.new)) }
                                    td.n { (number(totals.known)) }
                                    td.n { (number(totals.accepted)) }
                                    td.n { (duration(totals.spent_ms)) }
                                }
                            }
                        }
                    }
                }
                p.note.small { (count(night.programs.len() as u64, "program", "programs")) ", in the order of the plan" }
            }
        }
    }
}
