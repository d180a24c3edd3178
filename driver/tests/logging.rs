//! What device code tells of itself is what the engine tells of the same launch.

use bugaroo_device_handlers::logging::Queues;
use bugaroo_injector::logging::{Loads, LogOptions, log};
use bugaroo_simulator::{AllocationKind, End, LaunchSpec};

use crate::logging_support::{Device, Did, Setup, Told, plain, random};

fn setup(seed: u64) -> Setup {
    Setup {
        queues: Queues { count: 3, capacity: 64 },
        options: LogOptions { loads: Loads::Before, branches: false, prune: false },
        seed,
        pct: seed % 3 == 2,
        lockstep: false,
        turns: 50,
    }
}

/// The two streams are one.
fn same(told: &Told, what: &str) {
    for (thread, engine) in &told.engine.threads {
        let device = told.device.threads.get(thread).map_or(&[][..], Vec::as_slice);
        if let Some(at) = (0..engine.len().max(device.len())).find(|at| engine.get(*at) != device.get(*at)) {
            panic!(
                "{what}: thread {thread:?}, its event {at}: the engine tells {:?}, the device {:?}",
                engine.get(at),
                device.get(at)
            );
        }
    }
    assert_eq!(told.engine.threads.len(), told.device.threads.len(), "{what}: threads");
}

/// Accesses come in the same order over all threads.
fn same_order(told: &Told, what: &str) {
    let pairs = told.engine.accesses.iter().zip(&told.device.accesses);
    if let Some((at, (engine, device))) = pairs.enumerate().find(|(_, (engine, device))| engine != device) {
        panic!("{what}: access {at}: the engine tells {engine:?}, the device {device:?}");
    }
    assert_eq!(told.engine.accesses.len(), told.device.accesses.len(), "{what}");
    assert_eq!(told.engine.agree, told.device.agree, "{what}: same values");
}

/// A kernel `k(out)` of this body.
fn text(body: &str) -> String {
    format!(
        ".version 8.4\n.target sm_80\n.address_size 64\n\
         .visible .entry k(.param .u64 out)\n{{\n.reg .b64 %rd<8>;\n.reg .b32 %r<16>;\n.reg .pred %p<4>;\n\
         .shared .align 16 .b8 values[8192];\n\
         ld.param.u64 %rd0, [out];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd1, %r1, 4;\nadd.u64 %rd1, %rd0, %rd1;\n\
         shl.b32 %r2, %r1, 2;\nmov.u32 %r3, values;\nadd.u32 %r3, %r3, %r2;\nadd.u32 %r4, %r1, 1000;\n{body}\nret;\n}}\n"
    )
}

fn run(source: &str, setup: &Setup, size: (u32, u32)) -> Told {
    run_at(source, setup, size).0
}

/// Answers where the buffer was, too.
fn run_at(source: &str, setup: &Setup, (grid, block): (u32, u32)) -> (Told, u64) {
    let logged = log(source, setup.options).unwrap_or_else(|error| panic!("{error}"));
    let mut device = Device::new(source, logged, setup);
    let out = device.memory.alloc(1 << 16, 256, AllocationKind::Program).expect("room");
    let params = out.to_le_bytes();
    let spec = LaunchSpec {
        kernel: "k",
        grid: [grid, 1, 1],
        block: [block, 1, 1],
        dynamic_shared: 0,
        params: &params,
        cluster: None,
        step_budget: Some(20_000_000),
    };
    let told = device.launch(&spec, setup);
    assert_eq!(told.end, End::Complete, "{setup:?}, {} records", told.records);
    (told, out)
}

/// A program whose threads do the same under every schedule does what it does without logging.
#[test]
fn the_program_is_the_same() {
    let source = text(
        "st.shared.u32 [%r3], %r4;\nbar.sync 0;\nxor.b32 %r5, %r2, 4;\nmov.u32 %r6, values;\nadd.u32 %r6, %r6, %r5;\n\
         ld.shared.u32 %r7, [%r6];\nbar.warp.sync -1;\nmembar.gl;\nred.global.add.u32 [%rd0+4096], %r7;\n\
         setp.gt.u32 %p1, %r1, 20;\n@%p1 st.global.u32 [%rd1], %r7;\n@%p1 bra END;\nst.release.gpu.global.u32 [%rd1], 1;\nEND:",
    );
    for seed in 0..4 {
        let setup = setup(seed);
        let (told, out) = run_at(&source, &setup, (3, 64));
        let spec = LaunchSpec {
            kernel: "k",
            grid: [3, 1, 1],
            block: [64, 1, 1],
            dynamic_shared: 0,
            params: &[],
            cluster: None,
            step_budget: None,
        };
        let plain = plain(&source, &spec, &setup, out);
        assert_eq!(plain.threads, told.device.threads, "seed {seed}");
    }
}

/// What is left out is what is told already.
#[test]
fn pruning() {
    let source = text(
        "ld.global.u32 %r5, [%rd1];\nadd.u32 %r5, %r5, 1;\nst.global.u32 [%rd1], %r5;\n\
         ld.global.u32 %r6, [%rd1];\nld.global.u32 %r7, [%rd1+4];\nadd.u64 %rd1, %rd1, 0;\n\
         ld.global.u32 %r8, [%rd1];\nbar.sync 0;\nld.global.u32 %r9, [%rd1];\nld.global.u32 %r10, [%rd1];\nmembar.gl;",
    );
    let lines: Vec<&str> = source.lines().collect();
    let setup = Setup { options: LogOptions { prune: true, ..setup(1).options }, ..setup(1) };
    let pruned = log(&source, setup.options).expect("it logs").pruned;
    let pruned: Vec<&str> = pruned.iter().map(|span| &source[span.start..span.end]).collect();
    // Not that of a register that was written, nor behind a barrier, nor before a fence.
    assert_eq!(pruned, ["ld.global.u32 %r6, [%rd1];"]);
    let Told { device, mut engine, .. } = run(&source, &setup, (2, 64));
    for all in engine.threads.values_mut() {
        all.retain(|did| !matches!(did, Did::Access { line, .. } if lines[*line as usize - 1] == pruned[0]));
    }
    assert_eq!(engine.threads, device.threads);
}

#[test]
fn loads_and_stores() {
    let source = text("ld.global.u32 %r5, [%rd1+4];\nadd.u32 %r5, %r5, 1;\nst.global.u32 [%rd1], %r5;");
    for seed in 0..6 {
        let told = run(&source, &setup(seed), (4, 48));
        same(&told, "plain");
        same_order(&told, "plain");
        assert_eq!(told.device.accesses.len(), 4 * 48 * 2);
    }
}

/// Everything that is told, with races on purpose.
fn mixed() -> String {
    text(
        "mov.u32 %r9, %ctaid.x;\nand.b32 %r10, %r1, 3;\nst.shared.u32 [%r3], %r4;\n\
         AGAIN:\nsetp.eq.u32 %p1, %r10, 0;\n@%p1 bra DONE;\natom.global.add.u32 %r5, [%rd0+4096], %r10;\n\
         ld.global.u32 %r6, [%rd0+4100];\nadd.u32 %r6, %r6, 1;\nst.global.u32 [%rd0+4100], %r6;\nsetp.gt.u32 %p2, %r1, 100;\n\
         @%p2 membar.gl;\nsetp.gt.u32 %p2, %r1, 40;\n@%p2 fence.acq_rel.gpu;\nsub.u32 %r10, %r10, 1;\nbra AGAIN;\n\
         DONE:\nbar.warp.sync -1;\nshfl.sync.down.b32 %r7, %r5, 1, 31, -1;\nbar.sync 0;\nxor.b32 %r8, %r2, 252;\n\
         mov.u32 %r11, values;\nadd.u32 %r11, %r11, %r8;\nld.shared.u32 %r12, [%r11];\nadd.u32 %r12, %r12, %r7;\n\
         mul.wide.u32 %rd2, %r9, 256;\nadd.u64 %rd2, %rd2, %rd1;\nst.global.u32 [%rd2], %r12;\n\
         atom.cas.b32 %r13, [%rd0+4108], 0, %r4;\nst.volatile.global.u32 [%rd0+4112], 7;\nst.global.v2.u32 [%rd0+4120], {%r9, %r10};\n\
         setp.ne.u32 %p3, %r1, 0;\n@%p3 bra END;\nmembar.gl;\nred.global.add.u32 [%rd0+4104], 1;\n\
         SPIN:\nld.volatile.global.u32 %r13, [%rd0+4104];\nsetp.lt.u32 %p3, %r13, 4;\n@%p3 bra SPIN;\nEND:",
    )
}

/// Tiny queues, so that the device waits; and readers who are late.
#[test]
fn everything() {
    let mut all = 0;
    for seed in 0..12 {
        for (capacity, most) in [(1, 3), (2, 6), (64, 400)] {
            for turns in [1, most] {
                let queues = Queues { count: 1 + seed as u32 % 3, capacity };
                // PCT lets spinning warps go on for long, and each of their turns is told: with tiny queues that takes for ever.
                let pct = capacity == 64 && seed % 3 == 2;
                let setup = Setup { queues, turns, pct, ..setup(seed) };
                let what = format!("seed {seed}, capacity {capacity}, turns {turns}");
                let told = run(&mixed(), &setup, (4, 48));
                same(&told, &what);
                same_order(&told, &what);
                all += told.device.accesses.len();
                assert!(told.device.agree.0 > 0, "{what}: no lanes of a store agree");
            }
        }
    }
    println!("{all} accesses in one order");
}

/// Branches and all.
#[test]
fn random_kernels() {
    for seed in 0..100 {
        let source = random::kernel(seed);
        let usual = setup(seed);
        let options = LogOptions { branches: true, ..usual.options };
        for lockstep in [false, true] {
            let setup = Setup { options, lockstep, ..usual.clone() };
            let what = format!("seed {seed}, lockstep {lockstep}\n{source}");
            let told = run(&source, &setup, (2, 64));
            same(&told, &what);
            same_order(&told, &what);
        }
    }
}

#[test]
fn scripts() {
    crate::scripts_support::all(36, |path, script, seed| {
        let (setup, mut accesses) = (setup(seed), 0);
        let mut device = Device::new(&script.source, log(&script.source, setup.options)?.whole()?, &setup);
        script.each(
            &mut device,
            |device| &mut device.memory,
            2_000_000,
            |device, spec, lockstep| {
                let told = device.launch(spec, &Setup { lockstep, ..setup.clone() });
                if told.end == End::Complete {
                    let what = format!("{} {}", path.display(), spec.kernel);
                    same(&told, &what);
                    same_order(&told, &what);
                    accesses += told.device.accesses.len() as u64;
                }
            },
        );
        Ok(accesses)
    });
}
