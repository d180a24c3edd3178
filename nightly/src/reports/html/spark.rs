//! The rates of a cell night after night, as a small line.

use maud::{Markup, html};

use crate::night::Cell;
use crate::reports::text::{self, percent};

const WIDTH: f64 = 132.0;
const HEIGHT: f64 = 26.0;
/// Room for the dots.
const MARGIN: f64 = 4.0;

/// The line; None where no earlier night told anything.
pub fn history(cell: &Cell) -> Option<Markup> {
    let nights: Vec<(&str, u64, u64)> = (cell.before.iter())
        .map(|past| (past.label.as_str(), past.failures, past.told))
        .chain([("tonight", cell.failures, text::told(cell))])
        .collect();
    cell.before.iter().any(|past| past.told > 0).then_some(())?;
    let rate = |failures: u64, told: u64| if told == 0 { None } else { Some(failures as f64 / told as f64) };
    let most = nights.iter().filter_map(|(_, failures, told)| rate(*failures, *told)).fold(0.0, f64::max);
    let step = (WIDTH - 2.0 * MARGIN) / (nights.len() - 1) as f64;
    let y = |rate: f64| {
        if most > 0.0 { HEIGHT - MARGIN - rate / most * (HEIGHT - 2.0 * MARGIN) } else { HEIGHT - MARGIN }
    };
    let dots: Vec<(f64, f64, String, bool)> = (nights.iter().enumerate())
        .filter_map(|(at, (label, failures, told))| {
            let rate = rate(*failures, *told)?;
            let said = format!("{}: {} ({failures} of {told})", text::short(label, 60), percent(rate));
            Some((MARGIN + step * at as f64, y(rate), said, at + 1 == nights.len()))
        })
        .collect();
    let points: Vec<String> = dots.iter().map(|(x, y, ..)| format!("{x:.1},{y:.1}")).collect();
    let said = format!("Rates of {} nights, at most {}", nights.len(), percent(most));
    Some(html! {
        svg.spark width=(WIDTH) height=(HEIGHT) viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img" aria-label=(said) {
            title { (said) }
            path.axis d={ "M0 " (HEIGHT - MARGIN + 0.5) "H" (WIDTH) } {}
            polyline.before points=(points.join(" ")) {}
            @for (x, y, said, tonight) in dots {
                circle cx=(format!("{x:.1}")) cy=(format!("{y:.1}")) r=(if tonight { "3.2" } else { "1.6" })
                    class=(if tonight { "tonight" } else { "past" }) { title { (said) } }
            }
        }
    })
}
