//! The failure probability over p_w, a series for each model, with 95 % intervals.

use std::collections::BTreeMap;

use maud::{Markup, html};

use crate::night::{Cell, NightProgram};
use crate::plan::CellKind;
use crate::reports::text::{self, percent};

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 240.0;
const LEFT: f64 = 62.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 10.0;
const BOTTOM: f64 = 44.0;
/// Series are told apart by colour, dashes and the shape of the dots; after so many they begin again.
const STYLES: usize = 3;

/// The plot; None where no cell has a rate at one p_w.
pub fn rates(program: &NightProgram) -> Option<Markup> {
    // What a series is called is all of a cell's key but p_w: mostly the model alone.
    let mut series: BTreeMap<String, Vec<&Cell>> = BTreeMap::new();
    let with_rate =
        |cell: &&Cell| cell.kind == CellKind::Trials && cell.rate.is_some() && cell.pw.is_finite();
    for cell in program.cells.iter().filter(with_rate) {
        let name: Vec<&str> = cell.key.split(' ').filter(|word| !word.starts_with("pw=")).collect();
        series.entry(name.join(" ")).or_default().push(cell);
    }
    if series.is_empty() {
        return None;
    }
    series.values_mut().for_each(|cells| cells.sort_by(|a, b| a.pw.total_cmp(&b.pw)));
    let highest = series.values().flatten().map(|cell| cell.ci95[1]).fold(0.0, f64::max);
    let most = ceiling(highest);
    let x = |pw: f64| LEFT + pw.clamp(0.0, 1.0) * (WIDTH - LEFT - RIGHT);
    let y = |rate: f64| HEIGHT - BOTTOM - (rate / most).clamp(0.0, 1.0) * (HEIGHT - TOP - BOTTOM);
    // Intervals at the same p_w would hide each other.
    let apart = |at: usize| (at as f64 - (series.len() - 1) as f64 / 2.0) * 5.0;
    let label = format!("Failure probability over p_w, from 0 to {}", percent(most));
    Some(html! {
        figure {
            figcaption { "Share of failing trials over p_w, with 95 % Clopper–Pearson intervals" }
            svg.plot width=(WIDTH) height=(HEIGHT) viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img" aria-label=(label) {
                title { (label) }
                @for part in 0..=4 {
                    @let share = most * f64::from(part) / 4.0;
                    path.axis d={ "M" (LEFT) " " (one(y(share))) "H" (WIDTH - RIGHT) } {}
                    text x=(LEFT - 6.0) y=(one(y(share) + 4.0)) text-anchor="end" { (percent(share)) }
                    @let pw = f64::from(part) / 4.0;
                    text x=(one(x(pw))) y=(HEIGHT - BOTTOM + 19.0) text-anchor="middle" { (pw) }
                }
                text x=(one(x(0.5))) y=(HEIGHT - 4.0) text-anchor="middle" { "p_w" }
                @for (at, (name, cells)) in series.iter().enumerate() {
                    g class={ "s" (at % STYLES) } {
                        polyline.trace points=(points(cells, |cell| (x(cell.pw) + apart(at), y(cell.rate.unwrap_or(0.0))))) {}
                        @for cell in cells {
                            @let (x, middle) = (x(cell.pw) + apart(at), y(cell.rate.unwrap_or(0.0)));
                            g {
                                title { (text::short(name, 60)) ", p_w " (cell.pw) ": " (text::rate(cell)) }
                                path.range d={
                                    "M" (one(x)) " " (one(y(cell.ci95[0]))) "V" (one(y(cell.ci95[1])))
                                    "M" (one(x - 3.0)) " " (one(y(cell.ci95[0]))) "h6"
                                    "M" (one(x - 3.0)) " " (one(y(cell.ci95[1]))) "h6"
                                } {}
                                (mark(at, x, middle))
                            }
                        }
                    }
                }
            }
            div.facts.small {
                @for (at, name) in series.keys().enumerate() {
                    span {
                        svg.spark width="34" height="12" viewBox="0 0 34 12" aria-hidden="true" style="display:inline" {
                            g class={ "s" (at % STYLES) } { path.trace d="M0 6H34" {} (mark(at, 17.0, 6.0)) }
                        }
                        " " (text::short(name, 60))
                    }
                }
            }
        }
    })
}

fn one(value: f64) -> String {
    format!("{value:.1}")
}

fn points(cells: &[&Cell], at: impl Fn(&Cell) -> (f64, f64)) -> String {
    let points: Vec<String> = (cells.iter())
        .map(|cell| {
            let (x, y) = at(cell);
            format!("{x:.1},{y:.1}")
        })
        .collect();
    points.join(" ")
}

/// A dot, a square or a triangle.
fn mark(series: usize, x: f64, y: f64) -> Markup {
    html! {
        @match series % STYLES {
            0 => circle.dot cx=(one(x)) cy=(one(y)) r="4" {},
            1 => rect.dot x=(one(x - 3.5)) y=(one(y - 3.5)) width="7" height="7" {},
            _ => path.dot d={ "M" (one(x)) " " (one(y - 4.5)) "l4.5 8h-9z" } {},
        }
    }
}

/// The next round number above, whose quarters are round, too.
fn ceiling(value: f64) -> f64 {
    if value.is_nan() || value <= 0.0 {
        return 1.0;
    }
    let unit = 10f64.powf(value.log10().floor());
    let round = [1.0, 2.0, 4.0, 6.0, 8.0, 10.0].map(|times| times * unit);
    // A rate is at most one.
    round.into_iter().find(|round| *round >= value * 0.999_999).unwrap_or(value).min(1.0)
}
