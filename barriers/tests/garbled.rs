//! Kernels with something wrong in them: the verifier answers, whatever it is. What `fuzz/` does with more patience.

use bugaroo_barriers::emulate::{KernelOptions, KernelText};
use bugaroo_barriers::findings::verify;
use proptest::prelude::*;

fn source(file: usize) -> String {
    let file = ["paper", "ring", "accesses", "unknown"][file % 4];
    std::fs::read_to_string(format!("{}/tests/kernels/{file}.ptx", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// Looks at every kernel of a text.
fn look(ptx: &str, block: u32) {
    let Ok(text) = KernelText::new(ptx) else { return };
    let options = KernelOptions { block: Some([block, 1, 1]), max_steps: 5_000, ..KernelOptions::default() };
    for kernel in text.kernels() {
        if let Ok(verified) = verify(&text, kernel, &options) {
            assert!(!verified.findings.verdict.is_empty());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// Lines swapped, left out and said twice; numbers replaced.
    #[test]
    fn mutated_kernels_are_answered(
        file in 0usize..4,
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0u8..4), 1..12),
        number in prop::sample::select(vec!["0", "1", "15", "16", "33", "4096", "-1", "4294967295"]),
        block in prop::sample::select(vec![1u32, 31, 32, 48, 64, 96, 1024]),
    ) {
        let text = source(file);
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        for (a, b, what) in edits {
            let (a, b) = (a.index(lines.len()), b.index(lines.len()));
            match what {
                0 => lines.swap(a, b),
                1 => lines[a].clear(),
                2 => lines[a] = lines[b].clone(),
                _ => {
                    let digits = |c: char| c.is_ascii_digit();
                    if let Some(at) = lines[a].rfind(digits) {
                        lines[a].replace_range(at..=at, number);
                    }
                }
            }
        }
        look(&lines.join("\n"), block);
    }

    /// The file ends too early.
    #[test]
    fn truncated_kernels_are_answered(file in 0usize..4, end in any::<prop::sample::Index>()) {
        let text = source(file);
        look(&text[..end.index(text.len())], 64);
    }
}
