//! What goes beside a stretch of the source is where nvcc puts it when the source has it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::harness::{failures, marked, session, trials};
use crate::support::{Runtime, build, nvcc, programs};
use bugaroo_harness::Variation;
use bugaroo_injector::collect_sites::collect_sites;
use bugaroo_protocol::{Inserted, Insertion, Model, Scheduler};
use bugaroo_ptx::types::Scope;
use bugaroo_simulator::decoded::Kind;
use bugaroo_simulator::{DeviceConfig, Memory, Places, Program};

/// All stretches of the programs, by name.
fn stretches(what: Inserted) -> BTreeMap<String, Insertion> {
    let folder = programs().join("places");
    let mut all = marked(&folder.join("places.cu"), what);
    all.extend(marked(&folder.join("places.h"), what));
    all
}

/// The PTX that nvcc makes of the program.
fn ptx(nvcc: &Path, fences: bool) -> String {
    let source = programs().join("places/places.cu");
    let out: PathBuf = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("places-{fences}.ptx"));
    let ran = Command::new(nvcc)
        .args(["-ptx", "-lineinfo", "-arch=compute_75"])
        .args(fences.then_some("-DFENCES"))
        .arg(&source)
        .arg("-o")
        .arg(&out)
        .output()
        .expect("nvcc can be started");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    fs::read_to_string(out).expect("what nvcc wrote")
}

/// What each function does that others see, in the order of its code.
fn seen(program: &Program) -> BTreeMap<String, String> {
    let image = program.image();
    let mut all: BTreeMap<String, String> = BTreeMap::new();
    for (inst, origin) in image.code.iter().zip(image.origins) {
        let letter = match inst.kind {
            Kind::Load if image.accesses[inst.extra as usize].visible => 'L',
            Kind::Store if image.accesses[inst.extra as usize].visible => 'S',
            Kind::Atomic => 'A',
            Kind::Fence => 'F',
            Kind::Barrier => 'B',
            Kind::Collective => 'W',
            Kind::Call => 'C',
            _ => continue,
        };
        all.entry(image.functions[origin.function as usize].name.clone()).or_default().push(letter);
    }
    all
}

/// In the code of each function, fences that are inserted stand between the same accesses as those that nvcc compiles in.
#[test]
fn fences_stand_where_nvcc_has_them() {
    let Some(nvcc) = nvcc() else { return };
    let load = |text: &str| {
        let module = bugaroo_ptx::parse(text).expect("what nvcc wrote is PTX");
        let mut memory = Memory::new(1 << 28).expect("address space");
        let program = Program::load(&module, &mut memory, &DeviceConfig::default());
        (program.expect("it loads"), collect_sites(&module))
    };
    let (plain, table) = load(&ptx(&nvcc, false));
    let (compiled, _) = load(&ptx(&nvcc, true));
    let stretches = stretches(Inserted::Fence);
    assert!(stretches.len() > 20, "{}", stretches.len());
    let places = Places::new(&plain, &table);
    for (name, insertion) in &stretches {
        let placed = places.place(insertion);
        println!("{name}: {} sites, {} places, {:?}", placed.sites, placed.places(), placed.refused);
        assert_eq!(placed.refused, None, "{name}");
        assert!(placed.places() > 0, "{name}");
    }
    let changed = plain.changed(&table, &[], (&Default::default(), Scope::Gpu), stretches.values());
    let inserted = changed.expect("all have places").expect("something is inserted");
    let (inserted, compiled) = (seen(&inserted), seen(&compiled));
    let differing: Vec<_> =
        compiled.iter().filter(|(name, code)| inserted.get(*name) != Some(code)).collect();
    for (name, code) in &differing {
        println!(
            "{name}: compiled in {code}\n   inserted {:?}\n   of {:?}",
            inserted.get(*name),
            seen(&plain).get(*name)
        );
    }
    assert_eq!(differing.len(), 0);
}

/// Fences that the threads of a program execute in each of its launches.
fn fences(trials: &[std::sync::Arc<bugaroo_harness::FullTrial>]) -> Vec<u64> {
    trials.iter().flat_map(|trial| trial.kernels.values().map(|kernel| kernel.counts.fences)).collect()
}

/// Inserted, fences are executed as often as compiled in, and the same trials fail, within what chance does.
#[tokio::test]
async fn inserted_fences_do_what_compiled_fences_do() {
    let Some(nvcc) = nvcc() else { return };
    let plain = build(&nvcc, "places/places.cu", Runtime::Static);
    let fenced = build(&nvcc, "places/fenced.cu", Runtime::Static);
    let stretches = stretches(Inserted::Fence);
    const TRIALS: u64 = 60;
    let mut cured = 0;
    for (name, insertion) in &stretches {
        let (plain, fenced) = (session(&plain, name).await, session(&fenced, name).await);
        for (model, scheduler) in [
            (Model::StoreBuffer, Scheduler::Random),
            (Model::StoreBuffer, Scheduler::Pct),
            (Model::Ptx, Scheduler::Random),
            (Model::Ptx, Scheduler::Pct),
        ] {
            let bare = Variation { model, scheduler, ..Variation::default() };
            let with = Variation { insert: [insertion.clone()].into(), ..bare.clone() };
            let without = failures(&trials(&plain, &bare, TRIALS).await.expect("trials"));
            let inserted = trials(&plain, &with, TRIALS).await.expect("trials");
            let compiled = trials(&fenced, &bare, TRIALS).await.expect("trials");
            let [a, b] = [&inserted, &compiled].map(|trials| failures(trials));
            println!("{name}: {model:?} {scheduler:?}: {without} without, {a} inserted, {b} compiled in");
            // Five standard deviations of the difference of two such counts, at most.
            assert!(a.abs_diff(b) as f64 <= 5.0 * ((a + b) as f64).sqrt().max(1.0), "{name}: {a} and {b}");
            assert!(a == 0 && b == 0 || a > 0 && b > 0 || a + b < 8, "{name}: {a} and {b}");
            if name == "lock" {
                // One behind each acquisition, and that of the program.
                assert!(fences(&inserted).iter().all(|count| *count == 4), "{:?}", fences(&inserted));
            }
            cured += usize::from(without > 4 && a == 0);
            // What spins, or looks whether something has come, does so as often as the schedule wants.
            let least = |counts: Vec<u64>| counts.into_iter().min();
            let most = |counts: Vec<u64>| counts.into_iter().max();
            assert_eq!(least(fences(&inserted)), least(fences(&compiled)), "{name}");
            assert_eq!(most(fences(&inserted)), most(fences(&compiled)), "{name}");
        }
    }
    assert!(cured > 10, "{cured}");
}
