//! What this library says to the harness, and the user: that something cannot be done.

use bugaroo_protocol::{ORDERS_VARIABLE, notice};

/// Says on stderr, and to the harness when there is one, what cannot be done.
pub fn unsupported(what: &str) {
    notice::unsupported(std::env::var(ORDERS_VARIABLE).ok().as_deref(), what);
}
