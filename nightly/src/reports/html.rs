//! One page of HTML, for people: no script, and nothing from elsewhere.
//!
//! [`overview`](self) is what is read first, then comes a section for each program. Details fold, but nothing is left out that the
//! report in JSON does not have: where a text is cut, that is said. The page stays within [`MOST_BYTES`] for findings by showing the later
//! ones in a line each.

mod cells;
mod code;
mod explored;
mod finding;
mod flush;
mod overview;
mod parts;
mod plot;
mod program;
mod spark;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::night::{Night, NightVerdict};

use super::files::JSON;
use super::text;
pub use parts::MOST_IN_FULL;

/// Bytes that the findings which are shown in full may take on the whole page.
pub const MOST_BYTES: usize = 3_000_000;

const STYLE: &str = include_str!("html/style.css");

/// The page.
pub fn text(night: &Night) -> String {
    let mut room = MOST_BYTES;
    let sections: Vec<Markup> =
        (night.programs.iter().enumerate()).map(|(at, it)| program::section(at, it, &mut room)).collect();
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                // Whatever a program prints, nothing on this page is ever executed or fetched.
                meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'";
                title { (verdict(night.verdict)) ": " (text::short(&night.plan, 80)) ", " (text::short(&night.label, 80)) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                a.skip href="#programs" { "To the programs" }
                (overview::header(night))
                main {
                    (overview::summary(night))
                    @for section in sections { (section) }
                }
                footer {
                    "Bugaroo " (text::line(&night.bugaroo)) " · seed " (night.seed) " · plan SHA-256 "
                    code { (text::line(&night.plan_sha256)) } " · all of it for programs: " code { (JSON) }
                }
            }
        }
    };
    page.into_string()
}

fn verdict(verdict: NightVerdict) -> &'static str {
    match verdict {
        NightVerdict::Green => "green",
        NightVerdict::Red => "red",
    }
}
