//! `cuda::barrier`, `cuda::pipeline` and `memcpy_async`, as the toolkit's headers expand them.

use bugaroo_barriers::emulate::{KernelOptions, KernelText};
use bugaroo_barriers::findings::verify;

fn verdicts(file: &str) -> Vec<(String, &'static str)> {
    let path = format!("{}/tests/kernels/{file}.ptx", env!("CARGO_MANIFEST_DIR"));
    let text = KernelText::new(&std::fs::read_to_string(path).expect("the kernels")).expect("PTX");
    let verdict = |kernel: &str| {
        let options = KernelOptions { max_steps: 1_000_000, ..KernelOptions::default() };
        verify(&text, kernel, &options).expect("a kernel").findings.verdict
    };
    text.kernels().map(|kernel| (kernel.to_string(), verdict(kernel))).collect()
}

#[test]
fn right_ones_are_verified_and_mistakes_are_found() {
    for (file, kernels, wrong) in [("cccl", 14, 0), ("cccl_90", 28, 14)] {
        let found = verdicts(file);
        assert_eq!(found.len(), kernels, "{file}");
        let (mistakes, right): (Vec<_>, Vec<_>) =
            found.into_iter().partition(|(kernel, _)| kernel.ends_with("_wrong"));
        assert_eq!(mistakes.len(), wrong, "{file}");
        assert!(right.iter().all(|(_, verdict)| *verdict == "verified"), "{file}: {right:?}");
        let definite = ["race", "deadlock", "misuse", "unsafe-recycling"];
        assert!(mistakes.iter().all(|(_, verdict)| definite.contains(verdict)), "{file}: {mistakes:?}");
    }
}
