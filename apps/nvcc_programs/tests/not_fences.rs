//! Programs that fail without a fence being missing: what is missing is named with its two lines, and the same programs made
//! right have nothing of the kind.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::support::{Runtime, build, nvcc, programs};
use bugaroo_bisect::{DiagnosisKind, FaultDiagnosis, diagnose};
use bugaroo_harness::baseline::Baseline;
use bugaroo_harness::oracle::Reference;
use bugaroo_harness::{
    Conflicts, DriverLibrary, Interrupt, Session, Settings, Target, TrialRecord, Variation,
};

/// Trials of one of the programs at p_w 0, with what they tell.
fn trials(program: &Path, which: &str, count: u64, fork_server: bool) -> Vec<(TrialRecord, Conflicts)> {
    let test = std::env::current_exe().expect("the test binary knows itself");
    let driver = test.parent().and_then(Path::parent).expect("target/PROFILE/deps").join("libcuda.so");
    let library = DriverLibrary::at(&driver).expect("the whole workspace is built");
    let target =
        Target::resolve(&program.display().to_string(), vec![which.to_owned()]).expect("it was built");
    // A program that fails without injection has no baseline that passes: this one says what is known.
    let baseline = Baseline {
        reference: Reference::default(),
        largest_launch: 100_000,
        launched: BTreeMap::new(),
        kernels: Default::default(),
        duration_ms: 10.0,
        cannot_fork: None,
        incidents: Vec::new(),
        runs: 1,
        usual: None,
    };
    let settings = Settings { seed: 5, fork_server, ..Settings::default() };
    let session = Session::resume(target, settings, library, Interrupt::never(), baseline);
    let variation = Variation { pw: 0.0, ..Variation::default() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let mut all = Vec::new();
        for index in 0..count {
            let told = session.conflicts(&variation, index).await.expect("it can be run");
            let plain = session.trial(&variation, index).await.expect("it can be run");
            assert!(told.0.agrees_with(&plain), "{which}: the same trial with it and without");
            assert_eq!(told.0.digest, plain.digest);
            all.push(told);
        }
        all
    })
}

fn named(trials: &[(TrialRecord, Conflicts)]) -> Vec<FaultDiagnosis> {
    let of = |fails: bool| {
        let trials = trials.iter().filter(|(record, _)| record.outcome.is_failure() == fails);
        trials.map(|(_, conflicts)| conflicts.clone()).collect::<Vec<_>>()
    };
    diagnose(&of(true), &of(false)).diagnosis
}

/// The lines of the source that name this.
fn line(which: &str) -> u32 {
    let text = fs::read_to_string(programs().join("not_fences.cu")).expect("the program's source");
    let at =
        text.lines().position(|line| line.ends_with(&format!("// {which}"))).expect("a line that names it");
    at as u32 + 1
}

#[test]
fn each_is_named_with_its_lines() {
    let Some(nvcc) = nvcc() else { return };
    let program = build(&nvcc, "not_fences.cu", Runtime::Static);
    for (which, kind, lines) in [
        ("lost-global", DiagnosisKind::LostUpdate, ["lost-global first", "lost-global second"]),
        ("lost-shared", DiagnosisKind::LostUpdate, ["lost-shared first", "lost-shared second"]),
        ("histogram", DiagnosisKind::LostUpdate, ["histogram first", "histogram second"]),
        ("reset", DiagnosisKind::PlainBesideAtomic, ["reset first", "reset second"]),
        ("barrier", DiagnosisKind::MissingBarrier, ["barrier write", "barrier read"]),
        ("warp", DiagnosisKind::MissingWarpBarrier, ["warp write", "warp read"]),
    ] {
        let found = trials(&program, which, 40, true);
        let failures = found.iter().filter(|(record, _)| record.outcome.is_failure()).count();
        assert!(failures > 0, "{which} fails");
        let named = named(&found);
        println!("{which}: {failures} of 40 fail: {}", named.first().map_or("nothing", |one| &one.sentence));
        let first = named.first().unwrap_or_else(|| panic!("{which}: nothing is named"));
        let at = |place: &bugaroo_bisect::diagnosis::AccessPlace| {
            place.source.as_ref().expect("it has lines").line
        };
        let mut got = [at(&first.first), at(&first.second)];
        got.sort();
        let mut want = lines.map(line);
        want.sort();
        assert_eq!((first.kind, got), (kind, want), "{which}: {}", first.sentence);
        assert!(first.first.site.is_some() && first.second.site.is_some(), "{which}: sites are known");
    }
}

/// At p_w 0 it works on the virtual GPU; the scope is told all the same.
#[test]
fn a_narrow_scope_is_told() {
    let Some(nvcc) = nvcc() else { return };
    let program = build(&nvcc, "not_fences.cu", Runtime::Static);
    let found: Vec<Conflicts> =
        trials(&program, "scope", 3, true).into_iter().map(|(_, found)| found).collect();
    let named = diagnose(&found, &[]).diagnosis;
    assert_eq!(named[0].kind, DiagnosisKind::AtomicScope);
    assert_eq!(named[0].first.source.as_ref().map(|at| at.line), Some(line("scope first")));
}

#[test]
fn the_same_made_right_has_nothing_of_the_kind() {
    let Some(nvcc) = nvcc() else { return };
    let program = build(&nvcc, "not_fences.cu", Runtime::Static);
    for which in ["lost-global", "lost-shared", "histogram", "reset", "barrier", "warp", "scope"] {
        for (record, found) in trials(&program, &format!("right-{which}"), 10, true) {
            assert!(!record.outcome.is_failure(), "{which}: {record:?}");
            assert_eq!(found, Conflicts::default(), "{which}");
        }
    }
}

/// Whether trials are forks of one process makes no difference to what they tell.
#[test]
fn forked_or_not() {
    let Some(nvcc) = nvcc() else { return };
    let program = build(&nvcc, "not_fences.cu", Runtime::Static);
    for which in ["lost-global", "barrier"] {
        let told = |fork_server| {
            let trials = trials(&program, which, 6, fork_server).into_iter();
            trials.map(|(record, found)| (record.digest, found)).collect::<Vec<_>>()
        };
        assert_eq!(told(true), told(false), "{which}");
    }
}
