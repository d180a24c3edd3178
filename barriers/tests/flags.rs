//! Flags, counters and locks in memory: what they may order is a possible race, and no certain one.

use bugaroo_barriers::emulate::{KernelOptions, KernelText};
use bugaroo_barriers::findings::{KernelFindings, verify};

use crate::expected::{expected, findings};

/// A kernel of 64 threads. Before `body`, `flag`, `count` and `lock` are nought for all; warp 0 goes to `FIRST`, the other one falls through.
fn kernel(body: &str) -> KernelFindings {
    let ptx = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n
.visible .global .align 4 .u32 outside;
.visible .entry k(.param .u64 k_in)
.maxntid 64, 1, 1
{{
    .shared .align 4 .b8 data[256];
    .shared .align 4 .u32 flag;
    .shared .align 4 .u32 other;
    .shared .align 4 .u32 lock;
    .reg .b32 tid, a, v, x, y, idle;
    .reg .b64 in, at;
    .reg .pred p, q, leader;
    ld.param.u64 in, [k_in];
    mov.u32 tid, %tid.x;
    mul.wide.u32 at, tid, 4;
    add.u64 at, in, at;
    ld.global.u32 v, [at];
    setp.eq.u32 p, tid, 0;
    mov.u32 y, 0;
    @p st.shared.u32 [flag], y;
    @p st.shared.u32 [other], y;
    @p st.shared.u32 [lock], y;
    bar.sync 0;
    and.b32 a, tid, 31;
    setp.eq.u32 leader, a, 0;
    shl.b32 a, a, 2;
    mov.u32 x, data;
    add.u32 a, a, x;
    setp.lt.u32 q, tid, 32;
    {body}
}}
"
    );
    findings(&ptx)
}

#[track_caller]
fn expect(body: &str, verdict: &str) -> KernelFindings {
    expected(kernel(body), body, verdict)
}

/// The second warp waits, by `WAIT`, and reads what the first one has written before it did `RAISE`.
const HANDED_OVER: &str = "@q bra FIRST;\nWAIT\nld.shared.u32 v, [a];\nst.global.u32 [at], v;\nret;\n\
     FIRST: st.shared.u32 [a], v;\nbar.warp.sync 0xffffffff;\nRAISE\nret;";
const ACQUIRE: &str = "L: ld.acquire.cta.shared.u32 y, [flag];\nsetp.eq.u32 p, y, 0;\n@p bra L;";
const VOLATILE: &str = "L: ld.volatile.shared.u32 y, [flag];\nsetp.eq.u32 p, y, 0;\n@p bra L;\nmembar.cta;";
const RELEASE: &str = "@leader st.release.cta.shared.u32 [flag], 1;";
const FENCED: &str = "membar.cta;\n@leader st.volatile.shared.u32 [flag], 1;";

#[test]
fn what_flags_may_order_is_a_possible_race() {
    let body = |wait: &str, raise: &str| HANDED_OVER.replace("WAIT", wait).replace("RAISE", raise);
    let counted = "@leader red.release.cta.shared.add.u32 [flag], 1;";
    for wait in [ACQUIRE, VOLATILE, &VOLATILE.replace("volatile", "relaxed.cta")] {
        for raise in [RELEASE, FENCED, counted] {
            let found = expect(&body(wait, raise), "possible-race");
            assert!(found.races.iter().all(|race| race.possible), "{found:#?}");
            let flag = found.races[0].flag.as_ref().expect("a flag");
            assert!(flag.instruction.contains("[flag]"), "{flag:?}");
        }
    }
    // One that is not in shared memory.
    let global = ["ld.acquire.gpu.global.u32 y, [outside];", "st.release.gpu.global.u32 [outside], 1;"];
    let wait = ACQUIRE.replace("ld.acquire.cta.shared.u32 y, [flag];", global[0]);
    expect(&body(&wait, &format!("@leader {}", global[1])), "possible-race");
}

#[test]
fn a_race_that_no_flag_can_order_is_certain() {
    let body = |wait: &str, raise: &str| HANDED_OVER.replace("WAIT", wait).replace("RAISE", raise);
    for (wait, raise) in [
        // A half is missing: nothing is waited for, raised, released, acquired, or it is another flag.
        ("", RELEASE),
        (ACQUIRE, ""),
        (ACQUIRE, "@leader st.relaxed.cta.shared.u32 [flag], 1;"),
        (&ACQUIRE.replace("acquire", "relaxed"), RELEASE),
        (&ACQUIRE.replace("[flag]", "[other]"), RELEASE),
        (&VOLATILE.replace("membar.cta;", ""), FENCED),
        (VOLATILE, &FENCED.replace("membar.cta;", "")),
    ] {
        expect(&body(wait, raise), "race");
    }
    // The flag is raised before the write; waited for behind the read.
    expect(&body(ACQUIRE, "").replace("FIRST:", &format!("FIRST: {RELEASE}")), "race");
    expect(&body("", RELEASE).replace("st.global", &format!("{ACQUIRE}\nst.global")), "race");
    // One lane waits, and the others read.
    let alone = format!("@!leader bra M;\n{ACQUIRE}\nM:");
    let found = expect(&body(&alone, RELEASE), "race");
    assert!(found.races.iter().any(|race| race.possible), "{found:#?}");
    expect(&body(&format!("{alone} bar.warp.sync 0xffffffff;"), RELEASE), "possible-race");
    // A count that nobody looks at.
    let histogram = "membar.cta;\natom.shared.add.u32 idle, [flag], 1;\nmembar.cta;";
    expect(&body(histogram, histogram), "race");
    // One that somebody looks at.
    let looked_at = format!("{}\nst.global.u32 [at], x;", histogram.replace("idle", "x"));
    expect(&body(&looked_at, &looked_at), "possible-race");
}

#[test]
fn what_a_lock_may_order_is_a_possible_race() {
    let locked = "@!leader bra E;\nL: atom.ACQUIRE.shared.cas.b32 y, [lock], 0, 1;\nsetp.ne.u32 p, y, 0;\n@p bra L;\n\
         ld.shared.u32 x, [data];\nadd.u32 x, x, v;\nst.shared.u32 [data], x;\n\
         atom.RELEASE.shared.exch.b32 y, [lock], 0;\nE: ret;";
    let body = |acquire: &str, release: &str| locked.replace("ACQUIRE", acquire).replace("RELEASE", release);
    expect(&body("acquire.cta", "release.cta"), "possible-race");
    expect(&body("acquire.cta", "relaxed.cta"), "race");
    expect(&body("relaxed.cta", "release.cta"), "race");
    // A barrier behind it orders what comes later.
    let behind = "E: bar.sync 0;\nld.shared.u32 x, [data];\nst.global.u32 [at], x;\nret;";
    let found = expect(&body("acquire.cta", "release.cta").replace("E: ret;", behind), "possible-race");
    assert!(found.races.iter().all(|race| race.second.at.ptx_line != race.first.at.ptx_line + 5));
}

#[test]
fn values_that_flags_hand_over_are_not_known() {
    // The second warp runs last, or first: a number that decides whether it comes to a barrier.
    let body = "mov.u32 x, 0;\n@p st.shared.u32 [other], x;\nbar.sync 0;\n@q bra FIRST;\nWAIT\nld.shared.u32 y, [other];\n\
         setp.ne.u32 p, y, NUMBER;\n@p bra E;\nbar.sync 1, 64;\nE: ret;\n\
         FIRST: mov.u32 y, 7;\n@leader st.shared.u32 [other], y;\nbar.warp.sync 0xffffffff;\nRAISE\nbar.sync 1, 64;\nret;";
    for (first, number) in
        [("@q bra FIRST", "7"), ("@!q bra FIRST", "7"), ("@q bra FIRST", "0"), ("@!q bra FIRST", "0")]
    {
        let body = body.replace("@q bra FIRST", first).replace("NUMBER", number);
        expect(&body.replace("WAIT", ACQUIRE).replace("RAISE", RELEASE), "not-verifiable");
    }
}

#[test]
fn a_barrier_of_software_is_followed_as_far_as_it_can_be() {
    let path = format!("{}/tests/kernels/software.ptx", env!("CARGO_MANIFEST_DIR"));
    let text = KernelText::new(&std::fs::read_to_string(path).expect("the kernels")).expect("PTX");
    let mut kernels = 0;
    for kernel in text.kernels() {
        let found = verify(&text, kernel, &KernelOptions::default()).unwrap().findings;
        let expected = if kernel.ends_with("_wrong") { "race" } else { "possible-race" };
        assert_eq!(found.verdict, expected, "{kernel}: {found:#?}");
        kernels += 1;
    }
    assert_eq!(kernels, 4);
}

/// A barrier is used again too early unless a flag says that its first use is over. What flags do is not followed.
#[test]
fn barriers_that_flags_order() {
    let again = |wait: &str, raise: &str| {
        format!(
            "@q bra FIRST;\nbar.sync 1, 64;\nbar.warp.sync 0xffffffff;\n{raise}\nbar.sync 1, 64;\nret;\n\
             FIRST: bar.arrive 1, 64;\n{wait}\nbar.arrive 1, 64;\nret;"
        )
    };
    for (wait, raise) in [(ACQUIRE, RELEASE), (VOLATILE, FENCED)] {
        let found = expect(&again(wait, raise), "not-verifiable");
        let refused = found.refusal.expect("a reason");
        assert!(refused.reason.contains("unless flags"), "{}", refused.reason);
    }
    expect(&again("", ""), "unsafe-recycling");
    expect(&again("", RELEASE), "unsafe-recycling");
    expect(&again(ACQUIRE, "@leader st.shared.u32 [flag], 1;"), "unsafe-recycling");
    // Raised before the first use, the flag says nothing of it.
    let early = again(ACQUIRE, "")
        .replace("\nbar.sync 1, 64;\nbar.warp", &format!("\n{RELEASE}\nbar.sync 1, 64;\nbar.warp"));
    expect(&early, "unsafe-recycling");
}
