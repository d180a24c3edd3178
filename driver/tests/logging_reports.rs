//! BARRACUDA reports the same, whether it is fed by the device's records or by the engine that runs the very same launch.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use bugaroo_detectors::{Barracuda, RaceDetector, RaceFinding, RacingParty, Warning};
use bugaroo_device::trial::logging::session::sites;
use bugaroo_device_handlers::logging::Queues;
use bugaroo_injector::logging::{Loads, LogOptions, log};
use bugaroo_semantics::event::WhoseBytes as Where;
use bugaroo_simulator::{AllocationKind, DeviceConfig, End, LaunchSpec, Memory, Program};

use crate::logging_support::own::{Own, own_sites};
use crate::logging_support::{Device, Setup, random};

/// A detector's reports with their counts: what, where and who, to the last thread.
type Reports = BTreeMap<String, u64>;

fn line(finding: &RaceFinding) -> String {
    let party = |party: &RacingParty| {
        let RacingParty { who, site, kind, strength, address, bytes, .. } = party;
        format!("{who:?} at {site}: {kind:?} {strength:?} of {bytes} bytes at {address:#x}")
    };
    let RaceFinding { kind, class, memory, address, first, second, missing, .. } = finding;
    let shared = *memory != Where::Global;
    let (first, second) = (party(first), party(second));
    format!("{kind:?} {class:?}, shared {shared}, {address:#x}, {missing:?}: {first}; {second}")
}

fn told(detector: &mut Barracuda) -> (Reports, Vec<Warning>, bool) {
    let mut reports = Reports::new();
    for finding in detector.take_findings() {
        *reports.entry(line(&finding)).or_default() += finding.count;
    }
    (reports, detector.take_warnings(), detector.proven())
}

/// Runs a kernel `k(out)` once before two detectors; answers what they report, and how it ended.
fn both(source: &str, setup: &Setup, (grid, block): (u32, u32)) -> (Reports, End) {
    let module = bugaroo_ptx::parse(source).expect("the test's PTX parses");
    let mut elsewhere = Memory::new(1 << 28).expect("address space");
    let original = Program::load(&module, &mut elsewhere, &DeviceConfig::default()).expect("it loads");
    let logged = log(source, setup.options).unwrap_or_else(|error| panic!("{error}\n{source}"));
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
    let roles = original.roles();
    let new = || {
        let mut detector = Barracuda::new();
        detector.learn_program(0, &roles);
        detector
    };
    let own = own_sites(source, &original, &device.logged, &device.program);
    let engine = Rc::new(RefCell::new(Own::new(new(), own, &device.program)));
    let mut by_records = new();
    let sites = sites(&original, &device.logged.places, 0);
    let ran = device.launch_before(&spec, setup, (engine.clone(), &mut by_records), sites);
    let mut by_events = Rc::into_inner(engine).expect("the grid is gone").into_inner().inner;
    let (events, records) = (told(&mut by_events), told(&mut by_records));
    if events != records {
        let only = |these: &Reports, others: &Reports| -> Vec<String> {
            let differ = |(line, count): &(&String, &u64)| others.get(*line) != Some(*count);
            these.iter().filter(differ).map(|(line, count)| format!("{count} times {line}")).collect()
        };
        panic!(
            "{setup:?}\n{source}\nby events alone: {:#?}\nby records alone: {:#?}\n{:?} {:?}",
            only(&events.0, &records.0),
            only(&records.0, &events.0),
            (&events.1, events.2),
            (&records.1, records.2),
        );
    }
    (records.0, ran.end)
}

fn setup(seed: u64, lockstep: bool) -> Setup {
    Setup {
        queues: Queues { count: 1 + seed as u32 % 3, capacity: [3, 64, 1000][seed as usize % 3] },
        options: LogOptions { loads: Loads::Before, branches: true, prune: false },
        seed,
        pct: seed % 4 == 3,
        lockstep,
        turns: 1 + seed % 60,
    }
}

fn random_kernels(lockstep: bool) {
    let (mut reports, mut clean, mut complete) = (0, 0, 0);
    for seed in 0..300 {
        let source = random::kernel(seed);
        let (found, end) = both(&source, &setup(seed, lockstep), (2, 64));
        complete += u32::from(end == End::Complete);
        reports += found.len();
        clean += u32::from(found.is_empty());
    }
    println!("{reports} reports, {clean} kernels without, {complete} launches complete");
    assert!(reports > 1000 && complete > 250, "{reports} reports, {complete} launches complete");
}

#[test]
fn random_kernels_in_lockstep() {
    random_kernels(true);
}

#[test]
fn random_kernels_without_lockstep() {
    random_kernels(false);
}
