//! What HiRace on the device finds is what the native detector finds of the same accesses, in the order in which the device's words
//! have changed.

use std::collections::BTreeMap;

use bugaroo_detectors::hirace::Widths;
use bugaroo_detectors::watched::{Numbers, Watched};
use bugaroo_detectors::{HowFar, RaceFinding, Warning};
use bugaroo_device::trial::looking::Sizes;
use bugaroo_semantics::event::WhoseBytes as Where;
use bugaroo_simulator::{AllocationKind, End, LaunchSpec};

use crate::hirace_support::{Device, Ran, Setup};
use crate::logging_support::random;

/// The words are memory of which observers are told, and whose every access gives others their turn.
fn sizes(words: u64, races: u64) -> Sizes {
    Sizes { words, races, kind: AllocationKind::Program }
}

fn setup(seed: u64) -> Setup {
    Setup {
        seed,
        pct: seed % 3 == 2,
        lockstep: false,
        sizes: sizes(64 << 20, 1 << 10),
        widths: Widths::default(),
        watched: None,
    }
}

/// What is found: how far apart, where, by which access, and how often. Which access of several stands for those before, and which
/// element for those that raced alike, is nobody's business: the native form passes over accesses that change nothing but that.
fn sorted(findings: &[RaceFinding]) -> Vec<String> {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for RaceFinding { kind, class, memory, second, count, .. } in findings {
        let memory = if *memory == Where::Global { "global" } else { "shared" };
        let by = format!("{:?} at {} {:?}", second.kind, second.site, second.strength);
        *counts.entry(format!("{kind:?} {class:?} {memory}: {by}")).or_default() += count;
    }
    counts.into_iter().map(|(what, count)| format!("{what}, {count} times")).collect()
}

/// Whether there is a warning of this, and all others.
fn without<'a>(all: &'a [Warning], part: &str) -> (bool, Vec<&'a Warning>) {
    let (these, others): (Vec<&Warning>, Vec<&Warning>) =
        all.iter().partition(|warning| warning.what.contains(part));
    (!these.is_empty(), others)
}

fn same(ran: &Ran, what: &str) {
    assert_eq!(sorted(&ran.native.0), sorted(&ran.device.0), "{what}: native, then the device");
    // Device code does not know who of a block waits, and warns of kernels in which not all need to.
    let (partial, native) = without(&ran.native.1, "not all threads of a block wait");
    let (counted, device) = without(&ran.device.1, "barriers with thread counts");
    assert_eq!(native, device, "{what}: warnings");
    assert!(counted || !partial, "{what}: a barrier of some threads is not warned of");
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

fn run(source: &str, setup: &Setup, shape: (u32, u32)) -> Ran {
    run_watched(source, setup, shape, |_| None)
}

/// `watch`: what is looked at, by the address of `out`; None: everything.
fn run_watched(
    source: &str,
    setup: &Setup,
    (grid, block): (u32, u32),
    watch: impl FnOnce(u64) -> Option<Watched>,
) -> Ran {
    let mut device = Device::new(source).unwrap_or_else(|error| panic!("{error}"));
    let out = device.memory.alloc(1 << 16, 256, AllocationKind::Program).expect("room");
    let setup = &Setup { watched: watch(out), ..setup.clone() };
    let params = out.to_le_bytes();
    let spec = LaunchSpec {
        kernel: "k",
        grid: [grid, 1, 1],
        block: [block, 1, 1],
        dynamic_shared: 0,
        params: &params,
        cluster: None,
        step_budget: Some(50_000_000),
    };
    let ran = device.launch(&spec, setup);
    assert_eq!(ran.end, End::Complete, "{setup:?}");
    ran
}

fn classes(ran: &Ran) -> Vec<HowFar> {
    let mut all: Vec<HowFar> = ran.device.0.iter().map(|finding| finding.class).collect();
    all.sort_unstable();
    all.dedup();
    all
}

#[test]
fn threads_of_their_own_words_do_not_race() {
    let source = text("ld.global.u32 %r5, [%rd1];\nadd.u32 %r5, %r5, 1;\nst.global.u32 [%rd1], %r5;");
    for seed in 0..3 {
        let ran = run(&source, &setup(seed), (1, 80));
        same(&ran, "own words");
        assert_eq!(classes(&ran), []);
        // Lanes may part in between.
        assert!(ran.told == 160 && (6..=160).contains(&ran.counted), "{} {}", ran.told, ran.counted);
    }
}

/// A race of each class, in either memory; barriers that order.
#[test]
fn barriers_order_and_blocks_do_not() {
    let shared = text(
        "st.shared.u32 [%r3], %r4;\nbar.sync 0;\nxor.b32 %r5, %r2, 128;\nmov.u32 %r6, values;\nadd.u32 %r6, %r6, %r5;\n\
         ld.shared.u32 %r7, [%r6];\nbar.sync 0;\nst.shared.u32 [%r6], %r7;",
    );
    let unordered = shared.replacen("bar.sync 0;\n", "", 1);
    let global = text("st.global.u32 [%rd1], %r4;");
    let in_warp = text(
        "xor.b32 %r5, %r2, 4;\nst.shared.u32 [%r3], %r4;\nbar.warp.sync -1;\nmov.u32 %r6, values;\nadd.u32 %r6, %r6, %r5;\nld.shared.u32 %r7, [%r6];",
    );
    let meets = in_warp.replacen("bar.warp.sync -1;\n", "", 1);
    for seed in 0..4 {
        let found = |source: &str, what: &str| {
            let ran = run(source, &setup(seed), (3, 64));
            same(&ran, what);
            classes(&ran)
        };
        assert_eq!(found(&shared, "shared"), []);
        assert_eq!(found(&unordered, "unordered"), [HowFar::IntraBlock]);
        assert_eq!(found(&global, "global"), [HowFar::InterBlock]);
        assert_eq!(found(&in_warp, "in a warp"), []);
        assert_eq!(found(&meets, "no meeting"), [HowFar::IntraWarp]);
    }
}

/// More blocks than are resident at once: slots are used again, and what was shared before is forgotten.
#[test]
fn slots_are_used_again() {
    let source = text(
        "st.shared.u32 [%r3], %r4;\nbar.sync 0;\nxor.b32 %r5, %r2, 128;\nmov.u32 %r6, values;\nadd.u32 %r6, %r6, %r5;\n\
         ld.shared.u32 %r7, [%r6];",
    );
    let quick = Setup { sizes: Sizes { kind: AllocationKind::Tool, ..setup(1).sizes }, ..setup(1) };
    let ran = run(&source, &quick, (1100, 64));
    assert_eq!(sorted(&ran.device.0), [""; 0]);
    assert!(ran.counted >= 1100 * 4, "{}", ran.counted);
}

/// Elements are as large as the smallest access of their page.
#[test]
fn words_are_handed_on_to_smaller_elements() {
    let source = text(
        "mul.wide.u32 %rd2, %r1, 16;\nadd.u64 %rd2, %rd0, %rd2;\nst.global.v2.u64 [%rd2], {%rd0, %rd0};\n\
         st.global.v4.u32 [%rd2], {%r1, %r1, %r1, %r1};\nadd.u64 %rd3, %rd0, 4096;\ncvt.u64.u32 %rd4, %r1;\nadd.u64 %rd4, %rd3, %rd4;\n\
         setp.lt.u32 %p1, %r1, 8;\nmul.wide.u32 %rd5, %r1, 8;\nadd.u64 %rd5, %rd3, %rd5;\n@%p1 st.global.u64 [%rd5], %rd0;\n\
         bar.sync 0;\nst.global.u8 [%rd4], %r1;\nadd.u64 %rd6, %rd2, 3;\nst.global.u8 [%rd6+8192], %r1;",
    );
    for seed in 0..4 {
        let ran = run(&source, &setup(seed), (1, 64));
        same(&ran, "handed on");
        assert_eq!(classes(&ran), []);
        let ran = run(&source.replacen("bar.sync 0;\n", "", 1), &setup(seed), (1, 64));
        assert!(classes(&ran).contains(&HowFar::IntraBlock), "{:?}", ran.device.0);
    }
}

/// What does not fit is counted, and told.
#[test]
fn what_does_not_fit_is_told() {
    let source = text("st.global.u32 [%rd1], %r4;\nst.global.u32 [%rd0+8192], %r4;");
    let few = Setup { sizes: sizes(8192, 1 << 10), ..setup(0) };
    let ran = run(&source, &few, (1, 32));
    let [warning] = &ran.device.1[..] else { panic!("{:?}", ran.device.1) };
    assert!(warning.what.contains("want of room") && warning.count == 32, "{warning:?}");
    assert!(ran.device.0.is_empty(), "one page has words, and no race: {:?}", ran.device.0);

    let many: String = (0..100).map(|_| "st.global.u32 [%rd0], %r1;\n").collect();
    let few = Setup { sizes: sizes(1 << 20, 1), ..setup(0) };
    let ran =
        run(&text(&(many + "st.global.u32 [%rd1+256], 1;\nld.global.u32 %r5, [%rd1+128];")), &few, (2, 64));
    assert_eq!(ran.device.0.len(), 1, "{:?}", ran.device.0);
    let [warning] = &ran.device.1[..] else { panic!("{:?}", ran.device.1) };
    assert!(warning.what.contains("report had no room") && warning.count > 0, "{warning:?}");
}

#[test]
fn random_kernels() {
    let (mut told, mut found) = (0, 0);
    for seed in 0..60 {
        let source = random::kernel(seed);
        for lockstep in [false, true] {
            let setup = Setup { lockstep, ..setup(seed) };
            let ran = run(&source, &setup, (2, 64));
            same(&ran, &format!("seed {seed}, lockstep {lockstep}\n{source}"));
            told += ran.told;
            found += ran.device.0.len();
        }
    }
    println!("{told} accesses of lanes, {found} findings");
    assert!(found > 200, "{found} findings");
}

/// Words of other widths.
#[test]
fn random_kernels_with_few_bits() {
    let mut late = 0;
    for seed in 0..30 {
        let source = random::kernel(seed);
        let widths = match seed % 3 {
            0 => Widths { block_clock: Some(1), ..Widths::default() },
            1 => Widths { block_clock: Some(12), warp_clock: Some(9), site: Some(0) },
            _ => Widths { site: Some(1), ..Widths::default() },
        };
        let ran = run(&source, &Setup { widths, ..setup(seed) }, (2, 64));
        let (over, _) = without(&ran.device.1, "more barriers than the shadow word can count");
        late += u64::from(over);
        // Behind the last clock the two may have stopped at different accesses.
        if !over {
            same(&ran, &format!("seed {seed}\n{source}"));
        }
    }
    assert!((1..10).contains(&late), "{late} of 10 with one bit");
}

/// Of the races in global and shared memory of two blocks those are found that are looked at.
#[test]
fn what_is_not_watched_is_not_looked_at() {
    let source = text(
        "st.shared.u32 [values], %r4;\nst.shared.u32 [values+64], %r4;\nst.global.u32 [%rd0], %r4;\nst.global.u32 [%rd0+256], %r4;",
    );
    let found = |watch: &dyn Fn(u64) -> Watched| {
        let ran = run_watched(&source, &setup(1), (2, 64), |out| Some(watch(out)));
        same(&ran, "watched");
        let line = |finding: &RaceFinding| (finding.memory == Where::Global, finding.second.site);
        let mut lines: Vec<_> = ran.device.0.iter().map(line).collect();
        lines.sort_unstable();
        lines.dedup();
        lines.len()
    };
    let all = Watched::default;
    let some = |from: u64, to: u64| Numbers::of(std::iter::once(from..to));
    assert_eq!(found(&|_| all()), 4);
    assert_eq!(found(&|_| Watched::nothing()), 0);
    assert_eq!(found(&|_| Watched { global: Numbers::of([]), ..all() }), 2);
    assert_eq!(found(&|_| Watched { global: Numbers::of([]), shared: some(3, 64), ..all() }), 1);
    assert_eq!(found(&|_| Watched { global: Numbers::of([]), shared: some(4, 64), ..all() }), 0);
    assert_eq!(
        found(&|out| Watched { global: some(out + 256, out + 257), shared: some(64, 70), ..all() }),
        2
    );
    assert_eq!(found(&|out| Watched { global: some(out + 4, out + 256), ..all() }), 2);
    assert_eq!(found(&|_| Watched { blocks: some(2, 9), ..all() }), 0);
    assert_eq!(found(&|_| Watched { warps: some(2, 9), ..all() }), 0);
    assert_eq!(found(&|_| Watched { one_block_in: Some((u64::MAX, 1)), ..all() }), 0);
}

#[test]
fn scripts() {
    crate::scripts_support::all(36, |path, script, seed| {
        let (setup, mut accesses) = (setup(seed), 0);
        let mut device = Device::new(&script.source)?;
        script.each(
            &mut device,
            |device| &mut device.memory,
            4_000_000,
            |device, spec, lockstep| {
                let ran = device.launch(spec, &Setup { lockstep, ..setup.clone() });
                let what = format!("{} {}", path.display(), spec.kernel);
                if ran.end == End::Complete {
                    same(&ran, &what);
                    accesses += ran.told;
                } else {
                    println!("{what}: it does not end well");
                }
            },
        );
        Ok(accesses)
    });
}
