//! Barriers of the whole grid (`grid.sync()`): verified where all blocks come, and refused where that is not known.

use bugaroo_barriers::emulate::{KernelOptions, KernelText};
use bugaroo_barriers::findings::{KernelFindings, verify};

fn found(kernel: &str, options: &KernelOptions) -> KernelFindings {
    let path = format!("{}/tests/kernels/grid.ptx", env!("CARGO_MANIFEST_DIR"));
    let text = KernelText::new(&std::fs::read_to_string(path).unwrap()).unwrap();
    verify(&text, kernel, options).unwrap().findings
}

#[test]
fn all_blocks_come() {
    for grid in [None, Some([1, 1, 1]), Some([4, 1, 1])] {
        let options = KernelOptions { grid, ..KernelOptions::default() };
        for kernel in ["halves", "rounds", "by_stride"] {
            let found = found(kernel, &options);
            assert_eq!(found.verdict, "verified", "{kernel}: {found:#?}");
        }
        // Its threads race whichever block it is.
        assert_eq!(found("hurried", &options).verdict, "race");
    }
}

#[test]
fn blocks_that_may_not_come() {
    for kernel in ["first_blocks", "own_rounds", "first_block_twice", "some_return"] {
        for any_cta in [false, true] {
            let options = KernelOptions { any_cta, ..KernelOptions::default() };
            let found = found(kernel, &options);
            assert_eq!(found.verdict, "not-verifiable", "{kernel}: {found:#?}");
            let reason = found.refusal.expect("a reason").reason;
            assert!(reason.contains("grid"), "{kernel}: {reason}");
        }
    }
}

/// One thread of a block calls it: the block's own barrier in it says so.
#[test]
fn threads_that_do_not_come() {
    assert_eq!(found("one_warp", &KernelOptions::default()).verdict, "deadlock");
}
