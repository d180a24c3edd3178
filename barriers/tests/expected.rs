//! A kernel `k`, and the verdict that it is to get.

use bugaroo_barriers::emulate::{Options, Text};
use bugaroo_barriers::findings::{Findings, verify};

/// What is known of the kernel of a text.
#[track_caller]
pub fn findings(ptx: &str) -> Findings {
    let text = Text::new(ptx).unwrap_or_else(|refusal| panic!("{refusal}\n{ptx}"));
    verify(&text, "k", &Options { max_steps: 1_000_000, ..Options::default() }).unwrap().findings
}

/// Checks the verdict. `body`: the kernel's own part, for whoever reads the failure.
#[track_caller]
pub fn expected(found: Findings, body: &str, verdict: &str) -> Findings {
    assert_eq!(found.verdict, verdict, "{body}\n{found:#?}");
    found
}
