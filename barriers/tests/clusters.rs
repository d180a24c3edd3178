//! Blocks of a cluster: each other's shared memory, arrivals there, copies to several of them.

use bugaroo_barriers::emulate::{KernelOptions, KernelText};
use bugaroo_barriers::findings::{KernelFindings, verify};

fn kernels() -> KernelText {
    let path = format!("{}/tests/kernels/clusters.ptx", env!("CARGO_MANIFEST_DIR"));
    KernelText::new(&std::fs::read_to_string(path).expect("the kernels")).expect("PTX")
}

fn with(text: &KernelText, kernel: &str, cluster: Option<[u32; 3]>) -> KernelFindings {
    let options = KernelOptions { cluster, max_steps: 100_000, ..KernelOptions::default() };
    verify(text, kernel, &options).expect("a kernel").findings
}

#[test]
fn without_a_cluster_nothing_is_said() {
    let text = kernels();
    for kernel in text.kernels() {
        let found = with(&text, kernel, None);
        assert_eq!(found.verdict, "not-verifiable", "{kernel}: {found:#?}");
        let refusal = found.refusal.expect("a reason");
        let told = refusal.reason + refusal.cause.as_deref().unwrap_or("");
        assert!(told.contains("--cluster X,Y,Z"), "{kernel}: {told}");
    }
}

#[test]
fn blocks_work_together() {
    let text = kernels();
    for kernel in
        ["read_next", "relaxed_fenced", "arrives_there", "stores_there", "copies_there", "loads_for_all"]
    {
        let found = with(&text, kernel, Some([2, 1, 1]));
        assert_eq!(found.verdict, "verified", "{kernel}: {found:#?}");
        assert_eq!(found.stats.threads, 128);
    }
}

#[test]
fn mistakes_between_blocks_are_found() {
    let text = kernels();
    for (kernel, verdict, words) in [
        ("ends_early", "misuse", "when the CTA may have ended"),
        ("begins_early", "misuse", "before the CTA is known to run"),
        ("relaxed_data", "race", ""),
        ("unknown_there", "misuse", "need not be initialised"),
        ("stores_unwaited", "race", ""),
        ("copies_early", "race", ""),
        ("loads_for_one", "deadlock", ""),
        ("loads_beyond", "illegal", ""),
    ] {
        let found = with(&text, kernel, Some([2, 1, 1]));
        assert_eq!(found.verdict, verdict, "{kernel}: {found:#?}");
        let of = found.misuse.as_ref().map(|misuse| misuse.of);
        let between = words.contains("the CTA");
        assert!(of.is_none_or(|of| (of == "cluster") == between), "{kernel}: {of:?}");
        let what = found.misuse.map_or(String::new(), |misuse| misuse.what);
        assert!(what.contains(words), "{kernel}: {what}");
    }
}
