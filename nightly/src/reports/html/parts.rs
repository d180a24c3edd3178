//! What several parts of the page share.

use maud::{Markup, html};

use crate::night::Status;
use crate::reports::text;

/// Findings of a program that are shown in full.
pub const MOST_IN_FULL: usize = 50;
/// A status as a badge.
pub fn badge(status: Status) -> Markup {
    let text = text::status(status);
    let shown = if status == Status::Nothing { "says nothing" } else { text };
    html! { span class={ "badge " (text) } { (shown) } }
}
