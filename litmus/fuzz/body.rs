//! Any text: an error with a place in it, or a test whose kernels are PTX that the parser takes.

use bugaroo_litmus::kernel::{CopyLayout, KernelForm, ThreadPlacement, kernel};

/// Panics where that does not hold.
pub fn check(source: &str) {
    match bugaroo_litmus::parse(source) {
        Ok(test) => {
            let layout = CopyLayout::new(&test);
            for placement in [ThreadPlacement::Warps, ThreadPlacement::Lanes] {
                let text = kernel(&test, &layout, placement, KernelForm::default());
                bugaroo_ptx::parse(&text).expect("the kernel is PTX");
            }
        }
        Err(error) => assert!(source.split('\n').count() >= error.line as usize),
    }
}
