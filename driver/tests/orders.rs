//! Orders and the report: what a harness tells a trial, and hears from it.

use std::fs;

use bugaroo_protocol::{
    Backend, DelayedSpace, FaultKind, LaunchEnd, Message, Model, Orders, SiteId, SiteKind,
};
use cuda::Status;
use cuda::api::context::cuCtxSynchronize;

use crate::support::{
    Device, KERNELS, Trial, baseline, download, launch, load, parameter, store_buffers, trial, upload, varied,
};

/// Runs the two-block message and prints what block 1 saw.
fn pass_message() {
    let device = Device::new();
    let (data, flag, seen) = (upload(&[0_u32]), upload(&[0_u32]), upload(&[9_u32]));
    let parameters = [parameter(&data), parameter(&flag), parameter(&seen)];
    assert_eq!(launch(device.kernel("unfenced_message"), 2, 1, &parameters), Status::Success);
    let seen: Vec<u32> = download(seen, 1).expect("the kernel ends");
    println!("seen: {}", seen[0]);
}

/// What block 1 saw.
fn seen(trial: &Trial) -> u32 {
    let stdout = String::from_utf8_lossy(&trial.output.stdout);
    let line = stdout.lines().find_map(|line| line.split_once("seen: ")).expect("the trial says it");
    line.1.parse().expect("it is a number")
}

#[test]
fn a_baseline_reports_hello_modules_and_launches() {
    let orders = Orders { digest: true, ..baseline() };
    let trial = trial("a_baseline_reports_hello_modules_and_launches", &orders, || {
        let device = Device::new();
        assert_eq!(launch(device.kernel("count"), 2, 1, &[]), Status::Success);
        assert_eq!(launch(device.kernel("bounded"), 1, 64, &[]), Status::Success);
    });
    let [
        Message::Hello { version, pid },
        Message::Module(module),
        Message::Launch(first),
        Message::Launch(second),
    ] = trial.messages.as_slice()
    else {
        panic!("{:?}", trial.messages)
    };
    assert_eq!((*version, *pid == 0), (bugaroo_protocol::VERSION, false));
    assert_eq!((module.module, module.digest.len(), &module.sites), (0, 32, &None));
    assert_eq!(module.kernels.len(), 10);
    assert_eq!(
        (first.ordinal, first.kernel.as_str(), first.grid, first.block),
        (0, "count", [2, 1, 1], [1, 1, 1])
    );
    assert_eq!((&first.end, first.counts.delayed_stores), (&LaunchEnd::Complete, 0));
    assert_eq!(first.counts.warp_instructions, 8);
    assert_eq!(first.counts.thread_instructions, 8);
    assert_eq!((second.ordinal, second.kernel.as_str()), (1, "bounded"));
    assert_eq!(second.counts.warp_instructions, 2);
    assert_eq!(second.counts.thread_instructions, 64);
    assert!(first.digest.is_some() && first.digest != second.digest, "digests are chained");
}

#[test]
fn modules_are_numbered_by_content() {
    let trial = trial("modules_are_numbered_by_content", &baseline(), || {
        let _device = Device::new();
        load(&KERNELS.replace("counter = 41", "counter = 42")).expect("it loads");
        load(KERNELS).expect("it loads");
    });
    let number = |message: &Message| match message {
        Message::Module(module) => Some((module.module, module.digest.clone())),
        _ => None,
    };
    let numbers: Vec<_> = trial.messages.iter().filter_map(number).collect();
    assert_eq!([numbers[0].0, numbers[1].0, numbers[2].0], [0, 1, 0]);
    assert!(numbers[0].1 == numbers[2].1 && numbers[0].1 != numbers[1].1);
}

#[test]
fn sites_are_reported_when_asked_for() {
    let orders = Orders { report_sites: true, ..baseline() };
    let trial = trial("sites_are_reported_when_asked_for", &orders, || {
        let _device = Device::new();
        load(&KERNELS.replace("counter = 41", "counter = 42")).expect("it loads");
    });
    let Message::Module(second) = &trial.messages[2] else { panic!("{:?}", trial.messages) };
    let sites = second.sites.as_ref().expect("they were asked for");
    assert!(sites.iter().enumerate().all(|(index, site)| {
        site.id == SiteId { module: 1, index: u32::try_from(index).expect("there are few") }
    }));
    let in_message =
        |kind| sites.iter().filter(|site| site.function == "unfenced_message" && site.kind == kind).count();
    assert_eq!((in_message(SiteKind::Store), in_message(SiteKind::Atomic)), (2, 1));
    let line = 1 + KERNELS.lines().position(|line| line.contains("[%rd1], 7;")).expect("it is there");
    let store = sites.iter().find(|site| site.function == "store_at").expect("it stores");
    assert_eq!(store.ptx_line as usize, line);
}

#[test]
fn delayed_stores_show_and_replay() {
    let mut outcomes = Vec::new();
    for seed in 0..12 {
        let orders = Orders { seed, digest: true, ..store_buffers(1.0) };
        let first = trial("delayed_stores_show_and_replay", &orders, pass_message);
        let again = trial("delayed_stores_show_and_replay", &orders, pass_message);
        assert_eq!(seen(&first), seen(&again), "seed {seed}");
        assert_eq!(first.launches(), again.launches(), "seed {seed}");
        assert!(first.launches()[0].counts.delayed_stores >= 1);
        outcomes.push(seen(&first));
    }
    assert!(outcomes.contains(&0), "block 1 overtakes the delayed store: {outcomes:?}");
    let undelayed = trial("delayed_stores_show_and_replay", &store_buffers(0.0), pass_message);
    assert_eq!((seen(&undelayed), undelayed.launches()[0].counts.delayed_stores), (1, 0));
}

#[test]
fn the_kernel_and_the_space_select() {
    let delayed = |orders: Orders| {
        let trial = trial("the_kernel_and_the_space_select", &orders, pass_message);
        trial.launches()[0].counts.delayed_stores
    };
    assert!(delayed(store_buffers(1.0)) > 0);
    assert!(delayed(varied(store_buffers(1.0), |variation| variation.space = DelayedSpace::Global)) > 0);
    assert_eq!(delayed(varied(store_buffers(1.0), |variation| variation.space = DelayedSpace::Shared)), 0);
    assert!(
        delayed(varied(store_buffers(1.0), |variation| variation.kernel = Some("^unfenced".to_owned()))) > 0
    );
    assert_eq!(
        delayed(varied(store_buffers(1.0), |variation| variation.kernel = Some("^fenced".to_owned()))),
        0
    );
}

#[test]
fn buffers_shrink_to_what_memory_holds() {
    let orders = varied(Orders { step_budget: None, ..store_buffers(1.0) }, |variation| {
        variation.buffer = 65_535;
        variation.handlers = true;
    });
    let trial = trial("buffers_shrink_to_what_memory_holds", &orders, || {
        let device = Device::new();
        let (mut free, mut total) = (0, 0);
        // SAFETY: both are there to be written.
        assert_eq!(unsafe { cuda::api::memory::cuMemGetInfo_v2(&mut free, &mut total) }, Status::Success);
        let mut most_of_it = 0;
        // SAFETY: it is there to be written.
        let taken = unsafe { cuda::api::memory::cuMemAlloc_v2(&mut most_of_it, free - (64 << 20)) };
        assert_eq!(taken, Status::Success);
        for _ in 0..2 {
            assert_eq!(launch(device.kernel("bounded"), 256, 64, &[]), Status::Success);
        }
        assert_eq!(cuCtxSynchronize(), Status::Success);
        // What the driver itself took is not the program's to count on, but there is memory left.
        let address = upload(&[0_u8; 1 << 20]);
        assert_eq!(cuda::api::memory::cuMemFree_v2(address), Status::Success);
    });
    assert_eq!(trial.launches().len(), 2);
    assert_eq!(trial.stderr().matches("(device memory)").count(), 1, "{}", trial.stderr());
}

#[test]
fn an_inserted_fence_repairs() {
    let sites = Orders { report_sites: true, ..store_buffers(1.0) };
    let found = trial("an_inserted_fence_repairs", &sites, pass_message);
    let Message::Module(module) = &found.messages[1] else { panic!("{:?}", found.messages) };
    let is_data_store =
        |site: &&bugaroo_protocol::Site| site.function == "unfenced_message" && site.kind == SiteKind::Store;
    let sites = module.sites.as_ref().expect("they were asked for");
    let site = sites.iter().find(is_data_store).expect("block 0 stores the data").id;
    for seed in 0..12 {
        let orders =
            varied(Orders { seed, ..store_buffers(1.0) }, |variation| variation.with_fence = [site].into());
        let trial = trial("an_inserted_fence_repairs", &orders, pass_message);
        assert_eq!(seen(&trial), 1, "seed {seed}");
    }
}

#[test]
fn the_paper_s_model_runs_too() {
    let orders =
        varied(Orders { injects: true, ..store_buffers(1.0) }, |variation| variation.model = Model::Bugaroo);
    let trial = trial("the_paper_s_model_runs_too", &orders, pass_message);
    assert_eq!(trial.launches()[0].end, LaunchEnd::Complete);
}

#[test]
fn a_cached_module_is_taken_and_a_damaged_one_made_again() {
    let folder = tempfile::tempdir().expect("there is room");
    let cache = folder.path().join("new").join("cache");
    let orders = varied(Orders { cache: Some(cache.clone()), ..store_buffers(1.0) }, |variation| {
        variation.handlers = true
    });
    let run = || trial("a_cached_module_is_taken_and_a_damaged_one_made_again", &orders, pass_message);
    let first = run();
    let entries = || -> Vec<_> {
        let entries = fs::read_dir(&cache).expect("it was made");
        entries.map(|entry| entry.expect("it can be read").path()).collect()
    };
    let [entry] = entries().try_into().expect("one module, one entry");
    let content = fs::read(&entry).expect("it can be read");
    assert_eq!(run().launches(), first.launches());
    for damaged in [&content[..content.len() / 2], b"", &content[1..]] {
        fs::write(&entry, damaged).expect("it can be written");
        assert_eq!(run().launches(), first.launches());
        assert_eq!(fs::read(&entry).expect("it can be read"), content, "made again");
    }
    assert_eq!(entries(), [entry], "nothing is left beside it");
}

#[test]
fn a_cache_that_cannot_be_written_is_no_error() {
    let file = tempfile::NamedTempFile::new().expect("there is room");
    let orders = Orders { cache: Some(file.path().join("below")), ..store_buffers(0.0) };
    let trial = trial("a_cache_that_cannot_be_written_is_no_error", &orders, pass_message);
    assert_eq!(seen(&trial), 1);
}

#[test]
fn faults_are_reported_with_the_programs_own_lines() {
    let line = 1 + KERNELS.lines().position(|line| line.contains("[%rd1], 7;")).expect("it is there");
    for orders in [baseline(), store_buffers(0.0)] {
        let trial = trial("faults_are_reported_with_the_programs_own_lines", &orders, || {
            let device = Device::new();
            let nowhere = 0x1234_5678_u64;
            assert_eq!(launch(device.kernel("store_at"), 1, 1, &[parameter(&nowhere)]), Status::Success);
            assert_eq!(cuCtxSynchronize(), Status::IllegalAddress);
        });
        let LaunchEnd::Fault(fault) = &trial.launches()[0].end else { panic!("{:?}", trial.messages) };
        assert_eq!(fault.kind, FaultKind::IllegalAddress);
        assert_eq!(fault.access, Some(bugaroo_protocol::FaultAccess::Store));
        assert_eq!(fault.at.ptx_line.map(|line| line as usize), Some(line));
        assert_eq!(fault.at.function, "store_at");
        assert!(fault.summary.contains("0x12345678"), "{}", fault.summary);
    }
}

#[test]
fn deadlocks_and_runaways_are_diagnosed() {
    let orders = Orders { step_budget: Some(10_000), ..baseline() };
    let trial = trial("deadlocks_and_runaways_are_diagnosed", &orders, || {
        let device = Device::new();
        assert_eq!(launch(device.kernel("deadlocked"), 1, 64, &[]), Status::Success);
        assert_eq!(cuCtxSynchronize(), Status::LaunchTimeout);
        let device = Device::new();
        assert_eq!(launch(device.kernel("endless"), 1, 32, &[]), Status::Success);
        assert_eq!(cuCtxSynchronize(), Status::LaunchTimeout);
    });
    let launches = trial.launches();
    let LaunchEnd::Deadlock(deadlock) = &launches[0].end else { panic!("{:?}", launches[0]) };
    assert_eq!(deadlock.waiting[0].instruction, "bar.sync 0, 64;");
    assert_eq!(deadlock.waiting[0].threads, 32);
    assert!(deadlock.summary.contains("barrier 0"), "{}", deadlock.summary);
    let LaunchEnd::StepBudget(runaway) = &launches[1].end else { panic!("{:?}", launches[1]) };
    assert_eq!(runaway.waiting[0].function, "endless");
    assert!(launches[1].counts.warp_instructions >= 10_000);
}

#[test]
fn what_cannot_be_done_is_told_at_once() {
    let orders = Orders { backend: Backend::Cuda, ..baseline() };
    let trial = trial("what_cannot_be_done_is_told_at_once", &orders, || {
        assert_eq!(cuda::api::init::cuInit(0), Status::NotSupported);
        assert_eq!(cuCtxSynchronize(), Status::NotInitialized);
    });
    let [Message::Hello { .. }, Message::Unsupported { what }] = trial.messages.as_slice() else {
        panic!("{:?}", trial.messages)
    };
    assert!(what.contains("backend cuda"), "{what}");
    assert!(trial.stderr().contains("backend cuda"), "{}", trial.stderr());
}

#[test]
fn kernels_with_unsupported_instructions_are_refused_at_their_launch() {
    for orders in [baseline(), store_buffers(0.5)] {
        let name = "kernels_with_unsupported_instructions_are_refused_at_their_launch";
        let trial = trial(name, &orders, || {
            let mut device = Device::new();
            let unknown = KERNELS.replace("trap;", "frobnicate.u32 %r0;");
            device.module = load(&unknown).expect("the module loads");
            assert_eq!(launch(device.kernel("count"), 1, 1, &[]), Status::Success);
            assert_eq!(launch(device.kernel("trapped"), 1, 1, &[]), Status::NotSupported);
            assert_eq!(launch(device.kernel("count"), 1, 1, &[]), Status::Success);
            assert_eq!(cuCtxSynchronize(), Status::Success);
        });
        assert_eq!(trial.launches().len(), 2);
        let line = 1 + KERNELS.lines().position(|line| line.contains("trap;")).expect("it is there");
        let told = trial.messages.iter().find_map(|message| match message {
            Message::Unsupported { what } => Some(what),
            _ => None,
        });
        let what = told.expect("the refusal is told");
        assert!(
            what.contains("frobnicate")
                && what.contains("`trapped`")
                && what.contains(&format!("line {line}:")),
            "{what}"
        );
    }
}

#[test]
fn nothing_is_written_to_what_took_the_pipes_number() {
    let folder = tempfile::tempdir().expect("there is room");
    let own = folder.path().join("the program's own");
    let orders = Orders { cache: Some(folder.path().join("cache")), ..baseline() };
    let trial = trial("nothing_is_written_to_what_took_the_pipes_number", &orders, || {
        let device = Device::new();
        let orders = std::env::var(bugaroo_protocol::ORDERS_VARIABLE).expect("a trial has orders");
        let orders = Orders::from_json(&orders).expect("they are orders");
        let folder = orders.cache.as_deref().and_then(std::path::Path::parent).expect("it names one");
        let file = fs::File::create(folder.join("the program's own")).expect("there is room");
        // SAFETY: both are descriptors; the report's is what the program takes over here.
        let taken = unsafe { libc::dup2(std::os::fd::AsRawFd::as_raw_fd(&file), orders.report_fd) };
        assert_eq!(taken, orders.report_fd);
        assert_eq!(launch(device.kernel("count"), 1, 1, &[]), Status::Success);
    });
    assert_eq!(trial.messages.len(), 2, "hello and the module");
    assert_eq!(fs::read(own).expect("it was made"), b"");
}

#[test]
fn a_harness_that_went_away_does_not_matter() {
    let trial = trial("a_harness_that_went_away_does_not_matter", &baseline(), || {
        // A C program would have the signal's default in place.
        // SAFETY: sets a disposition; the descriptor is the report's, which the trial gives up here.
        unsafe {
            libc::signal(libc::SIGPIPE, libc::SIG_DFL);
            let mut ends = [0; 2];
            assert_eq!(libc::pipe(ends.as_mut_ptr()), 0);
            let orders = std::env::var(bugaroo_protocol::ORDERS_VARIABLE).expect("a trial has orders");
            let report = Orders::from_json(&orders).expect("they are orders").report_fd;
            // A pipe that nobody reads, before the driver has looked at it.
            assert_eq!(libc::dup2(ends[1], report), report);
            libc::close(ends[0]);
            libc::close(ends[1]);
        }
        let device = Device::new();
        assert_eq!(launch(device.kernel("count"), 1, 1, &[]), Status::Success);
        assert_eq!(cuCtxSynchronize(), Status::Success);
    });
    assert!(trial.messages.is_empty());
}
