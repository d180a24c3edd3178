//! What is said beside verdicts: barriers that nobody waits at, and that lockstep would be enough.

use bugaroo_barriers::emulate::{KernelOptions, KernelText};
use bugaroo_barriers::findings::{KernelFindings, verify};

/// A kernel of 64 threads, two words of shared memory for each.
fn found(body: &str, options: &KernelOptions) -> KernelFindings {
    let ptx = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n
.visible .entry k(.param .u64 k_in)
.maxntid 64, 1, 1
{{
    .shared .align 4 .b8 data[512];
    .reg .b32 tid, mine, next, v;
    .reg .pred p;
    mov.u32 tid, %tid.x;
    shl.b32 mine, tid, 2;
    mov.u32 v, data;
    add.u32 mine, mine, v;
    xor.b32 next, mine, 4;
    setp.lt.u32 p, tid, 32;
    {body}
    ret;
}}
"
    );
    let text = KernelText::new(&ptx).unwrap_or_else(|refusal| panic!("{refusal}\n{ptx}"));
    verify(&text, "k", options).unwrap().findings
}

#[test]
fn barriers_that_nobody_waits_at() {
    let told = |body: &str| -> Vec<(String, u32, usize)> {
        let found = found(body, &KernelOptions::default());
        assert_eq!(found.verdict, "verified", "{found:#?}");
        found.unwaited.into_iter().map(|one| (one.barrier, one.generation, one.at.len())).collect()
    };
    assert_eq!(told("bar.arrive 1, 64;"), [("barrier 1".to_string(), 1, 2)]);
    assert_eq!(told("bar.arrive 1, 64;\nbar.sync 0;\nbar.arrive 1, 64;").len(), 1);
    assert_eq!(told("@p bra A;\nbar.arrive 1, 64;\nbra B;\nA:\nbar.sync 1, 64;\nB:"), []);
    assert_eq!(told("bar.sync 0;"), []);
}

#[test]
fn what_lockstep_would_make_right() {
    let within = "st.shared.u32 [mine], v;\nld.shared.u32 v, [next];";
    let found_within = found(within, &KernelOptions::default());
    assert_eq!((found_within.verdict, found_within.right_in_lockstep), ("race", true));
    let lockstep = KernelOptions { warp_synchronous: true, ..KernelOptions::default() };
    let asked = found(within, &lockstep);
    assert_eq!((asked.verdict, asked.right_in_lockstep), ("verified", false));
    let across = "xor.b32 next, mine, 128;\nst.shared.u32 [mine], v;\nld.shared.u32 v, [next];";
    let found_across = found(across, &KernelOptions::default());
    assert_eq!((found_across.verdict, found_across.right_in_lockstep), ("race", false));
    let synchronised = "st.shared.u32 [mine], v;\nbar.warp.sync -1;\nld.shared.u32 v, [next];";
    assert_eq!(found(synchronised, &KernelOptions::default()).verdict, "verified");
}
