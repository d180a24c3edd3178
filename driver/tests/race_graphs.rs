//! Races between pieces of work that no stream orders: nodes of graphs, and what kernels launch. And what race detectors do not
//! change, and what they refuse.

use std::ptr::null_mut;

use bugaroo_protocol::{Backend, Detector, Message, Orders, Race};
use cuda::Status;
use cuda::api::capture::*;
use cuda::api::context::cuCtxSynchronize;
use cuda::api::event::*;
use cuda::api::graph::exec::*;
use cuda::api::stream::*;

use crate::support::streams::*;
use crate::support::{Trial, baseline, download, parameter, trial, varied};

/// The fire-and-forget stream of device code, and its default stream.
const APART: u64 = 4;
const IN_ORDER: u64 = 0;

fn children(test: &str, device_stream: u64) -> Vec<Race> {
    found(test, |streams| {
        let stream = stream(NON_BLOCKING);
        streams.run(c"put", stream);
        streams.run_with(c"parent", stream, &[parameter(&streams.words), parameter(&device_stream)]);
        streams.run(c"get", stream);
    })
}

#[test]
fn what_kernels_launch_comes_behind_them_and_before_what_is_next() {
    let races = children("what_kernels_launch_comes_behind_them_and_before_what_is_next", IN_ORDER);
    assert_eq!(races, []);
}

#[test]
fn children_of_a_kernel_race_with_each_other() {
    let races = children("children_of_a_kernel_race_with_each_other", APART);
    let [race] = &races[..] else { panic!("{races:?}") };
    let kernels = [&*race.first.kernel, &*race.second.kernel];
    assert!(matches!(kernels, ["put", "get"] | ["get", "put"]), "{race:?}");
}

/// A graph of a fill, and two kernels behind it, in one branch or two; launched twice.
fn graphs(test: &str, forks: bool) -> Vec<Race> {
    found(test, |streams| {
        let (one, two) = (stream(NON_BLOCKING), stream(NON_BLOCKING));
        let (forked, joined) = (event(), event());
        let (mut graph, mut exec) = (null_mut(), null_mut());
        assert_eq!(cuStreamBeginCapture_v2(one, 0), Status::Success);
        streams.fill(one);
        assert_eq!(cuEventRecord(forked, one), Status::Success);
        assert_eq!(cuStreamWaitEvent(two, forked, 0), Status::Success);
        streams.run(c"put", one);
        streams.run(c"get", if forks { two } else { one });
        assert_eq!(cuEventRecord(joined, two), Status::Success);
        assert_eq!(cuStreamWaitEvent(one, joined, 0), Status::Success);
        streams.run(c"get", one);
        // SAFETY: the places are those for handles.
        unsafe {
            assert_eq!(cuStreamEndCapture(one, &mut graph), Status::Success);
            assert_eq!(cuGraphInstantiateWithFlags(&mut exec, graph, 0), Status::Success);
        }
        streams.fill(one);
        assert_eq!(cuGraphLaunch(exec, one), Status::Success);
        streams.run(c"put", one);
        assert_eq!(cuGraphLaunch(exec, one), Status::Success);
        assert_eq!(cuStreamSynchronize(one), Status::Success);
        streams.run(c"put", two);
    })
}

#[test]
fn edges_of_graphs_order() {
    assert_eq!(graphs("edges_of_graphs_order", false), []);
}

#[test]
fn branches_of_graphs_race() {
    let races = graphs("branches_of_graphs_race", true);
    assert!(!races.is_empty());
    let pair =
        |race: &Race| matches!([&*race.first.kernel, &*race.second.kernel], ["put", "get"] | ["get", "put"]);
    assert!(races.iter().all(pair), "{races:?}");
}

#[test]
fn looking_on_changes_nothing() {
    let body = || {
        let streams = Streams::new();
        let (one, other, event) = (stream(0), stream(NON_BLOCKING), event());
        for _ in 0..20 {
            streams.run(c"put", one);
            streams.fill(other);
            streams.run(c"get", other);
            assert_eq!(cuEventRecord(event, other), Status::Success);
            assert_eq!(cuStreamWaitEvent(one, event, 0), Status::Success);
            streams.run(c"get", null_mut());
        }
        assert_eq!(cuCtxSynchronize(), Status::Success);
        println!("{:?}", download::<u32>(streams.words, 4));
    };
    let test = "looking_on_changes_nothing";
    let with = trial(test, &Orders { digest: true, ..orders() }, body);
    let without = trial(test, &Orders { digest: true, ..baseline() }, body);
    let told = |trial: &Trial| -> Vec<(u64, Option<String>)> {
        trial.launches().iter().map(|launch| (launch.ordinal, launch.digest.clone())).collect()
    };
    assert_eq!(told(&with), told(&without));
    assert!(!told(&with).is_empty());
    assert!(!races(&with).is_empty());
    assert!(races(&without).is_empty());
}

#[test]
fn what_is_not_there_is_refused_by_name() {
    let refused = |orders: &Orders| {
        let trial = trial("what_is_not_there_is_refused_by_name", orders, || {
            assert_eq!(cuda::api::init::cuInit(0), Status::NotSupported);
        });
        let told = trial.messages.into_iter().find_map(|message| match message {
            Message::Unsupported { what } => Some(what),
            _ => None,
        });
        told.expect("it is told")
    };
    let handlers = varied(crate::support::store_buffers(0.5), |variation| {
        variation.race = vec![Detector::Ptx];
        variation.handlers = true;
    });
    let what = refused(&handlers);
    assert!(what.contains("handlers"), "{what}");
    let what = refused(&Orders { backend: Backend::Cuda, ..orders() });
    assert!(what.contains("ptx") && what.contains("backend cuda"), "{what}");
}
