//! Any text: an error with a place in it, or a tree that prints back and whose graphs can be built.

use bugaroo_ptx::cfg::Cfg;

/// Panics where that does not hold.
pub fn check(source: &str) {
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
}
