//! Accesses at an address that is not known, in a variable that is.

use bugaroo_barriers::findings::KernelFindings;

use crate::expected::{expected, findings};

/// A kernel of 64 threads. `own` is the thread's word of `data`, `there` a word of it by a number that was loaded, `k`.
fn kernel(body: &str) -> KernelFindings {
    let ptx = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n
.extern .shared .align 16 .b8 rest[];
.visible .entry k(.param .u64 k_in, .param .u32 k_n)
.maxntid 64, 1, 1
{{
    .shared .align 4 .b8 data[256];
    .shared .align 8 .b8 other[256];
    .local .align 8 .b8 table[16];
    .reg .b32 tid, loaded, k, n, v, x, y, z, a, m, own, there, i, at_other, spot;
    .reg .b64 in, at, generic, wide, state;
    .reg .pred p, q, leader;
    ld.param.u64 in, [k_in];
    ld.param.u32 n, [k_n];
    mov.u32 tid, %tid.x;
    setp.eq.u32 leader, tid, 0;
    mul.wide.u32 at, tid, 8;
    add.u64 at, in, at;
    ld.global.u32 v, [at];
    ld.global.u32 loaded, [at+4];
    and.b32 k, loaded, 63;
    mov.u32 own, data;
    shl.b32 x, k, 2;
    add.u32 there, own, x;
    shl.b32 x, tid, 2;
    add.u32 own, own, x;
    {body}
    ret;
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
fn a_histogram_is_right_with_its_barriers_alone() {
    let histogram = "st.shared.u32 [own], 0;\nbar.sync 0;\nred.shared.add.u32 [there], 1;\nbar.sync 1;\n\
                     ld.shared.u32 x, [own];\nst.global.u32 [at], x;";
    expect(histogram, "verified");
    expect(&histogram.replace("bar.sync 0;", ""), "possible-race");
    expect(&histogram.replace("bar.sync 1;", ""), "possible-race");
    // By a generic address.
    let generic = histogram.replace(
        "red.shared.add.u32 [there]",
        "cvt.u64.u32 wide, there;\ncvta.shared.u64 generic, wide;\nred.add.u32 [generic]",
    );
    expect(&generic, "verified");
    expect(&generic.replace("bar.sync 1;", ""), "possible-race");
    // In a loop that goes on by what was loaded.
    let many = histogram.replace(
        "red.shared",
        "mov.u32 i, 0;\nL: setp.ge.u32 p, i, v;\n@p bra M;\nred.shared.add.u32 [there], 1;\nadd.u32 i, i, 1;\nbra L;\nM: red.shared",
    );
    expect(&many, "verified");
    expect(&many.replace("bar.sync 1;", ""), "possible-race");
}

#[test]
fn stores_reach_their_variable_and_no_other() {
    let one = "@leader st.shared.u32 [there], v;\nbar.sync 0;\nld.shared.u32 x, [own];";
    expect(one, "verified");
    expect(&one.replace("bar.sync 0;", ""), "possible-race");
    let other = one.replace("[own]", "[other+8]").replace("bar.sync 0;", "");
    expect(&other, "verified");
    // Where all threads do, two may meet.
    expect("st.shared.u32 [there], v;", "possible-race");
    // Two variables: one or the other.
    let either = "setp.lt.s32 p, v, 0;\nmov.u32 i, other;\nselp.u32 y, there, i, p;\n\
                  @leader st.shared.u32 [y], v;\nBARRIER\nld.shared.u32 x, [other];";
    expect(&either.replace("BARRIER", "bar.sync 0;"), "verified");
    expect(&either.replace("BARRIER", ""), "possible-race");
    // Dynamic shared memory is all that the kernel's own variables leave.
    let dynamic = "mov.u32 i, rest;\nadd.u32 y, i, k;\nand.b32 y, y, -4;\n@leader st.shared.u32 [y], v;\nld.shared.u32 x, [PLACE];";
    expect(&dynamic.replace("PLACE", "own"), "verified");
    expect(&dynamic.replace("PLACE", "rest+64"), "possible-race");
}

#[test]
fn what_was_known_of_the_variable_is_not_known_behind_a_store() {
    let branch = "@leader st.shared.u32 [data], 1;\n@leader st.shared.u32 [other], 1;\nbar.sync 0;\n@leader st.shared.u32 [there], v;\n\
                  bar.sync 0;\nld.shared.u32 x, [PLACE];\nsetp.eq.u32 p, x, 1;\n@!p bra L;\nbar.sync 1, 64;\nL:";
    expect(&branch.replace("PLACE", "other"), "verified");
    expect(&branch.replace("PLACE", "data"), "not-verifiable");
}

#[test]
fn a_deadlock_beside_them_is_one() {
    let body = "st.shared.u32 [own], 0;\nbar.sync 0;\nred.shared.add.u32 [there], 1;\nsetp.lt.u32 p, tid, 32;\n@p bra L;\n\
                bar.sync 2, 64;\nL:";
    expect(body, "deadlock");
}

#[test]
fn an_mbarrier_in_the_variable_is_not_taken_for_whole() {
    let store = "mov.u32 i, other;\nadd.u32 y, i, k;\nand.b32 y, y, -4;\n@leader st.shared.u32 [y], v;";
    let init = "@leader mbarrier.init.shared.b64 [other], 64;";
    let wait = "bar.sync 0;\nmbarrier.arrive.shared.b64 state, [other];\n\
                W: mbarrier.try_wait.shared.b64 p, [other], state;\n@!p bra W;";
    expect(&format!("{init}\n{wait}"), "verified");
    expect(&format!("{init}\n{store}\n{wait}"), "not-verifiable");
    expect(&format!("{store}\n{init}\n{wait}"), "not-verifiable");
}

#[test]
fn an_address_that_comes_from_nowhere_is_refused() {
    for address in [
        "mov.u32 x, v;",
        "ld.shared.u32 x, [own];",
        "setp.lt.s32 p, v, 0;\nselp.u32 x, there, v, p;",
        "mov.u32 x, there;\nsetp.lt.s32 p, v, 0;\n@p mov.u32 x, v;",
    ] {
        let found = expect(&format!("{address}\nst.shared.u32 [x], v;"), "not-verifiable");
        assert!(found.refusal.is_some_and(|refused| refused.reason.contains("address")));
    }
    // A number between bounds is an address between them, whatever it was made from.
    expect("mov.u32 x, data;\nsub.u32 x, there, x;\nst.shared.u32 [x], v;", "possible-race");
}

/// What may be an address of shared memory in some lanes, or on one way, is not one of global memory as it is elsewhere.
#[test]
fn generic_addresses_of_some_lanes_are_not_forgotten() {
    let into = "cvt.u64.u32 wide, there;\ncvta.shared.u64 wide, wide;\ncvt.u64.u32 state, v;\nshl.b64 state, state, 2;\n\
                add.u64 state, in, state;\n";
    let store = "st.u32 [generic], v;\nld.shared.u32 x, [own];";
    for chosen in [
        "setp.lt.u32 p, tid, 16;\n@p mov.u64 generic, wide;\n@!p mov.u64 generic, state;\n",
        "setp.lt.u32 p, tid, 16;\n@!p mov.u64 generic, state;\n@p mov.u64 generic, wide;\n",
        "setp.lt.s32 p, v, 0;\n@p bra L;\nmov.u64 generic, state;\nbra M;\nL: mov.u64 generic, wide;\nM:\n",
        "setp.lt.s32 p, v, 0;\n@p bra L;\nmov.u64 generic, wide;\nbra M;\nL: mov.u64 generic, state;\nM:\n",
        // By way of local memory, at a place that is not known.
        "st.local.u64 [table], wide;\nst.local.u64 [table+8], state;\nand.b32 y, v, 8;\nmov.u32 i, table;\nadd.u32 i, i, y;\n\
         ld.local.u64 generic, [i];\n",
        "st.local.u64 [table], state;\nsetp.lt.s32 p, v, 0;\n@p bra L;\nst.local.u64 [table], wide;\nL: ld.local.u64 generic, [table];\n",
        "st.shared.u64 [other], wide;\nst.shared.u64 [other+8], state;\nbar.sync 0;\nand.b32 y, v, 8;\nmov.u32 i, other;\n\
         add.u32 i, i, y;\nld.shared.u64 generic, [i];\n",
        // By way of memory, into which one of them is stored perhaps.
        "@leader st.shared.u64 [other], wide;\nsetp.lt.s32 p, v, 0;\nand.pred p, p, leader;\n@!p bra L;\n\
         st.shared.u64 [other], state;\nL: bar.sync 0;\nld.shared.u64 generic, [other];\n",
        "@leader st.shared.u64 [other], state;\nsetp.lt.s32 p, v, 0;\nand.pred p, p, leader;\n@!p bra L;\n\
         st.shared.u64 [other], wide;\nL: bar.sync 0;\nld.shared.u64 generic, [other];\n",
    ] {
        let found = kernel(&format!("{into}{chosen}{store}"));
        assert_ne!(found.verdict, "verified", "{chosen}\n{found:#?}");
    }
}

/// An index with bounds reaches no further.
#[test]
fn bounds_of_the_index_count() {
    let store = "INDEX\nshl.b32 z, y, 2;\nmov.u32 at_other, other;\nadd.u32 i, at_other, z;\n@leader st.shared.u32 [i+16], v;\nld.shared.u32 x, [other+PLACE];";
    for (index, reached) in [
        ("and.b32 y, v, 7;", 48),
        ("and.b32 m, v, 5;\nand.b32 a, n, 2;\nor.b32 y, m, a;", 48),
        ("rem.u32 y, v, 8;", 48),
        ("shr.u32 y, v, 29;", 48),
        ("bfe.u32 y, v, 4, 3;", 48),
        ("min.u32 y, v, 7;", 48),
        ("ld.global.u8 a, [at];\nshr.u32 y, a, 5;", 48),
        ("and.b32 a, v, 3;\nadd.u32 y, a, 4;", 48),
        ("setp.lt.s32 p, v, 0;\nand.b32 y, v, 3;\n@p mov.u32 y, 7;", 48),
    ] {
        let body = |place: u32| store.replace("INDEX", index).replace("PLACE", &place.to_string());
        expect(&body(reached), "verified");
        expect(&body(reached - 4), "possible-race");
        expect(&body(0), "verified");
    }
    // No bounds: a sign, a difference, a number that grows in a loop.
    for index in [
        "shr.s32 y, v, 29;",
        "and.b32 a, v, 3;\nsub.u32 y, a, 1;",
        "rem.s32 y, v, 8;",
        "mov.u32 y, 0;\nL: add.u32 y, y, 1;\nsetp.lt.u32 p, y, v;\n@p bra L;",
    ] {
        let body = store.replace("INDEX", index).replace("PLACE", "200");
        expect(&body, "possible-race");
    }
}

/// Each warp has a row of 32 words in `data`, at `row`; `m` is 31, by numbers that the text alone does not tell.
const ROWS: &str = "shr.u32 i, tid, 5;\nshl.b32 i, i, 7;\nmov.u32 a, data;\nadd.u32 a, a, i;\n\
                    mov.u32 m, -1;\nshl.b32 m, m, 5;\nnot.b32 m, m;\n";

#[test]
fn an_address_between_bounds_is_in_no_other_row() {
    let counts = format!(
        "{ROWS}st.shared.u32 [own], 0;\nbar.warp.sync -1;\nand.b32 x, loaded, m;\nshl.b32 x, x, 2;\nadd.u32 spot, a, x;\n\
         red.shared.add.u32 [spot], 1;\nbar.warp.sync -1;\nld.shared.u32 y, [own];"
    );
    expect(&counts, "verified");
    for (what, by) in [
        // 64 words, and so the next row as well.
        ("shl.b32 m, m, 5;", "shl.b32 m, m, 6;"),
        ("and.b32 x, loaded, m;", "or.b32 x, loaded, m;"),
        // One word too far.
        ("add.u32 spot, a, x;", "add.u32 spot, a, x;\nadd.u32 spot, spot, 4;"),
        ("red.shared.add.u32 [spot], 1;", "red.shared.add.u32 [spot+4], 1;"),
        // The first row's too near.
        ("red.shared.add.u32 [spot], 1;", "red.shared.add.u32 [spot+-4], 1;"),
        // What the mask was, and not what it has become.
        ("and.b32 x, loaded, m;", "mov.u32 z, 63;\nand.b32 x, loaded, z;\nmov.u32 z, 31;"),
        ("and.b32 x, loaded, m;", "and.b32 x, loaded, 63;\nsetp.gt.s32 p, v, 0;\n@p and.b32 x, loaded, m;"),
        ("shl.b32 x, x, 2;", "shl.b32 x, x, 2;\nadd.u32 x, x, x;"),
        ("bar.warp.sync -1;\nand", "and"),
    ] {
        let other = counts.replacen(what, by, 1);
        assert_ne!(other, counts, "{what}");
        expect(&other, "possible-race");
    }
    // A long way to the address, and one that is too long to be followed.
    for (sums, verdict) in [(40, "verified"), (80, "possible-race")] {
        let way = format!("{}shl.b32 x, x, 2;", "add.u32 x, x, 0;\n".repeat(sums));
        expect(&counts.replacen("shl.b32 x, x, 2;", &way, 1), verdict);
    }
    // In another block the mask is still known, and the index is not.
    let apart =
        counts.replacen("shl.b32 x, x, 2;", "setp.lt.u32 p, tid, 99;\n@!p bra E;\nE: shl.b32 x, x, 2;", 1);
    expect(&apart, "possible-race");
    // By a generic address, made before or behind the sum.
    for generic in [
        "cvt.u64.u32 wide, spot;\ncvta.shared.u64 generic, wide;\nred.add.u32 [generic], 1;",
        "sub.u32 x, spot, a;\ncvt.u64.u32 wide, a;\ncvta.shared.u64 generic, wide;\ncvt.u64.u32 wide, x;\n\
         add.u64 generic, generic, wide;\nred.add.u32 [generic+0], 1;",
    ] {
        let found = counts.replacen("red.shared.add.u32 [spot], 1;", generic, 1);
        expect(&found, "verified");
    }
    let behind = "and.b32 x, loaded, m;\nmul.wide.u32 wide, x, 4;\ncvt.u64.u32 at, a;\ncvta.shared.u64 generic, at;\n\
                  add.u64 generic, wide, generic;\nred.add.u32 [generic], 1;";
    let begin = counts.find("and.b32 x").expect("it is there");
    let end = counts.find("bar.warp.sync -1;\nld").expect("it is there");
    expect(&format!("{}{behind}\n{}", &counts[..begin], &counts[end..]), "verified");
}

#[test]
fn what_another_warp_has_yet_to_read_stays_known_beside_an_address_between_bounds() {
    let chosen = format!(
        "{ROWS}@leader st.shared.u32 [other], v;\nbar.sync 0;\nld.shared.u32 n, [other];\nsetp.gt.s32 q, n, 0;\n\
         and.b32 x, loaded, m;\nshl.b32 x, x, 2;\nadd.u32 spot, PLACE, x;\nred.shared.add.u32 [spot], 1;\n@q bra L;\nbar.sync 0;\nL:"
    );
    expect(&chosen.replace("PLACE", "a"), "verified");
    // One variable for both, as a union of C++ is: behind the rows, or in them.
    let union = chosen.replace("PLACE", "a").replace("[other]", "[data+248]");
    expect(&union.replace("shl.b32 m, m, 5;", "shl.b32 m, m, 4;"), "verified");
    expect(&union, "possible-race");
}
