//! Ways that a warp goes together, though it is not known which: loops that look back at other blocks, and what a barrier has counted.

use bugaroo_barriers::findings::KernelFindings;

use crate::expected::{expected, findings};

/// A kernel of 64 threads. Before `body`, `mine` is the thread's word of `data`, `other` one of the other warp, `first` is of lanes 0 and `at`
/// points to the thread's status in global memory.
fn kernel(body: &str) -> KernelFindings {
    findings(&format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n
.visible .entry k(.param .u64 k_in)
.maxntid 64, 1, 1
{{
    .shared .align 4 .b8 data[512];
    .reg .b32 tid, lane, mine, other, status, sum, x, y, mask;
    .reg .b64 in, at;
    .reg .pred p, q, r, first;
    mov.u32 tid, %tid.x;
    and.b32 lane, tid, 31;
    setp.eq.u32 first, lane, 0;
    shl.b32 mine, tid, 2;
    mov.u32 x, data;
    add.u32 mine, mine, x;
    xor.b32 other, mine, 128;
    ld.param.u64 in, [k_in];
    mul.wide.u32 at, tid, 4;
    add.u64 at, in, at;
    mov.u32 sum, 0;
    mov.u32 mask, 0xffffffff;
    {body}
    ret;
}}
"
    ))
}

#[track_caller]
fn expect(body: &str, verdict: &str) -> KernelFindings {
    expected(kernel(body), body, verdict)
}

/// A warp looks back from window to window, until one status is complete; in each, it waits for all.
const LOOK_BACK: &str = "WINDOW:
POLL: ld.relaxed.gpu.u32 status, [at];
setp.eq.u32 p, status, 99;
vote.sync.any.pred q, p, 0xffffffff;
@q bra POLL;
shfl.sync.down.b32 x, status, 16, 31, 0xffffffff;
add.u32 sum, sum, x;
sub.u64 at, at, 128;
setp.ne.u32 p, status, 101;
vote.sync.all.pred q, p, 0xffffffff;
@q bra WINDOW;";

#[test]
fn a_warp_looks_back_as_a_whole() {
    let handed = "st.shared.u32 [mine], sum;\nbar.sync 0;\nld.shared.u32 y, [other];";
    // By every warp; by one of them; and in a way that one warp goes perhaps.
    let verified = expect(&format!("{LOOK_BACK}\n{handed}"), "verified");
    assert_eq!((verified.cases, verified.taken_to_meet.len()), (1, 0), "{verified:#?}");
    expect(&format!("setp.ge.u32 p, tid, 32;\n@p bra ON;\n{LOOK_BACK}\nON:\n{handed}"), "verified");
    let perhaps = "ld.relaxed.gpu.u32 status, [in];\nshfl.sync.idx.b32 status, status, 0, 31, 0xffffffff;
                   setp.eq.u32 p, status, 7;\n@p bra ON;";
    expect(&format!("{perhaps}\n{LOOK_BACK}\nON:\n{handed}"), "verified");
    // What is written on the way: in the first round for certain, in a way that is gone perhaps only perhaps.
    let written = LOOK_BACK.replace("add.u32 sum", "st.shared.u32 [mine], x;\nadd.u32 sum");
    expect(&format!("{written}\nbar.sync 0;\nld.shared.u32 y, [other];"), "verified");
    expect(&format!("{written}\nld.shared.u32 y, [other];"), "race");
    expect(&format!("{perhaps}\n{written}\nON:\nld.shared.u32 y, [other];"), "possible-race");
}

#[test]
fn who_is_not_there_takes_no_part() {
    let end = "st.shared.u32 [mine], sum;\nbar.sync 0;\nld.shared.u32 y, [other];";
    // Each lane goes by what it has loaded itself, and the vote waits for all 32.
    let apart = "ld.global.u32 status, [at];\nsetp.eq.u32 p, status, 7;\n@p bra ON;
                 vote.sync.any.pred q, p, 0xffffffff;\nON:";
    expect(&format!("{apart}\n{end}"), "not-verifiable");
    // The lanes of an arm inside go apart.
    let inside = LOOK_BACK
        .replace("shfl", "setp.eq.u32 r, status, 5;\n@r bra OVER;\nshfl")
        .replace("sub.u64", "OVER: sub.u64");
    expect(&format!("{inside}\n{end}"), "not-verifiable");
    // A vote of half of the warp says nothing of the other half.
    let half = "setp.lt.u32 r, lane, 16;\n@!r bra ON;\nAGAIN: ld.relaxed.gpu.u32 status, [at];\nsetp.eq.u32 p, status, 99;
                vote.sync.any.pred q, p, 0xffffffff;\n@q bra AGAIN;\nON:";
    expect(&format!("{half}\n{end}"), "deadlock");
}

/// Lanes leave the loop one by one, and vote with the mask of those that are left.
#[test]
fn masks_that_lanes_have_computed() {
    let leaving = "AGAIN: ld.relaxed.gpu.u32 status, [at];
                   setp.ne.u32 p, status, 101;
                   vote.sync.ballot.b32 mask, p, mask;
                   sub.u64 at, at, 128;
                   add.u32 sum, sum, status;
                   @p bra AGAIN;";
    let end = "st.shared.u32 [mine], sum;\nbar.sync 0;\nld.shared.u32 y, [other];";
    // Begun by all together, so that the first mask is right.
    let found = expect(&format!("{leaving}\n{end}"), "verified");
    let [at] = &found.taken_to_meet[..] else { panic!("{found:#?}") };
    assert!(at.instruction.starts_with("vote.sync.ballot.b32"), "{at:?}");
    expect(&format!("{leaving}\nst.shared.u32 [mine], sum;\nld.shared.u32 y, [other];"), "race");
    // A vote by such a mask is not one for all lanes: those that go on need not be all that the next vote waits for.
    let groups = "ld.global.u32 mask, [at];\nvote.sync.any.pred q, first, 0xffffffff;\nld.relaxed.gpu.u32 status, [in];
                  shfl.sync.idx.b32 status, status, 0, 31, 0xffffffff;\nsetp.eq.u32 p, status, 7;\n@p bra ON;
                  ld.global.u32 x, [at];\nsetp.eq.u32 r, x, 5;\nvote.sync.any.pred q, r, mask;\n@q bra ON;
                  vote.sync.any.pred q, r, 0xffffffff;\nON:";
    expect(&format!("{groups}\n{end}"), "not-verifiable");
}

#[test]
fn what_a_barrier_has_counted() {
    let ask = |red: &str| {
        format!(
            "ld.global.u32 x, [at];\nsetp.eq.u32 p, x, 7;\n{red}\n@!q bra ON;\nst.shared.u32 [mine], x;\nbar.sync 0;\nld.shared.u32 y, [other];\nON: bar.sync 1, 64;"
        )
    };
    for (red, verdict) in [
        ("bar.red.or.pred q, 0, p;", "verified"),
        ("bar.red.and.pred q, 0, p;", "verified"),
        ("bar.red.or.pred q, 0, p;\nselp.u32 x, 1, 0, q;\nsetp.ne.u32 q, x, 0;", "verified"),
        ("bar.red.popc.u32 x, 0, p;\nsetp.gt.u32 q, x, 3;", "verified"),
        // Each thread's own answer is not the same for all.
        ("bar.sync 0;\nmov.pred q, p;", "not-verifiable"),
    ] {
        expect(&ask(red), verdict);
    }
    let without = ask("bar.red.or.pred q, 0, p;").replace("bar.sync 0;\n", "");
    assert_ne!(kernel(&without).verdict, "verified");
}
