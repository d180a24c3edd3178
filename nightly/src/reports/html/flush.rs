//! How many entries store buffers held when they drained, as bars.

use std::collections::BTreeMap;

use maud::{Markup, html};

use crate::night::NightProgram;
use crate::reports::text::{self, count, number};

/// Bars of a histogram; where there are more lengths, a bar is for several that follow each other.
const MOST_BARS: u64 = 48;
const HEIGHT: f64 = 110.0;
const BASE: f64 = 92.0;
const WIDTH: f64 = 340.0;

pub fn all(program: &NightProgram) -> Markup {
    let spaces: Vec<_> = (program.flush_lengths.iter())
        .filter(|(_, lengths)| lengths.values().any(|flushes| *flushes > 0))
        .collect();
    html! {
        @if !spaces.is_empty() {
            h3 { "Flush lengths" }
            div.plots { @for (space, lengths) in spaces { (histogram(space, lengths)) } }
        }
    }
}

fn histogram(space: &str, lengths: &BTreeMap<u64, u64>) -> Markup {
    let first = lengths.keys().next().copied().unwrap_or(0);
    let last = lengths.keys().next_back().copied().unwrap_or(0);
    let wide = (last - first) / MOST_BARS + 1;
    let mut bars: BTreeMap<u64, u64> = BTreeMap::new();
    for (length, flushes) in lengths {
        let bar = bars.entry((length - first) / wide).or_default();
        *bar = bar.saturating_add(*flushes);
    }
    let most = bars.values().copied().max().unwrap_or(1).max(1);
    let total = lengths.values().fold(0u64, |sum, flushes| sum.saturating_add(*flushes));
    let slots = ((last - first) / wide + 1) as f64;
    let step = (WIDTH / slots).min(28.0);
    let label = format!(
        "{}: {}, at most {} for one bar",
        text::short(space, 40),
        count(total, "flush", "flushes"),
        number(most)
    );
    html! {
        figure {
            figcaption { (label) }
            svg width=(WIDTH) height=(HEIGHT) viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img" aria-label=(label) {
                title { (label) }
                path.axis d={ "M0 " (BASE + 0.5) "H" (WIDTH) } {}
                @for (slot, flushes) in bars.iter().filter(|(_, flushes)| **flushes > 0) {
                    // What is there is seen.
                    @let height = (*flushes as f64 / most as f64 * (BASE - 4.0)).max(1.0);
                    rect.bar x=(format!("{:.1}", *slot as f64 * step)) y=(format!("{:.1}", BASE - height))
                        width=(format!("{:.1}", (step - 1.0).max(1.0))) height=(format!("{height:.1}")) {
                        title { (lengths_of(first + slot * wide, wide)) ": " (count(*flushes, "flush", "flushes")) }
                    }
                }
                text x="0" y=(HEIGHT - 3.0) { (first) }
                text x=(format!("{:.1}", (step * slots).max(60.0))) y=(HEIGHT - 3.0) text-anchor="end" { (last) " entries" }
            }
        }
    }
}

fn lengths_of(first: u64, wide: u64) -> String {
    if wide == 1 {
        format!("length {first}")
    } else {
        format!("lengths {first} to {}", first.saturating_add(wide - 1))
    }
}
