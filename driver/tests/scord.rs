//! What ScoRD on the device finds is what the native detector finds of the same launch.

mod logging_support;
mod scord_support;
mod scripts_support;

use std::collections::BTreeMap;

use bugaroo_detectors::{Finding, Missing};
use bugaroo_simulator::{AllocationKind, End, LaunchSpec};
use cuda::looking::Sizes;
use logging_support::random;
use scord_support::{Device, Ran, Setup};

fn sizes(words: u64, races: u64) -> Sizes {
    Sizes { words, races, kind: AllocationKind::Tool }
}

fn setup(seed: u64) -> Setup {
    Setup { seed, pct: seed % 3 == 2, lockstep: false, sizes: sizes(64 << 20, 1 << 12) }
}

/// Two accesses that race, which condition, and how often.
fn sorted(findings: &[Finding]) -> Vec<String> {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for Finding { kind, class, missing, first, second, count, .. } in findings {
        let by = format!("{:?} at {} {:?}", second.kind, second.site, second.strength);
        let behind = format!("{:?} at {} {:?}", first.kind, first.site, first.strength);
        *counts.entry(format!("{kind:?} {class:?} {missing:?}: {by} behind {behind}")).or_default() += count;
    }
    counts.into_iter().map(|(what, count)| format!("{what}, {count} times")).collect()
}

fn same(ran: &Ran, what: &str) {
    assert_eq!(sorted(&ran.native.0), sorted(&ran.device.0), "{what}: native, then the device");
    let mut warnings = [ran.native.1.clone(), ran.device.1.clone()];
    warnings.iter_mut().for_each(|all| all.sort());
    assert_eq!(warnings[0], warnings[1], "{what}: warnings");
}

fn run(source: &str, setup: &Setup, (grid, block): (u32, u32)) -> Ran {
    let mut device = Device::new(source).unwrap_or_else(|error| panic!("{error}"));
    let out = device.memory.alloc(1 << 16, 256, AllocationKind::Program).expect("room");
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

#[test]
fn random_kernels_of_scopes_and_locks() {
    let (mut told, mut found) = (0, BTreeMap::new());
    for seed in 0..120 {
        let source = scord_support::random::kernel(seed);
        let setup = Setup { lockstep: true, ..setup(seed) };
        let ran = run(&source, &setup, (3, 96));
        let (n, d) = (sorted(&ran.native.0), sorted(&ran.device.0));
        if n != d || ran.native.1 != ran.device.1 {
            println!("SEED {seed} {:?} {:?}\n{source}", ran.native.1, ran.device.1);
            n.iter().filter(|x| !d.contains(x)).for_each(|x| println!("  n {x}"));
            d.iter().filter(|x| !n.contains(x)).for_each(|x| println!("  d {x}"));
        }
        told += ran.told;
        for finding in &ran.device.0 {
            *found.entry(finding.missing).or_insert(0) += 1;
        }
    }
    println!("{told} accesses of lanes, {found:?}");
    for missing in [
        Missing::BlockFence,
        Missing::DeviceFence,
        Missing::StrongAccess,
        Missing::AtomicScope,
        Missing::LockOnLoad,
        Missing::LockOnStore,
    ] {
        assert!(found.get(&missing).is_some_and(|count| *count > 5), "{missing:?}: {found:?}");
    }
}

#[test]
fn random_kernels() {
    let mut found = 0;
    for seed in 0..60 {
        let source = random::kernel(seed);
        for lockstep in [false, true] {
            let setup = Setup { lockstep, ..setup(seed) };
            let ran = run(&source, &setup, (2, 64));
            if lockstep { same(&ran, &format!("seed {seed}, lockstep {lockstep}\n{source}")); } else {
            let (n, d) = (sorted(&ran.native.0), sorted(&ran.device.0));
            if n != d { println!("SEED i {seed}"); 
            n.iter().filter(|x| !d.contains(x)).for_each(|x| println!("  n {x}"));
            d.iter().filter(|x| !n.contains(x)).for_each(|x| println!("  d {x}"));
            }
            }
            found += ran.device.0.len();
        }
    }
    assert!(found > 200, "{found} findings");
}

#[test]
fn scripts() {
    scripts_support::all(36, |path, script, seed| {
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
