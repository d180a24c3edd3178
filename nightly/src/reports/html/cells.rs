//! The cells of a program in a table, each with its rates in earlier nights.

use bugaroo_harness::Outcome;
use maud::{Markup, html};

use crate::night::{Cell, Change, NightProgram};
use crate::reports::text::{self, duration, number};

use super::spark;

pub fn table(program: &NightProgram) -> Markup {
    html! {
        @if !program.cells.is_empty() {
            h3 { "Cells" }
            div.box tabindex="0" role="region" aria-label="Cells" {
                table {
                    thead {
                        tr {
                            th scope="col" { "Status" } th scope="col" { "Cell" } th.n scope="col" { "Trials" }
                            th.n scope="col" { "Failing" } th.n scope="col" { "Rate" } th scope="col" { "95 % interval" }
                            th scope="col" { "Nights before" } th scope="col" { "Outcomes" } th.n scope="col" { "Time" }
                        }
                    }
                    tbody { @for cell in &program.cells { (row(cell)) } }
                }
            }
        }
    }
}

fn row(cell: &Cell) -> Markup {
    let outcomes: Vec<String> = (cell.outcomes.iter())
        .filter(|(outcome, trials)| **outcome != Outcome::Pass && **trials > 0)
        .map(|(outcome, trials)| format!("{} {outcome}", number(*trials)))
        .chain((cell.forgetful > 0).then(|| format!("{} forgetful", number(cell.forgetful))))
        .collect();
    html! {
        tr {
            td { (super::parts::badge(cell.status)) }
            th scope="row" {
                code { (text::short(&cell.key, 60)) }
                @if !cell.reason.is_empty() { div.why.long { (text::short(&cell.reason, 240)) } }
            }
            td.n {
                (number(cell.trials))
                @if let Some(planned) = cell.planned.filter(|planned| *planned != cell.trials) {
                    div.why { "of " (number(planned)) }
                }
            }
            td.n {
                (number(cell.failures))
                @if let Some(first) = cell.first_failing_trial { div.why { "first: trial " (first) } }
            }
            td.n { (cell.rate.map_or("–".into(), text::percent)) }
            td { @if cell.rate.is_some() { (text::interval(cell.ci95)) } @else { "–" } }
            td {
                @if let Some(line) = spark::history(cell) { (line) }
                div.why {
                    @match text::change(&cell.change) {
                        Some(change) => (change),
                        None if cell.change == Change::First => "first night",
                        None => "no change",
                    }
                }
            }
            td { @if outcomes.is_empty() { "–" } @else { @for outcome in outcomes { div { (outcome) } } } }
            td.n { (duration(cell.spent_ms)) }
        }
    }
}
