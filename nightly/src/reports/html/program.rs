//! The section of a program.

use maud::{Markup, html};

use crate::night::{NightKernel, NightProgram, Status};
use crate::reports::text::{self, count, number};
use crate::reports::totals::{Totals, standing};

use super::{cells, explored, finding, flush, plot};

/// Most characters of a text of several lines.
const MOST: usize = 4000;

/// The section, which takes of the room for findings in full.
pub fn section(at: usize, program: &NightProgram, room: &mut usize) -> Markup {
    let status = standing(program);
    let totals = Totals::of(program);
    html! {
        details.card.program id={ "p" (at) } open[status != Status::Pass] {
            summary {
                h2 { (text::short(&program.name, 100)) }
                (super::parts::badge(status))
                span.small {
                    (count(totals.trials, "trial", "trials")) ", " (number(totals.failures)) " failing, "
                    (count(totals.findings(), "finding", "findings"))
                }
            }
            p.small {
                code { (text::short(&program.run.join(" "), 400)) }
                @if let Some(ms) = program.baseline_ms {
                    span.soft { " · " (format!("{ms:.0}")) " ms without injection" }
                }
                @if let Some(sha256) = &program.sha256 {
                    span.soft { " · SHA-256 " code { (text::line(sha256).chars().take(12).collect::<String>()) } }
                }
            }
            (limits(program))
            (cells::table(program))
            @if let Some(plot) = plot::rates(program) { h3 { "Failure probability" } (plot) }
            (finding::all(at, program, room))
            (finding::races(at, program))
            (kernels(program))
            (flush::all(program))
            (explored::all(program))
            @if !program.expectations.is_empty() {
                h3 { "Expectations" }
                ul { @for text in &program.expectations { li { (text::short(text, MOST)) } } }
            }
            @if !program.notes.is_empty() {
                h3 { "Notes" }
                ul { @for text in &program.notes { li { (text::short(text, MOST)) } } }
            }
        }
    }
}

/// Why it was not run, in full; what there is besides stands at the top of the page.
fn limits(program: &NightProgram) -> Markup {
    html! {
        @if let Some(error) = &program.error {
            h3 { "Not run to the end: " (text::stage(error.stage)) }
            @if let Some(reason) = &error.expected { p { "Expected: " (text::short(reason, MOST)) } }
            pre.message tabindex="0" { (text::bounded(&error.message, MOST)) }
        }
        @if let Some(why) = &program.without_fork_server {
            p.soft { "Without the fork server: " (text::short(why, MOST)) }
        }
    }
}

fn kernels(program: &NightProgram) -> Markup {
    let one = |kernel: &NightKernel| {
        html! {
            tr {
                td { (super::parts::badge(kernel.status)) }
                th.wrap scope="row" { code { (text::short(&kernel.name, 200)) } }
                td { (text::short(&kernel.verdict, 60)) }
                td.n { (number(kernel.launches)) }
                td.wrap {
                    @if !kernel.text.is_empty() {
                        details { summary { "in full" } pre.message tabindex="0" { (text::bounded(&kernel.text, MOST)) } }
                    }
                }
            }
        }
    };
    html! {
        @if !program.kernels.is_empty() {
            h3 { "Verified kernels" }
            div.box tabindex="0" role="region" aria-label="Verified kernels" {
                table {
                    thead {
                        tr {
                            th scope="col" { "Status" } th scope="col" { "Kernel" } th scope="col" { "Verdict" }
                            th.n scope="col" { "Launches" } th scope="col" { "Text" }
                        }
                    }
                    tbody { @for kernel in &program.kernels { (one(kernel)) } }
                }
            }
        }
    }
}
