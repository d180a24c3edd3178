//! See `../body.rs`.
//! Run from the crate's folder, with nightly and cargo-fuzz: `cargo +nightly fuzz run fat_binary`.

#![no_main]

#[path = "../body.rs"]
mod body;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| body::check(bytes));
