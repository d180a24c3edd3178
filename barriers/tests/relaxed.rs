//! Relaxed arrivals and waits at mbarriers: they hand phases over, and memory only by fences around them.

use bugaroo_barriers::emulate::{KernelOptions, KernelText};
use bugaroo_barriers::findings::{KernelFindings, verify};

/// What a producer does behind its store, and a consumer before its read.
fn handed_over(producer: &str, consumer: &str) -> KernelFindings {
    let ptx = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n
.visible .entry k(.param .u64 k_in)
.maxntid 64, 1, 1
{{
    .shared .align 8 .b64 full;
    .shared .align 4 .b8 data[128];
    .reg .b32 tid, mine, other, v, y;
    .reg .b64 state, in;
    .reg .pred p, first;
    mov.u32 tid, %tid.x;
    ld.param.u64 in, [k_in];
    and.b32 mine, tid, 31;
    shl.b32 mine, mine, 2;
    sub.u32 other, 124, mine;
    mov.u32 v, data;
    add.u32 mine, mine, v;
    add.u32 other, other, v;
    setp.eq.u32 first, tid, 0;
    @first mbarrier.init.shared.b64 [full], 32;
    bar.sync 0;
    setp.lt.u32 p, tid, 32;
    @p bra CONSUMER;
    st.shared.u32 [mine], tid;
    {producer}
    bra OUT;
CONSUMER:
    {consumer}
    ld.shared.u32 y, [other];
OUT:
    ret;
}}
"
    );
    let text = KernelText::new(&ptx).unwrap_or_else(|refusal| panic!("{refusal}\n{ptx}"));
    verify(&text, "k", &KernelOptions::default()).unwrap().findings
}

const ARRIVE: &str = "mbarrier.arrive.shared.b64 state, [full];";
const ARRIVE_RELAXED: &str = "mbarrier.arrive.relaxed.cta.shared::cta.b64 state, [full];";
const WAIT: &str = "W: mbarrier.try_wait.parity.shared.b64 p, [full], 0;\n@!p bra W;";
const WAIT_RELAXED: &str =
    "W: mbarrier.try_wait.parity.relaxed.cta.shared::cta.b64 p, [full], 0;\n@!p bra W;";
const FENCE: &str = "fence.acq_rel.cta;";

#[test]
fn fences_make_relaxed_operations_order_memory() {
    let releases = [ARRIVE.to_string(), format!("{FENCE}\n{ARRIVE_RELAXED}")];
    let acquires = [WAIT.to_string(), format!("{WAIT_RELAXED}\n{FENCE}")];
    for producer in &releases {
        for consumer in &acquires {
            let found = handed_over(producer, consumer);
            assert_eq!(found.verdict, "verified", "{producer}\n{consumer}\n{found:#?}");
        }
    }
    // A fence of any width will do, and so does one before something else.
    for fence in ["membar.cta;", "fence.sc.gpu;", "fence.acq_rel.cluster;\nld.shared.u32 y, [mine];"] {
        let found = handed_over(&format!("{fence}\n{ARRIVE_RELAXED}"), WAIT);
        assert_eq!(found.verdict, "verified", "{fence}: {found:#?}");
    }
}

#[test]
fn without_a_fence_memory_is_not_ordered() {
    let late = format!("{FENCE}\nst.shared.u32 [mine], v;\n{ARRIVE_RELAXED}");
    let wrong = [
        (ARRIVE_RELAXED.to_string(), WAIT.to_string()),
        (ARRIVE.to_string(), WAIT_RELAXED.to_string()),
        (ARRIVE_RELAXED.to_string(), WAIT_RELAXED.to_string()),
        (ARRIVE_RELAXED.to_string(), format!("{WAIT_RELAXED}\n{FENCE}")),
        (format!("{FENCE}\n{ARRIVE_RELAXED}"), WAIT_RELAXED.to_string()),
        // Fences on the wrong side.
        (format!("{ARRIVE_RELAXED}\n{FENCE}"), WAIT.to_string()),
        (ARRIVE.to_string(), format!("{FENCE}\n{WAIT_RELAXED}")),
        // What stands behind the fence is not released.
        (late, WAIT.to_string()),
    ];
    for (producer, consumer) in wrong {
        let found = handed_over(&producer, &consumer);
        assert_eq!(found.verdict, "race", "{producer}\n{consumer}\n{found:#?}");
    }
}

/// Phases are waited for all the same: a kernel that waits for one that nobody completes waits for ever.
#[test]
fn phases_are_waited_for() {
    let twice = format!("{WAIT_RELAXED}\nV: mbarrier.try_wait.parity.shared.b64 p, [full], 1;\n@!p bra V;");
    assert_eq!(handed_over(&format!("{FENCE}\n{ARRIVE_RELAXED}"), &twice).verdict, "deadlock");
}

/// A round of a ring in which all is relaxed but for fences.
#[test]
fn fences_that_only_acquire_are_refused() {
    let found =
        handed_over(&format!("fence.release.sync_restrict::shared::cta.cluster;\n{ARRIVE_RELAXED}"), WAIT);
    assert_eq!(found.verdict, "unsupported", "{found:#?}");
}
