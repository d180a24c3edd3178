use std::path::Path;

use bugaroo_barriers::emulate::{KernelOptions, KernelText};
use bugaroo_barriers::findings::verify;

use super::{findings, no_such_kernel};
use crate::finding::place_name;

/// Threads write a word each, and read their neighbour's; then half of them come to a barrier of all.
const PTX: &str = "
.version 8.0
.target sm_80
.address_size 64
.visible .entry early()
.reqntid 64, 1, 1
{
    .shared .align 4 .b8 words[512];
    .reg .b32 %r<5>;
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, words;
    shl.b32 %r3, %r1, 2;
    add.u32 %r2, %r2, %r3;
    st.shared.u32 [%r2], %r1;
    ld.shared.u32 %r4, [%r2+4];
    ld.shared.u32 %r4, [%r2+8];
    ret;
}
.visible .entry half()
.reqntid 64, 1, 1
{
    .reg .pred %p;
    .reg .b32 %r<2>;
    mov.u32 %r1, %tid.x;
    setp.lt.u32 %p, %r1, 32;
    @%p bar.sync 0, 64;
    ret;
}
";

fn found(kernel: &str) -> Vec<crate::night::NightFinding> {
    let text = KernelText::new(PTX).expect("the test's own PTX");
    let verified = verify(&text, kernel, &KernelOptions::default()).expect("a kernel of it");
    findings(&verified.findings, Path::new("/"), "bugaroo verify ./app")
}

#[test]
fn each_pair_of_lines_that_race_is_a_finding() {
    let found = found("early");
    assert_eq!(found.len(), 2, "{found:#?}");
    for (finding, line) in found.iter().zip([15, 16]) {
        let title = format!("race in kernel early at PTX line 14 and PTX line {line}");
        assert_eq!(finding.title, title);
        assert_eq!(finding.places.len(), 2);
        assert!(finding.places.iter().all(|place| place.kernel == "early"), "{finding:#?}");
        assert_eq!(finding.replay, "bugaroo verify ./app");
    }
    assert_ne!(found[0].fingerprint, found[1].fingerprint);
}

#[test]
fn a_deadlock_names_who_waits() {
    let found = found("half");
    let [deadlock] = &found[..] else { panic!("{found:#?}") };
    assert!(deadlock.title.starts_with("deadlock in kernel half"), "{deadlock:#?}");
    assert_eq!(place_name(&deadlock.places[0]), "PTX line 26");
}

#[test]
fn a_pattern_without_a_kernel_is_a_finding() {
    let finding = no_such_kernel("reduce", &["scan".to_owned(), "sort".to_owned()]);
    assert!(finding.title.contains("`reduce`") && finding.message.contains("scan, sort"), "{finding:#?}");
}
