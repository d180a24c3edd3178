//! Memory that host and device share: managed, page-locked and registered.

use std::ffi::{c_int, c_uint, c_void};
use std::ptr::{null, null_mut};

use bugaroo_cuda_abi::{CUdeviceptr, CUmemLocation};
use cuda::Status;
use cuda::api::advice::*;
use cuda::api::context::cuCtxSynchronize;
use cuda::api::copy::*;
use cuda::api::fill::cuMemsetD8_v2;
use cuda::api::host::*;
use cuda::api::library::{cuLibraryGetManaged, cuLibraryLoadData, cuLibraryUnload};
use cuda::api::memory::*;
use cuda::api::module::cuModuleGetGlobal_v2;
use cuda::api::pointer::{cuPointerGetAttribute, cuPointerSetAttribute};

use crate::support::{Device, download, launch, load, parameter, store_buffers, upload};

/// `tally(p)` adds one atomically; `variable` is managed.
const SHARED: &str = "\
.version 9.0
.target sm_75
.address_size 64
.visible .global .attribute(.managed) .align 4 .u32 variable = 5;
.visible .entry tally(.param .u64 address)
{
    .reg .b64 %rd<2>;
    .reg .b32 %r<2>;
    ld.param.u64 %rd1, [address];
    atom.global.add.u32 %r1, [%rd1], 1;
    ret;
}
.visible .entry bump()
{
    .reg .b32 %r<2>;
    ld.global.u32 %r1, [variable];
    add.s32 %r1, %r1, 1;
    st.global.u32 [variable], %r1;
    ret;
}
";

fn managed(bytes: usize) -> CUdeviceptr {
    let mut address = 0;
    // SAFETY: the place is there.
    assert_eq!(unsafe { cuMemAllocManaged(&mut address, bytes, 1) }, Status::Success);
    address
}

fn pinned(bytes: usize) -> *mut u32 {
    let mut memory = null_mut();
    // SAFETY: the place is there.
    assert_eq!(unsafe { cuMemHostAlloc(&mut memory, bytes, 2) }, Status::Success);
    memory.cast()
}

/// Runs `store_at` there.
fn store_at(device: &Device, address: u64) -> Status {
    assert_eq!(launch(device.kernel("store_at"), 1, 1, &[parameter(&address)]), Status::Success);
    cuCtxSynchronize()
}

#[test]
fn host_and_device_use_one_address() {
    let device = Device::new();
    let (shared, locked) = (managed(64), pinned(64));
    let mut own = vec![0_u32; 16];
    let registered = own.as_mut_ptr();
    // SAFETY: the memory is there, and nobody else uses it.
    unsafe {
        assert_eq!(cuMemHostRegister_v2(registered.cast(), 64, 2), Status::Success);
        for address in [shared as *mut u32, locked, registered] {
            address.write(1);
            assert_eq!(store_at(&device, address as u64), Status::Success);
            assert_eq!(address.read_volatile(), 7);
            assert_eq!(download(address as u64, 1), Ok(vec![7_u32]));
        }
        let mut address = 0;
        assert_eq!(cuMemHostGetDevicePointer_v2(&mut address, locked.cast(), 0), Status::Success);
        assert_eq!(address, locked as u64);
        assert_eq!(cuMemHostUnregister(registered.cast()), Status::Success);
        assert_eq!(cuMemFreeHost(locked.cast()), Status::Success);
    }
    assert_eq!(cuMemFree_v2(shared), Status::Success);
    assert_eq!(own[0], 7);
}

#[test]
fn atomics_work_under_injection_with_the_same_digest() {
    let run = || {
        let orders = bugaroo_protocol::Orders { digest: true, ..store_buffers(0.75) };
        crate::support::trial("atomics_work_under_injection_with_the_same_digest", &orders, || {
            let _device = Device::new();
            let module = load(SHARED).expect("it loads");
            let (shared, locked) = (managed(64), pinned(64));
            let mut tally = null_mut();
            // SAFETY: the places are there; the memory is nobody else's.
            unsafe {
                let found = cuda::api::module::cuModuleGetFunction(&mut tally, module, c"tally".as_ptr());
                assert_eq!(found, Status::Success);
                for address in [shared as *mut u32, locked] {
                    assert_eq!(launch(tally, 4, 64, &[parameter(&address)]), Status::Success);
                    assert_eq!(cuCtxSynchronize(), Status::Success);
                    assert_eq!(address.read_volatile(), 256);
                }
            }
        })
    };
    let (one, other) = (run(), run());
    let digests = |trial: &crate::support::Trial| {
        trial.launches().iter().map(|launch| launch.digest.clone().expect("asked for")).collect::<Vec<_>>()
    };
    assert_eq!(digests(&one).len(), 2);
    assert_eq!(digests(&one), digests(&other));
}

#[test]
fn managed_variables_have_one_address() {
    let _device = Device::new();
    let module = load(SHARED).expect("it loads");
    let (mut bump, mut address, mut bytes) = (null_mut(), 0, 0);
    // SAFETY: the places are there; the variable has four bytes.
    unsafe {
        let found = cuda::api::module::cuModuleGetFunction(&mut bump, module, c"bump".as_ptr());
        assert_eq!(found, Status::Success);
        let found = cuModuleGetGlobal_v2(&mut address, &mut bytes, module, c"variable".as_ptr());
        assert_eq!((found, bytes), (Status::Success, 4));
        let variable = address as *mut u32;
        assert_eq!(variable.read_volatile(), 5);
        variable.write_volatile(10);
        assert_eq!(launch(bump, 1, 1, &[]), Status::Success);
        assert_eq!(cuCtxSynchronize(), Status::Success);
        assert_eq!(variable.read_volatile(), 11);
        let mut managed = 0_u32;
        let told = cuPointerGetAttribute((&raw mut managed).cast(), 8, address);
        assert_eq!((told, managed), (Status::Success, 1));
        assert_eq!(cuMemFree_v2(address), Status::InvalidValue, "the module's");
    }
}

#[test]
fn a_librarys_managed_variables_are_told_from_others() {
    let _device = Device::new();
    let (mut library, mut address, mut bytes) = (null_mut(), 0, 0);
    let load = |library: &mut _, source: &str| {
        let source = std::ffi::CString::new(source).expect("PTX holds no NUL");
        // SAFETY: the place is there, the text is a C string, there are no options.
        unsafe {
            cuLibraryLoadData(library, source.as_ptr().cast(), null(), null_mut(), 0, null(), null(), 0)
        }
    };
    // SAFETY: the places are there.
    unsafe {
        assert_eq!(load(&mut library, SHARED), Status::Success);
        let told = cuLibraryGetManaged(&mut address, &mut bytes, library, c"variable".as_ptr());
        assert_eq!((told, bytes), (Status::Success, 4));
        assert_eq!((address as *const u32).read_volatile(), 5);
        assert_eq!(cuLibraryUnload(library), Status::Success);
        assert_eq!(load(&mut library, crate::support::KERNELS), Status::Success);
        let told = cuLibraryGetManaged(&mut address, &mut bytes, library, c"counter".as_ptr());
        assert_eq!(told, Status::NotFound, "the device's alone");
        assert_eq!(cuLibraryUnload(library), Status::Success);
    }
}

#[test]
fn accesses_outside_fault() {
    let plain = vec![0_u32; 16];
    let freed = |free: &dyn Fn() -> u64| {
        let device = Device::new();
        let address = free();
        assert_eq!(store_at(&device, address), Status::IllegalAddress);
    };
    freed(&|| managed(64) + 64);
    freed(&|| pinned(64) as u64 - 4);
    freed(&|| {
        let address = managed(64);
        assert_eq!(cuMemFree_v2(address), Status::Success);
        assert_eq!(cuMemFree_v2(address), Status::InvalidValue, "freed twice");
        address
    });
    freed(&|| {
        let memory = pinned(64);
        // SAFETY: nobody uses it any more, but for the kernel.
        assert_eq!(unsafe { cuMemFreeHost(memory.cast()) }, Status::Success);
        memory as u64
    });
    freed(&|| plain.as_ptr() as u64);
    freed(&|| {
        let memory = plain.as_ptr().cast_mut().cast::<c_void>();
        // SAFETY: it stays until it is unregistered.
        unsafe {
            assert_eq!(cuMemHostRegister_v2(memory, 64, 8), Status::Success);
        }
        memory as u64 // Read only.
    });
    assert_eq!(plain, [0; 16]);
}

#[test]
fn registering_is_checked() {
    let _device = Device::new();
    let mut own = vec![0_u8; 100];
    let memory = own.as_mut_ptr().cast::<c_void>();
    let constant = b"constant".as_ptr().cast_mut().cast::<c_void>();
    // SAFETY: the vector outlives its registration; the rest is refused.
    unsafe {
        assert_eq!(cuMemHostRegister_v2(null_mut(), 4, 0), Status::InvalidValue);
        assert_eq!(cuMemHostRegister_v2(memory, 0, 0), Status::InvalidValue);
        assert_eq!(cuMemHostRegister_v2(memory, 100, 16), Status::InvalidValue);
        assert_eq!(cuMemHostRegister_v2(memory, 100, 4), Status::NotSupported, "memory of a device");
        assert_eq!(cuMemHostRegister_v2(memory, usize::MAX, 0), Status::InvalidValue);
        assert_eq!(
            cuMemHostRegister_v2(crate::support::number(4096), 4096, 0),
            Status::InvalidValue,
            "not there"
        );
        assert_eq!(cuMemHostRegister_v2(constant, 8, 0), Status::InvalidValue, "not writable");
        assert_eq!(cuMemHostUnregister(memory), Status::HostMemoryNotRegistered);
        assert_eq!(cuMemHostRegister_v2(memory, 100, 1), Status::Success);
        assert_eq!(cuMemHostRegister_v2(memory, 100, 1), Status::HostMemoryAlreadyRegistered);
        let inside = memory.cast::<u8>().add(99).cast();
        assert_eq!(cuMemHostRegister_v2(inside, 100, 1), Status::HostMemoryAlreadyRegistered);
        assert_eq!(cuMemHostUnregister(inside), Status::HostMemoryNotRegistered);
        assert_eq!(cuMemFreeHost(memory), Status::InvalidValue);
        let mut flags = 0;
        assert_eq!(cuMemHostGetFlags(&mut flags, inside), Status::Success);
        assert_eq!(flags, 3);
        assert_eq!(cuMemHostUnregister(memory), Status::Success);
        let locked = pinned(8).cast::<c_void>();
        assert_eq!(cuMemHostRegister_v2(locked, 8, 0), Status::HostMemoryAlreadyRegistered);
        assert_eq!(cuMemHostUnregister(locked), Status::HostMemoryNotRegistered);
    }
}

#[test]
fn copies_check_whose_an_address_is() {
    let _device = Device::new();
    let (shared, locked) = (managed(64), pinned(64));
    let device = upload(&[1_u32, 2, 3, 4]);
    let host = locked.cast::<c_void>();
    // SAFETY: the ranges are there, or refused.
    unsafe {
        // Page-locked and managed addresses serve on either side.
        assert_eq!(cuMemcpyDtoH_v2(host, device, 16), Status::Success);
        assert_eq!(cuMemcpyDtoD_v2(shared, locked as u64, 16), Status::Success);
        assert_eq!(cuMemcpy(shared + 16, device + 4, 12), Status::Success);
        assert_eq!(download(shared, 7), Ok(vec![1_u32, 2, 3, 4, 2, 3, 4]));
        assert_eq!(cuMemcpyHtoD_v2(device, shared as *const c_void, 16), Status::Success);
        assert_eq!(cuMemsetD8_v2(locked as u64, 9, 64), Status::Success);
        assert_eq!(locked.read(), 0x0909_0909);
        // A device's address where the host's is wanted, and the other way round.
        assert_eq!(cuMemcpyHtoD_v2(shared, device as *const c_void, 16), Status::InvalidValue);
        assert_eq!(cuMemcpyDtoH_v2(device as *mut c_void, shared, 16), Status::InvalidValue);
        let own = [0_u32; 4];
        assert_eq!(cuMemcpyDtoD_v2(device, own.as_ptr() as u64, 16), Status::InvalidValue);
        // Past the end of what is shared.
        assert_eq!(cuMemcpyHtoD_v2(device, host.cast::<u8>().add(56).cast(), 16), Status::InvalidValue);
        assert_eq!(cuMemcpy(device, shared + 60, 8), Status::InvalidValue);
        assert_eq!(cuMemcpy(device, shared + 64, 0), Status::Success);
        assert_eq!(cuMemFreeHost(shared as *mut c_void), Status::InvalidValue);
        assert_eq!(cuMemFree_v2(locked as u64), Status::InvalidValue);
        assert_eq!(cuMemHostGetDevicePointer_v2(&mut 0, shared as *mut c_void, 0), Status::InvalidValue);
    }
}

#[test]
fn flags_and_attributes_are_told() {
    let device = Device::new();
    let (shared, locked, mut flags) = (managed(64), pinned(64), 0);
    // SAFETY: the places are there, of the attributes' types.
    unsafe {
        assert_eq!(cuMemHostAlloc(&mut null_mut(), 64, 8), Status::InvalidValue);
        assert_eq!(cuMemHostAlloc(&mut null_mut(), 0, 0), Status::InvalidValue);
        assert_eq!(cuMemAllocManaged(&mut 0, 64, 4), Status::InvalidValue);
        assert_eq!(cuMemAllocManaged(&mut 0, 0, 1), Status::InvalidValue);
        assert_eq!(cuMemHostGetFlags(&mut flags, locked.cast()), Status::Success);
        assert_eq!(flags, 2);
        let number = |attribute: c_uint, address: u64| {
            let mut value = 77_u32;
            let told = cuPointerGetAttribute((&raw mut value).cast(), attribute, address);
            (told == Status::Success).then_some(value)
        };
        assert_eq!((number(2, shared), number(2, locked as u64)), (Some(2), Some(1)));
        assert_eq!((number(8, shared), number(8, locked as u64), number(8, 16)), (Some(1), Some(0), Some(0)));
        assert_eq!((number(16, shared), number(16, 16)), (Some(3), None));
        for (attribute, address) in [(3, shared), (4, shared), (3, locked as u64), (4, locked as u64)] {
            let mut found = 0_u64;
            let told = cuPointerGetAttribute((&raw mut found).cast(), attribute, address);
            assert_eq!((told, found), (Status::Success, address), "{attribute}");
        }
        let own = upload(&[1_u32]);
        assert_eq!(number(4, own), None, "the host has no address of it");
        let on = 1_u32;
        let set = |attribute, address| cuPointerSetAttribute((&raw const on).cast(), attribute, address);
        assert_eq!((number(6, own), set(6, own), number(6, own)), (Some(0), Status::Success, Some(1)));
        assert_eq!((set(7, own), set(6, 16)), (Status::InvalidValue, Status::InvalidValue));
        let mut context = null_mut::<c_void>();
        let told = cuPointerGetAttribute((&raw mut context).cast(), 1, shared);
        assert_eq!((told, context), (Status::Success, device.context));
    }
}

#[test]
fn advice_is_remembered() {
    let _device = Device::new();
    let address = managed(4096);
    let get = |attribute, from, count| {
        let mut value: c_int = 77;
        // SAFETY: there is a place for an int.
        let told =
            unsafe { cuMemRangeGetAttribute((&raw mut value).cast(), 4, attribute, address + from, count) };
        (told == Status::Success).then_some(value)
    };
    let host = CUmemLocation { kind: 2, id: 0 };
    assert_eq!((get(1, 0, 4096), get(2, 0, 4096)), (Some(0), Some(-2)));
    assert_eq!(cuMemAdvise(address + 1024, 1024, 1, 0), Status::Success);
    assert_eq!((get(1, 1024, 1024), get(1, 1024, 1025), get(1, 0, 4096)), (Some(1), Some(0), Some(0)));
    assert_eq!(cuMemAdvise_v2(address, 4096, 3, host), Status::Success);
    assert_eq!((get(2, 0, 4096), get(5, 0, 4096), get(1, 1500, 10)), (Some(-1), Some(2), Some(1)));
    assert_eq!(cuMemAdvise(address, 100, 4, 0), Status::Success);
    assert_eq!((get(2, 0, 100), get(2, 0, 101), get(2, 100, 5)), (Some(-2), Some(-2), Some(-1)));
    assert_eq!(cuMemPrefetchAsync(address, 4096, 0, null_mut()), Status::Success);
    assert_eq!((get(4, 0, 4096), get(7, 0, 4096), get(8, 0, 4096)), (Some(0), Some(1), Some(0)));
    assert_eq!(cuMemPrefetchAsync_v2(address, 64, host, 0, null_mut()), Status::Success);
    assert_eq!((get(4, 0, 64), get(4, 0, 65)), (Some(-1), Some(-2)));
    assert_eq!(cuMemAdvise(address, 4096, 5, 0), Status::Success);
    let mut users: [c_int; 3] = [0; 3];
    // SAFETY: there are three places.
    let told = unsafe { cuMemRangeGetAttribute(users.as_mut_ptr().cast(), 12, 3, address, 4096) };
    assert_eq!((told, users), (Status::Success, [0, -2, -2]));
    // What is wrong.
    let own = upload(&[0_u32]);
    assert_eq!(cuMemAdvise(own, 4, 1, 0), Status::InvalidValue, "not managed");
    assert_eq!(cuMemAdvise(address, 4097, 1, 0), Status::InvalidValue);
    assert_eq!(cuMemAdvise(address, 4, 7, 0), Status::InvalidValue);
    assert_eq!(cuMemAdvise(address, 4, 3, 5), Status::InvalidDevice);
    assert_eq!(cuMemPrefetchAsync(address, 0, 0, null_mut()), Status::InvalidValue);
    // SAFETY: null is what is wrong.
    let told = unsafe { cuMemRangeGetAttribute(null_mut(), 4, 1, address, 4) };
    assert_eq!(told, Status::InvalidValue);
    // SAFETY: as above.
    let told = unsafe { cuMemRangeGetAttributes(null(), null(), null(), 1, address, 4) };
    assert_eq!(told, Status::InvalidValue);
    assert_eq!(cuMemFree_v2(address), Status::Success);
}
