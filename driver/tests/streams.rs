//! Streams: what may overlap does under some picks, what may not never does.

use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicU32, Ordering};

use bugaroo_cuda_abi::{CUevent, CUfunction, CUmodule, CUstream};
use cuda::Status;
use cuda::api::context::cuCtxSynchronize;
use cuda::api::copy::{cuMemcpyDtoHAsync_v2, cuMemcpyHtoDAsync_v2};
use cuda::api::event::*;
use cuda::api::fill::cuMemsetD32Async;
use cuda::api::host::{cuMemAllocHost_v2, cuMemFreeHost};
use cuda::api::launch::cuLaunchKernel;
use cuda::api::stream::*;

use crate::support::{Device, baseline, download, load, number, parameter, store_buffers, trial, upload};

const KERNELS: &str = r"
.version 8.0
.target sm_75
.address_size 64

// Counts to 40 in the first word, then sets the second.
.visible .entry produce(.param .u64 words)
{
    .reg .pred %p;
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [words];
    mov.u32 %r1, 0;
LOOP:
    add.u32 %r1, %r1, 1;
    st.volatile.global.u32 [%rd1], %r1;
    setp.lt.u32 %p, %r1, 40;
    @%p bra LOOP;
    st.release.gpu.global.u32 [%rd1+4], 1;
    ret;
}

// Copies the first word to the third.
.visible .entry consume(.param .u64 words)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [words];
    ld.volatile.global.u32 %r1, [%rd1];
    st.global.u32 [%rd1+8], %r1;
    ret;
}

// The same, once the second word is set.
.visible .entry await(.param .u64 words)
{
    .reg .pred %p;
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [words];
LOOP:
    ld.acquire.gpu.global.u32 %r1, [%rd1+4];
    setp.eq.u32 %p, %r1, 0;
    @%p bra LOOP;
    ld.volatile.global.u32 %r1, [%rd1];
    st.global.u32 [%rd1+8], %r1;
    ret;
}

.visible .entry trapped()
{
    trap;
}
";

const ROUNDS: usize = 200;
const NON_BLOCKING: u32 = 1;

struct Streams {
    _device: Device,
    module: CUmodule,
    words: u64,
}

impl Streams {
    fn new() -> Streams {
        let device = Device::new();
        let module = load(KERNELS).expect("the kernels load");
        Streams { _device: device, module, words: upload(&[0_u32; 3]) }
    }

    fn kernel(&self, name: &std::ffi::CStr) -> CUfunction {
        let mut function = null_mut();
        // SAFETY: the place is one for a handle, the name a C string.
        let found =
            unsafe { cuda::api::module::cuModuleGetFunction(&mut function, self.module, name.as_ptr()) };
        assert_eq!(found, Status::Success);
        function
    }

    fn run(&self, name: &std::ffi::CStr, stream: CUstream) {
        let (kernel, each) = (self.kernel(name), [parameter(&self.words)]);
        // SAFETY: the kernels take one address.
        let status = unsafe { cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, each.as_ptr(), null()) };
        assert_eq!(status, Status::Success);
    }

    fn clear(&self) {
        assert_eq!(cuda::api::fill::cuMemsetD32_v2(self.words, 0, 3), Status::Success);
        assert_eq!(cuCtxSynchronize(), Status::Success);
    }

    fn consumed(&self) -> u32 {
        assert_eq!(cuCtxSynchronize(), Status::Success);
        download::<u32>(self.words, 3).expect("nothing went wrong")[2]
    }

    /// What the consumer sees, over many rounds of `round`.
    fn seen(&self, round: impl Fn()) -> Vec<u32> {
        (0..ROUNDS)
            .map(|_| {
                self.clear();
                round();
                self.consumed()
            })
            .collect()
    }
}

fn stream(flags: u32) -> CUstream {
    let mut stream = null_mut();
    // SAFETY: the place is one for a handle.
    assert_eq!(unsafe { cuStreamCreate(&mut stream, flags) }, Status::Success);
    stream
}

fn event() -> CUevent {
    let mut event = null_mut();
    // SAFETY: the place is one for a handle.
    assert_eq!(unsafe { cuEventCreate(&mut event, 0) }, Status::Success);
    event
}

/// Everything from before the producer's start to after its end.
fn assert_overlapped(seen: &[u32]) {
    assert!(seen.contains(&0) && seen.contains(&40), "{seen:?}");
    assert!(seen.iter().any(|value| (1..40).contains(value)), "{seen:?}");
}

#[test]
fn streams_overlap_without_an_event_and_never_with_one() {
    for flags in [0, NON_BLOCKING] {
        let streams = Streams::new();
        let (a, b, event) = (stream(flags), stream(flags), event());
        assert_overlapped(&streams.seen(|| {
            streams.run(c"produce", a);
            streams.run(c"consume", b);
        }));
        let ordered = streams.seen(|| {
            streams.run(c"produce", a);
            assert_eq!(cuEventRecord(event, a), Status::Success);
            assert_eq!(cuStreamWaitEvent(b, event, 0), Status::Success);
            streams.run(c"consume", b);
        });
        assert!(ordered.iter().all(|value| *value == 40), "{ordered:?}");
    }
}

#[test]
fn a_stream_keeps_its_order() {
    let streams = Streams::new();
    let (a, b) = (stream(0), stream(0));
    let seen = streams.seen(|| {
        assert_eq!(cuMemsetD32Async(streams.words, 7, 1, b), Status::Success);
        streams.run(c"produce", a);
        streams.run(c"consume", a);
    });
    assert!(seen.iter().all(|value| [7, 40].contains(value)), "{seen:?}");
    assert!(seen.contains(&7), "{seen:?}");
}

#[test]
fn waiting_for_one_stream_is_enough_for_its_work_and_says_nothing_of_others() {
    let streams = Streams::new();
    let (a, b) = (stream(NON_BLOCKING), stream(NON_BLOCKING));
    let mut finished = 0;
    for _ in 0..ROUNDS {
        streams.clear();
        streams.run(c"produce", a);
        streams.run(c"consume", b);
        assert_eq!(cuStreamSynchronize(a), Status::Success);
        assert_eq!(download(streams.words, 2), Ok(vec![40_u32, 1]));
        finished += u32::from(cuStreamQuery(b) == Status::Success);
    }
    assert!((1..ROUNDS as u32).contains(&finished), "{finished}");
}

#[test]
fn the_legacy_default_stream_waits_for_blocking_streams_only() {
    let streams = Streams::new();
    for legacy in [null_mut(), number(1)] {
        let (a, b) = (stream(0), stream(0));
        let both = streams.seen(|| {
            streams.run(c"produce", a);
            streams.run(c"consume", legacy);
        });
        assert!(both.iter().all(|value| *value == 40), "{both:?}");
        let through = streams.seen(|| {
            streams.run(c"produce", a);
            assert_eq!(cuMemsetD32Async(streams.words + 4, 0, 1, legacy), Status::Success);
            streams.run(c"consume", b);
        });
        assert!(through.iter().all(|value| *value == 40), "{through:?}");
        for stream in [a, b] {
            assert_eq!(cuStreamDestroy_v2(stream), Status::Success);
        }
    }
    let apart = stream(NON_BLOCKING);
    assert_overlapped(&streams.seen(|| {
        streams.run(c"produce", apart);
        streams.run(c"consume", null_mut());
    }));
    let per_thread = number(2);
    let joined = streams.seen(|| {
        streams.run(c"produce", per_thread);
        streams.run(c"consume", null_mut());
    });
    assert!(joined.iter().all(|value| *value == 40), "{joined:?}");
}

#[test]
fn a_kernel_that_waits_for_another_stream_ends() {
    let streams = Streams::new();
    let (a, b) = (stream(NON_BLOCKING), stream(NON_BLOCKING));
    let seen = streams.seen(|| {
        streams.run(c"await", a);
        streams.run(c"produce", b);
    });
    assert!(seen.iter().all(|value| *value == 40), "{seen:?}");
}

#[test]
fn whoever_asks_long_enough_gets_an_answer() {
    let streams = Streams::new();
    let (a, _b, event) = (stream(0), stream(0), event());
    assert_eq!(cuEventQuery(event), Status::Success, "not recorded yet");
    let mut asked = 0;
    for _ in 0..ROUNDS {
        streams.clear();
        streams.run(c"produce", a);
        assert_eq!(cuEventRecord(event, a), Status::Success);
        loop {
            match cuEventQuery(event) {
                Status::NotReady => asked += 1,
                status => break assert_eq!(status, Status::Success),
            }
        }
        let mut bytes = [0_u32; 2];
        // SAFETY: the place has so many bytes.
        let read = unsafe { cuda::api::copy::cuMemcpyDtoH_v2(bytes.as_mut_ptr().cast(), streams.words, 8) };
        assert_eq!((read, bytes), (Status::Success, [40, 1]));
    }
    assert!(asked > 0);
}

#[test]
fn pageable_memory_is_taken_at_the_call_and_locked_memory_later() {
    let streams = Streams::new();
    let (a, _b) = (stream(0), stream(0));
    let mut locked = null_mut();
    // SAFETY: the place is one for a pointer.
    assert_eq!(unsafe { cuMemAllocHost_v2(&mut locked, 4) }, Status::Success);
    let locked = locked.cast::<u32>();
    let mut pageable = [5_u32];
    // SAFETY: four bytes each, which stay until the streams are done.
    unsafe {
        *locked = 5;
        let words = streams.words;
        assert_eq!(cuMemcpyHtoDAsync_v2(words, pageable.as_ptr().cast(), 4, a), Status::Success);
        assert_eq!(cuMemcpyHtoDAsync_v2(words + 4, locked.cast(), 4, a), Status::Success);
        (pageable[0], *locked) = (6, 6);
        assert_eq!(cuCtxSynchronize(), Status::Success);
        assert_eq!(download(words, 2), Ok(vec![5_u32, 6]), "reading it too late is the program's mistake");
        assert_eq!(cuMemcpyDtoHAsync_v2(locked.cast(), words, 4, a), Status::Success);
        assert_eq!(*locked, 6, "not yet");
        assert_eq!(cuMemcpyDtoHAsync_v2(pageable.as_mut_ptr().cast(), words, 4, a), Status::Success);
        assert_eq!(pageable[0], 5, "waited for");
        assert_eq!(*locked, 5, "it came before");
        assert_eq!(cuMemFreeHost(locked.cast()), Status::Success);
    }
}

#[test]
fn functions_of_the_program_are_called_in_order_and_may_not_call_back() {
    static CALLED: AtomicU32 = AtomicU32::new(0);
    unsafe extern "C" fn function(data: *mut c_void) {
        CALLED.store(data as usize as u32 + cuCtxSynchronize() as u32, Ordering::SeqCst);
    }
    unsafe extern "C" fn callback(_: CUstream, status: u32, data: *mut c_void) {
        CALLED.store(data as usize as u32 + status, Ordering::SeqCst);
    }
    let streams = Streams::new();
    let (a, b, event) = (stream(0), stream(0), event());
    streams.run(c"produce", b);
    assert_eq!(cuEventRecord(event, b), Status::Success);
    assert_eq!(cuStreamWaitEvent(a, event, 0), Status::Success);
    // SAFETY: the functions take any number.
    unsafe {
        assert_eq!(cuLaunchHostFunc(a, Some(function), number(1000)), Status::Success);
        assert_eq!(CALLED.load(Ordering::SeqCst), 1800, "CUDA_ERROR_NOT_PERMITTED");
        assert_eq!(cuEventQuery(event), Status::Success, "what came before is done");
        streams.run(c"trapped", a);
        assert_eq!(cuLaunchHostFunc(a, Some(function), number(2000)), Status::Success);
        assert_eq!(CALLED.load(Ordering::SeqCst), 1800, "never reached");
        assert_eq!(cuStreamAddCallback(a, Some(callback), number(3000), 0), Status::Success);
        assert_eq!(CALLED.load(Ordering::SeqCst), 3719, "CUDA_ERROR_LAUNCH_FAILED");
    }
    assert_eq!(cuCtxSynchronize(), Status::LaunchFailed);
}

#[test]
fn elapsed_time_is_never_nothing() {
    let _streams = Streams::new();
    let (a, b) = (event(), event());
    let mut milliseconds = -1.0;
    assert_eq!(cuEventRecord(a, null_mut()), Status::Success);
    assert_eq!(cuEventRecord(b, null_mut()), Status::Success);
    // SAFETY: there is a place for the number.
    assert_eq!(unsafe { cuEventElapsedTime(&mut milliseconds, a, b) }, Status::Success);
    assert!(milliseconds > 0.0, "{milliseconds}");
    let (queued, _other) = (stream(0), stream(0));
    assert_eq!(cuMemsetD32Async(_streams.words, 1, 1, queued), Status::Success);
    assert_eq!(cuEventRecord(b, queued), Status::Success);
    // SAFETY: as above.
    assert_eq!(unsafe { cuEventElapsedTime(&mut milliseconds, a, b) }, Status::NotReady);
}

#[test]
fn a_seed_is_an_interleaving() {
    let runs: Vec<String> = [3, 3, 4]
        .into_iter()
        .map(|seed| {
            let orders = bugaroo_protocol::Orders { seed, digest: true, ..baseline() };
            let trial = trial("a_seed_is_an_interleaving", &orders, || {
                let streams = Streams::new();
                let (a, b) = (stream(0), stream(0));
                let seen: Vec<u32> = (0..20)
                    .map(|_| {
                        streams.clear();
                        streams.run(c"produce", a);
                        streams.run(c"consume", b);
                        streams.consumed()
                    })
                    .collect();
                println!("seen {seen:?}");
            });
            let said = String::from_utf8_lossy(&trial.output.stdout).into_owned();
            let digests = trial.launches().iter().map(|launch| format!("{launch:?}")).collect::<String>();
            said.lines().find(|line| line.contains("seen")).expect("it says so").to_owned() + &digests
        })
        .collect();
    assert_eq!(runs[0], runs[1]);
    assert_ne!(runs[0], runs[2]);
}

#[test]
fn kernels_of_one_module_run_beside_each_other_with_buffers_of_their_own() {
    for seed in 0..3 {
        let orders = bugaroo_protocol::Orders { seed, ..store_buffers(0.75) };
        let name = "kernels_of_one_module_run_beside_each_other_with_buffers_of_their_own";
        let trial = trial(name, &orders, || {
            let streams = Streams::new();
            let (a, b) = (stream(NON_BLOCKING), stream(NON_BLOCKING));
            for _ in 0..20 {
                streams.clear();
                streams.run(c"await", a);
                streams.run(c"produce", b);
                assert_eq!(streams.consumed(), 40, "it is released and acquired");
            }
        });
        let launches = trial.launches();
        assert_eq!(launches.len(), 40);
        let delayed = |kernel: &str| {
            let of = launches.iter().filter(|launch| launch.kernel == kernel);
            of.map(|launch| launch.counts.delayed_stores).sum::<u64>()
        };
        assert!(delayed("produce") > 0 && delayed("await") > 0);
        let mut ordinals: Vec<u64> = launches.iter().map(|launch| launch.ordinal).collect();
        assert!(!ordinals.is_sorted(), "reported as they end");
        ordinals.sort_unstable();
        assert!(ordinals.into_iter().eq(0..40));
    }
}

#[test]
fn what_is_queued_at_the_end_is_run() {
    let trial = trial("what_is_queued_at_the_end_is_run", &baseline(), || {
        let streams = Streams::new();
        streams.run(c"produce", stream(NON_BLOCKING));
        std::mem::forget(streams);
    });
    assert_eq!(trial.launches().len(), 1);
}
