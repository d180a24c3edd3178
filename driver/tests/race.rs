//! Races between pieces of host work: what CUDA orders is told as ordered, and what it does not, not. A plain detector stands in
//! for the real ones; what kernels do to themselves is not its business.

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU32, Ordering};

use bugaroo_protocol::RaceKind;
use cuda::Status;
use cuda::api::context::cuCtxSynchronize;
use cuda::api::copy::*;
use cuda::api::event::*;
use cuda::api::fill::{cuMemsetD8Async, cuMemsetD32_v2};
use cuda::api::memop::*;
use cuda::api::memory::*;
use cuda::api::stream::*;

use crate::support::streams::*;
use crate::support::{parameter, trial, upload};

#[test]
fn kernels_of_one_stream_do_not_race() {
    let races = found("kernels_of_one_stream_do_not_race", |streams| {
        for flags in [0, NON_BLOCKING] {
            let stream = stream(flags);
            streams.run(c"put", stream);
            streams.run(c"get", stream);
            assert_eq!(cuStreamSynchronize(stream), Status::Success);
        }
    });
    assert_eq!(races, []);
}

#[test]
fn kernels_of_two_streams_race() {
    let races = found("kernels_of_two_streams_race", |streams| {
        streams.run(c"put", stream(0));
        streams.run(c"get", stream(0));
    });
    let [race] = &races[..] else { panic!("{races:?}") };
    let kernels = [&*race.first.kernel, &*race.second.kernel];
    assert!(matches!(kernels, ["put", "get"] | ["get", "put"]), "{race:?}");
    assert!(matches!(race.kind, RaceKind::WriteRead | RaceKind::ReadWrite), "{race:?}");
    let allocation = race.allocation.as_ref().expect("it is allocated");
    assert_eq!((allocation.size, allocation.offset), (16, 0));
    for party in [&race.first, &race.second] {
        let at = party.at.as_ref().expect("a thread");
        assert_eq!((at.block, at.thread), ([0; 3], [0; 3]));
        assert!(at.ptx_line.is_some() && at.instruction.contains("global"), "{at:?}");
        assert!(party.site.is_some(), "{party:?}");
        assert!(!party.called_at.is_empty(), "{party:?}");
    }
}

#[test]
fn an_event_orders_two_streams_pending_or_done() {
    let races = found("an_event_orders_two_streams_pending_or_done", |streams| {
        for done in [false, true] {
            let (one, other, event) = (stream(NON_BLOCKING), stream(NON_BLOCKING), event());
            streams.run(c"put", one);
            assert_eq!(cuEventRecord(event, one), Status::Success);
            while done && cuEventQuery(event) != Status::Success {}
            assert_eq!(cuStreamWaitEvent(other, event, 0), Status::Success);
            streams.run(c"get", other);
            assert_eq!(cuCtxSynchronize(), Status::Success);
        }
    });
    assert_eq!(races, []);
}

#[test]
fn work_that_has_been_done_is_not_ordered_by_that() {
    // The event's stream is done, and nobody has waited for the other one's.
    let races = found("work_that_has_been_done_is_not_ordered_by_that", |streams| {
        let (one, other) = (stream(NON_BLOCKING), stream(NON_BLOCKING));
        streams.run(c"put", one);
        let third = stream(NON_BLOCKING);
        streams.run(c"count", third);
        assert_eq!(cuStreamSynchronize(third), Status::Success);
        streams.run(c"get", other);
    });
    assert_eq!(races.len(), 1, "{races:?}");
}

#[test]
fn the_legacy_stream_comes_between_blocking_streams() {
    let races = found("the_legacy_stream_comes_between_blocking_streams", |streams| {
        streams.run(c"put", stream(0));
        streams.run(c"get", null_mut());
        streams.run(c"put", stream(0));
    });
    assert_eq!(races, []);
}

#[test]
fn the_legacy_stream_and_one_that_does_not_block_race() {
    let races = found("the_legacy_stream_and_one_that_does_not_block_race", |streams| {
        streams.run(c"put", stream(NON_BLOCKING));
        streams.run(c"get", null_mut());
    });
    assert_eq!(races.len(), 1, "{races:?}");
}

#[test]
fn a_copy_races_with_a_kernel() {
    let races = found("a_copy_races_with_a_kernel", |streams| {
        streams.run(c"put", stream(NON_BLOCKING));
        let mut words = [0_u32; 1];
        // SAFETY: there is room for four bytes.
        let status = unsafe { cuMemcpyDtoH_v2(words.as_mut_ptr().cast(), streams.words, 4) };
        assert_eq!(status, Status::Success);
    });
    let [race] = &races[..] else { panic!("{races:?}") };
    let copy = if race.first.at.is_none() { &race.first } else { &race.second };
    assert_eq!(copy.kernel, "cuMemcpyDtoH");
    assert!(copy.at.is_none() && !copy.called_at.is_empty(), "{copy:?}");
}

#[test]
fn what_a_call_waited_for_is_before_what_comes_next() {
    let races = found("what_a_call_waited_for_is_before_what_comes_next", |streams| {
        let next = || stream(NON_BLOCKING);
        let one = next();
        streams.run(c"put", one);
        assert_eq!(cuStreamSynchronize(one), Status::Success);
        let two = next();
        streams.run(c"put", two);
        while cuStreamQuery(two) != Status::Success {}
        let (three, event) = (next(), event());
        streams.run(c"put", three);
        assert_eq!(cuEventRecord(event, three), Status::Success);
        assert_eq!(cuEventSynchronize(event), Status::Success);
        let four = next();
        streams.run(c"put", four);
        let mut word = 0_u32;
        // SAFETY: there is room for four bytes.
        let copied =
            unsafe { cuMemcpyDtoHAsync_v2(std::ptr::from_mut(&mut word).cast(), streams.words, 4, four) };
        assert_eq!(copied, Status::Success);
        // The host's memory cannot be written later: the call has waited.
        streams.run(c"put", next());
        assert_eq!(cuCtxSynchronize(), Status::Success);
        streams.run(c"put", next());
        let other = upload(&[1_u32; 4]);
        assert_eq!(cuMemFree_v2(other), Status::Success);
        streams.run(c"put", next());
    });
    assert_eq!(races, []);
}

#[test]
fn a_synchronous_copy_on_the_device_does_not_wait() {
    let races = found("a_synchronous_copy_on_the_device_does_not_wait", |streams| {
        assert_eq!(cuMemcpyDtoD_v2(streams.words, streams.words + 8, 4), Status::Success);
        streams.run(c"put", stream(NON_BLOCKING));
    });
    assert_eq!(races.len(), 1, "{races:?}");
}

#[test]
fn memory_that_was_freed_is_other_memory() {
    let races = found("memory_that_was_freed_is_other_memory", |_| {
        let (one, other) = (stream(NON_BLOCKING), stream(NON_BLOCKING));
        let (mut first, mut second) = (0, 0);
        // SAFETY: these are places for addresses.
        unsafe {
            assert_eq!(cuMemAllocAsync(&mut first, 64, one), Status::Success);
            assert_eq!(cuMemsetD8Async(first, 1, 64, one), Status::Success);
            assert_eq!(cuMemFreeAsync(first, one), Status::Success);
            while cuStreamQuery(one) == Status::NotReady {}
            assert_eq!(cuMemAllocAsync(&mut second, 64, other), Status::Success);
            assert_eq!(cuMemsetD8Async(second, 1, 64, other), Status::Success);
        }
    });
    assert_eq!(races, []);
}

#[test]
fn functions_of_the_program_order_what_they_may_have_ordered() {
    static CALLED: AtomicU32 = AtomicU32::new(0);
    extern "C" fn call(_: *mut c_void) {
        CALLED.fetch_add(1, Ordering::SeqCst);
    }
    let races = found("functions_of_the_program_order_what_they_may_have_ordered", |streams| {
        let one = stream(NON_BLOCKING);
        streams.run(c"put", one);
        // SAFETY: the function takes anything.
        assert_eq!(unsafe { cuLaunchHostFunc(one, Some(call), null_mut()) }, Status::Success);
        while CALLED.load(Ordering::SeqCst) == 0 {}
        streams.run(c"get", stream(NON_BLOCKING));
    });
    assert_eq!(races, []);
}

#[test]
fn words_that_streams_write_and_wait_for_order_them() {
    let races = found("words_that_streams_write_and_wait_for_order_them", |streams| {
        let (one, other) = (stream(NON_BLOCKING), stream(NON_BLOCKING));
        streams.run(c"put", one);
        assert_eq!(cuStreamWriteValue32_v2(one, streams.words + 12, 1, 0), Status::Success);
        assert_eq!(cuStreamWaitValue32_v2(other, streams.words + 12, 1, 1), Status::Success);
        streams.run(c"get", other);
    });
    assert_eq!(races, []);
}

#[test]
fn a_fill_without_a_stream_of_memory_that_the_host_reaches_is_waited_for() {
    let test = "a_fill_without_a_stream_of_memory_that_the_host_reaches_is_waited_for";
    let races = found(test, |streams| {
        let mut managed = 0;
        // SAFETY: the place is one for an address.
        assert_eq!(unsafe { cuMemAllocManaged(&mut managed, 64, 1) }, Status::Success);
        assert_eq!(cuMemsetD32_v2(managed, 1, 16), Status::Success);
        streams.run_with(c"put", stream(NON_BLOCKING), &[parameter(&managed)]);
    });
    assert_eq!(races, []);
}

#[test]
fn a_kernel_that_talks_with_the_host_is_left_alone() {
    let trial = trial("a_kernel_that_talks_with_the_host_is_left_alone", &orders(), || {
        let streams = Streams::new();
        let mut flag = null_mut();
        // SAFETY: the place is one for a pointer.
        unsafe {
            assert_eq!(cuda::api::host::cuMemAllocHost_v2(&mut flag, 4), Status::Success);
            flag.cast::<u32>().write_volatile(0);
        }
        let each = [parameter(&streams.words), parameter(&flag)];
        streams.run_with(c"tell", stream(NON_BLOCKING), &each);
        // SAFETY: it is there.
        while unsafe { flag.cast::<u32>().read_volatile() } == 0 {}
        streams.run(c"get", stream(NON_BLOCKING));
        assert_eq!(cuCtxSynchronize(), Status::Success);
    });
    assert_eq!(races(&trial), []);
}

#[test]
fn a_variable_is_told_by_its_name() {
    let races = found("a_variable_is_told_by_its_name", |streams| {
        streams.run_with(c"count", stream(0), &[]);
        streams.run_with(c"count", stream(0), &[]);
    });
    let [race] = &races[..] else { panic!("{races:?}") };
    assert_eq!(race.kind, RaceKind::WriteWrite);
    let allocation = race.allocation.as_ref().expect("a variable");
    assert_eq!(allocation.variable.as_deref(), Some("counter"));
}
