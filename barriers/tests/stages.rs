//! Producers and consumers, and pipelines of copies, in rounds whose number only the host knows: right ones are verified without options, and each
//! mistake is found or refused.

use bugaroo_barriers::emulate::{KernelOptions, KernelText};
use bugaroo_barriers::findings::{KernelFindings, verify};

fn compiled(file: &str) -> KernelText {
    let path = format!("{}/tests/kernels/handed_over/{file}.ptx", env!("CARGO_MANIFEST_DIR"));
    KernelText::new(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn found(text: &KernelText, kernel: &str) -> KernelFindings {
    verify(text, kernel, &KernelOptions::default()).unwrap().findings
}

/// Right ones, and wrong ones with what is found; all kernels of the file are among them.
fn holds(file: &str, right: &[&str], wrong: &[(&str, &str)]) {
    let text = compiled(file);
    for kernel in right {
        let found = found(&text, kernel);
        assert_eq!(found.verdict, "verified", "{kernel}: {found:#?}");
        assert!(found.cases > 1 && !found.vacuous, "{kernel}: {found:#?}");
    }
    for (kernel, verdict) in wrong {
        let found = found(&text, kernel);
        assert_eq!(found.verdict, *verdict, "{kernel}: {found:#?}");
        // Some number of rounds shows it.
        assert!(!found.example.is_empty(), "{kernel}: {found:#?}");
    }
    let mut named: Vec<&str> = right.iter().copied().chain(wrong.iter().map(|(kernel, _)| *kernel)).collect();
    let mut all: Vec<&str> = text.kernels().collect();
    named.sort_unstable();
    all.sort_unstable();
    assert_eq!(named, all);
}

#[test]
fn named_barriers() {
    let right = ["single_buffer", "double_buffer", "token_ring", "unrolled_rounds", "nested_rounds"];
    let wrong = [
        ("single_no_empty", "deadlock"),
        ("single_no_full", "unsafe-recycling"),
        ("single_no_arrive", "deadlock"),
        ("single_early", "race"),
        ("single_late", "unsafe-recycling"),
        ("double_no_empty", "deadlock"),
        ("double_no_full", "unsafe-recycling"),
        ("double_no_arrive", "deadlock"),
        ("double_early", "race"),
        ("double_late", "race"),
        ("token_ring_hurried", "race"),
        ("unrolled_hurried", "race"),
        ("nested_too_often", "deadlock"),
    ];
    holds("named", &right, &wrong);
}

#[test]
fn pipelines_of_copies() {
    let right = ["pipeline_2", "pipeline_3", "pipeline_4", "copies_by_turns"];
    let wrong = [
        ("pipeline_no_wait", "race"),
        ("pipeline_short_wait", "race"),
        ("pipeline_no_barrier", "race"),
        ("pipeline_late", "race"),
        ("copies_too_early", "race"),
    ];
    holds("copies", &right, &wrong);
}

#[test]
fn rings_of_mbarriers() {
    let right = [
        "stores_1",
        "stores_2",
        "copies_2",
        "copies_3",
        "bulk_2",
        "bulk_3",
        "bulk_4",
        "refill",
        "filled_first",
    ];
    let wrong = [
        ("stores_no_empty", "unsafe-recycling"),
        ("stores_no_full", "deadlock"),
        ("stores_parity", "deadlock"),
        ("stores_no_arrive", "deadlock"),
        ("stores_early", "race"),
        ("stores_late", "misuse"),
        ("copies_no_empty", "unsafe-recycling"),
        ("copies_no_full", "deadlock"),
        ("copies_early", "race"),
        ("bulk_no_empty", "unsafe-recycling"),
        ("bulk_no_full", "deadlock"),
        ("bulk_parity", "deadlock"),
        ("bulk_no_arrive", "deadlock"),
        ("bulk_early", "race"),
        ("bulk_late", "unsafe-recycling"),
        ("refill_hurried", "deadlock"),
    ];
    holds("mbarriers", &right, &wrong);
}

/// Loops that count in ways of their own.
#[test]
fn rings_by_other_counters() {
    let right = [
        "signed_3",
        "unsigned_3",
        "unsigned_5",
        "signed_5",
        "signed_6",
        "signed_7",
        "unsigned_7",
        "opposite_1",
        "opposite_3",
        "doubled_1",
        "doubled_2",
        "doubled_3",
        "doubled_4",
        "peeled_1",
        "peeled_3",
    ];
    let wrong = [
        ("remainder_no_empty", "deadlock"),
        ("remainder_no_full", "unsafe-recycling"),
        ("remainder_parity", "deadlock"),
        ("remainder_stage", "race"),
        ("remainder_no_arrive", "deadlock"),
        ("remainder_late", "race"),
        ("opposite_no_empty", "deadlock"),
        ("opposite_no_full", "unsafe-recycling"),
        ("opposite_more", "deadlock"),
        ("doubled_no_empty", "deadlock"),
        ("doubled_no_full", "unsafe-recycling"),
        ("doubled_more", "deadlock"),
        ("peeled_no_empty", "deadlock"),
        ("peeled_no_full", "unsafe-recycling"),
        ("peeled_more", "deadlock"),
    ];
    holds("counters", &right, &wrong);
}

/// Blocks of a cluster together.
#[test]
fn rounds_of_clusters() {
    let right = ["exchange_rounds", "multicast_1", "multicast_2", "multicast_3"];
    let wrong = [
        ("exchange_hurried", "race"),
        ("multicast_no_empty", "misuse"),
        ("multicast_no_full", "deadlock"),
        ("multicast_own_empty", "unsafe-recycling"),
        ("multicast_no_end", "misuse"),
    ];
    holds("clusters", &right, &wrong);
}

/// Producers and consumers of two buffers: named barriers, 1 and 2 for full ones, 3 and 4 for empty ones. `what` is put before an operation of each
/// round, and jumps to `skip` behind it if that is left out; `z` counts to 4 and stays there.
fn handing_over(operation: &str, what: &str, instead: &str) -> KernelFindings {
    let plain = [
        ("wait_empty", "add.u32 x, b, 3;\nbar.sync x, 64;"),
        ("write", "add.u32 x, at, mine;\nst.shared.u32 [x], v;"),
        ("arrive_full", "add.u32 x, b, 1;\nbar.arrive x, 64;"),
        ("wait_full", "add.u32 x, b, 1;\nbar.sync x, 64;"),
        ("read", "add.u32 x, at, other;\nld.shared.u32 y, [x];"),
        ("arrive_empty", "add.u32 x, b, 3;\nbar.arrive x, 64;"),
    ];
    let parts = plain.map(|(name, text)| {
        if name == operation {
            format!("{what}\n@p bra LATE;\n{text}\nbra DONE;\nLATE:\n{instead}\nDONE:")
        } else {
            text.to_string()
        }
    });
    let [wait_empty, write, arrive_full, wait_full, read, arrive_empty] = parts;
    let next = "min.u32 z, z, 3;\nadd.u32 z, z, 1;\nmov.u32 z1, z0;\nmov.u32 z0, 1;\nadd.u32 i, i, 1;";
    let round = "and.b32 b, i, 1;\nshl.b32 at, b, 7;\nadd.u32 at, at, buffers;";
    let ptx = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n
.visible .entry k(.param .u64 k_in, .param .u32 k_n)
.maxntid 64, 1, 1
{{
    .shared .align 128 .b8 buffers[256];
    .reg .b32 tid, mine, other, v, n, x, y, b, at, i, z, z0, z1;
    .reg .b64 in;
    .reg .pred p;
    mov.u32 tid, %tid.x;
    ld.param.u64 in, [k_in];
    ld.global.u32 v, [in];
    ld.param.u32 n, [k_n];
    and.b32 mine, tid, 31;
    shl.b32 mine, mine, 2;
    sub.u32 other, 124, mine;
    mov.u32 i, 0;
    mov.u32 z, 0;
    mov.u32 z0, 0;
    mov.u32 z1, 0;
    setp.lt.u32 p, tid, 32;
    @p bra PRODUCER;
    bar.arrive 3, 64;
    bar.arrive 4, 64;
CONSUMER:
    setp.ge.u32 p, i, n;
    @p bra OUT;
    {round}
    {wait_full}
    {read}
    {arrive_empty}
    {next}
    bra CONSUMER;
PRODUCER:
    setp.ge.u32 p, i, n;
    @p bra OUT;
    {round}
    {wait_empty}
    {write}
    {arrive_full}
    {next}
    bra PRODUCER;
OUT:
    ret;
}}
"
    );
    let text = KernelText::new(&ptx).unwrap_or_else(|refusal| panic!("{refusal}\n{ptx}"));
    verify(&text, "k", &KernelOptions::default()).unwrap().findings
}

/// What no early round does, and no number of rounds that is tried shows.
#[test]
fn late_rounds_go_wrong() {
    assert_eq!(handing_over("", "", "").verdict, "verified");
    // The same in all rounds.
    assert_eq!(handing_over("read", "setp.eq.u32 p, z, 17;", "").verdict, "verified");
    let late = [
        "setp.eq.u32 p, i, 200;",
        "setp.ge.u32 p, i, 1000;",
        "shr.u32 x, i, 8;\nsetp.eq.u32 p, x, 1;",
        "and.b32 x, i, 255;\nsetp.eq.u32 p, x, 255;",
        "add.u32 x, i, 1;\nsetp.eq.u32 p, x, n;\nsetp.gt.and.u32 p, i, 300, p;",
        "mul.lo.u32 x, i, i;\nsetp.gt.u32 p, x, 90000;",
    ];
    let other = "xor.b32 x, at, 128;\nadd.u32 x, x, other;\nld.shared.u32 y, [x];";
    for what in late {
        for (operation, instead) in [
            ("wait_empty", ""),
            ("wait_full", ""),
            ("arrive_full", ""),
            ("arrive_empty", ""),
            ("read", other),
            ("write", "xor.b32 x, at, 128;\nadd.u32 x, x, mine;\nst.shared.u32 [x], v;"),
            ("wait_full", "add.u32 x, b, 1;\nxor.b32 x, x, 3;\nbar.sync x, 64;"),
        ] {
            let found = handing_over(operation, what, instead);
            assert_ne!(found.verdict, "verified", "{operation}, {what}, {instead}");
        }
    }
}
