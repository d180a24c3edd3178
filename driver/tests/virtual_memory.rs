//! Addresses reserved apart from memory, and pools.

use std::ffi::{c_uint, c_void};
use std::ptr::{null, null_mut};

use bugaroo_cuda_abi::*;
use cuda::Status;
use cuda::api::context::cuCtxSynchronize;
use cuda::api::copy::cuMemcpyDtoD_v2;
use cuda::api::fill::cuMemsetD32_v2;
use cuda::api::memory::*;
use cuda::api::pool::*;
use cuda::api::virtual_memory::*;

use crate::support::{Device, download, launch, parameter, upload};

const DEVICE: CUmemLocation = CUmemLocation { kind: 1, id: 0 };
const PROPERTIES: CUmemAllocationProp = CUmemAllocationProp {
    allocation_type: 1,
    handle_types: 0,
    location: DEVICE,
    meta_data: null_mut(),
    compression: 0,
    rdma: 0,
    usage: 0,
    reserved: [0; 4],
};
const SIZE: usize = 2 << 20;

fn chunk() -> CUmemGenericAllocationHandle {
    let mut handle = 0;
    // SAFETY: the places are there.
    assert_eq!(unsafe { cuMemCreate(&mut handle, SIZE, &PROPERTIES, 0) }, Status::Success);
    handle
}

fn reserve(bytes: usize) -> CUdeviceptr {
    let mut address = 0;
    // SAFETY: the place is there.
    assert_eq!(unsafe { cuMemAddressReserve(&mut address, bytes, 0, 0, 0) }, Status::Success);
    address
}

fn grant(address: CUdeviceptr, bytes: usize, flags: c_uint) -> Status {
    let description = CUmemAccessDesc { location: DEVICE, flags };
    // SAFETY: there is one description.
    unsafe { cuMemSetAccess(address, bytes, &description, 1) }
}

#[test]
fn memory_is_mapped_and_reached() {
    let device = Device::new();
    let mut granularity = 0;
    // SAFETY: the places are there.
    let told = unsafe { cuMemGetAllocationGranularity(&mut granularity, &PROPERTIES, 0) };
    assert_eq!((told, granularity), (Status::Success, SIZE));
    let (range, one, two) = (reserve(4 * SIZE), chunk(), chunk());
    assert_eq!(cuMemMap(range, SIZE, 0, one, 0), Status::Success);
    assert_eq!(cuMemMap(range + SIZE as u64, SIZE, 0, two, 0), Status::Success);
    assert_eq!(cuMemMap(range, SIZE, 0, two, 0), Status::InvalidValue, "taken");
    assert_eq!(grant(range, 2 * SIZE, 3), Status::Success);
    // Over the border of the two.
    let border = range + SIZE as u64;
    assert_eq!(cuMemsetD32_v2(border - 8, 5, 4), Status::Success);
    assert_eq!(cuMemcpyDtoD_v2(border - 400, border - 8, 16), Status::Success);
    assert_eq!(download(border - 400, 4), Ok(vec![5_u32; 4]));
    for address in [border - 4, border] {
        assert_eq!(launch(device.kernel("store_at"), 1, 1, &[parameter(&address)]), Status::Success);
    }
    assert_eq!(cuCtxSynchronize(), Status::Success);
    assert_eq!(download(border - 8, 4), Ok(vec![5_u32, 7, 7, 5]));
    // The handles may go before the mappings; one comes back from its address.
    assert_eq!(cuMemRelease(one), Status::Success);
    let (mut again, mut flags, mut found) = (0, 0, PROPERTIES);
    found.allocation_type = 0;
    // SAFETY: the places are there.
    unsafe {
        assert_eq!(cuMemRetainAllocationHandle(&mut again, range as *mut c_void), Status::Success);
        assert_eq!(again, one);
        assert_eq!(cuMemGetAccess(&mut flags, &DEVICE, border), Status::Success);
        assert_eq!(flags, 3);
        assert_eq!(cuMemGetAllocationPropertiesFromHandle(&mut found, two), Status::Success);
        assert_eq!(found.allocation_type, 1);
    }
    assert_eq!(cuMemAddressFree(range, 4 * SIZE), Status::InvalidValue, "in use");
    // Without access, and when it is unmapped, a kernel faults.
    assert_eq!(grant(range, SIZE, 1), Status::Success);
    assert_eq!(download(border - 4, 1), Ok(vec![7_u32]));
    assert_eq!(cuMemsetD32_v2(range, 5, 1), Status::InvalidValue);
    assert_eq!(cuMemUnmap(border, SIZE), Status::Success);
    assert_eq!(download::<u32>(border, 1), Err(Status::InvalidValue));
    assert_eq!(launch(device.kernel("store_at"), 1, 1, &[parameter(&range)]), Status::Success);
    assert_eq!(cuCtxSynchronize(), Status::IllegalAddress);
}

#[test]
fn what_cannot_be_mapped_is_refused() {
    let _device = Device::new();
    let shared = CUmemAllocationProp { handle_types: 8, ..PROPERTIES };
    let host = CUmemAllocationProp { location: CUmemLocation { kind: 2, id: 0 }, ..PROPERTIES };
    let (mut handle, mut address) = (0, 0);
    // SAFETY: the places are there; null is what is wrong.
    unsafe {
        assert_eq!(cuMemCreate(&mut handle, SIZE + 1, &PROPERTIES, 0), Status::InvalidValue);
        assert_eq!(cuMemCreate(&mut handle, 0, &PROPERTIES, 0), Status::InvalidValue);
        assert_eq!(cuMemCreate(&mut handle, SIZE, null(), 0), Status::InvalidValue);
        assert_eq!(cuMemCreate(&mut handle, SIZE, &shared, 0), Status::NotSupported);
        assert_eq!(cuMemCreate(&mut handle, SIZE, &host, 0), Status::NotSupported);
        let may_be_shared = CUmemAllocationProp { handle_types: 1, ..PROPERTIES };
        assert_eq!(cuMemCreate(&mut handle, SIZE, &may_be_shared, 0), Status::Success);
        assert_eq!(cuMemRelease(handle), Status::Success);
        assert_eq!(cuMemCreate(&mut handle, 1 << 40, &PROPERTIES, 0), Status::OutOfMemory);
        assert_eq!(cuMemAddressReserve(&mut address, 1 << 50, 0, 0, 0), Status::OutOfMemory);
        assert_eq!(cuMemAddressReserve(&mut address, 5, 0, 0, 0), Status::InvalidValue);
        assert_eq!(cuMemAddressReserve(&mut address, SIZE, 3, 0, 0), Status::InvalidValue);
        let large = SIZE << 8;
        assert_eq!(cuMemAddressReserve(&mut address, SIZE, large, 0, 0), Status::Success);
        assert_eq!(address % large as u64, 0);
        let wish = address + large as u64;
        let mut granted = 0;
        assert_eq!(cuMemAddressReserve(&mut granted, SIZE, 0, wish, 0), Status::Success);
        assert_eq!(granted, wish);
    }
    assert_eq!(cuMemRelease(77), Status::InvalidValue);
    assert_eq!(cuMemMap(address, SIZE, 0, 77, 0), Status::InvalidValue);
    assert_eq!(cuMemMap(address + 1, SIZE, 0, 77, 0), Status::InvalidValue);
    assert_eq!(cuMemUnmap(address, SIZE), Status::InvalidValue);
    assert_eq!(grant(address, SIZE, 3), Status::InvalidValue, "nothing mapped");
    assert_eq!(cuMemAddressFree(address, SIZE), Status::Success);
    assert_eq!(cuMemAddressFree(address, SIZE), Status::InvalidValue);
}

#[test]
fn pools_count_and_limit() {
    let _device = Device::new();
    let properties = CUmemPoolProps {
        allocation_type: 1,
        handle_types: 0,
        location: DEVICE,
        security: null_mut(),
        max_size: 1000,
        usage: 0,
        reserved: [0; 54],
    };
    let (mut pool, mut address, mut second) = (null_mut(), 0, 0);
    let get = |pool, attribute| {
        let mut value = 77_u64;
        // SAFETY: there is a place for the largest of the types.
        let told = unsafe { cuMemPoolGetAttribute(pool, attribute, (&raw mut value).cast()) };
        assert_eq!(told, Status::Success);
        value
    };
    // SAFETY: the places are there.
    unsafe {
        let shared = CUmemPoolProps { handle_types: 8, ..properties };
        assert_eq!(cuMemPoolCreate(&mut pool, &shared), Status::NotSupported);
        assert_eq!(cuMemPoolCreate(&mut pool, &properties), Status::Success);
        assert_eq!(cuMemAllocFromPoolAsync(&mut address, 600, pool, null_mut()), Status::Success);
        assert_eq!(cuMemAllocFromPoolAsync(&mut second, 600, pool, null_mut()), Status::OutOfMemory);
        assert_eq!((get(pool, 5), get(pool, 7), get(pool, 8)), (600, 600, 600));
        let mut of = null_mut::<c_void>();
        let told = cuda::api::pointer::cuPointerGetAttribute((&raw mut of).cast(), 17, address);
        assert_eq!((told, of), (Status::Success, pool));
        assert_eq!(cuMemFreeAsync(address, null_mut()), Status::Success);
        assert_eq!((get(pool, 7), get(pool, 8)), (0, 600));
        let (zero, one) = (0_u64, 1_u64);
        let set =
            |attribute, value: &u64| cuMemPoolSetAttribute(pool, attribute, std::ptr::from_ref(value).cast());
        assert_eq!(
            (set(8, &one), set(8, &zero), set(7, &zero)),
            (Status::InvalidValue, Status::Success, Status::InvalidValue)
        );
        assert_eq!(get(pool, 8), 0);
        // The current pool is the one that allocations without a name come from.
        assert_eq!(cuDeviceSetMemPool(0, pool), Status::Success);
        assert_eq!(cuMemAllocAsync(&mut address, 1001, null_mut()), Status::OutOfMemory);
        assert_eq!(cuMemAllocAsync(&mut address, 1000, null_mut()), Status::Success);
        assert_eq!(get(pool, 7), 1000);
        let mut flags = 0;
        assert_eq!(cuMemPoolGetAccess(&mut flags, pool, &DEVICE), Status::Success);
        assert_eq!(flags, 3);
        let none = CUmemAccessDesc { location: DEVICE, flags: 0 };
        assert_eq!(cuMemPoolSetAccess(pool, &none, 1), Status::InvalidValue);
        assert_eq!(cuMemPoolExportToShareableHandle(null_mut(), pool, 1, 0), Status::NotSupported);
        assert_eq!(cuMemPoolDestroy(pool), Status::Success);
    }
    assert_eq!(cuMemFree_v2(address), Status::Success, "it outlives its pool");
    let after = upload(&[1_u32]);
    assert_eq!(download(after, 1), Ok(vec![1_u32]));
}

#[test]
fn the_host_has_pools_too() {
    let _device = Device::new();
    let host = CUmemLocation { kind: 2, id: 0 };
    let (mut pool, mut devices, mut address) = (null_mut(), null_mut(), 0);
    // SAFETY: the places are there; what comes from the pool is memory of the host, too.
    unsafe {
        assert_eq!(cuMemGetMemPool(&mut pool, &host, 1), Status::Success);
        assert_eq!(cuMemGetMemPool(&mut devices, &DEVICE, 1), Status::Success);
        assert_eq!(cuMemGetMemPool(&mut pool, &host, 3), Status::InvalidValue);
        assert_eq!(cuMemSetMemPool(&host, 1, devices), Status::InvalidValue);
        assert_eq!(cuMemPoolDestroy(pool), Status::InvalidValue);
        assert_ne!(pool, devices);
        assert_eq!(cuMemAllocFromPoolAsync(&mut address, 8, pool, null_mut()), Status::Success);
        let word = address as *mut u32;
        word.write_volatile(5);
        assert_eq!(cuda::api::fill::cuMemsetD32_v2(address + 4, 7, 1), Status::Success);
        assert_eq!((word.read_volatile(), word.add(1).read_volatile()), (5, 7));
    }
    assert_eq!(cuMemFreeAsync(address, null_mut()), Status::Success);
}
