//! `TOOLS_TLS`: what profilers keep for each thread. The runtime fails without the table, and calls nothing in it.

use crate::api::export::table::{Word, words};

/// The table.
pub static TABLE: [Word; 4] = words! { 2: (size 4) 1 2 3 };
