//! From PTX to thread programs: what is known, what is refused and why.

use bugaroo_barriers::emulate::{Emulation, KernelOptions, KernelText, Refusal, RefusalKind};

fn text(file: &str) -> KernelText {
    let path = format!("{}/tests/kernels/{file}.ptx", env!("CARGO_MANIFEST_DIR"));
    KernelText::new(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn emulate(file: &str, kernel: &str) -> Result<Emulation, Refusal> {
    text(file).emulate(kernel, &KernelOptions { max_steps: 100_000, ..KernelOptions::default() })
}

/// Thread commands of a kernel that runs to its end.
fn commands(file: &str, kernel: &str) -> u64 {
    let emulation = emulate(file, kernel).unwrap();
    assert_eq!(emulation.stuck, None, "{kernel}");
    emulation.program.thread_commands()
}

#[test]
fn commands_are_those_of_all_threads() {
    // Listing 2: 64 threads do two syncs of barrier 0, two of barrier 1 (one of them an arrive), a write and a read.
    assert_eq!(commands("paper", "listing2"), 64 * 6);
    // Each of 128 compute threads: an arrive and 16 times sync, two reads, 15 of them an arrive; each of 32 copying threads: 16 times
    // sync, four writes, arrive.
    assert_eq!(commands("dma", "single"), 128 * (1 + 16 * 3 + 15) + 32 * 16 * 6);
    assert_eq!(commands("dma", "quad"), 128 * (4 + 16 * 3 + 12) + 32 * 16 * 6);
}

#[test]
fn a_deadlock_ends_the_programs_where_threads_wait() {
    let emulation = emulate("paper", "listing1").unwrap();
    let groups = emulation.stuck.unwrap().groups;
    assert_eq!(groups.iter().map(|(warp, lanes, _)| (*warp, *lanes)).collect::<Vec<_>>(), [(0, !0), (1, !0)]);
    assert_eq!(emulation.program.thread_commands(), 64);
}

#[test]
fn what_is_known_is_followed() {
    for (file, kernel) in [
        ("unknown", "harmless"),
        ("unknown", "followed"),
        ("accesses", "functions"),
        ("accesses", "spellings"),
        ("ring", "ring"),
    ] {
        let emulation = emulate(file, kernel).unwrap_or_else(|refusal| panic!("{kernel}: {refusal}"));
        assert_eq!(emulation.stuck, None, "{kernel}");
    }
}

/// The refusal names the kind, what is undecided, the line of the source, and the cause.
fn refused(file: &str, kernel: &str, line: u32, parts: &[&str]) -> Refusal {
    let refusal = emulate(file, kernel).expect_err(kernel);
    let shown = refusal.to_string();
    for part in parts {
        assert!(shown.contains(part), "{kernel}: wanted {part:?} in {shown}");
    }
    assert_eq!(refusal.source().unwrap().line, line, "{kernel}: {shown}");
    refusal
}

#[test]
fn what_depends_on_the_unknown_is_refused_with_its_cause() {
    let cause = |refusal: &Refusal| refusal.cause.as_ref().unwrap().parameter.clone();
    let refusal =
        refused("unknown", "branch", 9, &["a branch", "--param branch_param_1=VALUE", "ld.param.u32"]);
    assert_eq!(refusal.kind, RefusalKind::NotVerifiable);
    assert_eq!(cause(&refusal).as_deref(), Some("branch_param_1"));
    refused("unknown", "loaded", 21, &["a branch", "loaded from global memory", "ld.global.u32"]);
    refused("unknown", "barrier_id", 26, &["the number of a barrier", "barrier_id_param_0"]);
    refused("unknown", "barrier_count", 27, &["the thread count of a barrier", "barrier_count_param_0"]);
    refused("unknown", "ticket", 43, &["a branch", "an atomic operation", "atom.shared.add"]);
    refused("unknown", "runaway", 80, &["no end after 100000 warp instructions", "--max-steps"]);
    let refusal = refused("ring", "impatient", 24, &["no loop until it succeeds"]);
    assert_eq!(refusal.kind, RefusalKind::Unsupported);
}

#[test]
fn parameters_can_be_given() {
    let text = text("unknown");
    let with = |params: &[(&str, &str)], kernel: &str| {
        let params = params.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        text.emulate(kernel, &KernelOptions { params, ..KernelOptions::default() })
    };
    for name in ["1", "branch_param_1", "param_1"] {
        let emulation = with(&[(name, "3")], "branch").unwrap();
        // A write, three times two syncs, a read and a write, a sync and a read.
        assert_eq!(emulation.program.thread_commands(), 64 * (1 + 3 * 4 + 2));
    }
    for (name, value, part) in [
        ("9", "1", "no parameter `9`"),
        ("n", "1", "no parameter `n`"),
        ("1", "x", "`x` is no value"),
        ("1", "0x123456789", "does not fit"),
    ] {
        let refusal = with(&[(name, value)], "branch").unwrap_err();
        assert!(refusal.kind == RefusalKind::Usage && refusal.to_string().contains(part), "{refusal}");
    }
}

#[test]
fn absurd_barriers_and_launches_are_told() {
    let text = text("unknown");
    let run = |kernel: &str, options: KernelOptions| text.emulate(kernel, &options).expect_err(kernel);
    let param = |value: &str| KernelOptions {
        params: vec![("0".to_string(), value.to_string())],
        ..KernelOptions::default()
    };
    for (value, part) in [("0", "for 0 threads"), ("33", "for 33 threads"), ("4096", "for 4096 threads")] {
        let refusal = run("barrier_count", param(value));
        assert!(refusal.kind == RefusalKind::Illegal && refusal.to_string().contains(part), "{refusal}");
        assert_eq!(refusal.source().unwrap().line, 27);
    }
    let refusal = run("barrier_id", param("16"));
    assert!(refusal.to_string().contains("the 16 barriers 0 to 15"), "{refusal}");
    for block in [[0, 1, 1], [2048, 1, 1], [64, 64, 1]] {
        let refusal = run("barrier_id", KernelOptions { block: Some(block), ..KernelOptions::default() });
        assert_eq!(refusal.kind, RefusalKind::Usage, "{refusal}");
    }
    assert_eq!(run("nobody", KernelOptions::default()).kind, RefusalKind::Usage);
}

#[test]
fn texts_that_are_no_kernels_are_told() {
    for (ptx, part) in [
        ("", "the file is empty"),
        (" \n", "the file is empty"),
        ("garbage", "1:1"),
        (".version 8.0\n.target sm_80\n.address_size 64\n", "the module has no kernel"),
        (".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { bar.sync ; }", ""),
    ] {
        match KernelText::new(ptx) {
            Err(refusal) => assert!(refusal.to_string().contains(part), "{refusal}"),
            Ok(text) => {
                let refusal =
                    text.emulate("k", &KernelOptions { block: Some([32, 1, 1]), ..KernelOptions::default() });
                assert!(refusal.is_err(), "{ptx}");
            }
        }
    }
}
