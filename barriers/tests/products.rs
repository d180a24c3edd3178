//! Matrix multiplications by `wgmma` whose number of tiles along the sum only the host knows: right ones are verified for any number, each mistake is
//! found with a number that shows it.

use bugaroo_barriers::emulate::{KernelOptions, KernelText};
use bugaroo_barriers::findings::{KernelFindings, verify};

fn kernels() -> KernelText {
    let path = format!("{}/tests/kernels/handed_over/products.ptx", env!("CARGO_MANIFEST_DIR"));
    KernelText::new(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// What a tensor copy of A and of B moves; nothing is said of the number of tiles.
fn found(text: &KernelText, kernel: &str) -> KernelFindings {
    let tensors = vec![("0".to_string(), 8192), ("1".to_string(), 2048)];
    verify(text, kernel, &KernelOptions { tensors, ..KernelOptions::default() }).unwrap().findings
}

const RIGHT: [&str; 5] = ["one_stage", "two_stages", "three_stages", "two_late", "four_late"];
const WRONG: [(&str, &str); 10] = [
    ("no_empty", "deadlock"),
    ("no_full", "unsafe-recycling"),
    ("no_release", "deadlock"),
    ("no_products_wait", "unsafe-recycling"),
    ("no_fence", "misuse"),
    ("parity", "deadlock"),
    ("no_expect", "unsafe-recycling"),
    ("early_release", "unsafe-recycling"),
    ("late_early_release", "unsafe-recycling"),
    ("other_stage", "race"),
];

#[test]
fn any_number_of_tiles() {
    let text = kernels();
    for kernel in RIGHT {
        let found = found(&text, kernel);
        assert_eq!(found.verdict, "verified", "{kernel}: {found:#?}");
        assert!(found.cases > 1 && !found.vacuous, "{kernel}: {found:#?}");
    }
}

#[test]
fn mistakes_are_found() {
    let text = kernels();
    for (kernel, verdict) in WRONG {
        let found = found(&text, kernel);
        assert_eq!(found.verdict, verdict, "{kernel}: {found:#?}");
        assert!(!found.example.is_empty(), "{kernel}: {found:#?}");
    }
    assert_eq!(text.kernels().count(), RIGHT.len() + WRONG.len());
}

/// What the reader has to give is said, not the parameter that led there.
#[test]
fn what_stands_in_the_way_is_said() {
    let text = kernels();
    let found = verify(&text, "two_stages", &KernelOptions::default()).unwrap().findings;
    let reason = found.refusal.expect("a reason").reason;
    assert!(reason.contains("tensor map"), "{reason}");
}
