use std::collections::BTreeMap;

use bugaroo_protocol::{FlushLengths, LaunchCounts, Site, SiteId, SiteKind, Variation};

use super::{KernelProfile, Profile, Sums, put_together, warnings};
use crate::report::{KernelUse, add_counts};

fn kernel(launches: u64, first_launch: u64, n: u64) -> KernelUse {
    let counts = LaunchCounts {
        warp_instructions: n,
        thread_instructions: 32 * n,
        delayed_stores: 0,
        fences: n + 1,
        barriers: n + 2,
        shared_stores: n + 3,
        global_stores: n + 4,
        ..LaunchCounts::default()
    };
    KernelUse { launches, first_launch, counts }
}

/// What an injected trial says of one kernel.
fn injected(delayed_stores: u64, global: &[(u32, u64)], buffer_bytes: u64) -> KernelUse {
    let flush_lengths =
        FlushLengths { global: global.iter().copied().collect(), shared: [(1, 1)].into_iter().collect() };
    let counts = LaunchCounts {
        delayed_stores,
        flush_lengths,
        buffer_bytes,
        // Not the program's own: an injected trial executes other stores, and more fences.
        fences: 1000,
        global_stores: 1000,
        ..LaunchCounts::default()
    };
    KernelUse { launches: 1, first_launch: 0, counts }
}

fn site(module: u32, index: u32, kind: SiteKind, function: &str, in_kernel: bool) -> Site {
    Site {
        id: SiteId { module, index },
        kind,
        function: function.to_owned(),
        in_kernel,
        space: None,
        scope: None,
        ptx_line: index,
        instruction: String::new(),
        source: None,
        inlined_at: Vec::new(),
        columns: Vec::new(),
    }
}

fn names(kernels: &[(&str, KernelUse)]) -> BTreeMap<String, KernelUse> {
    kernels.iter().map(|(name, kernel)| ((*name).to_owned(), kernel.clone())).collect()
}

fn example() -> (BTreeMap<String, KernelUse>, Sums) {
    let launched = names(&[("a", kernel(1000, 1, 100)), ("z", kernel(1, 0, 10))]);
    let mut sums = Sums::default();
    sums.add(false, &names(&[("a", injected(3, &[(1, 2), (2, 1)], 64)), ("z", injected(1, &[(1, 1)], 32))]));
    sums.add(true, &names(&[("a", injected(4, &[(1, 1), (7, 1)], 48)), ("late", injected(2, &[(9, 1)], 8))]));
    (launched, sums)
}

#[test]
fn counts_are_the_baselines_and_lengths_the_trials() {
    let (launched, sums) = example();
    let profile = put_together(&launched, &sums, &[]);
    assert_eq!((profile.trials, profile.failed_trials, profile.interrupted), (2, 1, false));
    let names: Vec<_> = profile.kernels.iter().map(|kernel| kernel.name.as_str()).collect();
    assert_eq!(names, ["z", "a", "late"]);
    let a = &profile.kernels[1];
    let lengths = FlushLengths { global: [(1, 3), (2, 1), (7, 1)].into(), shared: [(1, 2)].into() };
    let expected = KernelProfile {
        name: "a".into(),
        launches: 1000,
        dynamic_instructions: 3200,
        fences: 101,
        barriers: 102,
        shared_stores: 103,
        global_stores: 104,
        static_fences: 0,
        delayed_stores: 7,
        flush_lengths: lengths,
        buffer_bytes: 64,
    };
    assert_eq!(*a, expected);
    assert_eq!((profile.kernels[2].launches, profile.kernels[2].delayed_stores), (0, 2));
}

#[test]
fn the_total_is_the_sum() {
    let (launched, sums) = example();
    let Profile { kernels, total, .. } = put_together(&launched, &sums, &[]);
    let sum = |field: fn(&KernelProfile) -> u64| kernels.iter().map(field).sum::<u64>();
    assert_eq!(total.name, "total");
    let fields: [fn(&KernelProfile) -> u64; 7] = [
        |k| k.launches,
        |k| k.dynamic_instructions,
        |k| k.fences,
        |k| k.barriers,
        |k| k.shared_stores,
        |k| k.global_stores,
        |k| k.delayed_stores,
    ];
    for field in fields {
        assert_eq!(field(&total), sum(field));
    }
    let mut lengths = LaunchCounts::default();
    for kernel in &kernels {
        let flush_lengths = kernel.flush_lengths.clone();
        add_counts(&mut lengths, &LaunchCounts { flush_lengths, ..LaunchCounts::default() });
    }
    assert_eq!(total.flush_lengths, lengths.flush_lengths);
    assert_eq!(total.buffer_bytes, 64);
}

/// A kernel counts its own fences; the total those of device functions, too, but none twice, and none of
/// kernels and modules that are not launched.
#[test]
fn static_fences() {
    use SiteKind::{Fence, Store};
    let sites = [
        site(0, 0, Fence, "a", true),
        site(0, 1, Store, "a", true),
        site(0, 2, Fence, "a", true),
        site(0, 3, Fence, "helper", false),
        site(0, 4, Fence, "idle", true),
        // Loaded a second time.
        site(0, 0, Fence, "a", true),
        site(1, 0, Fence, "other", true),
        site(1, 1, Fence, "other_helper", false),
        // A module of device functions, or one whose kernels have no sites.
        site(2, 0, Fence, "library", false),
    ];
    let launched = names(&[("a", kernel(1, 0, 1)), ("z", kernel(1, 1, 1))]);
    let profile = put_together(&launched, &Sums::default(), &sites);
    assert_eq!(profile.kernels.iter().map(|kernel| kernel.static_fences).collect::<Vec<_>>(), [2, 0]);
    assert_eq!(profile.total.static_fences, 4);
}

#[test]
fn what_the_user_should_know() {
    let variation = Variation::default();
    let nothing = put_together(&BTreeMap::new(), &Sums::default(), &[]);
    assert!(warnings(&nothing, &variation)[0].contains("launches no kernel"));

    let (launched, sums) = example();
    let said = warnings(&put_together(&launched, &sums, &[]), &variation);
    assert!(said.len() == 1 && said[0].contains("1 of 2 trials failed"), "{said:?}");

    let mut sums = Sums::default();
    sums.add(false, &names(&[("a", kernel(1, 0, 1))]));
    let profile = put_together(&launched, &sums, &[]);
    assert!(warnings(&profile, &variation)[0].contains("no store was ever delayed"));
    assert!(warnings(&profile, &Variation { pw: 0.0, ..variation }).is_empty());
    assert!(warnings(&put_together(&launched, &Sums::default(), &[]), &Variation::default()).is_empty());
}
