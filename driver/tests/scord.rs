//! What ScoRD on the device finds is what the native detector finds of the same launch: in lockstep all of it, how often and by
//! which condition.
//!
//! A place is looked at before it is executed. Where another warp has its turn between the two, which a schedule of priorities brings about
//! once in some two thousand kernels, and the two access one place, the device has them in the other order. The seeds here are without it.
//!
//! Where threads run apart, some of a warp's may access memory before the device has looked at others that it had looked at together. Then
//! the device's words change in another order than the memory, and another of two racing accesses may come first. So there the
//! two are compared on kernels that race in any order, or in none.

use std::collections::{BTreeMap, BTreeSet};

use bugaroo_detectors::scord::layout::{EntryLayout, Widths};
use bugaroo_detectors::scord::{LayoutChoice, metadata};
use bugaroo_detectors::watched::{Numbers, Watched};
use bugaroo_detectors::{MissingOrder, RaceFinding, Warning};
use bugaroo_device::trial::looking::Sizes;
use bugaroo_device_handlers::scord::flag;
use bugaroo_semantics::event::SiteNumber;
use bugaroo_simulator::{AllocationKind, End, LaunchSpec};

use crate::logging_support::random;
use crate::scord_support::{Device, Ran, Setup};

fn sizes(words: u64, races: u64) -> Sizes {
    Sizes { words, races, kind: AllocationKind::Tool }
}

fn setup(seed: u64) -> Setup {
    Setup {
        seed,
        pct: seed % 3 == 2,
        lockstep: true,
        sizes: sizes(64 << 20, 1 << 12),
        layout: LayoutChoice::Fit,
        watched: None,
    }
}

/// Two accesses that race, which condition, and how often.
fn sorted(findings: &[RaceFinding]) -> Vec<String> {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for RaceFinding { kind, class, missing, first, forgotten, second, count, .. } in findings {
        let by = format!("{:?} at {} {:?}", second.kind, second.site, second.strength);
        let behind =
            format!("{:?} at {} {:?}, forgotten: {forgotten:?}", first.kind, first.site, first.strength);
        *counts.entry(format!("{kind:?} {class:?} {missing:?}: {by} behind {behind}")).or_default() += count;
    }
    counts.into_iter().map(|(what, count)| format!("{what}, {count} times")).collect()
}

/// Which places race, whichever comes first, and by which condition.
fn pairs(findings: &[RaceFinding]) -> BTreeSet<String> {
    let pair =
        |finding: &RaceFinding| format!("{:?} {:?}: {:?}", finding.class, finding.missing, places(finding));
    findings.iter().map(pair).collect()
}

fn places(RaceFinding { first, second, .. }: &RaceFinding) -> (SiteNumber, SiteNumber) {
    (first.site.min(second.site), first.site.max(second.site))
}

/// Whether there is a warning of this, and all others.
fn without<'a>(all: &'a [Warning], part: &str) -> (bool, Vec<&'a Warning>) {
    let (these, mut others): (Vec<&Warning>, Vec<&Warning>) =
        all.iter().partition(|warning| warning.what.contains(part));
    others.sort();
    (!these.is_empty(), others)
}

fn same_warnings(ran: &Ran, what: &str) {
    // Device code does not know who of a block waits, and warns of kernels in which not all need to.
    let (partial, native) = without(&ran.native.1, "barriers of some threads of a block");
    let (counted, device) = without(&ran.device.1, "barriers with thread counts");
    assert_eq!(native, device, "{what}: warnings");
    assert!(counted || !partial, "{what}: a barrier of some threads is not warned of");
}

fn same(ran: &Ran, what: &str) {
    assert_eq!(sorted(&ran.native.0), sorted(&ran.device.0), "{what}: native, then the device");
    same_warnings(ran, what);
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

/// The word's flags are the same on either side.
#[test]
fn flags_of_a_word_are_the_detectors() {
    for (device, native) in [
        (flag::MODIFIED, metadata::MODIFIED),
        (flag::BLK_SHARED, metadata::BLK_SHARED),
        (flag::DEV_SHARED, metadata::DEV_SHARED),
        (flag::FIRST, metadata::FIRST),
        (flag::IS_ATOM, metadata::IS_ATOM),
        (flag::DEVICE_SCOPE, metadata::DEVICE_SCOPE),
        (flag::STRONG, metadata::STRONG),
        (flag::ORDERED, metadata::ORDERED),
    ] {
        assert_eq!(device, u32::from(native));
    }
}

#[test]
fn random_kernels_of_scopes_and_locks() {
    let (mut told, mut found) = (0, BTreeMap::new());
    for seed in 0..120 {
        let source = crate::scord_support::random::kernel(seed);
        let ran = run(&source, &setup(seed), (3, 96));
        same(&ran, &format!("seed {seed}\n{source}"));
        told += ran.told;
        for finding in &ran.device.0 {
            *found.entry(finding.missing).or_insert(0) += 1;
        }
    }
    println!("{told} accesses of lanes, {found:?}");
    for missing in [
        MissingOrder::BlockFence,
        MissingOrder::DeviceFence,
        MissingOrder::StrongAccess,
        MissingOrder::AtomicScope,
        MissingOrder::LockOnLoad,
        MissingOrder::LockOnStore,
    ] {
        assert!(found.get(&missing).is_some_and(|count| *count > 5), "{missing:?}: {found:?}");
    }
}

#[test]
fn random_kernels() {
    let mut found = 0;
    for seed in 0..60 {
        let source = random::kernel(seed);
        let ran = run(&source, &setup(seed), (2, 64));
        same(&ran, &format!("seed {seed}\n{source}"));
        found += ran.device.0.len();
    }
    assert!(found > 200, "{found} findings");
}

/// Part of the memory, some blocks and some warps are looked at; words have other fields.
#[test]
fn random_kernels_of_which_not_all_is_looked_at() {
    let (mut found, mut of_all) = (0, 0);
    for seed in 0..120 {
        let source = crate::scord_support::random::kernel(seed);
        let mut numbers = random::Numbers(seed ^ 0xa11);
        let mut some = |start: u64, most: u64| {
            let mut range = || {
                let from = start + numbers.next(most);
                from..from + 1 + numbers.next(most / 2 + 1)
            };
            Numbers::of([range(), range(), range()])
        };
        let mut watch = |out: u64| Watched {
            global: if seed % 4 == 0 { Numbers::all() } else { some(out, 4096) },
            blocks: if seed % 3 == 0 { some(0, 3) } else { Numbers::all() },
            warps: if seed % 5 == 0 { some(0, 3) } else { Numbers::all() },
            one_block_in: (seed % 7 == 0).then_some((2, seed)),
            ..Watched::default()
        };
        let layout = match seed % 3 {
            0 => LayoutChoice::Fit,
            1 => LayoutChoice::Paper,
            _ => {
                let layout = EntryLayout::new(Widths {
                    block: 4,
                    warp: 3,
                    dev_fence: 6,
                    blk_fence: 5,
                    barrier: 6,
                    bloom: [0, 8, 16][seed as usize / 3 % 3],
                    site: 8,
                    ..Widths::default()
                });
                LayoutChoice::Given(layout.expect("these fit"))
            }
        };
        let setup = Setup { layout, ..setup(seed) };
        let ran = run_watched(&source, &setup, (3, 96), |out| Some(watch(out)));
        same(&ran, &format!("seed {seed}, {layout:?}\n{source}"));
        found += ran.device.0.len();
        of_all += run(&source, &setup, (3, 96)).device.0.len();
    }
    assert!(found > 100 && found < of_all, "{found} findings of {of_all}");
}

/// Threads run apart.
#[test]
fn kernels_that_race_in_any_order_or_in_none() {
    let mut found = 0;
    for seed in 0..120 {
        let (source, expected) = crate::scord_support::random::settled(seed, seed % 3 != 0);
        for (expected, shape) in expected.into_iter().zip([(1, 96), (3, 32)]) {
            let ran = run(&source, &Setup { lockstep: false, ..setup(seed) }, shape);
            let what = format!("seed {seed}, {shape:?}\n{source}");
            let device = pairs(&ran.device.0);
            assert_eq!(pairs(&ran.native.0), device, "{what}: native, then the device");
            // A fence of one thread between the two makes it another condition.
            let racing: BTreeSet<(SiteNumber, SiteNumber)> = ran.device.0.iter().map(places).collect();
            assert_eq!(racing.len(), expected, "{what}: {device:?}");
            same_warnings(&ran, &what);
            found += expected;
        }
    }
    assert!(found > 100, "{found} pairs of places");
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
