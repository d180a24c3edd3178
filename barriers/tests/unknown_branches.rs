//! Branches on values that are not known.

use bugaroo_barriers::findings::KernelFindings;

use crate::expected::{expected, findings};

/// A kernel of 64 threads with parameters `in`, `n` and `m`. Before `body`, `tid` and `a` (the thread's word of `data`) are set, `v`
/// is loaded from global memory, and `next` is the word of another thread.
fn kernel(body: &str) -> KernelFindings {
    let ptx = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n
.visible .entry k(.param .u64 k_in, .param .u32 k_n, .param .u32 k_m)
.maxntid 64, 1, 1
{{
    .shared .align 4 .b8 data[512];
    .reg .b32 tid, a, v, n, m, x, y, i, next;
    .reg .b64 in, at;
    .reg .f32 f, g;
    .reg .pred p, q, r;
    ld.param.u64 in, [k_in];
    ld.param.u32 n, [k_n];
    ld.param.u32 m, [k_m];
    mov.u32 tid, %tid.x;
    mul.wide.u32 at, tid, 4;
    add.u64 at, in, at;
    ld.global.u32 v, [at];
    mov.u32 a, data;
    mov.u32 next, data;
    shl.b32 x, tid, 2;
    add.u32 a, a, x;
    xor.b32 x, x, 4;
    add.u32 next, next, x;
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

#[test]
fn arms_without_barriers_do_not_stop_a_verdict() {
    for arm in [
        // On a loaded value, on a parameter, and with an arm on either side.
        "setp.lt.s32 p, v, 0;\n@p bra L;\nadd.u32 v, v, 1;\nL:",
        "setp.lt.s32 p, tid, n;\n@!p bra L;\nadd.u32 v, v, 1;\nL:",
        "setp.lt.s32 p, v, 0;\n@p bra L;\nmov.u32 y, 1;\nbra M;\nL: mov.u32 y, 2;\nM: add.u32 v, v, y;",
        // A loop whose rounds are not known, and one inside.
        "mov.u32 i, 0;\nL: setp.ge.s32 p, i, n;\n@p bra M;\nadd.u32 v, v, i;\nadd.u32 i, i, 1;\nbra L;\nM:",
        "mov.u32 i, 0;\nL: add.u32 v, v, i;\nmov.u32 y, 0;\nK: add.u32 y, y, 1;\nsetp.lt.s32 q, y, v;\n@q bra K;\n\
         add.u32 i, i, 1;\nsetp.lt.s32 p, i, n;\n@p bra L;",
        // What the arms write alike stays known, and what they do not write.
        "setp.lt.s32 p, v, 0;\n@p bra L;\nmov.u32 a, next;\nxor.b32 a, a, 4;\nL:",
    ] {
        let body = format!("{arm}\nst.shared.u32 [a], v;\nbar.sync 0;\nld.shared.u32 x, [next];\nret;");
        expect(&body, "verified");
    }
    // At the end of a kernel.
    let end = "st.shared.u32 [a], v;\nbar.sync 0;\nsetp.ge.s32 p, tid, n;\n@p bra E;\nld.shared.u32 x, [next];\n\
               st.global.u32 [at], x;\nE: ret;";
    expect(end, "verified");
    expect(&end.replace("bar.sync 0;", ""), "possible-race");
}

#[test]
fn an_address_that_arms_decide_is_in_its_variable_or_refused() {
    let body = "setp.lt.s32 p, v, 0;\n@p bra L;\nmov.u32 a, next;\nL: st.shared.u32 [a], v;\nret;";
    expect(body, "possible-race");
    let found = expect(&body.replace("mov.u32 a, next", "mov.u32 a, v"), "not-verifiable");
    let refused = found.refusal.unwrap();
    assert!(refused.cause.unwrap().contains("loaded from global memory"));
}

#[test]
fn accesses_in_arms_race_possibly_and_say_on_what_it_depends() {
    let found = expect(
        "st.shared.u32 [a], v;\nsetp.lt.s32 p, v, 0;\n@p bra L;\nld.shared.u32 x, [next];\nL: bar.sync 0;\nret;",
        "possible-race",
    );
    let race = &found.races[0];
    assert!(race.possible && race.first.condition.is_none() != race.second.condition.is_none(), "{race:#?}");
    // With a barrier between, whatever the branch does, there is none.
    expect(
        "st.shared.u32 [a], v;\nbar.sync 0;\nsetp.lt.s32 p, v, 0;\n@p bra L;\nld.shared.u32 x, [next];\nL: bar.sync 0;\nret;",
        "verified",
    );
    // A guard is a branch of one instruction.
    let guarded = "setp.lt.s32 p, v, 0;\n@p st.shared.u32 [a], v;\nBAR ld.shared.u32 x, [next];\nret;";
    expect(&guarded.replace("BAR", ""), "possible-race");
    expect(&guarded.replace("BAR", "bar.sync 0;"), "verified");
    // A race beside it that needs no branch is a race.
    let both = "st.shared.u32 [a], v;\nld.shared.u32 x, [next];\nsetp.lt.s32 p, v, 0;\n@p ld.shared.u32 x, [next+128];\nret;";
    let found = expect(both, "race");
    assert!(found.races.iter().any(|race| race.possible) && found.races.iter().any(|race| !race.possible));
}

#[test]
fn arms_of_which_all_threads_take_the_same_do_not_race_with_each_other() {
    let arms = "setp.lt.s32 p, WHAT, 5;\n@p bra L;\nst.shared.u32 [a], v;\nbra M;\nL: ld.shared.u32 x, [next];\nM: ret;";
    expect(&arms.replace("WHAT", "n"), "verified");
    expect(&arms.replace("WHAT", "v"), "possible-race");
    // By guards, and by the comparison the other way round.
    let guards = "setp.lt.s32 p, n, 5;\nsetp.le.s32 q, 5, n;\n@p st.shared.u32 [a], v;\n@q ld.shared.u32 x, [next];\nret;";
    expect(guards, "verified");
    expect(&guards.replace("5, n", "6, n"), "possible-race");
}

#[test]
fn what_an_arm_writes_to_shared_memory_is_not_known() {
    // A barrier's number that an arm may have changed.
    let body = "mov.u32 y, 1;\nst.shared.u32 [a], y;\nsetp.lt.s32 p, v, 0;\n@p bra L;\nmov.u32 y, 2;\nst.shared.u32 [a], y;\n\
                L: ld.shared.u32 x, [a];\nbar.sync x;\nret;";
    expect(body, "not-verifiable");
    expect(&body.replace("mov.u32 y, 2;\nst.shared.u32 [a], y", "mov.u32 y, 2"), "verified");
}

#[test]
fn barriers_in_arms_are_refused_with_what_to_give() {
    let found = expect(
        "setp.lt.s32 p, v, 0;\n@p bra L;\nbar.sync 0;\nL: st.global.u32 [at], v;\nret;",
        "not-verifiable",
    );
    assert!(found.refusal.unwrap().reason.contains("a branch"));
    let found = expect(
        "setp.lt.s32 p, tid, n;\n@p bra L;\nbar.sync 0;\nL: st.global.u32 [at], v;\nret;",
        "not-verifiable",
    );
    assert_eq!(found.refusal.unwrap().parameter.as_deref(), Some("k_n"));
}

#[test]
fn traps_and_accesses_outside_of_memory_are_taken_not_to_happen() {
    expect(
        "setp.lt.s32 p, v, 0;\n@p bra T;\nst.shared.u32 [a], v;\nbar.sync 0;\nld.shared.u32 x, [next];\nret;\nT: trap;",
        "verified",
    );
    expect(
        "setp.lt.s32 p, v, 0;\n@p trap;\nst.shared.u32 [a], v;\nbar.sync 0;\nld.shared.u32 x, [next];\nret;",
        "verified",
    );
    expect("setp.lt.s32 p, v, 0;\n@p st.shared.u32 [a+65536], v;\nret;", "verified");
}

#[test]
fn barriers_under_a_parameter_are_verified_case_by_case() {
    let arms = "setp.lt.s32 p, n, 5;\n@p bra L;\nst.shared.u32 [a], v;\nbar.sync 0;\nld.shared.u32 x, [next];\nL: ret;";
    let found = expect(arms, "verified");
    assert_eq!((found.cases, found.stats.commands), (2, 64 * 3));
    // What goes wrong in one case comes with an example.
    let found = expect(&arms.replace("bar.sync 0;\nld", "ld.shared.u32 x, [next];\nbar.sync 0;\nld"), "race");
    assert_eq!(found.example, [("k_n".to_string(), "5".to_string())]);
    // A case that contradicts itself is no error: nobody is below 3 and has a square above 8.
    let odd = "setp.lt.u32 p, n, 3;\nmin.u32 n, n, 100;\nmul.lo.u32 n, n, n;\nsetp.gt.s32 q, n, 8;\n@!p bra L;\nbar.sync 0;\n@!q bra L;\nbar.sync 1, 96;\nL: ret;";
    let found = kernel(odd);
    assert!(found.is_open(), "{found:#?}");
}

#[test]
fn threads_may_return_before_barriers_for_all() {
    let early = "setp.ge.s32 p, tid, n;\n@p bra E;\nst.shared.u32 [a], v;\nbar.sync 0;\nld.shared.u32 x, [next];\nE: ret;";
    expect(early, "verified");
    // What a thread wrote before it returned is ordered with nothing later.
    let wrote = early.replace("setp.ge", "st.shared.u32 [a], v;\nsetp.ge");
    let found = expect(&wrote, "possible-race");
    assert!(found.races.iter().all(|race| race.possible));
    // All return or none.
    expect(&wrote.replace("tid, n", "n, 5"), "verified");
    // A barrier for a number of threads may wait for ever.
    expect(&early.replace("bar.sync 0", "bar.sync 0, 64"), "not-verifiable");
    // Without the barrier, those who have not returned race.
    expect(&early.replace("bar.sync 0;", ""), "possible-race");
}

#[test]
fn a_guarded_return_is_a_branch_to_the_end() {
    let early =
        "setp.ge.s32 p, tid, n;\n@p RET;\nst.shared.u32 [a], v;\nbar.sync 0;\nld.shared.u32 x, [a];\nret;";
    // As the last but one, inside a scope of its own, and for nobody sure to return.
    let last = "st.shared.u32 [a], v;\nbar.sync 0;\nld.shared.u32 x, [next];\nsetp.ge.s32 p, v, n;\n@!p RET;\nst.global.u32 [at], x;\nret;";
    let scope = "setp.ge.s32 p, tid, n;\n{\n@p RET;\n}\nst.shared.u32 [a], v;\nbar.sync 0;\nld.shared.u32 x, [a];\nret;";
    let alike =
        "setp.ge.s32 p, n, 5;\n@p RET;\nst.shared.u32 [a], v;\nbar.sync 0;\nld.shared.u32 x, [next];\nret;";
    for body in [early, last, scope, alike] {
        for ret in ["ret", "ret.uni", "exit"] {
            expect(&body.replace("RET", ret), "verified");
        }
    }
    // Who has not returned reads what others write.
    let race = "setp.ge.s32 p, v, n;\n@p ret;\nst.shared.u32 [a], v;\nld.shared.u32 x, [next];\nret;";
    expect(race, "possible-race");
    // Known ones are known.
    let known = "setp.ge.u32 p, tid, 32;\n@p exit;\nst.shared.u32 [a], v;\nbar.warp.sync -1;\nld.shared.u32 x, [next];\nret;";
    expect(known, "verified");
}
