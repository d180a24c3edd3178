//! What this library says to the harness, and the user: that something cannot be done.

use std::collections::BTreeSet;
use std::panic::catch_unwind;
use std::sync::{Mutex, PoisonError};

use bugaroo_protocol::{ORDERS_VARIABLE, notice};

/// Says what cannot be done, once, here and to the harness.
pub fn unsupported(what: &str) {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let _ = catch_unwind(|| {
        if SAID.lock().unwrap_or_else(PoisonError::into_inner).insert(what.to_owned()) {
            notice::unsupported(std::env::var(ORDERS_VARIABLE).ok().as_deref(), what);
        }
    });
}
