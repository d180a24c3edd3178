//! Any text: an error with a place in it, or a tree that prints back and whose graphs can be built.
//! Run from the crate's folder, with nightly and cargo-fuzz: `cargo +nightly fuzz run parse`.

#![no_main]

use bugaroo_ptx::cfg::Cfg;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|source: &str| {
    match bugaroo_ptx::parse(source) {
        Ok(module) => {
            assert_eq!(module.print(), source);
            for function in module.functions() {
                let cfg = Cfg::build(function);
                assert_eq!(cfg.block_of.len(), function.instructions().len());
            }
        }
        Err(error) => assert!(source.split('\n').count() >= error.line as usize),
    }
});
