//! What the tests of races share: kernels, streams, and what is found in a trial. A plain detector stands in for the real ones.

#![allow(dead_code, reason = "each test file uses a part")]

use std::ffi::{CStr, c_void};
use std::ptr::{null, null_mut};

use bugaroo_cuda_abi::{CUevent, CUfunction, CUmodule, CUstream};
use bugaroo_protocol::{Detector, Message, Orders, Race};
use cuda::Status;
use cuda::api::context::cuCtxSynchronize;
use cuda::api::event::cuEventCreate;
use cuda::api::fill::cuMemsetD32Async;
use cuda::api::launch::cuLaunchKernel;
use cuda::api::stream::cuStreamCreate;

use crate::support::plain;
use crate::support::{Device, Trial, baseline, load, parameter, trial, upload, varied};

const KERNELS: &str = include_str!("../race.ptx");

pub const NON_BLOCKING: u32 = 1;

pub struct Streams {
    _device: Device,
    module: CUmodule,
    pub words: u64,
}

impl Streams {
    pub fn new() -> Streams {
        cuda::look_with(plain::make);
        let device = Device::new();
        let module = load(KERNELS).expect("the kernels load");
        Streams { _device: device, module, words: upload(&[0_u32; 4]) }
    }

    pub fn kernel(&self, name: &CStr) -> CUfunction {
        let mut function = null_mut();
        // SAFETY: the place is one for a handle, the name a C string.
        let found =
            unsafe { cuda::api::module::cuModuleGetFunction(&mut function, self.module, name.as_ptr()) };
        assert_eq!(found, Status::Success);
        function
    }

    pub fn run(&self, name: &CStr, stream: CUstream) {
        self.run_with(name, stream, &[parameter(&self.words)]);
    }

    pub fn run_with(&self, name: &CStr, stream: CUstream, each: &[*const c_void]) {
        let kernel = self.kernel(name);
        // SAFETY: the tests pass what the kernels take.
        let status = unsafe { cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, each.as_ptr(), null()) };
        assert_eq!(status, Status::Success);
    }

    pub fn fill(&self, stream: CUstream) {
        assert_eq!(cuMemsetD32Async(self.words, 5, 1, stream), Status::Success);
    }
}

pub fn stream(flags: u32) -> CUstream {
    let mut stream = null_mut();
    // SAFETY: the place is one for a handle.
    assert_eq!(unsafe { cuStreamCreate(&mut stream, flags) }, Status::Success);
    stream
}

pub fn event() -> CUevent {
    let mut event = null_mut();
    // SAFETY: the place is one for a handle.
    assert_eq!(unsafe { cuEventCreate(&mut event, 0) }, Status::Success);
    event
}

pub fn orders() -> Orders {
    varied(baseline(), |variation| variation.race = vec![Detector::Ptx])
}

pub fn races(trial: &Trial) -> Vec<Race> {
    let races = trial.messages.iter().filter_map(|message| match message {
        Message::Races(races) => Some(races.races.clone()),
        _ => None,
    });
    races.flatten().collect()
}

/// What is found in a trial of its own.
#[track_caller]
pub fn found(test: &str, body: impl FnOnce(&Streams)) -> Vec<Race> {
    races(&trial(test, &orders(), || {
        let streams = Streams::new();
        body(&streams);
        assert_eq!(cuCtxSynchronize(), Status::Success);
    }))
}
