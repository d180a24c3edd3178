//! A recorder changes nothing: the same end, the same counts (turns among them), and the same memory with it and without.

use crate::conflict_support::{Launch, text};

/// Loads, stores, atomics, fences whose guard does not hold, barriers, divergence, and shuffles.
fn mixed() -> String {
    text(
        "mov.u32 %r9, %ctaid.x;\nand.b32 %r10, %r1, 3;\nst.shared.u32 [%r3], %r4;\n\
         AGAIN: setp.eq.u32 %p1, %r10, 0;\n@%p1 bra DONE;\natom.global.add.u32 %r5, [%rd0+4096], %r10;\n\
         ld.global.u32 %r6, [%rd0+4100];\nadd.u32 %r6, %r6, 1;\nst.global.u32 [%rd0+4100], %r6;\nsetp.gt.u32 %p2, %r1, 100;\n\
         @%p2 membar.gl;\nsetp.gt.u32 %p2, %r1, 40;\n@%p2 fence.acq_rel.gpu;\nsub.u32 %r10, %r10, 1;\nbra AGAIN;\n\
         DONE: bar.warp.sync -1;\nshfl.sync.down.b32 %r7, %r5, 1, 31, -1;\nbar.sync 0;\nxor.b32 %r8, %r2, 252;\n\
         mov.u32 %r11, values;\nadd.u32 %r11, %r11, %r8;\nld.shared.u32 %r12, [%r11];\nadd.u32 %r12, %r12, %r7;\n\
         mul.wide.u32 %rd2, %r9, 256;\nadd.u64 %rd2, %rd2, %rd1;\nst.global.u32 [%rd2], %r12;\n\
         setp.ne.u32 %p3, %r1, 0;\n@%p3 bra END;\nmembar.gl;\nred.global.add.u32 [%rd0+4104], 1;\n\
         SPIN: ld.volatile.global.u32 %r13, [%rd0+4104];\nsetp.lt.u32 %p3, %r13, 4;\n@%p3 bra SPIN;\nEND:",
    )
}

#[test]
fn launches_are_the_same_with_it() {
    for model in ["", "store-buffer", "ptx"] {
        for lockstep in [false, true] {
            for seed in 0..15 {
                let ptx = mixed();
                let pct = seed % 3 == 0;
                let launch = Launch { grid: 4, block: 48, seed, lockstep, pct, model, ..Launch::new(&ptx) };
                let (with, found) = launch.leaves();
                let (without, nothing) = Launch { record: false, ..launch }.leaves();
                assert_eq!(with, without, "{model:?}, lockstep {lockstep}, seed {seed}");
                assert!(!found.conflicts.is_empty() && nothing.conflicts.is_empty());
            }
        }
    }
}

/// So are launches that hang: a look at them is another model around the recorder.
#[test]
fn hangs_are_the_same_with_it() {
    let spin = text(
        "SPIN: ld.volatile.global.u32 %r5, [%rd0];\nsetp.eq.u32 %p1, %r5, 0;\nsetp.gt.u32 %p2, %r1, 100;\n@%p2 membar.gl;\n@%p1 bra SPIN;",
    );
    for model in ["", "store-buffer", "ptx"] {
        let launch = Launch { grid: 2, model, ..Launch::new(&spin) };
        let (with, _) = launch.leaves();
        let (without, _) = Launch { record: false, ..launch }.leaves();
        assert_eq!(with, without, "{model:?}");
    }
}

/// What is found is the same each time.
#[test]
fn what_is_found_is_deterministic() {
    for model in ["", "store-buffer", "ptx"] {
        let launch = Launch { grid: 4, seed: 5, model, ..Launch::new(&mixed()) };
        assert_eq!(launch.leaves(), launch.leaves());
    }
}

/// More different pairs than are kept are counted.
#[test]
fn the_bound_on_pairs_is_told() {
    let stores: String =
        (0..30).map(|_| "st.global.u32 [%rd0], %r1;\nld.global.u32 %r5, [%rd0];\n").collect();
    let launch = Launch { grid: 4, ..Launch::new(&text(&stores)) };
    let (_, found) = launch.leaves();
    assert_eq!(found.conflicts.len(), 256);
    assert!(found.more > 0);
}
