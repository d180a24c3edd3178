//! Kernels with wild addresses, made of the fuzzer's bytes; see `tests/sandbox/mod.rs` for what shows an escape.
//! Run from the crate's folder, with nightly and cargo-fuzz: `cargo +nightly fuzz run wild_addresses`.

#![no_main]

#[path = "../../tests/sandbox/mod.rs"]
mod sandbox;

use libfuzzer_sys::fuzz_target;
use sandbox::{Choices, try_kernel};

fuzz_target!(|bytes: &[u8]| {
    let mut bytes = bytes.iter();
    // What the input lacks is zero.
    let mut next = || bytes.next().copied().unwrap_or(0);
    try_kernel(&mut Choices::new(&mut next));
});
