//! See `../body.rs`.
//! Run from the crate's folder, with nightly and cargo-fuzz: `cargo +nightly fuzz run parse`.

#![no_main]

#[path = "../body.rs"]
mod body;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|source: &str| body::check(source));
