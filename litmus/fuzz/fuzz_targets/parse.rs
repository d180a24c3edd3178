//! Any text: an error with a place in it, or a test whose kernels are PTX that the parser takes.
//! Run from the crate's folder, with nightly and cargo-fuzz: `cargo +nightly fuzz run parse`.

#![no_main]

use bugaroo_litmus::kernel::{Layout, Placement, kernel};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|source: &str| {
    match bugaroo_litmus::parse(source) {
        Ok(test) => {
            let layout = Layout::new(&test);
            for placement in [Placement::Warps, Placement::Lanes] {
                let text = kernel(&test, &layout, placement, false);
                bugaroo_ptx::parse(&text).expect("the kernel is PTX");
            }
        }
        Err(error) => assert!(source.split('\n').count() >= error.line as usize),
    }
});
