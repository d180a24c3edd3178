//! A wait for an mbarrier of which the first test stands before the loop.

use bugaroo_barriers::emulate::{KernelOptions, KernelText};
use bugaroo_barriers::findings::{KernelFindings, verify};

/// Warp 0 writes and arrives; warp 1 does `wait`, and reads.
fn kernel(wait: &str) -> KernelFindings {
    let ptx = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n
.visible .entry k(.param .u64 out)
.maxntid 64, 1, 1
{{
    .shared .align 8 .b64 bar;
    .shared .align 4 .b8 data[128];
    .reg .b32 tid, lane, a, b, x, tries;
    .reg .b64 out, state;
    .reg .pred p, q, r;
    ld.param.u64 out, [out];
    mov.u32 tid, %tid.x;
    and.b32 lane, tid, 31;
    mov.u32 b, bar;
    mov.u32 a, data;
    shl.b32 x, lane, 2;
    add.u32 a, a, x;
    mov.u32 tries, 0;
    setp.eq.u32 p, tid, 0;
    @p mbarrier.init.shared.b64 [b], 32;
    bar.sync 0;
    setp.ge.u32 p, tid, 32;
    @p bra consume;
    st.shared.u32 [a], tid;
    mbarrier.arrive.shared.b64 state, [b];
    ret;
consume:
    {wait}
DONE:
    ld.shared.u32 x, [a];
    setp.ge.u32 r, tries, 1;
    ret;
}}
"
    );
    let text = KernelText::new(&ptx).unwrap();
    verify(&text, "k", &KernelOptions::default()).unwrap().findings
}

const LOOP: &str = "LOOP: mbarrier.try_wait.parity.shared.b64 q, [b], 0;\n@!q bra LOOP;";

#[test]
fn a_test_before_the_loop_belongs_to_the_wait() {
    for wait in [
        LOOP.to_string(),
        format!("mbarrier.try_wait.parity.shared.b64 p, [b], 0;\n@p bra DONE;\n{LOOP}"),
        format!(
            "mbarrier.test_wait.parity.shared.b64 p, [b], 0;\nadd.u32 tries, tries, 1;\n@p bra DONE;\nadd.u32 tries, tries, 1;\n{LOOP}"
        ),
        // The same predicate, and the loop turned round.
        "mbarrier.try_wait.parity.shared.b64 p, [b], 0;\n@p bra DONE;\nLOOP:\n\
         mbarrier.try_wait.parity.shared.b64 p, [b], 0;\n@p bra DONE;\nbra LOOP;"
            .to_string(),
        // A flag says whether the loop is needed.
        format!(
            "mbarrier.try_wait.parity.shared.b64 p, [b], 0;\nselp.u32 x, 1, 0, p;\nsetp.ne.u32 p, x, 0;\n@p bra DONE;\n{LOOP}"
        ),
    ] {
        let found = kernel(&wait);
        assert_eq!(found.verdict, "verified", "{wait}\n{found:#?}");
    }
}

#[test]
fn how_often_was_tested_is_not_known_behind_it() {
    let wait = format!(
        "mbarrier.try_wait.parity.shared.b64 p, [b], 0;\n@p bra MEET;\nmov.u32 tries, 1;\n{LOOP}\nMEET:\n\
         setp.eq.u32 p, tries, 1;\n@p bar.sync 1, 32;"
    );
    assert_eq!(kernel(&wait).verdict, "not-verifiable");
}

#[test]
fn what_is_no_wait_is_refused() {
    for wait in [
        // Another phase.
        "mbarrier.try_wait.parity.shared.b64 p, [b], 1;\n@p bra DONE;\n\
         LOOP: mbarrier.try_wait.parity.shared.b64 q, [b], 0;\n@!q bra LOOP;",
        // Something that others see where it fails.
        "mbarrier.try_wait.parity.shared.b64 p, [b], 0;\n@p bra DONE;\nst.shared.u32 [a], tid;\n\
         LOOP: mbarrier.try_wait.parity.shared.b64 q, [b], 0;\n@!q bra LOOP;",
        // Two tests and no loop.
        "mbarrier.try_wait.parity.shared.b64 p, [b], 0;\n@p bra DONE;\nmbarrier.try_wait.parity.shared.b64 q, [b], 0;",
        // The ways do not meet.
        "mbarrier.try_wait.parity.shared.b64 p, [b], 0;\n@p ret;\n\
         LOOP: mbarrier.try_wait.parity.shared.b64 q, [b], 0;\n@!q bra LOOP;",
    ] {
        let found = kernel(wait);
        assert_eq!(found.verdict, "unsupported", "{wait}\n{found:#?}");
    }
}

#[test]
fn a_peeled_wait_for_a_phase_that_never_ends_is_a_deadlock() {
    // Phase 0 is over once; phase 1 never is.
    let wait = format!(
        "{LOOP}\nmbarrier.try_wait.parity.shared.b64 p, [b], 1;\n@p bra DONE;\n\
         AGAIN: mbarrier.try_wait.parity.shared.b64 q, [b], 1;\n@!q bra AGAIN;"
    );
    let found = kernel(&wait);
    assert_eq!(found.verdict, "deadlock", "{found:#?}");
}
