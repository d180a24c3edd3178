//! Whoever looks on changes nothing, is told what the contract says, and what it is told is what memory holds.

use std::cell::RefCell;
use std::rc::Rc;

use crate::observed_support::checker::Checker;
use crate::observed_support::{Launch, MODELS, text};
use bugaroo_semantics::event::{Access, AccessKind, Event, WhoseBytes};
use bugaroo_semantics::{Observer, Wants};
use bugaroo_simulator::End;

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

/// Runs it with and without a checker; answers the checker.
fn law(launch: &Launch<'_>, wants: Wants) -> Checker {
    let checker = Rc::new(RefCell::new(Checker::new(wants)));
    let with = launch.run(Some(checker.clone()));
    let without = launch.run(None);
    assert_eq!(with, without, "{launch:?}");
    let checker = Rc::into_inner(checker).expect("the launch is over").into_inner();
    checker.finish();
    if with.end == End::Complete {
        for (address, bytes) in &with.buffers {
            checker.compare(*address, &vec![0; bytes.len()], bytes);
        }
    }
    checker
}

#[test]
fn a_launch_is_told() {
    let ptx = mixed();
    for lockstep in [false, true] {
        for seed in 0..15 {
            let launch =
                Launch { grid: 4, block: 48, seed, lockstep, pct: seed % 3 == 0, ..Launch::new(&ptx) };
            let checker = law(&launch, Wants { branches: true, sources: true, before: true });
            for what in
                ["before", "load", "store", "atomic", "fence", "arrive", "leave", "warp barrier", "block"]
            {
                assert!(checker.told[what] > 0, "{what}");
            }
            assert!(checker.compared > 0);
        }
    }
}

/// What is told of a warp's matrix instructions: kind, bytes of an element, elements, lanes, and where the first goes.
#[derive(Default)]
struct Matrices(Vec<(AccessKind, u32, u32, u32, u64)>);

impl Observer for Matrices {
    fn wants(&self) -> Wants {
        Wants::default()
    }

    fn event(&mut self, _: &Event<'_>) {}

    fn access(&mut self, access: &Access<'_>) {
        if access.memory == WhoseBytes::Shared(0) {
            let first = access.address(access.by.mask.trailing_zeros());
            self.0.push((access.kind, access.size, access.elements, access.by.mask, first));
        }
    }
}

#[test]
fn matrices_are_told() {
    // A 16 x 16 matrix of 16-bit elements from row 0 on, four of 8 x 8 from 1024 on, and one from 2048 on written.
    let ptx = text(
        "mov.u32 %r9, values;\nmov.u32 %r10, 16;\nshl.b32 %r11, %r1, 4;\nadd.u32 %r11, %r11, %r9;\n\
         wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%r12, %r13, %r14, %r15, %r5, %r6, %r7, %r8}, [%r9], %r10;\n\
         ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r5, %r6, %r7, %r8}, [%r11+1024];\n\
         stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r11+2048], {%r4, %r1};\n\
         wmma.store.d.sync.aligned.row.m16n16k16.shared.f16 [%r9+4096], {%r4, %r1, %r4, %r2}, %r10;",
    );
    let launch = Launch { block: 32, ..Launch::new(&ptx) };
    let told = Rc::new(RefCell::new(Matrices::default()));
    launch.run(Some(told.clone()));
    let told = std::mem::take(&mut told.borrow_mut().0);
    let (read, write) = (AccessKind::Load, AccessKind::Store);
    let offset = told[0].4;
    // The 256 elements of A are held twice: of lanes the first 16 count.
    let mut wanted: Vec<_> = (0..16).map(|i| (read, 2, 1, 0xffff, offset + i * 2)).collect();
    wanted.extend((0..4).map(|i| (read, 4, 4, 0xff << (8 * i), offset + 1024 + i * 128)));
    wanted.extend((0..2).map(|i| (write, 4, 4, 0xff << (8 * i), offset + 2048 + i * 128)));
    wanted.extend((0..8).map(|i| (write, 2, 1, u32::MAX, offset + 4096 + i * 2)));
    assert_eq!(told, wanted);
    // What was told as written is what is there.
    for model in MODELS {
        let checker =
            law(&Launch { model, ..launch.clone() }, Wants { branches: true, sources: true, before: false });
        assert_eq!((checker.told["load"], checker.told["store"]), (20, 10));
    }
}

#[test]
fn constants_are_told() {
    let kernel = text(
        "and.b32 %r9, %r1, 3;\nmul.wide.u32 %rd2, %r9, 4;\nmov.u64 %rd3, bank;\nadd.u64 %rd3, %rd3, %rd2;\n\
         ld.const.u32 %r11, [%rd3];\nst.global.u32 [%rd1], %r11;",
    );
    let ptx =
        kernel.replace(".visible .entry", ".const .align 4 .b32 bank[4] = {5, 6, 7, 8};\n.visible .entry");
    for model in MODELS {
        for seed in 0..5 {
            let launch = Launch { grid: 3, seed, model, ..Launch::new(&ptx) };
            let checker = law(&launch, Wants { branches: true, sources: true, before: true });
            // A warp's lanes may part.
            assert!(checker.told["load"] >= 6 && checker.told["load"] == checker.told["store"]);
        }
    }
}

#[test]
fn sides_of_a_branch_take_turns() {
    // The side that falls through lies in two pieces, with the other side between them; each loops once more with half of its lanes.
    let ptx = text(
        "setp.lt.u32 %p1, %r1, 16;\nmov.u32 %r9, 0;\n@%p1 bra TAKEN;\nst.shared.u32 [%r3], %r1;\nbra REST;\n\
         TAKEN: and.b32 %r10, %r1, 1;\nsetp.gt.u32 %p2, %r10, %r9;\nadd.u32 %r9, %r9, 1;\n\
         st.shared.u32 [%r3], %r9;\n@%p2 bra TAKEN;\nbra JOIN;\n\
         REST: st.shared.u32 [%r3], %r9;\nJOIN: ld.shared.u32 %r12, [%r3];\nmul.wide.u32 %rd2, %r1, 4;\n\
         add.u64 %rd2, %rd2, %rd1;\nst.global.u32 [%rd2], %r12;",
    );
    for seed in 0..5 {
        let launch = Launch { grid: 2, block: 48, seed, lockstep: true, ..Launch::new(&ptx) };
        let checker = law(&launch, Wants { branches: true, sources: false, before: false });
        // Of each block one warp parts, its lower half once more; both come together once.
        assert_eq!(checker.told["split"], 4, "{:?}", checker.told);
        assert_eq!(checker.told["join"], 4, "{:?}", checker.told);
        assert!(checker.told["else"] >= 4, "{:?}", checker.told);
    }
}

#[test]
fn a_launch_under_a_model_is_told() {
    let ptx = mixed();
    for model in ["store-buffer", "ptx"] {
        let mut told = std::collections::BTreeMap::new();
        for lockstep in [false, true] {
            for seed in 0..30 {
                let pct = seed % 3 == 0;
                let launch = Launch { grid: 4, block: 48, seed, lockstep, pct, model, ..Launch::new(&ptx) };
                let checker = law(&launch, Wants { branches: true, sources: true, before: false });
                assert!(checker.compared > 0);
                told.extend(checker.told);
            }
        }
        for what in ["landed", "read from"] {
            assert!(told[what] > 0, "{model}: {what}");
        }
    }
}

/// A barrier at which nobody waits completes, too; of another, lanes leave.
#[test]
fn barriers_complete() {
    let ptx = text("bar.arrive 1, 64;\nbar.sync 0;\nbar.arrive 1, 64;");
    for model in MODELS {
        let launch = Launch { model, ..Launch::new(&ptx) };
        let checker = law(&launch, Wants { branches: true, sources: true, before: false });
        assert_eq!((checker.told["completed"], checker.told["leave"], checker.told["arrive"]), (2, 2, 6));
    }
}

/// However many copies a warp has under way, its wait is told of each.
#[test]
fn every_copy_is_awaited() {
    let ptx = text(
        "mov.u32 %r5, 0;\nAGAIN:\ncp.async.ca.shared.global [%r3], [%rd1], 4;\nadd.u32 %r5, %r5, 1;\n\
         setp.lt.u32 %p1, %r5, 200;\n@%p1 bra AGAIN;\ncp.async.wait_all;",
    );
    for late_copies in [false, true] {
        let launch = Launch { block: 32, late_copies, ..Launch::new(&ptx) };
        let counts = Rc::new(RefCell::new(Copies::default()));
        launch.run(Some(Rc::clone(&counts) as _));
        assert_eq!((counts.borrow().issued, counts.borrow().awaited), (6400, 6400));
    }
}

#[derive(Default)]
struct Copies {
    issued: u32,
    awaited: u32,
}

impl bugaroo_semantics::Observer for Copies {
    fn wants(&self) -> Wants {
        Wants::default()
    }

    fn access(&mut self, _access: &bugaroo_semantics::event::Access<'_>) {}

    fn event(&mut self, event: &bugaroo_semantics::event::Event<'_>) {
        use bugaroo_semantics::event::Event;
        self.issued += u32::from(matches!(event, Event::CopyIssued { .. }));
        self.awaited += u32::from(matches!(event, Event::CopyAwaited { .. }));
    }
}

#[test]
fn launches_are_the_same() {
    let ptx = mixed();
    for model in MODELS {
        for lockstep in [false, true] {
            for seed in 0..6 {
                let launch = Launch {
                    grid: 4,
                    block: 48,
                    seed,
                    lockstep,
                    pct: seed % 3 == 0,
                    model,
                    ..Launch::new(&ptx)
                };
                let nobody = Rc::new(RefCell::new(Nobody));
                assert_eq!(launch.run(Some(nobody)), launch.run(None), "{launch:?}");
            }
        }
    }
}

/// Asks for everything, and does nothing with it.
struct Nobody;

impl bugaroo_semantics::Observer for Nobody {
    fn wants(&self) -> Wants {
        Wants { branches: true, sources: true, before: false }
    }

    fn access(&mut self, _access: &bugaroo_semantics::event::Access<'_>) {}

    fn event(&mut self, _event: &bugaroo_semantics::event::Event<'_>) {}
}
