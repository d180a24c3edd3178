//! A kernel `k`, and the verdict that it is to get.

use bugaroo_barriers::emulate::{KernelOptions, KernelText};
use bugaroo_barriers::findings::{KernelFindings, verify};

/// What is known of the kernel of a text.
#[track_caller]
pub fn findings(ptx: &str) -> KernelFindings {
    let text = KernelText::new(ptx).unwrap_or_else(|refusal| panic!("{refusal}\n{ptx}"));
    verify(&text, "k", &KernelOptions { max_steps: 1_000_000, ..KernelOptions::default() }).unwrap().findings
}

/// Checks the verdict. `body`: the kernel's own part, for whoever reads the failure.
#[track_caller]
pub fn expected(found: KernelFindings, body: &str, verdict: &str) -> KernelFindings {
    assert_eq!(found.verdict, verdict, "{body}\n{found:#?}");
    found
}
