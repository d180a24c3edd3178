//! Values that are not known and the same for all threads that see them: what one thread writes to shared memory for all, and what a warp agrees on.

use bugaroo_barriers::emulate::{KernelOptions, KernelText};
use bugaroo_barriers::findings::{KernelFindings, verify};

/// A kernel of 64 threads; `first` is the first one, `v` is not known and differs from thread to thread.
fn found(body: &str) -> KernelFindings {
    let ptx = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n
.visible .entry k(.param .u64 k_in)
.maxntid 64, 1, 1
{{
    .shared .align 4 .b8 next[16];
    .shared .align 4 .b8 data[512];
    .reg .b32 tid, mine, other, v, t, x, y, i;
    .reg .b16 h;
    .reg .b64 in;
    .reg .pred p, q, first;
    mov.u32 tid, %tid.x;
    ld.param.u64 in, [k_in];
    ld.global.u32 v, [in];
    shl.b32 mine, tid, 2;
    mov.u32 x, data;
    add.u32 mine, mine, x;
    xor.b32 other, mine, 128;
    setp.eq.u32 first, tid, 0;
    mov.u32 i, 0;
    {body}
    ret;
}}
"
    );
    let text = KernelText::new(&ptx).unwrap_or_else(|refusal| panic!("{refusal}\n{ptx}"));
    verify(&text, "k", &KernelOptions { max_steps: 1_000_000, ..KernelOptions::default() }).unwrap().findings
}

/// A queue of work: the first thread takes the next piece for all until there is none.
fn queue(take: &str, read: &str, work: &str, end: &str) -> KernelFindings {
    found(&format!("AGAIN:\n{take}\nbar.sync 0;\n{read}\n@p bra OUT;\n{work}\n{end}\nbra AGAIN;\nOUT:"))
}

const TAKE: &str = "@first atom.global.add.u32 t, [in], 1;\n@first st.shared.u32 [next], t;";
const READ: &str = "ld.shared.u32 t, [next];\nsetp.ge.u32 p, t, 100;";
const WORK: &str = "st.shared.u32 [mine], v;\nbar.sync 0;\nld.shared.u32 y, [other];";
const END: &str = "bar.sync 0;";

#[test]
fn what_one_thread_writes_for_all() {
    assert_eq!(queue(TAKE, READ, WORK, END).verdict, "verified");
    assert_eq!(queue(TAKE, READ, "", END).verdict, "verified");
    assert_ne!(queue(TAKE, READ, "", "").verdict, "verified");
    assert_ne!(queue(TAKE, READ, &WORK.replace("bar.sync 0;\n", ""), END).verdict, "verified");
    let byte = TAKE.replace("st.shared.u32 [next], t;", "st.shared.u8 [next+4], t;");
    let read = "ld.shared.u8 h, [next+4];\nsetp.eq.u16 p, h, 0;";
    assert_eq!(queue(&byte, read, WORK, END).verdict, "verified");
    // Of two values in a round, one ends the loop.
    let two = format!("{TAKE}\n@first st.shared.u32 [next+8], v;");
    let read = format!("ld.shared.u32 x, [next+8];\nsetp.eq.u32 q, x, 3;\n{READ}\nor.pred p, p, q;");
    assert_eq!(queue(&two, &read, WORK, END).verdict, "verified");
}

/// What races possibly in the rounds of a queue does so whatever their number is.
#[test]
fn what_may_race_in_a_round() {
    let work = "setp.gt.u32 q, v, 5;\n@q st.shared.u32 [mine], v;\nbar.sync 0;\nld.shared.u32 y, [other];";
    assert_eq!(queue(TAKE, READ, work, END).verdict, "verified");
    let racing = queue(TAKE, READ, &work.replace("bar.sync 0;\n", ""), END);
    assert_eq!(racing.verdict, "possible-race", "{racing:#?}");
    // Behind the end of the queue, what the threads of the last round have read.
    assert_ne!(queue(TAKE, READ, work, "").verdict, "verified");
}

/// The value is another one when it has been written again, when several threads write it, or another part of it is read.
#[test]
fn what_is_not_the_same() {
    let all = "st.shared.u32 [mine], v;\nbar.sync 0;\nld.shared.u32 x, [mine];\nsetp.eq.u32 p, x, 0;\n@p bra OUT;\nbar.sync 1, 64;\nOUT:\nst.shared.u32 [mine], v;";
    assert_eq!(found(all).verdict, "not-verifiable");
    let half = "@first st.shared.u32 [next], v;\nbar.sync 0;\nsetp.lt.u32 q, tid, 32;\n@q bra LOW;\n\
                ld.shared.u8 h, [next];\nbra BOTH;\nLOW:\nld.shared.u8 h, [next+1];\nBOTH:\nsetp.eq.u16 p, h, 0;\n@p bra OUT;\nbar.sync 1, 64;\nOUT:\nst.shared.u32 [mine], v;";
    assert_eq!(found(half).verdict, "not-verifiable");
    // Half of the threads read what was there before.
    let again = "@first st.shared.u32 [next], v;\nbar.sync 0;\nsetp.lt.u32 q, tid, 32;\n@q ld.shared.u32 x, [next];\nbar.sync 0;\n\
                 @first st.shared.u32 [next], t;\nbar.sync 0;\n@!q ld.shared.u32 x, [next];\nsetp.eq.u32 p, x, 0;\n@p bra OUT;\nbar.sync 1, 64;\nOUT:\nst.shared.u32 [mine], v;";
    assert_ne!(found(again).verdict, "verified");
    // And while it is written.
    let racing = "@first st.shared.u32 [next], v;\nld.shared.u32 x, [next];\nsetp.eq.u32 p, x, 0;\n@p bra OUT;\nbar.sync 1, 64;\nOUT:\nst.shared.u32 [mine], v;";
    assert_ne!(found(racing).verdict, "verified");
}

#[test]
fn what_a_warp_agrees_on() {
    let warp = |agreed: &str| {
        found(&format!(
            "setp.lt.u32 q, tid, 32;\n@!q bra OUT;\nAGAIN:\nld.global.u32 v, [in];\nsetp.eq.u32 p, v, tid;\n{agreed}\n@p bra DONE;\n\
             bar.warp.sync -1;\nst.shared.u32 [mine], v;\nbar.warp.sync -1;\nxor.b32 other, mine, 4;\nld.shared.u32 y, [other];\n\
             bar.warp.sync -1;\nadd.u32 i, i, 1;\nsetp.lt.u32 p, i, 3;\n@p bra AGAIN;\nDONE:\nOUT:\nbar.sync 0;"
        ))
    };
    for agreed in [
        "vote.sync.any.pred p, p, -1;",
        "vote.sync.all.pred p, !p, -1;",
        "vote.sync.ballot.b32 x, p, -1;\nsetp.ne.u32 p, x, 0;",
        "redux.sync.add.u32 x, v, -1;\nsetp.gt.u32 p, x, 7;",
        "shfl.sync.idx.b32 x, v, 0, 31, -1;\nsetp.gt.u32 p, x, 7;",
        "selp.u32 x, 1, 0, p;\nshfl.sync.idx.b32 x, x, 5, 31, -1;\nsetp.eq.u32 p, x, 0;",
    ] {
        let right = warp(agreed);
        assert_eq!(right.verdict, "verified", "{agreed}: {right:#?}");
    }
    // Each of them goes by its own.
    assert_ne!(warp("").verdict, "verified");
    assert_ne!(warp("shfl.sync.bfly.b32 x, v, 1, 31, -1;\nsetp.gt.u32 p, x, 7;").verdict, "verified");
}
