//! What launches have shown of their threads' communication, as trials report it.

use std::collections::{BTreeMap, BTreeSet};

use bugaroo_protocol::{Launch, Model, Orders, Scheduler, Variation};
use cuda::Status;
use cuda::api::context::cuCtxSynchronize;

use crate::support::{Device, baseline, download, launch, parameter, store_buffers, trial, upload, varied};

/// Runs the two-block message and prints what block 1 saw.
fn pass_message() {
    let device = Device::new();
    let (data, flag, seen) = (upload(&[0_u32]), upload(&[0_u32]), upload(&[9_u32]));
    let parameters = [parameter(&data), parameter(&flag), parameter(&seen)];
    assert_eq!(launch(device.kernel("unfenced_message"), 2, 1, &parameters), Status::Success);
    assert_eq!(cuCtxSynchronize(), Status::Success);
    let seen: Vec<u32> = download(seen, 1).expect("the kernel ends");
    println!("seen: {}", seen[0]);
}

/// Its launch, and what block 1 saw.
fn run(name: &str, orders: &Orders) -> (Launch, String) {
    let trial = trial(name, &Orders { digest: true, ..orders.clone() }, pass_message);
    let stdout = String::from_utf8_lossy(&trial.output.stdout).into_owned();
    let line = stdout.lines().find_map(|line| line.split_once("seen: ")).expect("the trial says it");
    (trial.launches()[0].clone(), line.1.to_owned())
}

#[test]
fn who_asks_is_told_and_nothing_else_changes() {
    let name = "who_asks_is_told_and_nothing_else_changes";
    let switches = places(name);
    type Way<'a> = &'a dyn Fn(&mut Variation);
    let ways: [Way<'_>; 4] = [
        &|_| {},
        &|variation| variation.swarm = true,
        &|variation| variation.hold = Some(switches[0]),
        &|variation| variation.switches = switches.clone(),
    ];
    for (model, way) in
        [Model::StoreBuffer, Model::Ptx].into_iter().flat_map(|model| ways.map(|way| (model, way)))
    {
        for seed in 0..4 {
            let orders = varied(Orders { seed, injects: true, ..store_buffers(0.5) }, |variation| {
                variation.model = model;
                way(variation);
            });
            let (plain, saw) = run(name, &orders);
            assert!(plain.coverage.is_empty() && plain.meetings.is_empty());
            let asks = varied(orders, |variation| variation.coverage = true);
            let (told, saw_too) = run(name, &asks);
            assert!(!told.coverage.is_empty() && told.coverage.is_sorted());
            assert_eq!((told.more_coverage, &saw), (0, &saw_too));
            assert_eq!(run(name, &asks).0, told, "the same trial shows the same");
            assert!(!told.meetings.is_empty() && told.meetings.is_sorted());
            let told = Launch { coverage: Vec::new(), meetings: Vec::new(), ..told };
            assert_eq!(told, plain, "seed {seed}, {:?}", asks.variation);
        }
    }
}

/// What all trials that end in the same way have shown, and what only they have.
#[test]
fn a_stale_read_is_something_new() {
    let name = "a_stale_read_is_something_new";
    let mut shown: BTreeMap<String, Vec<BTreeSet<u32>>> = BTreeMap::new();
    for seed in 0..16 {
        let (told, saw) =
            run(name, &varied(Orders { seed, ..store_buffers(0.5) }, |variation| variation.coverage = true));
        shown.entry(saw).or_default().push(told.coverage.into_iter().collect());
    }
    let [stale, fresh] = ["0", "7"].map(|saw| shown.get(saw).or(shown.get("1")).expect("both are seen"));
    let fresh: BTreeSet<u32> = fresh.iter().flatten().copied().collect();
    for trial in stale {
        assert!(!trial.is_subset(&fresh), "nothing of it is new");
    }
}

#[test]
fn changes_of_priorities_can_be_chosen() {
    let name = "changes_of_priorities_can_be_chosen";
    let orders = |pct_depth| {
        varied(Orders { digest: true, ..baseline() }, |variation| {
            variation.scheduler = Scheduler::Pct;
            variation.pct_depth = pct_depth;
        })
    };
    let all = |depth| -> Vec<_> {
        (0..8).map(|seed| run(name, &Orders { seed, ..orders(depth) }).0.counts).collect()
    };
    assert_eq!(all(3), all(3));
    assert_ne!(all(1), all(60), "a spinning block is run for longer where nobody interrupts it");
}

/// The places where the two blocks meet.
fn places(name: &str) -> Vec<u32> {
    let met = (0..8).flat_map(|seed| {
        run(name, &varied(Orders { seed, ..store_buffers(0.5) }, |variation| variation.coverage = true))
            .0
            .meetings
    });
    met.collect::<BTreeSet<u32>>().into_iter().collect()
}

#[test]
fn switches_at_places_are_a_schedule_of_their_own_and_replay() {
    let name = "switches_at_places_are_a_schedule_of_their_own_and_replay";
    let switches = places(name);
    assert!(!switches.is_empty());
    let all = |switches: &[u32]| -> Vec<(u64, String)> {
        let orders = |seed| {
            varied(Orders { seed, ..store_buffers(0.5) }, |variation| variation.switches = switches.to_vec())
        };
        (0..12)
            .map(|seed| run(name, &orders(seed)))
            .map(|(told, saw)| (told.counts.warp_instructions, saw))
            .collect()
    };
    let switched = all(&switches);
    assert_eq!(switched, all(&switches));
    assert_ne!(switched, all(&[]));
    assert!(switched.iter().any(|(_, saw)| saw == "0"), "the flag is seen before the data: {switched:?}");
}

#[test]
fn a_swarm_delays_a_store_in_some_trials_and_not_in_others() {
    let name = "a_swarm_delays_a_store_in_some_trials_and_not_in_others";
    let delayed = |swarm, seed| {
        let orders = varied(Orders { seed, ..store_buffers(0.5) }, |variation| variation.swarm = swarm);
        let (told, _) = run(name, &orders);
        assert_eq!(run(name, &orders).0, told, "the same trial does the same");
        told.counts.delayed_stores
    };
    let by_swarm: BTreeSet<u64> = (0..12).map(|seed| delayed(true, seed)).collect();
    assert!(by_swarm.contains(&0) && by_swarm.len() > 1, "{by_swarm:?}");
}
