//! Device memory, host memory and copies between them.

use std::ffi::{c_int, c_uint, c_void};
use std::ptr::{null, null_mut};

use bugaroo_cuda_abi::CUDA_MEMCPY2D;
use cuda::Status;
use cuda::api::copy::*;
use cuda::api::copy2d::cuMemcpy2D_v2;
use cuda::api::fill::*;
use cuda::api::memory::*;
use cuda::api::pointer::{cuPointerGetAttribute, cuPointerGetAttributes};
use cuda::api::pool::*;

use crate::support::{Device, download, upload};

#[test]
fn copies_round_trip() {
    let _device = Device::new();
    let data: Vec<u32> = (0..50_000).collect();
    let bytes = data.len() * 4;
    let (first, second) = (upload(&data), upload(&vec![0_u32; data.len()]));
    assert_eq!(cuMemcpyDtoD_v2(second, first, bytes), Status::Success);
    assert_eq!(download(second, data.len()), Ok(data.clone()));
    assert_eq!(cuMemcpyDtoDAsync_v2(second, first + 400, 40, null_mut()), Status::Success);
    assert_eq!(download(second, 10), Ok(data[100..110].to_vec()));
    assert_eq!(download(second + 4 * 49_990, 10), Ok(data[49_990..].to_vec()));

    // The generic form sorts host and device out by the address.
    let mut back = vec![0_u32; 10];
    let (host, from) = (data[20..].as_ptr() as u64, back.as_mut_ptr() as u64);
    // SAFETY: the host places have as many bytes.
    unsafe {
        assert_eq!(cuMemcpy(first, host, 40), Status::Success);
        assert_eq!(cuMemcpyAsync(from, first, 40, null_mut()), Status::Success);
        assert_eq!(back, data[20..30]);
        assert_eq!(cuMemcpy(from, host + 40, 40), Status::Success);
    }
    assert_eq!(back, data[30..40]);
}

#[test]
fn bad_ranges_are_refused() {
    let _device = Device::new();
    let address = upload(&[1_u64, 2, 3, 4]);
    let mut host = [0_u8; 64];
    let (to, from) = (host.as_mut_ptr().cast::<c_void>(), host.as_ptr().cast::<c_void>());
    // SAFETY: the host places have as many bytes, or are what is wrong.
    unsafe {
        assert_eq!(cuMemcpyHtoD_v2(address, from, 33), Status::InvalidValue);
        assert_eq!(cuMemcpyHtoD_v2(address + 8, from, 32), Status::InvalidValue);
        assert_eq!(cuMemcpyHtoD_v2(0, from, 1), Status::InvalidValue);
        assert_eq!(cuMemcpyHtoD_v2(address, null(), 1), Status::InvalidValue);
        assert_eq!(cuMemcpyDtoH_v2(to, address + 32, 1), Status::InvalidValue);
        assert_eq!(cuMemcpyDtoH_v2(null_mut(), address, 1), Status::InvalidValue);
        assert_eq!(cuMemcpyDtoH_v2(to, address, usize::MAX), Status::InvalidValue);
        assert_eq!(cuMemcpyHtoD_v2(address, null(), 0), Status::Success, "nothing to copy");
        assert_eq!(cuMemcpyDtoHAsync_v2(to, address, 8, crate::support::number(77)), Status::InvalidHandle);
    }
    assert_eq!(cuMemcpyDtoD_v2(address, address + 24, 9), Status::InvalidValue);
    assert_eq!(cuMemcpyDtoD_v2(address, 0x1000, 1), Status::InvalidValue);
    assert_eq!(host, [0; 64], "refused copies change nothing");
    assert_eq!(download(address, 4), Ok(vec![1_u64, 2, 3, 4]));
}

#[test]
fn allocation_and_freeing() {
    let _device = Device::new();
    let mut address = 0;
    // SAFETY: the place is there; null is what is wrong.
    unsafe {
        assert_eq!(cuMemAlloc_v2(&mut address, 0), Status::InvalidValue);
        assert_eq!(cuMemAlloc_v2(null_mut(), 4), Status::InvalidValue);
        assert_eq!(cuMemAlloc_v2(&mut address, 1 << 50), Status::OutOfMemory);
        assert_eq!(cuMemAlloc_v2(&mut address, 1 << 33), Status::Success, "no host memory is touched");
    }
    assert_eq!(cuMemFree_v2(address + 4), Status::InvalidValue);
    assert_eq!(cuMemFree_v2(address), Status::Success);
    assert_eq!(cuMemFree_v2(address), Status::InvalidValue, "freed twice");
    assert_eq!(download::<u32>(address, 1), Err(Status::InvalidValue));
    let (mut base, mut size) = (0, 0);
    let start = upload(&[0_u32; 25]);
    // SAFETY: the places are there.
    unsafe {
        assert_eq!(cuMemGetAddressRange_v2(&mut base, &mut size, start + 50), Status::Success);
        assert_eq!((base, size), (start, 100));
        assert_eq!(cuMemGetAddressRange_v2(&mut base, &mut size, start + 100), Status::NotFound);
    }
}

#[test]
fn memory_goes_with_its_context() {
    let first = Device::new();
    let address = upload(&[5_u32]);
    let second = Device::new();
    assert_eq!(download(address, 1), Ok(vec![5_u32]), "one address space");
    assert_eq!(cuda::api::context::cuCtxDestroy_v2(first.context), Status::Success);
    std::mem::forget(first);
    assert_eq!(download::<u32>(address, 1), Err(Status::InvalidValue));
    drop(second);
}

#[test]
fn info_counts_what_is_allocated() {
    let trial = crate::support::trial("info_counts_what_is_allocated", &crate::support::baseline(), || {
        let _device = Device::new();
        let free = || {
            let (mut free, mut total) = (0, 0);
            // SAFETY: the places are there.
            assert_eq!(unsafe { cuMemGetInfo_v2(&mut free, &mut total) }, Status::Success);
            assert_eq!(total, 16 << 30);
            free
        };
        let before = free();
        let address = upload(&[0_u8; 1000]);
        assert_eq!(free(), before - 1000);
        assert_eq!(cuMemFree_v2(address), Status::Success);
        assert_eq!(free(), before);
    });
    assert!(trial.launches().is_empty());
}

#[test]
fn fills() {
    let _device = Device::new();
    let address = upload(&[0_u8; 16]);
    assert_eq!(cuMemsetD8_v2(address, 1, 16), Status::Success);
    assert_eq!(cuMemsetD16_v2(address + 2, 0x0202, 2), Status::Success);
    assert_eq!(cuMemsetD32Async(address + 8, 0x0403_0201, 1, null_mut()), Status::Success);
    assert_eq!(download(address, 16), Ok(vec![1_u8, 1, 2, 2, 2, 2, 1, 1, 1, 2, 3, 4, 1, 1, 1, 1]));
    // Two rows of two words, eight bytes apart, of which only the first word is filled.
    assert_eq!(cuMemsetD2D32_v2(address, 8, 9, 1, 2), Status::Success);
    assert_eq!(download(address, 4), Ok(vec![9_u32, 0x0101_0202, 9, 0x0101_0101]));
    assert_eq!(cuMemsetD8_v2(address, 1, 17), Status::InvalidValue);
    assert_eq!(cuMemsetD16_v2(address + 1, 1, 1), Status::InvalidValue, "misaligned");
    assert_eq!(cuMemsetD32_v2(address + 2, 1, 1), Status::InvalidValue, "misaligned");
    assert_eq!(cuMemsetD32_v2(address, 1, usize::MAX / 2), Status::InvalidValue);
    assert_eq!(cuMemsetD2D8_v2(address, 2, 1, 3, 2), Status::InvalidValue, "rows overlap");
    assert_eq!(cuMemsetD2D8_v2(address, 8, 1, 8, 3), Status::InvalidValue, "past the end");
    assert_eq!(cuMemsetD8_v2(address, 1, 0), Status::Success);
}

#[test]
fn rectangles() {
    let _device = Device::new();
    let (mut address, mut pitch) = (0, 0);
    // SAFETY: the places are there.
    unsafe {
        assert_eq!(cuMemAllocPitch_v2(&mut address, &mut pitch, 6, 4, 4), Status::Success);
        assert_eq!(cuMemAllocPitch_v2(&mut address, &mut pitch, 6, 4, 3), Status::InvalidValue);
    }
    assert_eq!(pitch, 512);
    let data: Vec<u8> = (0..24).collect();
    let up = CUDA_MEMCPY2D {
        src_x_in_bytes: 0,
        src_y: 0,
        src_memory_type: 1,
        src_host: data.as_ptr().cast(),
        src_device: 0,
        src_array: null_mut(),
        src_pitch: 6,
        dst_x_in_bytes: 0,
        dst_y: 0,
        dst_memory_type: 2,
        dst_host: null_mut(),
        dst_device: address,
        dst_array: null_mut(),
        dst_pitch: pitch,
        width_in_bytes: 6,
        height: 4,
    };
    let mut back = [0_u8; 6];
    let down = CUDA_MEMCPY2D {
        src_x_in_bytes: 2,
        src_y: 1,
        src_memory_type: 2,
        src_device: address,
        src_pitch: pitch,
        dst_memory_type: 1,
        dst_host: back.as_mut_ptr().cast(),
        dst_pitch: 3,
        width_in_bytes: 3,
        height: 2,
        ..up
    };
    // SAFETY: the host sides hold the rectangles; arrays and null are what is wrong.
    unsafe {
        assert_eq!(cuMemcpy2D_v2(&up), Status::Success);
        assert_eq!(cuMemcpy2D_v2(&down), Status::Success);
        assert_eq!(back, [8, 9, 10, 14, 15, 16]);
        assert_eq!(cuMemcpy2D_v2(&CUDA_MEMCPY2D { dst_pitch: 2, ..down }), Status::InvalidValue);
        assert_eq!(cuMemcpy2D_v2(&CUDA_MEMCPY2D { src_memory_type: 3, ..down }), Status::InvalidHandle);
        assert_eq!(cuMemcpy2D_v2(&CUDA_MEMCPY2D { src_memory_type: 9, ..down }), Status::InvalidValue);
        assert_eq!(cuMemcpy2D_v2(null()), Status::InvalidValue);
    }
}

#[test]
fn addresses_are_known() {
    let device = Device::new();
    let address = upload(&[0_u32; 4]);
    let (mut kind, mut start, mut context, mut ordinal): (c_uint, u64, *mut c_void, c_int) =
        (0, 0, null_mut(), 9);
    let mut words = u64::MAX;
    // SAFETY: the places are of the attributes' types.
    unsafe {
        let kind_place = (&raw mut kind).cast();
        assert_eq!(cuPointerGetAttribute(kind_place, 2, address + 4), Status::Success);
        assert_eq!(kind, 2);
        assert_eq!(cuPointerGetAttribute((&raw mut start).cast(), 11, address + 4), Status::Success);
        assert_eq!(start, address);
        assert_eq!(cuPointerGetAttribute((&raw mut context).cast(), 1, address), Status::Success);
        assert_eq!(context, device.context);
        assert_eq!(cuPointerGetAttribute(kind_place, 2, 0x10), Status::InvalidValue);
        assert_eq!(cuPointerGetAttribute(kind_place, 99, address), Status::InvalidValue);
        assert_eq!(cuPointerGetAttribute(null_mut(), 2, address), Status::InvalidValue);
        let places = [kind_place, (&raw mut ordinal).cast()];
        let known = cuPointerGetAttributes(2, [2, 9].as_ptr(), places.as_ptr(), address);
        assert_eq!((known, kind, ordinal), (Status::Success, 2, 0));
        let unknown = cuPointerGetAttributes(2, [2, 9].as_ptr(), places.as_ptr(), 0x10);
        assert_eq!((unknown, kind, ordinal), (Status::Success, 0, -2));
        let (first, next) =
            ([1, 3, 11], [(&raw mut context).cast(), (&raw mut start).cast(), (&raw mut words).cast()]);
        (context, start) = (std::ptr::without_provenance_mut(usize::MAX), u64::MAX);
        let unknown = cuPointerGetAttributes(3, first.as_ptr(), next.as_ptr(), 0x10);
        assert_eq!(
            (unknown, context, start, words),
            (Status::Success, null_mut(), 0, 0),
            "all of their bytes"
        );
    }
}

/// As programs do that are handed a pointer before they have used the device.
#[test]
fn addresses_can_be_asked_about_without_a_context() {
    assert_eq!(cuda::api::init::cuInit(0), Status::Success);
    let (mut kind, mut place): (c_uint, u64) = (9, 9);
    // SAFETY: the places are of the attributes' types.
    unsafe {
        let places = [(&raw mut kind).cast(), (&raw mut place).cast()];
        let unknown = cuPointerGetAttributes(2, [2, 3].as_ptr(), places.as_ptr(), 0x10);
        assert_eq!((unknown, kind, place), (Status::Success, 0, 0));
        assert_eq!(cuPointerGetAttribute((&raw mut kind).cast(), 2, 0x10), Status::InvalidValue);
        assert_eq!(cuda::api::host::cuMemFreeHost(null_mut()), Status::Success);
    }
}

#[test]
fn pools() {
    let _device = Device::new();
    let (mut pool, mut default, mut address, mut threshold) = (null_mut(), null_mut(), 0, 0_u64);
    // SAFETY: the places are there; null and made-up handles are what is wrong.
    unsafe {
        assert_eq!(cuDeviceGetDefaultMemPool(&mut default, 0), Status::Success);
        assert_eq!(cuMemPoolDestroy(default), Status::InvalidValue);
        assert_eq!(cuMemPoolCreate(&mut pool, null()), Status::InvalidValue);
        let device = [1_u32, 0, 1].into_iter().chain([0; 19]).collect::<Vec<_>>();
        assert_eq!(cuMemPoolCreate(&mut pool, device.as_ptr().cast()), Status::Success);
        let place = (&raw mut threshold).cast::<c_void>();
        assert_eq!(cuMemPoolSetAttribute(pool, 4, (&raw const address).cast()), Status::Success);
        assert_eq!(cuMemPoolGetAttribute(pool, 4, place), Status::Success);
        assert_eq!(cuMemPoolGetAttribute(pool, 40, place), Status::InvalidValue);
        let allocated = cuMemAllocFromPoolAsync(&mut address, 64, pool, null_mut());
        assert_eq!(allocated, Status::Success);
        assert_eq!(cuMemAllocFromPoolAsync(&mut address, 64, null_mut(), null_mut()), Status::InvalidHandle);
    }
    assert_eq!(cuMemFreeAsync(address, null_mut()), Status::Success);
    assert_eq!(cuMemFreeAsync(address, null_mut()), Status::InvalidValue);
    assert_eq!(cuMemPoolTrimTo(pool, 0), Status::Success);
    assert_eq!(cuMemPoolDestroy(pool), Status::Success);
    assert_eq!(cuMemPoolTrimTo(pool, 0), Status::InvalidHandle);
}

#[test]
fn what_tells_whose_it_is_goes_without_a_current_context() {
    let device = Device::new();
    let address = upload(&[1_u32, 2]);
    let mut host = null_mut();
    // SAFETY: the places are there; nobody uses the memory.
    unsafe {
        assert_eq!(cuda::api::host::cuMemAllocHost_v2(&mut host, 64), Status::Success);
        assert_eq!(cuda::api::context::cuCtxPopCurrent_v2(null_mut()), Status::Success);
        assert_eq!(cuMemFree_v2(address + 4), Status::InvalidContext);
        assert_eq!(cuMemFree_v2(address), Status::Success);
        assert_eq!(cuMemFree_v2(address), Status::InvalidContext);
        assert_eq!(cuda::api::host::cuMemFreeHost(host), Status::Success);
    }
    assert_eq!(cuda::api::module::cuModuleUnload(device.module), Status::Success);
    assert_eq!(cuda::api::context::cuCtxPushCurrent_v2(device.context), Status::Success);
    assert_eq!(cuMemFree_v2(address), Status::InvalidValue);
}

#[test]
fn large_memory_starts_at_a_page() {
    let _device = Device::new();
    for _ in 0..3 {
        let (mut small, mut large) = (0, 0);
        // SAFETY: the places are there.
        unsafe {
            assert_eq!(cuMemAlloc_v2(&mut small, 300), Status::Success);
            assert_eq!(cuMemAlloc_v2(&mut large, (1 << 20) + 36_864), Status::Success);
        }
        assert_eq!((small % 256, large % (1 << 16)), (0, 0));
    }
}
