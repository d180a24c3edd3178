//! Two devices: whose memory kernels reach, as contexts, `cuMemSetAccess` and pools say.

use std::ptr::null_mut;

use bugaroo_cuda_abi::*;
use bugaroo_protocol::{LaunchEnd, Orders};
use cuda::Status;
use cuda::api::context::{cuCtxCreate_v2, cuCtxDestroy_v2, cuCtxSetCurrent, cuCtxSynchronize};
use cuda::api::device::cuDeviceCanAccessPeer;
use cuda::api::peer::*;
use cuda::api::virtual_memory::*;

use crate::support::{Trial, baseline, launch, load, parameter, trial, upload};

const SIZE: usize = 2 << 20;

fn two() -> Orders {
    Orders { devices: 2, ..baseline() }
}

fn location(device: CUdevice) -> CUmemLocation {
    CUmemLocation { kind: 1, id: device }
}

/// A context of a device, current.
fn context(device: CUdevice) -> CUcontext {
    assert_eq!(cuda::api::init::cuInit(0), Status::Success);
    let mut context = null_mut();
    // SAFETY: the place is one for a handle.
    assert_eq!(unsafe { cuCtxCreate_v2(&mut context, 0, device) }, Status::Success);
    context
}

/// What comes of a kernel of the current context that stores there.
fn store_at(address: u64) -> Status {
    let module = load(crate::support::KERNELS).expect("the kernels load");
    let mut kernel = null_mut();
    // SAFETY: the place is one for a handle.
    let found = unsafe { cuda::api::module::cuModuleGetFunction(&mut kernel, module, c"store_at".as_ptr()) };
    assert_eq!(found, Status::Success);
    assert_eq!(launch(kernel, 1, 1, &[parameter(&address)]), Status::Success);
    cuCtxSynchronize()
}

fn faults(trial: &Trial) -> Vec<String> {
    let fault = |launch: &&bugaroo_protocol::Launch| match &launch.end {
        LaunchEnd::Fault(fault) => Some(fault.summary.clone()),
        _ => None,
    };
    trial.launches().iter().filter_map(fault).collect()
}

#[test]
fn contexts_open_their_devices_memory() {
    let ran = trial("contexts_open_their_devices_memory", &two(), || {
        let theirs = context(1);
        let memory = upload(&[1_u32]);
        let other = context(1);
        let closed = context(0);
        assert_eq!(store_at(memory), Status::IllegalAddress);
        assert_eq!(cuCtxDestroy_v2(closed), Status::Success);
        let ours = context(0);
        assert_eq!(cuCtxEnablePeerAccess(null_mut(), 0), Status::InvalidContext);
        assert_eq!(cuCtxEnablePeerAccess(ours, 0), Status::InvalidContext);
        assert_eq!(cuCtxEnablePeerAccess(theirs, 1), Status::InvalidValue);
        assert_eq!(cuCtxDisablePeerAccess(theirs), Status::PeerAccessNotEnabled);
        assert_eq!(cuCtxEnablePeerAccess(theirs, 0), Status::Success);
        assert_eq!(cuCtxEnablePeerAccess(theirs, 0), Status::PeerAccessAlreadyEnabled);
        assert_eq!(store_at(memory), Status::Success);
        assert_eq!(cuCtxEnablePeerAccess(other, 0), Status::Success);
        assert_eq!(cuCtxDisablePeerAccess(theirs), Status::Success);
        // Access is given by device, and the other context still opens it.
        assert_eq!(store_at(memory), Status::Success);
        assert_eq!(cuCtxDestroy_v2(other), Status::Success);
        assert_eq!(cuCtxSetCurrent(ours), Status::Success);
        assert_eq!(store_at(memory), Status::IllegalAddress);
        let mut reaches = 7;
        // SAFETY: the place is one for a number.
        unsafe {
            assert_eq!(cuDeviceCanAccessPeer(&mut reaches, 0, 1), Status::Success);
            assert_eq!(reaches, 1);
            assert_eq!(cuDeviceCanAccessPeer(&mut reaches, 1, 1), Status::Success);
            assert_eq!(reaches, 0);
            assert_eq!(cuDeviceCanAccessPeer(&mut reaches, 0, 2), Status::InvalidDevice);
        }
    });
    let faults = faults(&ran);
    assert_eq!(faults.len(), 2);
    for fault in faults {
        assert!(fault.contains("memory of device 1, to which device 0 has no peer access"), "{fault}");
        assert!(fault.contains("cudaDeviceEnablePeerAccess(1, 0)"), "{fault}");
    }
}

#[test]
fn mapped_memory_is_open_to_whom_it_was_given() {
    let ran = trial("mapped_memory_is_open_to_whom_it_was_given", &two(), || {
        let theirs = context(1);
        let properties = CUmemAllocationProp {
            allocation_type: 1,
            handle_types: 0,
            location: location(1),
            meta_data: null_mut(),
            compression: 0,
            rdma: 0,
            usage: 0,
            reserved: [0; 4],
        };
        let (mut chunk, mut range) = (0, 0);
        let grant = |range: u64, device: CUdevice, flags: u32| {
            let description = CUmemAccessDesc { location: location(device), flags };
            // SAFETY: there is one description.
            unsafe { cuMemSetAccess(range, SIZE, &description, 1) }
        };
        let granted = |range: u64, device: CUdevice| {
            let mut flags = 7;
            // SAFETY: the places are there.
            assert_eq!(unsafe { cuMemGetAccess(&mut flags, &location(device), range) }, Status::Success);
            flags
        };
        // SAFETY: the places are there.
        unsafe {
            assert_eq!(cuMemCreate(&mut chunk, SIZE, &properties, 0), Status::Success);
            assert_eq!(cuMemAddressReserve(&mut range, SIZE, 0, 0, 0), Status::Success);
        }
        assert_eq!(cuMemMap(range, SIZE, 0, chunk, 0), Status::Success);
        assert_eq!(grant(range, 1, 3), Status::Success);
        assert_eq!((granted(range, 0), granted(range, 1)), (0, 3));
        assert_eq!(store_at(range), Status::Success);
        let ours = context(0);
        // Which does not open it.
        assert_eq!(cuCtxEnablePeerAccess(theirs, 0), Status::Success);
        assert_eq!(store_at(range), Status::IllegalAddress);
        assert_eq!(cuCtxDestroy_v2(ours), Status::Success);
        context(0);
        assert_eq!(grant(range, 0, 1), Status::Success);
        assert_eq!(store_at(range), Status::IllegalAddress, "it may only be read");
        context(0);
        assert_eq!(grant(range, 0, 3), Status::Success);
        assert_eq!((granted(range, 0), granted(range, 1)), (3, 3));
        assert_eq!(store_at(range), Status::Success);
    });
    let faults = faults(&ran);
    assert_eq!(faults.len(), 2);
    for fault in faults {
        assert!(fault.contains("call cuMemSetAccess for device 0"), "{fault}");
    }
}
