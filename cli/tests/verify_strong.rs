//! `bugaroo verify`: accesses that PTX calls morally strong do not race, and what they read is open.

use std::fs;

use crate::common::Place;

/// Warp 0 stores to a word of shared memory; warp 1 loads from there.
fn kernel(store: &str, load: &str, behind: &str) -> String {
    format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n
.visible .entry k(.param .u64 out)
.maxntid 64, 1, 1
{{
    .shared .align 8 .b8 box[8];
    .reg .b32 tid, x, y;
    .reg .b64 out, z;
    .reg .pred p;
    mov.u32 tid, %tid.x;
    ld.param.u64 out, [out];
    mov.u32 y, 7;
    setp.eq.u32 p, tid, 0;
    @p {store}
    setp.eq.u32 p, tid, 32;
    @p {load}
    {behind}
    ret;
}}
"
    )
}

#[track_caller]
fn verify(store: &str, load: &str, behind: &str, code: i32, part: &str) {
    let place = Place::new();
    fs::write(place.path("k.ptx"), kernel(store, load, behind)).unwrap();
    place.bugaroo(&["verify", "k.ptx"]).exits(code).prints(part);
}

#[test]
fn morally_strong_accesses_do_not_race() {
    let fine = "verified: no";
    for store in [
        "st.volatile.shared.u32 [box], y;",
        "st.relaxed.cta.shared.u32 [box], y;",
        "st.release.gpu.shared.u32 [box], y;",
        "atom.shared.exch.b32 y, [box], y;",
    ] {
        for load in [
            "ld.volatile.shared.u32 x, [box];",
            "ld.relaxed.sys.shared.u32 x, [box];",
            "ld.acquire.cta.shared.u32 x, [box];",
        ] {
            verify(store, load, "", 0, fine);
        }
        verify(store, "ld.shared.u32 x, [box];", "", 1, "RACE");
    }
    verify("st.shared.u32 [box], y;", "ld.volatile.shared.u32 x, [box];", "", 1, "RACE");
    // Those that meet in part are not morally strong.
    verify("st.volatile.shared.u32 [box], y;", "ld.volatile.shared.u64 z, [box];", "", 1, "RACE");
    verify("st.volatile.shared.u32 [box+4], y;", "ld.volatile.shared.v2.u32 {x, y}, [box];", "", 0, fine);
    verify("st.volatile.shared.u16 [box], y;", "ld.volatile.shared.u32 x, [box];", "", 1, "RACE");
}

#[test]
fn what_unordered_accesses_read_is_not_known() {
    // In the order of the emulation the flag is set; in others it is not.
    let (store, load) = ("st.volatile.shared.u32 [box], y;", "ld.volatile.shared.u32 x, [box];");
    let branch = "setp.ne.u32 p, tid, 32;\n @p ret;\n setp.eq.u32 p, x, 7;\n @p bar.sync 1, 32;";
    verify(store, load, branch, 4, "a value in shared memory that threads read and write in no order");
    // Two of them write what is read behind a barrier.
    let read = "bar.sync 0;\n ld.shared.u32 x, [box];\n setp.eq.u32 p, x, 7;\n @p bar.sync 1;";
    verify(store, "st.volatile.shared.u32 [box], tid;", read, 4, "in no order");
    verify(store, "st.volatile.shared.u32 [box], 7;", read, 0, "2 dynamic barriers");
    // Ordered by the barrier, it is known.
    verify(store, "mov.u32 x, 7;", read, 0, "2 dynamic barriers");
}

#[test]
fn scopes_have_to_reach_the_other_block_of_a_cluster() {
    let across = |scope: &str| {
        format!(
            ".version 8.0\n.target sm_90\n.address_size 64\n
.visible .entry k()
.maxntid 32, 1, 1
.reqnctapercluster 2, 1, 1
{{
    .shared .b32 box;
    .reg .b32 tid, rank, a, x;
    .reg .pred p;
    mov.u32 tid, %tid.x;
    barrier.cluster.arrive;
    barrier.cluster.wait;
    mov.u32 rank, %cluster_ctarank;
    mov.u32 a, box;
    mapa.shared::cluster.u32 a, a, 0;
    setp.eq.u32 p, tid, 0;
    @p st.relaxed.{scope}.shared::cluster.u32 [a], rank;
    barrier.cluster.arrive;
    barrier.cluster.wait;
    ret;
}}
"
        )
    };
    let place = Place::new();
    for (scope, code, part) in
        [("cluster", 0, "verified: no"), ("gpu", 0, "verified: no"), ("cta", 1, "RACE")]
    {
        fs::write(place.path("k.ptx"), across(scope)).unwrap();
        place.bugaroo(&["verify", "k.ptx"]).exits(code).prints(part);
    }
}
