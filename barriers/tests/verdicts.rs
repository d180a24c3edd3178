//! The verdict on each of the example kernels.

use bugaroo_barriers::emulate::{KernelOptions, KernelText};
use bugaroo_barriers::findings::{KernelFindings, verify};

fn text(file: &str) -> KernelText {
    let path = format!("{}/tests/kernels/{file}.ptx", env!("CARGO_MANIFEST_DIR"));
    KernelText::new(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn with(file: &str, kernel: &str, options: &KernelOptions) -> KernelFindings {
    verify(&text(file), kernel, options).unwrap().findings
}

fn findings(file: &str, kernel: &str) -> KernelFindings {
    with(file, kernel, &KernelOptions { max_steps: 100_000, ..KernelOptions::default() })
}

#[track_caller]
fn expect(file: &str, kernel: &str, verdict: &str) -> KernelFindings {
    let found = findings(file, kernel);
    assert_eq!(found.verdict, verdict, "{kernel}: {found:#?}");
    found
}

/// Lines of the two accesses of each race.
fn race_lines(found: &KernelFindings) -> Vec<(u32, u32)> {
    let line = |line: Option<u32>| line.unwrap_or(0);
    let mut lines: Vec<_> =
        found.races.iter().map(|race| (line(race.first.at.line), line(race.second.at.line))).collect();
    lines.sort_unstable();
    lines
}

/// The line of a kernels' source that holds these words.
fn line_of(file: &str, words: &str) -> u32 {
    let path = format!("{}/tests/kernels/{file}.cu", env!("CARGO_MANIFEST_DIR"));
    let source = std::fs::read_to_string(path).unwrap();
    1 + source.lines().position(|line| line.contains(words)).expect(words) as u32
}

#[test]
fn listing_1_is_a_deadlock_of_two_warps() {
    let found = expect("paper", "listing1", "deadlock");
    let deadlock = found.deadlock.unwrap();
    assert_eq!(deadlock.waiting.len(), 2);
    assert_eq!(deadlock.cycle.len(), 2);
    let barriers: Vec<&str> = deadlock.waiting.iter().map(|waits| waits.barrier.as_str()).collect();
    assert_eq!(barriers, ["barrier 0", "barrier 1"]);
    // Each would still come to the other's barrier, in the line that it does not reach.
    let (_, at) = &deadlock.waiting[0].waits_for[0];
    assert_eq!(at.line, Some(line_of("paper", "ARRIVE(0, 64);")));
}

#[test]
fn listing_2_is_right() {
    let found = expect("paper", "listing2", "verified");
    assert_eq!(
        (found.stats.threads, found.stats.dynamic_barriers, found.stats.shared_addresses),
        (64, 4, 32)
    );
    assert_eq!(found.stats.commands, 384);
    // Two writes and two reads of each address.
    assert_eq!(found.stats.race_tests, 32 * 6);
}

#[test]
fn listing_3_races_between_the_late_reads_and_the_next_transfer() {
    let found = expect("paper", "listing3", "race");
    let read = line_of("paper", "float2 v1 = pq");
    let write = line_of("paper", "pq[i] = in");
    assert_eq!(race_lines(&found), [(read, write)]);
    let race = &found.races[0];
    assert!(race.benign == 0 && race.after.is_some(), "{race:#?}");
    expect("paper", "listing3_right", "verified");
}

#[test]
fn figure_2_recycles_barrier_2_safely_and_not_without_the_edge() {
    assert_eq!(expect("paper", "figure2", "verified").stats.dynamic_barriers, 5);
    let found = findings("paper", "figure2_wrong");
    assert!(["deadlock", "unsafe-recycling"].contains(&found.verdict), "{found:#?}");
    assert!(found.recycling.iter().any(|recycling| recycling.barrier == "barrier 2"), "{found:#?}");
}

#[test]
fn copying_pipelines_are_right_and_race_when_the_buffer_is_given_back_early() {
    for (right, wrong) in
        [("single", "single_bug"), ("double_", "double_bug"), ("manual", "manual_bug"), ("quad", "quad_bug")]
    {
        let found = expect("dma", right, "verified");
        assert_eq!(found.stats.dynamic_barriers, 32, "{right}");
        let found = expect("dma", wrong, "race");
        let read = line_of("dma", "sum += 2 * buffer");
        let write = line_of("dma", "buffer[b][i] = in");
        assert_eq!(race_lines(&found), [(read, write)], "{wrong}");
    }
}

#[test]
fn a_dataflow_graph_recycles_its_barriers_right_and_wrong() {
    assert_eq!(expect("dataflow", "recycled", "verified").stats.dynamic_barriers, 96);
    let found = findings("dataflow", "recycled_wrong");
    assert!(
        ["deadlock", "unsafe-recycling"].contains(&found.verdict) && !found.recycling.is_empty(),
        "{found:#?}"
    );
}

#[test]
fn a_ring_of_mbarriers_is_right_and_wrong_in_three_ways() {
    expect("ring", "ring", "verified");
    for wrong in ["ring_phase", "ring_no_empty_wait", "ring_no_full_wait"] {
        let found = findings("ring", wrong);
        assert!(!found.is_clean() && !found.is_open(), "{wrong}: {found:#?}");
        let told = found.deadlock.is_some() || found.misuse.is_some() || !found.recycling.is_empty();
        assert!(told || !found.races.is_empty(), "{wrong}: {found:#?}");
    }
    expect("ring", "impatient", "unsupported");
}

#[test]
fn what_is_not_known_is_never_called_right() {
    for kernel in ["branch", "loaded", "barrier_id", "barrier_count", "ticket", "runaway"] {
        let found = expect("unknown", kernel, "not-verifiable");
        let refused = found.refusal.unwrap();
        assert!(refused.at.is_some_and(|at| at.line.is_some()), "{kernel}");
        assert_eq!(refused.cause.is_some(), kernel != "runaway", "{kernel}");
    }
    // Somewhere in an array, all threads may write to one place.
    expect("unknown", "address", "possible-race");
    expect("unknown", "harmless", "verified");
    expect("unknown", "followed", "verified");
    let given =
        KernelOptions { params: vec![("1".to_string(), "2".to_string())], ..KernelOptions::default() };
    assert_eq!(with("unknown", "branch", &given).verdict, "verified");
}

#[test]
fn races_are_found_with_no_barrier_and_behind_the_last() {
    expect("accesses", "no_barrier", "race");
    let found = expect("accesses", "after_last", "race");
    let race = &found.races[0];
    assert!(race.after.is_some() && race.before.is_none(), "{race:#?}");
}

#[test]
fn every_byte_of_a_vector_counts() {
    let found = expect("accesses", "vectors", "race");
    assert_eq!(found.races[0].address % 16, 12);
    expect("accesses", "vectors_right", "verified");
}

#[test]
fn writes_of_the_same_value_are_benign() {
    let found = expect("accesses", "same_value", "benign-race");
    let race = &found.races[0];
    assert_eq!((race.pairs, race.benign, race.first.value), (64 * 63 / 2, 64 * 63 / 2, Some(7)));
}

#[test]
fn atomics_race_only_with_what_is_none() {
    expect("accesses", "atomics", "verified");
    expect("accesses", "atomics_wrong", "race");
}

#[test]
fn barriers_in_all_spellings() {
    assert_eq!(expect("accesses", "spellings", "verified").stats.dynamic_barriers, 3);
}

#[test]
fn warps_in_lockstep_only_if_asked_for() {
    expect("accesses", "warp_right", "verified");
    // Volatile accesses do not race, but come in no order; plain ones race.
    let found = expect("accesses", "warp_lockstep", "verified");
    assert!(!found.unordered.is_empty());
    let lockstep = KernelOptions { warp_synchronous: true, ..KernelOptions::default() };
    let found = with("accesses", "warp_lockstep", &lockstep);
    assert!(found.verdict == "verified" && found.unordered.is_empty(), "{found:#?}");
    let path = format!("{}/tests/kernels/accesses.ptx", env!("CARGO_MANIFEST_DIR"));
    let plain = std::fs::read_to_string(path).unwrap().replace(".volatile.shared", ".shared");
    let plain = KernelText::new(&plain).unwrap();
    let verdict =
        |options: &KernelOptions| verify(&plain, "warp_lockstep", options).unwrap().findings.verdict;
    assert_eq!((verdict(&KernelOptions::default()), verdict(&lockstep)), ("race", "verified"));
}

#[test]
fn asynchronous_copies_are_over_when_they_are_waited_for() {
    expect("accesses", "copies_right", "verified");
    for wrong in ["copies_group_too_few", "copies_without_wait"] {
        let found = expect("accesses", wrong, "race");
        assert!(
            found.races.iter().all(|race| race.first.asynchronous || race.second.asynchronous),
            "{wrong}"
        );
    }
}

#[test]
fn functions_generic_addresses_and_dynamic_shared_memory() {
    expect("accesses", "functions", "verified");
    expect("accesses", "functions_wrong", "race");
}

#[test]
fn kernels_as_large_as_the_papers_largest() {
    // hept_chem_fermi has 640 threads, 992 dynamic barriers and 7,572 thousand commands; saxpy_single 320, 8,192 and 3,670.
    let stats = |kernel: &str| {
        let found = with("large", kernel, &KernelOptions::default());
        assert_eq!(found.verdict, "verified", "{found:#?}");
        (found.stats.threads, found.stats.dynamic_barriers, found.stats.commands / 1000)
    };
    assert_eq!(stats("singe"), (640, 992, 7737));
    assert_eq!(stats("saxpy"), (320, 8192, 3932));
}

#[test]
fn tensor_copies_count_what_their_maps_say() {
    let maps = |sizes: &[(&str, u32)]| KernelOptions {
        tensors: sizes.iter().map(|(name, bytes)| (name.to_string(), *bytes)).collect(),
        ..KernelOptions::default()
    };
    let all = maps(&[("0", 1024), ("1", 512), ("2", 1024)]);
    let found = with("modern", "tensor", &all);
    assert_eq!(found.verdict, "verified", "{found:#?}");
    // Without sizes there is no telling which of two copies brings what; and what goes back is in no phase.
    for sizes in [&[][..], &[("0", 1024), ("1", 512)]] {
        let found = with("modern", "tensor", &maps(sizes));
        assert_eq!(found.verdict, "unsupported", "{found:#?}");
        assert!(found.refusal.unwrap().reason.contains("--tensor tensor_param_"));
    }
    // Too few bytes leave the phase open.
    let found = with("modern", "tensor", &maps(&[("0", 1024), ("1", 496), ("2", 1024)]));
    assert_eq!(found.verdict, "deadlock", "{found:#?}");
    assert!(found.deadlock.unwrap().waiting.iter().any(|waits| waits.bytes_missing == 16));
    let found = with("modern", "tensor_without_fence", &all);
    assert_eq!(found.verdict, "race", "{found:#?}");
    assert!(
        found
            .races
            .iter()
            .all(|race| race.kind == bugaroo_barriers::verdict::BarrierRaceKind::MissingProxyFence)
    );
}

#[test]
fn blocks_of_a_cluster_write_to_each_other() {
    let found = expect("modern", "cluster", "verified");
    assert_eq!(found.stats.threads, 64);
    let found = expect("modern", "cluster_wrong", "race");
    let race = &found.races[0];
    assert_ne!(race.first.at.cta, race.second.at.cta, "{race:#?}");
}

#[test]
fn barriers_of_the_library() {
    expect("library", "groups", "verified");
    expect("library", "barrier", "verified");
}
