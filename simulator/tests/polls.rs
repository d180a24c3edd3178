//! A turn of a warp that polls is counted, and not executed. Nobody can tell: the same end, the same counts, and the same memory as
//! where somebody looks on, and every round is executed.

use bugaroo_simulator::End;
use bugaroo_simulator::Rng;

use crate::conflict_support::{Launch, text};

/// Takes a lock, adds to a counter under it, and gives it back.
fn lock(take: &str, order: &str) -> String {
    format!(
        "LOCK: {take}\nsetp.ne.u32 %p1, %r5, 0;\n@%p1 bra LOCK;\n{order}\nld.volatile.global.u32 %r6, [%rd0+8];\n\
         add.u32 %r6, %r6, 1;\nst.volatile.global.u32 [%rd0+8], %r6;\nmembar.gl;\natom.global.exch.b32 %r7, [%rd0], 0;"
    )
}

const SWAP: &str = "atom.global.cas.b32 %r5, [%rd0], 0, 1;";
const EXCHANGE: &str = "atom.global.exch.b32 %r5, [%rd0], 1;";

/// The first lane of each warp does it, and the others wait, or have ended.
fn by_leaders(body: &str, others: &str) -> String {
    format!("and.b32 %r8, %r1, 31;\nsetp.ne.u32 %p2, %r8, 0;\n@%p2 bra REST;\n{body}\nREST: {others}")
}

/// Programs in which threads poll.
fn programs() -> Vec<(&'static str, String)> {
    let wide = "ADD: ld.volatile.global.u64 %rd2, [%rd0+16];\nadd.u64 %rd3, %rd2, 1;\n\
                atom.global.cas.b64 %rd4, [%rd0+16], %rd2, %rd3;\nsetp.ne.u64 %p1, %rd4, %rd2;\n@%p1 bra ADD;";
    let flag = "setp.ne.u32 %p2, %r1, 40;\n@%p2 bra WAIT;\nmov.u32 %r9, 0;\n\
                WORK: add.u32 %r9, %r9, 1;\nst.volatile.shared.u32 [%r3], %r9;\nsetp.lt.u32 %p1, %r9, 60;\n@%p1 bra WORK;\n\
                membar.gl;\nst.volatile.global.u32 [%rd0], 7;\n\
                WAIT: ld.volatile.global.u32 %r5, [%rd0];\nsetp.eq.u32 %p1, %r5, 0;\n@%p1 bra WAIT;\n\
                st.global.u32 [%rd1+64], %r5;";
    let ticket = "atom.global.add.u32 %r5, [%rd0], 1;\n\
                  TURN: ld.acquire.gpu.global.u32 %r6, [%rd0+4];\nsetp.ne.u32 %p1, %r6, %r5;\n@%p1 bra TURN;\n\
                  ld.volatile.global.u32 %r7, [%rd0+8];\nadd.u32 %r7, %r7, 1;\nst.volatile.global.u32 [%rd0+8], %r7;\n\
                  add.u32 %r6, %r6, 1;\nst.release.gpu.global.u32 [%rd0+4], %r6;";
    let counts = "mov.u32 %r9, 0;\nAGAIN: ld.volatile.global.u32 %r5, [%rd0];\nadd.u32 %r9, %r9, 1;\nsetp.lt.u32 %p1, %r9, 200;\n\
                  @%p1 bra AGAIN;\nst.global.u32 [%rd1+64], %r9;";
    let narrow = "setp.eq.u32 %p2, %r1, 0;\n@%p2 bra GIVE;\n\
                  WAIT: ld.volatile.shared.s8 %r5, [values];\nsetp.ne.s32 %p1, %r5, -3;\n@%p1 bra WAIT;\n\
                  bra END;\nGIVE: mov.u32 %r9, 0;\nWORK: add.u32 %r9, %r9, 1;\nred.global.add.u32 [%rd0+12], 1;\n\
                  setp.lt.u32 %p1, %r9, 50;\n@%p1 bra WORK;\nmov.u32 %r6, 253;\nst.volatile.shared.u8 [values], %r6;\nEND:";
    let sleeps = "setp.eq.u32 %p2, %r1, 0;\n@%p2 bra GIVE;\n\
                  WAIT: ld.volatile.global.u32 %r5, [%rd0];\nsetp.ne.u32 %p1, %r5, 0;\n@%p1 bra END;\nnanosleep.u32 20;\nbra WAIT;\n\
                  GIVE: membar.gl;\nred.global.add.u32 [%rd0], 1;\nEND:";
    vec![
        ("a lock by compare and swap", by_leaders(&lock(SWAP, "membar.gl;"), "")),
        ("one by exchange", by_leaders(&lock(EXCHANGE, "membar.gl;"), "")),
        ("one without a fence", by_leaders(&lock(SWAP, ""), "")),
        (
            "while others wait at a barrier",
            by_leaders(&lock(SWAP, "membar.gl;"), "bar.sync 0;\nst.global.u32 [%rd1+64], %r1;"),
        ),
        ("acquired", by_leaders(&lock("atom.acquire.gpu.global.cas.b32 %r5, [%rd0], 0, 1;", ""), "")),
        ("released, too", by_leaders(&lock("atom.acq_rel.gpu.global.cas.b32 %r5, [%rd0], 0, 1;", ""), "")),
        (
            "in shared memory",
            by_leaders(
                &lock(SWAP, "membar.cta;")
                    .replace("global.cas.b32 %r5, [%rd0]", "shared.cas.b32 %r5, [flag]")
                    .replace("global.exch.b32 %r7, [%rd0]", "shared.exch.b32 %r7, [flag]"),
                "",
            ),
        ),
        ("an addition by compare and swap", wide.to_owned()),
        ("a flag that all lanes wait for", flag.to_owned()),
        ("tickets", by_leaders(ticket, "")),
        ("rounds that are counted", counts.to_owned()),
        ("a byte with a sign", narrow.to_owned()),
        ("who sleeps", sleeps.to_owned()),
    ]
}

fn is_the_same(what: &str, launch: &Launch) -> End {
    let (with, _) = Launch { record: true, ..launch.clone() }.leaves();
    let (without, _) = Launch { record: false, ..launch.clone() }.leaves();
    assert_eq!(with, without, "{what}: {launch:?}");
    without.end
}

#[test]
fn nobody_can_tell_that_rounds_are_not_executed() {
    for (what, body) in programs() {
        let ptx = text(&body);
        for model in ["", "store-buffer", "ptx"] {
            for seed in 0..12 {
                let launch = Launch {
                    grid: 3,
                    block: 96,
                    seed,
                    pct: seed % 4 == 3,
                    model,
                    record: true,
                    ..Launch::new(&ptx)
                };
                assert_eq!(is_the_same(what, &launch), End::Complete, "{what}");
            }
        }
    }
}

/// Nor where a launch never ends.
#[test]
fn hangs_are_told_the_same() {
    let kept = by_leaders(
        &lock(SWAP, "membar.gl;").replace("exch.b32 %r7, [%rd0], 0", "exch.b32 %r7, [%rd0], 1"),
        "bar.sync 0;",
    );
    for model in ["", "store-buffer", "ptx"] {
        for seed in 0..2 {
            let launch = Launch { grid: 2, seed, pct: seed % 2 == 1, model, ..Launch::new(&text(&kept)) };
            assert_ne!(is_the_same("a lock that is kept", &launch), End::Complete);
        }
    }
}

/// The budget ends a launch at the same instruction.
#[test]
fn a_budget_is_kept() {
    let spin = "setp.eq.u32 %p2, %r1, 5;\n@%p2 bra OTHER;\nSPIN: ld.volatile.global.u32 %r5, [%rd0];\nsetp.eq.u32 %p1, %r5, 0;\n@%p1 bra SPIN;\n\
                bra END;\nOTHER: atom.global.add.u32 %r6, [%rd0+4], 1;\nbra OTHER;\nEND:";
    for model in ["", "store-buffer"] {
        let launch = Launch { grid: 2, model, ..Launch::new(&text(spin)) };
        assert!(matches!(is_the_same("it spins", &launch), End::StepBudget(_)));
    }
}

/// Loops of random instructions around an access.
#[test]
fn random_loops_come_out_the_same() {
    let mut rng = Rng::new(77);
    let mut pick = |all: &[&str]| all[(rng.next() % all.len() as u64) as usize].to_owned();
    for number in 0..30 {
        let access = pick(&[
            "ld.volatile.global.u32 %r5, [%rd0];",
            "ld.relaxed.gpu.global.u32 %r5, [%rd0];",
            "ld.acquire.gpu.global.u32 %r5, [%rd0];",
            "atom.global.cas.b32 %r5, [%rd0], 0, 1;",
            "atom.global.exch.b32 %r5, [%rd0], 1;",
            "atom.global.or.b32 %r5, [%rd0], 0;",
            "atom.global.max.u32 %r5, [%rd0], 1;",
            "atom.global.add.u32 %r5, [%rd0], 0;",
            "atom.global.inc.u32 %r5, [%rd0], 3;",
            "ld.volatile.global.u32 %r5, [%rd1+4];",
        ]);
        let between = [(); 2].map(|()| {
            pick(&[
                "",
                "xor.b32 %r10, %r5, 5;",
                "add.u32 %r11, %r11, %r5;",
                "mov.u32 %r12, %r10;",
                "and.b32 %r5, %r5, 1;",
                "@%p3 add.u32 %r13, %r13, 1;",
                "not.b32 %r10, %r10;",
                "shr.u32 %r11, %r11, 1;",
            ])
        });
        let out = pick(&["setp.ne.u32 %p1, %r5, 0;", "setp.eq.u32 %p1, %r5, 1;", "setp.gt.u32 %p1, %r5, 2;"]);
        let bound = pick(&[
            "setp.lt.and.u32 %p1, %r14, 400, %p1;\nadd.u32 %r14, %r14, 1;",
            "add.u32 %r14, %r14, 0;\nsetp.lt.and.u32 %p1, %r14, 1, %p1;",
        ]);
        let who = pick(&["%p3", "!%p3"]);
        let release = pick(&[
            "st.volatile.global.u32 [%rd0], 0;",
            "red.global.add.u32 [%rd0], 2;",
            "atom.global.exch.b32 %r9, [%rd0], 0;",
        ]);
        let body = format!(
            "mov.u32 %r14, 0;\nmov.u32 %r10, 3;\nmov.u32 %r11, 9;\nmov.u32 %r13, 0;\nsetp.lt.u32 %p3, %r1, 17;\n@{who} bra GIVE;\n\
             SPIN: {access}\n{}\n{out}\n{bound}\n{}\n@%p1 bra SPIN;\nadd.u32 %r10, %r10, %r11;\nadd.u32 %r10, %r10, %r13;\n\
             st.global.u32 [%rd1+128], %r10;\nbra END;\n\
             GIVE: red.global.add.u32 [%rd0+2048], 1;\nadd.u32 %r14, %r14, 1;\nsetp.lt.u32 %p1, %r14, 30;\n@%p1 bra GIVE;\n{release}\nEND:",
            between[0], between[1]
        );
        for (model, seed) in
            [("", 1), ("", 2), ("store-buffer", 3), ("store-buffer", 4), ("ptx", 5), ("ptx", 6)]
        {
            let launch = Launch { grid: 2, seed, pct: seed % 2 == 0, model, ..Launch::new(&text(&body)) };
            is_the_same(&format!("program {number}:\n{body}"), &launch);
        }
    }
}
