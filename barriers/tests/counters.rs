//! Counters in shared memory that threads add to.

use bugaroo_barriers::emulate::{KernelOptions, KernelText};
use bugaroo_barriers::findings::{KernelFindings, verify};

/// 64 threads with a counter, nought at first.
fn kernel(body: &str) -> KernelFindings {
    let ptx = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n
.visible .entry k(.param .u64 from_param)
.maxntid 64, 1, 1
{{
    .shared .align 8 .b64 bar;
    .shared .align 4 .b32 counter;
    .reg .b32 tid, lane, x, y, all;
    .reg .b64 state, from;
    .reg .pred p, q;
    ld.param.u64 from, [from_param];
    mov.u32 tid, %tid.x;
    and.b32 lane, tid, 31;
    setp.eq.u32 p, tid, 0;
    mov.u32 x, 0;
    @p st.shared.u32 [counter], x;
    @p mbarrier.init.shared.b64 [bar], 64;
    bar.sync 0;
    {body}
    ret;
}}
"
    );
    let text = KernelText::new(&ptx).expect("PTX");
    let options = KernelOptions { max_steps: 100_000, ..KernelOptions::default() };
    verify(&text, "k", &options).expect("a kernel").findings
}

#[test]
fn a_sum_is_known_behind_a_barrier() {
    // 64 threads come to a barrier for as many as were counted.
    let sum = |how: &str, between: &str| {
        kernel(&format!("{how}\n{between}\nld.shared.u32 x, [counter];\nbar.sync 1, x;"))
    };
    let one = "red.shared.add.u32 [counter], 1;";
    assert_eq!(sum(one, "bar.sync 0;").verdict, "verified");
    assert_eq!(sum(one, "").verdict, "not-verifiable");
    // An addition of what is not known, and what is no addition.
    assert_eq!(
        sum("ld.global.u32 y, [from];\nred.shared.add.u32 [counter], y;", "bar.sync 0;").verdict,
        "not-verifiable"
    );
    assert_eq!(sum("atom.shared.exch.b32 y, [counter], 64;", "bar.sync 0;").verdict, "not-verifiable");
    assert_eq!(
        sum(&format!("{one}\natom.shared.exch.b32 y, [counter], 64;"), "bar.sync 0;").verdict,
        "not-verifiable"
    );
}

#[test]
fn what_a_loop_waits_for_is_not_known() {
    let spin = "red.shared.add.u32 [counter], 1;\nSPIN: ld.volatile.shared.u32 x, [counter];\nsetp.lt.u32 q, x, 64;\n@q bra SPIN;\nbar.sync 1, x;";
    let found = kernel(spin);
    assert_eq!(found.verdict, "not-verifiable", "{found:#?}");
    assert!(found.refusal.is_some_and(|refused| refused.cause.is_some()), "for a reason, not for its length");
}

/// Everybody arrives and waits; a thread of each warp takes 32 off a counter that holds `all`; the last one does `what`.
fn last(all: u32, before: &str, what: &str, after: &str) -> KernelFindings {
    kernel(&format!(
        "@p st.shared.u32 [counter], {all};
    bar.sync 0;
    mbarrier.arrive.shared.b64 state, [bar];
WAIT: mbarrier.try_wait.parity.shared.b64 q, [bar], 0;
    @!q bra WAIT;
    {before}
    setp.ne.u32 q, lane, 0;
    @q bra DONE;
    mov.u32 y, 32;
    neg.s32 x, y;
    fence.sc.cta;
    atom.shared.add.acquire.cta.u32 all, [counter], x;
    setp.ne.u32 q, all, y;
    @q bra DONE;
    {what}
DONE:
    {after}"
    ))
}

#[test]
fn the_last_one_may_end_what_all_have_used() {
    const MEET: &str = "bar.warp.sync 0xffffffff;";
    const END: &str = "mbarrier.inval.shared.b64 [bar];";
    assert_eq!(last(64, MEET, END, "").verdict, "verified");
    // Without having met, other lanes may still use it.
    assert_eq!(last(64, "", END, "").verdict, "unsupported");
    // So may a warp that uses it once more behind the counter.
    let again = "mbarrier.arrive.shared.b64 state, [bar];";
    assert!(!last(64, MEET, END, again).is_clean());
    // Anything else that the last one does is nobody's in particular.
    assert_eq!(last(64, MEET, "bar.arrive 1, 32;", "").verdict, "not-verifiable");
    // A new life needs all of them to be through.
    let init = "@p mbarrier.init.shared.b64 [bar], 64;";
    assert_eq!(last(64, MEET, END, &format!("bar.sync 0;\n{init}")).verdict, "verified");
    assert!(!last(64, MEET, END, init).is_clean());
}
