//! `wgmma` on data that threads write: what has to stand between, and what is refused.

use bugaroo_barriers::emulate::{KernelOptions, KernelText};
use bugaroo_barriers::findings::{KernelFindings, verify};
use bugaroo_barriers::verdict::BarrierRaceKind;

const WRITE: &str = "st.shared.v4.b32 [own], {z, z, z, z};\nst.shared.v4.b32 [own+2048], {z, z, z, z};";
const FENCE: &str = "fence.proxy.async.shared::cta;";
const MEET: &str = "bar.sync 0;";
const BEGIN: &str = "wgmma.fence.sync.aligned;";
const MULTIPLY: &str =
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {f0, f1, f2, f3}, a, b, 0, 1, 1, 0, 0;";
const COMMIT: &str = "wgmma.commit_group.sync.aligned;";
const WAIT: &str = "wgmma.wait_group.sync.aligned 0;";
const USE: &str = "st.global.v4.f32 [out], {f0, f1, f2, f3};";
const RIGHT: [&str; 8] = [WRITE, FENCE, MEET, BEGIN, MULTIPLY, COMMIT, WAIT, USE];

/// 128 threads (or others) with a matrix A of 64 rows at `data`, B of 8 rows behind it, both without swizzling.
fn kernel(threads: u32, body: &str) -> KernelFindings {
    let ptx = format!(
        ".version 8.0\n.target sm_90a\n.address_size 64\n
.visible .entry k(.param .u64 out_param, .param .u64 odd_param)
.maxntid {threads}, 1, 1
{{
    .shared .align 1024 .b8 data[4096];
    .reg .b32 tid, own, z, x;
    .reg .b64 out, a, b, odd;
    .reg .f32 f0, f1, f2, f3;
    .reg .pred p;
    ld.param.u64 out, [out_param];
    ld.param.u64 odd, [odd_param];
    mov.u32 tid, %tid.x;
    mov.u32 own, data;
    shl.b32 x, tid, 4;
    add.u32 own, own, x;
    mov.u32 z, 0;
    mov.u32 x, data;
    shr.u32 x, x, 4;
    cvt.u64.u32 a, x;
    or.b64 a, a, {strides};
    add.s64 b, a, 128;
    {body}
    ret;
}}
",
        // Leading: 128 bytes, stride: 256 bytes.
        strides = (128u64 >> 4) << 16 | (256u64 >> 4) << 32
    );
    let text = KernelText::new(&ptx).expect("PTX");
    verify(&text, "k", &KernelOptions::default()).expect("a kernel").findings
}

fn without(left_out: &str) -> KernelFindings {
    let lines: Vec<&str> = RIGHT.into_iter().filter(|line| *line != left_out).collect();
    kernel(128, &lines.join("\n"))
}

fn instead(of: &str, line: &str) -> KernelFindings {
    let lines: Vec<&str> = RIGHT.into_iter().map(|known| if known == of { line } else { known }).collect();
    kernel(128, &lines.join("\n"))
}

fn reason(found: &KernelFindings) -> String {
    found.refusal.as_ref().map_or_else(String::new, |refused| refused.reason.clone())
}

#[test]
fn written_fenced_and_multiplied_is_right() {
    let found = without("nothing");
    assert_eq!(found.verdict, "verified", "{found:#?}");
}

#[test]
fn stores_need_a_proxy_fence_before_wgmma_reads_them() {
    for found in
        [without(FENCE), instead(FENCE, "fence.proxy.async.global;"), instead(FENCE, "fence.sc.cta;")]
    {
        assert_eq!(found.verdict, "race", "{found:#?}");
        assert!(found.races.iter().all(|race| race.kind == BarrierRaceKind::MissingProxyFence), "{found:#?}");
    }
    // Behind the barrier is as good, if all do it.
    let found = kernel(128, &[WRITE, MEET, FENCE, BEGIN, MULTIPLY, COMMIT, WAIT, USE].join("\n"));
    assert_eq!(found.verdict, "verified", "{found:#?}");
}

#[test]
fn stores_of_other_warps_need_a_barrier() {
    let found = without(MEET);
    assert_eq!(found.verdict, "race", "{found:#?}");
    assert!(found.races.iter().any(|race| race.kind == BarrierRaceKind::ReadWrite), "{found:#?}");
}

#[test]
fn a_matrix_must_stay_until_it_is_waited_for() {
    // Each thread has waited for its group, and so for the parts of the others.
    let found = instead(USE, WRITE);
    assert_eq!(found.verdict, "verified", "{found:#?}");
    for early in [
        [WRITE, FENCE, MEET, BEGIN, MULTIPLY, COMMIT, WRITE, WAIT].join("\n"),
        [WRITE, FENCE, MEET, BEGIN, MULTIPLY, COMMIT, "wgmma.wait_group.sync.aligned 1;", WRITE].join("\n"),
        [WRITE, FENCE, MEET, BEGIN, MULTIPLY, WAIT, WRITE].join("\n"),
    ] {
        let found = kernel(128, &early);
        assert_eq!(found.verdict, "race", "{early}\n{found:#?}");
    }
}

#[test]
fn results_are_there_when_they_are_waited_for() {
    for found in [without(WAIT), without(COMMIT), instead(WAIT, "wgmma.wait_group.sync.aligned 1;")] {
        assert_eq!(found.verdict, "illegal", "{found:#?}");
        assert!(reason(&found).contains("before wgmma.wait_group"), "{found:#?}");
    }
    // Moves between multiplications are the compiler's.
    let moved = format!("{MULTIPLY}\nmov.f32 f0, f1;\nmov.f32 f1, f0;");
    assert_eq!(instead(MULTIPLY, &moved).verdict, "verified");
    let found = without(BEGIN);
    assert_eq!(found.verdict, "illegal", "{found:#?}");
    assert!(reason(&found).contains("wgmma.fence"), "{found:#?}");
}

#[test]
fn all_four_warps_take_part() {
    let body = |wait: &str| {
        format!(
            "{WRITE}\n{FENCE}\n{MEET}\nsetp.lt.u32 p, tid, 32;\n@p bra AWAY;\n{BEGIN}\n{MULTIPLY}\n{COMMIT}\n{wait}\nAWAY:"
        )
    };
    let found = kernel(128, &body(WAIT));
    assert_eq!(found.verdict, "deadlock", "{found:#?}");
    let deadlock = found.deadlock.expect("who waits");
    assert!(deadlock.waiting.iter().all(|waits| waits.barrier == "warpgroup 0's wgmma"), "{deadlock:#?}");
    // Three warps are none.
    let found = kernel(96, &RIGHT.join("\n"));
    assert_eq!(found.verdict, "illegal", "{found:#?}");
}

#[test]
fn lanes_that_were_apart_meet_at_wgmma() {
    let apart = format!("setp.eq.u32 p, tid, 0;\n@!p bra ON;\nbar.arrive 1, 32;\nON:\n{BEGIN}");
    let found = instead(BEGIN, &apart);
    // A warp arrives at a barrier as a whole: thread 0 waits for ever.
    assert_eq!(found.verdict, "deadlock", "{found:#?}");
    let apart = format!(
        "and.b32 x, tid, 31;\nsetp.eq.u32 p, x, 0;\n@p bra LONG;\nbra ON;\nLONG: add.u32 x, x, 1;\nON:\n{BEGIN}"
    );
    let found = instead(BEGIN, &apart);
    assert_eq!(found.verdict, "verified", "{found:#?}");
}

#[test]
fn what_is_not_known_or_not_modelled_is_named() {
    let found = instead(MULTIPLY, &MULTIPLY.replace(" a,", " odd,"));
    assert_eq!(found.verdict, "not-verifiable", "{found:#?}");
    assert!(reason(&found).contains("descriptor of a matrix"), "{found:#?}");
    assert!(found.refusal.is_some_and(|refused| refused.parameter.as_deref() == Some("odd_param")));
    let found = instead(MULTIPLY, "tcgen05.fence::before_thread_sync;");
    assert_eq!(found.verdict, "unsupported", "{found:#?}");
    assert!(reason(&found).contains("tcgen05.fence::before_thread_sync"), "{found:#?}");
    // Beyond the block's shared memory.
    let found = instead(MULTIPLY, &format!("add.s64 a, a, 200;\n{MULTIPLY}"));
    assert_eq!(found.verdict, "illegal", "{found:#?}");
}

#[test]
fn warps_of_a_warpgroup_multiply_alike() {
    // The last warp names another B.
    let other = format!("setp.ge.u32 p, tid, 96;\n@p add.s64 b, b, 8;\n{BEGIN}\n{MULTIPLY}");
    let found = instead(BEGIN, BEGIN);
    assert_eq!(found.verdict, "verified", "{found:#?}");
    let lines = [WRITE, FENCE, MEET, &other, COMMIT, WAIT, USE];
    let found = kernel(128, &lines.join("\n"));
    assert_eq!(found.verdict, "illegal", "{found:#?}");
    assert!(reason(&found).contains("different matrices"), "{found:#?}");
    // It multiplies by another instruction, and all commit as many groups.
    let branched = |second: &str| {
        let apart = format!(
            "{BEGIN}\nsetp.ge.u32 p, tid, 96;\n@p bra LAST;\n{MULTIPLY}\nbra ON;\nLAST:\n{second}\nON:"
        );
        kernel(128, &[WRITE, FENCE, MEET, &apart, COMMIT, WAIT, USE].join("\n"))
    };
    let found = branched(MULTIPLY);
    assert_eq!(found.verdict, "illegal", "{found:#?}");
    assert!(reason(&found).contains("different multiplications"), "{found:#?}");
    // One that runs ahead is as good as one that does not.
    let twice = format!("{MULTIPLY}\n{MULTIPLY}\n{COMMIT}\n{WAIT}\n{BEGIN}\n{MULTIPLY}");
    let found = instead(MULTIPLY, &twice);
    assert_eq!(found.verdict, "verified", "{found:#?}");
}
