//! Cooperative launches: blocks that wait for each other.

use std::ffi::{c_uint, c_void};
use std::ptr::{null, null_mut};

use bugaroo_cuda_abi::{CUfunction, CUlaunchAttribute, CUlaunchAttributeValue, CUlaunchConfig};
use cuda::Status;
use cuda::api::context::cuCtxSynchronize;
use cuda::api::launch::{cuLaunchCooperativeKernel, cuLaunchKernelEx};
use cuda::api::module::cuModuleGetFunction;

use crate::support::{Device, download, launch, load, parameter, store_buffers, trial, upload};

const BLOCK: u32 = 64;

fn rotate() -> CUfunction {
    let module = load(include_str!("grid_sync.ptx")).expect("the kernel loads");
    let mut function = null_mut();
    // SAFETY: the place is one for a handle, the name a C string.
    let found = unsafe { cuModuleGetFunction(&mut function, module, c"rotate".as_ptr()) };
    assert_eq!(found, Status::Success);
    function
}

fn cooperative(function: CUfunction, blocks: u32, each: &[*const c_void]) -> Status {
    // SAFETY: the tests pass what the kernel takes.
    unsafe { cuLaunchCooperativeKernel(function, blocks, 1, 1, BLOCK, 1, 1, 0, null_mut(), each.as_ptr()) }
}

/// Rotates and counts up, `rounds` times.
fn check(blocks: u32, rounds: u32, run: impl FnOnce(&[*const c_void]) -> Status) {
    let n = blocks * BLOCK;
    let values: Vec<u32> = (0..n).map(|i| 10 * i).collect();
    let (address, spare) = (upload(&values), upload(&vec![0_u32; n as usize]));
    assert_eq!(run(&[parameter(&address), parameter(&spare), parameter(&rounds)]), Status::Success);
    let expected: Vec<u32> = (0..n).map(|i| 10 * ((i + rounds) % n) + rounds).collect();
    assert_eq!(download(address, n as usize), Ok(expected));
}

#[test]
fn blocks_meet_as_often_as_they_like() {
    let _device = Device::new();
    let function = rotate();
    for blocks in [1, 7, 16] {
        check(blocks, 3, |each| cooperative(function, blocks, each));
    }
}

#[test]
fn delayed_stores_are_there_after_the_meeting() {
    for seed in 0..4 {
        let orders = bugaroo_protocol::Orders { seed, step_budget: None, ..store_buffers(0.75) };
        let trial = trial("delayed_stores_are_there_after_the_meeting", &orders, || {
            let _device = Device::new();
            let function = rotate();
            check(5, 2, |each| cooperative(function, 5, each));
        });
        assert!(trial.launches()[0].counts.delayed_stores > 0);
    }
}

#[test]
fn the_attribute_does_the_same() {
    let _device = Device::new();
    let function = rotate();
    let mut bytes = [0; 64];
    bytes[0] = 1;
    let attribute = CUlaunchAttribute { id: 2, pad: [0; 4], value: CUlaunchAttributeValue { bytes } };
    check(4, 2, |each| {
        let config = CUlaunchConfig {
            grid: [4, 1, 1],
            block: [BLOCK, 1, 1],
            shared_mem_bytes: 0,
            stream: null_mut(),
            attributes: &attribute,
            attribute_count: 1 as c_uint,
        };
        // SAFETY: the attribute is there, and so is what the kernel takes.
        unsafe { cuLaunchKernelEx(&config, function, each.as_ptr(), null()) }
    });
}

#[test]
fn more_blocks_than_fit_are_refused() {
    let _device = Device::new();
    let function = rotate();
    let (address, rounds) = (upload(&[0_u32]), 1_u32);
    let each = [parameter(&address), parameter(&address), parameter(&rounds)];
    // 16 SMs with 32 blocks each.
    assert_eq!(cooperative(function, 513, &each), Status::CooperativeLaunchTooLarge);
    assert_eq!(cuCtxSynchronize(), Status::Success);
}

#[test]
fn an_ordinary_launch_has_nowhere_to_meet() {
    let _device = Device::new();
    let function = rotate();
    let (address, rounds) = (upload(&[0_u32; 128]), 1_u32);
    let each = [parameter(&address), parameter(&address), parameter(&rounds)];
    assert_eq!(launch(function, 2, BLOCK, &each), Status::Success);
    assert_eq!(cuCtxSynchronize(), Status::LaunchFailed, "the toolkit's own code traps");
}
