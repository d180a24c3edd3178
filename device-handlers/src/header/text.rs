//! A header that grows.

use std::fmt::Write;

/// A header that grows.
pub(super) struct Text(pub(super) String);

impl Text {
    pub(super) fn new() -> Text {
        let head = "// Generated from this crate's Rust constants (header.rs); a test compares. Do not edit.\n#pragma once\n\n";
        Text(head.to_owned())
    }

    pub(super) fn define(&mut self, name: &str, value: u64) {
        let suffix = if value > u64::from(u32::MAX) { "ull" } else { "u" };
        // Writing to a string cannot fail.
        let _ = writeln!(self.0, "#define BUGAROO_{name} {value:#x}{suffix}");
    }
}
