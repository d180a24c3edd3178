//! Launches: parameters, shapes, and what becomes of faults.

use std::ffi::{c_uint, c_void};
use std::ptr::{null, null_mut};

use bugaroo_cuda_abi::{CUlaunchAttribute, CUlaunchAttributeValue, CUlaunchConfig};
use cuda::Status;
use cuda::api::context::cuCtxSynchronize;
use cuda::api::launch::{cuLaunchKernel, cuLaunchKernelEx};

use crate::support::{Device, download, launch, load, number, parameter, upload};

#[test]
fn adds_vectors() {
    let device = Device::new();
    let n = 1000_u32;
    let a: Vec<f32> = (0..n).map(|i| i as f32).collect();
    let b: Vec<f32> = (0..n).map(|i| 0.5 * i as f32).collect();
    let (da, db, dc) = (upload(&a), upload(&b), upload(&vec![0.0_f32; n as usize]));
    let parameters = [parameter(&da), parameter(&db), parameter(&dc), parameter(&n)];
    assert_eq!(launch(device.kernel("vector_add"), 8, 128, &parameters), Status::Success);
    let expected: Vec<f32> = (0..n).map(|i| 1.5 * i as f32).collect();
    assert_eq!(download(dc, n as usize), Ok(expected));
}

#[test]
fn takes_parameters_from_a_list_or_a_buffer() {
    let device = Device::new();
    let kernel = device.kernel("parameters");
    let out = upload(&[0_u32]);
    let (small, block) = (200_u8, [1_u32, 2, 300]);
    let each = [parameter(&small), parameter(&block), parameter(&out)];
    assert_eq!(launch(kernel, 1, 1, &each), Status::Success);
    assert_eq!(download(out, 1), Ok(vec![500_u32]));

    let mut buffer = [0_u8; 32];
    buffer[0] = 1;
    buffer[16..20].copy_from_slice(&6_u32.to_le_bytes());
    buffer[24..32].copy_from_slice(&out.to_le_bytes());
    let run = |size: usize| {
        let extra = [number(1), buffer.as_ptr().cast_mut().cast(), number(2)]
            .into_iter()
            .chain([std::ptr::from_ref(&size).cast_mut().cast(), null_mut()]);
        let extra: Vec<*mut c_void> = extra.collect();
        // SAFETY: the buffer holds `size` bytes, laid out as the kernel's parameters.
        unsafe { cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, null_mut(), null(), extra.as_ptr()) }
    };
    assert_eq!(run(buffer.len()), Status::Success);
    assert_eq!(download(out, 1), Ok(vec![7_u32]));
    assert_eq!(run(8), Status::InvalidValue);
}

#[test]
fn parameters_have_to_be_there() {
    let device = Device::new();
    let kernel = device.kernel("store_at");
    assert_eq!(launch(kernel, 1, 1, &[]), Status::InvalidValue);
    assert_eq!(launch(kernel, 1, 1, &[null()]), Status::InvalidValue);
    let (address, size) = (upload(&[0_u32]), 8_usize);
    let (each, extra) = ([parameter(&address)], [number(2), parameter(&size).cast_mut(), null_mut()]);
    // SAFETY: both lists are whole; that there are two is what is wrong.
    let both =
        unsafe { cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, null_mut(), each.as_ptr(), extra.as_ptr()) };
    assert_eq!(both, Status::InvalidValue);
    // SAFETY: a size without a buffer is what is wrong.
    let half = unsafe { cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, null_mut(), null(), extra.as_ptr()) };
    assert_eq!(half, Status::InvalidValue);
    assert_eq!(cuCtxSynchronize(), Status::Success);
}

#[test]
fn shapes_are_checked() {
    let device = Device::new();
    let kernel = device.kernel("count");
    let run = |grid: [u32; 3], block: [u32; 3], shared| {
        let ([gx, gy, gz], [bx, by, bz]) = (grid, block);
        // SAFETY: the kernel takes no parameters.
        unsafe { cuLaunchKernel(kernel, gx, gy, gz, bx, by, bz, shared, null_mut(), null(), null()) }
    };
    for (grid, block) in [
        ([0, 1, 1], [1, 1, 1]),
        ([1, 1, 1], [1, 0, 1]),
        ([1, 65536, 1], [1, 1, 1]),
        ([1, 1, 1], [1025, 1, 1]),
        ([1, 1, 1], [1, 1, 65]),
        ([1, 1, 1], [32, 33, 1]),
        ([0x8000_0000, 1, 1], [1, 1, 1]),
    ] {
        assert_eq!(run(grid, block, 0), Status::InvalidValue, "{grid:?} {block:?}");
    }
    assert_eq!(run([1, 1, 1], [1, 1, 1], 49_152), Status::Success);
    assert_eq!(run([1, 1, 1], [1, 1, 1], 49_153), Status::InvalidValue);
    assert_eq!(run([2, 3, 4], [4, 2, 8], 0), Status::Success);
    assert_eq!(launch(device.kernel("bounded"), 1, 64, &[]), Status::Success);
    assert_eq!(launch(device.kernel("bounded"), 1, 65, &[]), Status::InvalidValue);
    assert_eq!(launch(number(1), 1, 1, &[]), Status::InvalidHandle);
    assert_eq!(launch(device.module, 1, 1, &[]), Status::InvalidHandle);
    assert_eq!(cuCtxSynchronize(), Status::Success);
}

#[test]
fn dynamic_shared_memory_is_limited_and_can_be_opted_into() {
    use cuda::api::function::{cuFuncGetAttribute, cuFuncSetAttribute};
    const MAX_DYNAMIC: c_uint = 8;
    let device = Device::new();
    let kernel = device.kernel("static_shared");
    let out = upload(&[0_u32]);
    let parameters = [parameter(&out)];
    let run = |shared| {
        // SAFETY: the kernel takes one address.
        unsafe { cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, shared, null_mut(), parameters.as_ptr(), null()) }
    };
    let limit = || {
        let mut limit = 0;
        // SAFETY: the place is one for a number.
        assert_eq!(unsafe { cuFuncGetAttribute(&mut limit, MAX_DYNAMIC, kernel) }, Status::Success);
        limit
    };
    assert_eq!(limit(), 48 * 1024 - 1024);
    assert_eq!(run(48 * 1024), Status::InvalidValue);
    assert_eq!(cuFuncSetAttribute(kernel, MAX_DYNAMIC, 64 * 1024), Status::Success);
    assert_eq!(limit(), 64 * 1024);
    assert_eq!(run(64 * 1024), Status::Success);
    assert_eq!(run(64 * 1024 + 1), Status::InvalidValue);
    assert_eq!(cuFuncSetAttribute(kernel, MAX_DYNAMIC, 232_448), Status::InvalidValue);
    assert_eq!(cuFuncSetAttribute(kernel, MAX_DYNAMIC, -1), Status::InvalidValue);
    assert_eq!(download(out, 1), Ok(vec![5_u32]));
}

/// A kernel that goes wrong, and the error that sticks.
fn sticks(kernel: &str, parameters: &[*const c_void], expected: Status) {
    let device = Device::new();
    let good = upload(&[1_u32]);
    assert_eq!(launch(device.kernel(kernel), 1, 64, parameters), Status::Success, "told by a later call");
    // Calls that do not wait go on as if the kernel still ran, without effect.
    assert_eq!(cuda::api::fill::cuMemsetD32_v2(good, 2, 1), Status::Success);
    assert_eq!(launch(device.kernel("count"), 1, 1, &[]), Status::Success);
    assert_eq!(cuCtxSynchronize(), expected);
    assert_eq!(cuCtxSynchronize(), expected, "it sticks");
    assert_eq!(download::<u32>(good, 1), Err(expected));
    assert_eq!(launch(device.kernel_after_fault("count"), 1, 1, &[]), expected);
    assert_eq!(cuda::api::memory::cuMemFree_v2(good), expected);
    assert_eq!(load(crate::support::KERNELS), Err(expected));
    // Another context is not concerned.
    let other = Device::new();
    assert_eq!(launch(other.kernel("count"), 1, 1, &[]), Status::Success);
    assert_eq!(cuCtxSynchronize(), Status::Success);
    drop(other);
    assert_eq!(cuCtxSynchronize(), expected);
}

impl Device {
    /// No lookup works any more; any handle gives the fault.
    fn kernel_after_fault(&self, _name: &str) -> *mut c_void {
        self.module
    }
}

#[test]
fn illegal_addresses_stick() {
    sticks("store_at", &[parameter(&0_u64)], Status::IllegalAddress);
    let host = 5_u32;
    sticks("store_at", &[parameter(&std::ptr::from_ref(&host))], Status::IllegalAddress);
    assert_eq!(host, 5, "the device never reaches host memory");
}

#[test]
fn misaligned_addresses_stick() {
    let device = Device::new();
    let address = upload(&[0_u64]) + 2;
    assert_eq!(launch(device.kernel("store_at"), 1, 1, &[parameter(&address)]), Status::Success);
    assert_eq!(cuCtxSynchronize(), Status::MisalignedAddress);
}

#[test]
fn memory_that_was_freed_is_not_there() {
    let device = Device::new();
    let address = upload(&[0_u64]);
    assert_eq!(cuda::api::memory::cuMemFree_v2(address), Status::Success);
    assert_eq!(launch(device.kernel("store_at"), 1, 1, &[parameter(&address)]), Status::Success);
    assert_eq!(cuCtxSynchronize(), Status::IllegalAddress);
}

#[test]
fn traps_stick() {
    sticks("trapped", &[], Status::LaunchFailed);
}

#[test]
fn deadlocks_stick() {
    sticks("deadlocked", &[], Status::LaunchTimeout);
}

#[test]
fn a_fault_shows_at_whatever_waits_first() {
    use cuda::api::event::{cuEventCreate, cuEventQuery, cuEventRecord, cuEventSynchronize};
    use cuda::api::stream::{cuStreamQuery, cuStreamSynchronize};
    type Wait = fn(*mut c_void) -> Status;
    let waits: [(&str, Wait); 5] = [
        ("stream synchronize", |_| cuStreamSynchronize(null_mut())),
        ("stream query", |_| cuStreamQuery(null_mut())),
        ("event synchronize", |event| cuEventSynchronize(event)),
        ("event query", |event| cuEventQuery(event)),
        ("free", |_| cuda::api::memory::cuMemFree_v2(0)),
    ];
    for (name, wait) in waits {
        let device = Device::new();
        let mut event = null_mut();
        // SAFETY: the place is one for a handle.
        assert_eq!(unsafe { cuEventCreate(&mut event, 0) }, Status::Success);
        assert_eq!(launch(device.kernel("trapped"), 1, 1, &[]), Status::Success);
        assert_eq!(cuEventRecord(event, null_mut()), Status::Success);
        assert_eq!(wait(event), Status::LaunchFailed, "{name}");
        assert_eq!(wait(event), Status::LaunchFailed, "{name}, again");
    }
}

#[test]
fn the_primary_context_recovers_by_a_reset() {
    use cuda::api::context::cuCtxSetCurrent;
    use cuda::api::primary::{
        cuDevicePrimaryCtxRelease_v2, cuDevicePrimaryCtxReset_v2, cuDevicePrimaryCtxRetain,
    };
    assert_eq!(cuda::api::init::cuInit(0), Status::Success);
    let mut context = null_mut();
    // SAFETY: the place is one for a handle.
    assert_eq!(unsafe { cuDevicePrimaryCtxRetain(&mut context, 0) }, Status::Success);
    assert_eq!(cuCtxSetCurrent(context), Status::Success);
    let broken = Device { context, module: load(crate::support::KERNELS).expect("the kernels load") };
    assert_eq!(launch(broken.kernel("trapped"), 1, 1, &[]), Status::Success);
    assert_eq!(cuCtxSynchronize(), Status::LaunchFailed);
    assert_eq!(cuDevicePrimaryCtxReset_v2(0), Status::Success);
    assert_eq!(cuCtxSynchronize(), Status::Success);
    assert_eq!(launch(broken.module, 1, 1, &[]), Status::InvalidHandle, "its modules are gone");
    std::mem::forget(broken);
    assert_eq!(cuDevicePrimaryCtxRelease_v2(0), Status::Success);
    assert_eq!(cuCtxSynchronize(), Status::ContextIsDestroyed);
    assert_eq!(cuDevicePrimaryCtxRelease_v2(0), Status::InvalidContext);
}

#[test]
fn extended_launches_take_advice_and_refuse_the_rest() {
    let device = Device::new();
    let out = upload(&[0_u32]);
    let parameters = [parameter(&out)];
    let run = |attributes: &[CUlaunchAttribute]| {
        let config = CUlaunchConfig {
            grid: [1; 3],
            block: [1; 3],
            shared_mem_bytes: 0,
            stream: null_mut(),
            attributes: attributes.as_ptr(),
            attribute_count: attributes.len() as c_uint,
        };
        // SAFETY: the attributes are there, and the kernel takes one address.
        unsafe { cuLaunchKernelEx(&config, device.kernel("static_shared"), parameters.as_ptr(), null()) }
    };
    let attribute = |id, first: u32| {
        let mut bytes = [0; 64];
        // Clusters have three extents.
        for (place, value) in bytes.chunks_exact_mut(4).zip([first, 1, 1]).take(if id == 4 { 3 } else { 1 }) {
            place.copy_from_slice(&value.to_le_bytes());
        }
        CUlaunchAttribute { id, pad: [0; 4], value: CUlaunchAttributeValue { bytes } }
    };
    assert_eq!(run(&[]), Status::Success);
    assert_eq!(run(&[attribute(8, 1), attribute(2, 0), attribute(4, 1)]), Status::Success);
    assert_eq!(download(out, 1), Ok(vec![5_u32]));
    assert_eq!(run(&[attribute(2, 1), attribute(6, 1)]), Status::Success);
    assert_eq!(run(&[attribute(4, 2)]), Status::InvalidClusterSize, "a grid of one block");
    assert_eq!(run(&[attribute(4, 0)]), Status::InvalidClusterSize);
    assert_eq!(run(&[attribute(13, 1)]), Status::NotSupported);
    assert_eq!(run(&[attribute(99, 0)]), Status::InvalidValue);
    // SAFETY: null is what is wrong.
    let nothing = unsafe { cuLaunchKernelEx(null(), device.kernel("count"), null(), null()) };
    assert_eq!(nothing, Status::InvalidValue);
}

#[test]
fn threads_may_launch_at_the_same_time() {
    let device = Device::new();
    let (context, kernel) = (device.context as usize, device.kernel("vector_add") as usize);
    std::thread::scope(|scope| {
        for thread in 0..4_u32 {
            scope.spawn(move || {
                let context = context as *mut c_void;
                assert_eq!(cuda::api::context::cuCtxSetCurrent(context), Status::Success);
                for round in 0..20 {
                    let (value, n) = ((thread * 100 + round) as f32, 64_u32);
                    let (a, b) = (upload(&[value; 64]), upload(&[1.0_f32; 64]));
                    let parameters = [parameter(&a), parameter(&b), parameter(&b), parameter(&n)];
                    assert_eq!(launch(kernel as *mut c_void, 1, 64, &parameters), Status::Success);
                    assert_eq!(download(b, 64), Ok(vec![value + 1.0; 64]));
                    assert_eq!(cuda::api::memory::cuMemFree_v2(a), Status::Success);
                    assert_eq!(cuda::api::memory::cuMemFree_v2(b), Status::Success);
                }
            });
        }
    });
}
