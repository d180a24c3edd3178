//! Kernels that say how large their blocks are, and of whose inputs nothing else is given: each has a verdict.

use bugaroo_barriers::emulate::{KernelOptions, KernelText};
use bugaroo_barriers::findings::{KernelFindings, verify};

fn text() -> KernelText {
    let path = format!("{}/tests/kernels/unasked.ptx", env!("CARGO_MANIFEST_DIR"));
    KernelText::new(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The source, line by line, from 1.
fn source() -> Vec<String> {
    let path = format!("{}/tests/kernels/unasked.cu", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    std::iter::once(String::new()).chain(text.lines().map(str::to_owned)).collect()
}

fn found(kernel: &str) -> KernelFindings {
    verify(&text(), kernel, &KernelOptions::default()).unwrap().findings
}

#[test]
fn kernels_that_are_right_are_verified() {
    for (kernel, barriers) in [("copies", 16), ("reactions", 2), ("marching", 12)] {
        let found = found(kernel);
        assert_eq!(found.verdict, "verified", "{kernel}: {found:#?}");
        assert_eq!((found.cases, found.stats.dynamic_barriers), (1, barriers), "{kernel}");
    }
}

#[test]
fn errors_are_found_for_certain_at_their_lines() {
    let source = source();
    for (kernel, first, second) in [
        ("copies_early", "float other = buffer[0]", "buffer[step % 2][i] ="),
        ("reactions_twice", "rates[TWICE ?", "rates[TWICE ?"),
        ("marching_unguarded", "sum += tile[y + R - r]", "tile[y + R][x + R] ="),
    ] {
        let found = found(kernel);
        assert_eq!(found.verdict, "race", "{kernel}: {found:#?}");
        let shown: Vec<[&str; 2]> = found
            .races
            .iter()
            .filter(|race| !race.possible)
            .map(|race| [&race.first, &race.second].map(|side| source[side.at.line.unwrap() as usize].trim()))
            .collect();
        assert!(shown.iter().any(|[a, b]| a.contains(first) && b.contains(second)), "{kernel}: {shown:#?}");
    }
    // Only the buffer whose warps are too early is concerned, and only what they have not read by then.
    assert_eq!(found("copies_early").pairs().count(), 1);
    // One slot for each lane.
    let twice = found("reactions_twice");
    assert_eq!((twice.races.len(), twice.races[0].pairs), (1, 32));
}
