//! Arrays, and copies of boxes and of many ranges at once.

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use bugaroo_cuda_abi::*;
use cuda::Status;
use cuda::api::array::*;
use cuda::api::copy_array::*;
use cuda::api::copy_batch::*;
use cuda::api::copy2d::cuMemcpy2D_v2;
use cuda::api::copy3d::*;
use cuda::api::memory::cuMemGetInfo_v2;

use crate::support::{Device, download, upload};

const NOTHING: Operand3D = Operand3D {
    x_in_bytes: 0,
    y: 0,
    z: 0,
    lod: 0,
    memory_type: 1,
    host: null_mut(),
    device: 0,
    array: null_mut(),
    context: null_mut(),
    pitch: 0,
    height: 0,
};

/// 4 by 3 by 2 words.
const BOX: CUDA_ARRAY3D_DESCRIPTOR =
    CUDA_ARRAY3D_DESCRIPTOR { width: 4, height: 3, depth: 2, format: 3, channels: 1, flags: 0 };

fn array(descriptor: CUDA_ARRAY3D_DESCRIPTOR) -> Result<CUarray, Status> {
    let mut array = null_mut();
    // SAFETY: the places are there.
    match unsafe { cuArray3DCreate_v2(&mut array, &descriptor) } {
        Status::Success => Ok(array),
        status => Err(status),
    }
}

#[test]
fn arrays_are_made_and_described() {
    let _device = Device::new();
    let free = || {
        let (mut free, mut total) = (0, 0);
        // SAFETY: the places are there.
        assert_eq!(unsafe { cuMemGetInfo_v2(&mut free, &mut total) }, Status::Success);
        (total - free) as u64
    };
    let mut descriptor = BOX;
    let mut flat = CUDA_ARRAY_DESCRIPTOR { width: 5, height: 0, format: 0x20, channels: 2 };
    let mut one = null_mut();
    // SAFETY: the places are there.
    unsafe {
        assert_eq!(cuArrayCreate_v2(&mut one, &flat), Status::Success);
        flat.width = 0;
        assert_eq!(cuArrayGetDescriptor_v2(&mut flat, one), Status::Success);
        assert_eq!(flat.width, 5);
        assert_eq!(cuArray3DGetDescriptor_v2(&mut descriptor, one), Status::Success);
        assert_eq!((descriptor.width, descriptor.height, descriptor.channels), (5, 0, 2));
        assert_eq!(cuArrayCreate_v2(&mut one, null()), Status::InvalidValue);
    }
    assert!(free() >= 40);
    assert_eq!(cuArrayDestroy(one), Status::Success);
    assert_eq!(cuArrayDestroy(one), Status::InvalidHandle);
    assert_eq!(array(CUDA_ARRAY3D_DESCRIPTOR { width: 0, ..BOX }), Err(Status::InvalidValue));
    assert_eq!(array(CUDA_ARRAY3D_DESCRIPTOR { channels: 3, ..BOX }), Err(Status::InvalidValue));
    assert_eq!(array(CUDA_ARRAY3D_DESCRIPTOR { format: 4, ..BOX }), Err(Status::InvalidValue));
    assert_eq!(array(CUDA_ARRAY3D_DESCRIPTOR { format: 0x91, ..BOX }), Err(Status::NotSupported));
    assert_eq!(array(CUDA_ARRAY3D_DESCRIPTOR { flags: 0x40, ..BOX }), Err(Status::NotSupported));
    assert_eq!(array(CUDA_ARRAY3D_DESCRIPTOR { width: 1 << 60, ..BOX }), Err(Status::InvalidValue));
    assert_eq!(array(CUDA_ARRAY3D_DESCRIPTOR { width: 1 << 40, ..BOX }), Err(Status::OutOfMemory));
}

#[test]
fn lines_go_in_and_out() {
    let _device = Device::new();
    let (one, other) = (array(BOX).expect("room"), array(BOX).expect("room"));
    let data: Vec<u32> = (0..24).collect();
    let mut back = [0_u32; 24];
    let device = upload(&[99_u32; 24]);
    // SAFETY: the host places have as many bytes.
    unsafe {
        assert_eq!(cuMemcpyHtoA_v2(one, 0, data.as_ptr().cast(), 96), Status::Success);
        assert_eq!(cuMemcpyAtoA_v2(other, 8, one, 40, 16), Status::Success);
        assert_eq!(cuMemcpyAtoH_v2(back.as_mut_ptr().cast(), other, 0, 96), Status::Success);
        assert_eq!(back[..8], [0, 0, 10, 11, 12, 13, 0, 0]);
        assert_eq!(cuMemcpyAtoD_v2(device + 4, one, 92, 4), Status::Success);
        assert_eq!(download(device, 3), Ok(vec![99_u32, 23, 99]));
        assert_eq!(cuMemcpyDtoA_v2(one, 92, device, 4), Status::Success);
        assert_eq!(cuMemcpyAtoH_v2(back.as_mut_ptr().cast(), one, 88, 8), Status::Success);
        assert_eq!(back[..2], [22, 99]);
        assert_eq!(cuMemcpyAtoH_v2(back.as_mut_ptr().cast(), one, 88, 9), Status::InvalidValue);
        assert_eq!(cuMemcpyHtoA_v2(null_mut(), 0, data.as_ptr().cast(), 4), Status::InvalidHandle);
    }
}

#[test]
fn boxes_go_in_and_out() {
    let _device = Device::new();
    let array = array(BOX).expect("room");
    let data: Vec<u32> = (0..24).collect();
    let host = Operand3D { host: data.as_ptr().cast_mut().cast(), pitch: 16, height: 3, ..NOTHING };
    let inside = Operand3D { memory_type: 3, array, ..NOTHING };
    let whole = CUDA_MEMCPY3D { src: host, dst: inside, width_in_bytes: 16, height: 3, depth: 2 };
    // Two words of two rows of both slices, to rows of 12 bytes and slices of 3 rows.
    let device = upload(&[9_u32; 18]);
    let pitched = Operand3D { memory_type: 2, device, pitch: 12, height: 3, ..NOTHING };
    let part = CUDA_MEMCPY3D {
        src: Operand3D { x_in_bytes: 4, y: 1, ..inside },
        dst: Operand3D { y: 1, ..pitched },
        width_in_bytes: 8,
        height: 2,
        depth: 2,
    };
    // SAFETY: the host side holds the box.
    unsafe {
        assert_eq!(cuMemcpy3D_v2(&whole), Status::Success);
        assert_eq!(cuMemcpy3DAsync_v2(&part, null_mut()), Status::Success);
        let mut expected = [9_u32; 18];
        expected[3..5].copy_from_slice(&[5, 6]);
        expected[6..8].copy_from_slice(&[9, 10]);
        expected[12..14].copy_from_slice(&[17, 18]);
        expected[15..17].copy_from_slice(&[21, 22]);
        assert_eq!(download(device, 18), Ok(expected.to_vec()));
        // A rectangle out of an array, and by way of the unified address space.
        let mut back = [0_u32; 4];
        let down = CUDA_MEMCPY2D {
            src_x_in_bytes: 8,
            src_y: 1,
            src_memory_type: 3,
            src_host: null(),
            src_device: 0,
            src_array: array,
            src_pitch: 0,
            dst_x_in_bytes: 0,
            dst_y: 0,
            dst_memory_type: 4,
            dst_host: null_mut(),
            dst_device: back.as_mut_ptr() as u64,
            dst_array: null_mut(),
            dst_pitch: 8,
            width_in_bytes: 8,
            height: 2,
        };
        assert_eq!(cuMemcpy2D_v2(&down), Status::Success);
        assert_eq!(back, [6, 7, 10, 11]);
        assert_eq!(cuMemcpy2D_v2(&CUDA_MEMCPY2D { src_y: 2, ..down }), Status::InvalidValue);
        // What does not fit.
        let wide = CUDA_MEMCPY3D { width_in_bytes: 17, ..whole };
        let deep = CUDA_MEMCPY3D { depth: 3, ..whole };
        let low = CUDA_MEMCPY3D { dst: Operand3D { height: 2, y: 1, ..pitched }, ..part };
        let past = CUDA_MEMCPY3D { dst: Operand3D { z: 1, ..pitched }, ..part };
        let nowhere = CUDA_MEMCPY3D { src: Operand3D { host: null_mut(), ..host }, ..whole };
        for wrong in [wide, deep, low, past, nowhere] {
            assert_eq!(cuMemcpy3D_v2(&wrong), Status::InvalidValue, "{wrong:?}");
        }
        assert_eq!(cuMemcpy3D_v2(null()), Status::InvalidValue);
        assert_eq!(cuMemcpy3DPeer(&whole), Status::InvalidContext, "no contexts given");
        assert_eq!(cuMemcpy3D_v2(&CUDA_MEMCPY3D { depth: 0, ..whole }), Status::Success);
    }
}

#[test]
fn batches() {
    let _device = Device::new();
    let device = upload(&[1_u32, 2, 3, 4]);
    let mut back = [0_u32; 4];
    let to = [back.as_mut_ptr() as u64, device];
    let from = [device + 8, device + 4];
    let sizes = [8_usize, 4];
    let nowhere = CUmemLocation { kind: 0, id: 0 };
    let attributes =
        CUmemcpyAttributes { source_access_order: 1, source: nowhere, destination: nowhere, flags: 0 };
    let mut failed = 0;
    // SAFETY: the arrays have two items; the host place has as many bytes.
    unsafe {
        let batch = |starts: &[usize], count| {
            let (to, from, sizes) = (to.as_ptr(), from.as_ptr(), sizes.as_ptr());
            cuMemcpyBatchAsync_v2(to, from, sizes, 2, &attributes, starts.as_ptr(), count, null_mut())
        };
        assert_eq!(batch(&[0], 1), Status::Success);
        assert_eq!(batch(&[1], 1), Status::InvalidValue);
        assert_eq!(batch(&[], 0), Status::InvalidValue);
        assert_eq!(back, [3, 4, 0, 0]);
        assert_eq!(download(device, 2), Ok(vec![2_u32, 2]));
        let bad = [device + 100, device];
        let status = cuMemcpyBatchAsync(
            to.as_ptr(),
            bad.as_ptr(),
            sizes.as_ptr(),
            2,
            &attributes,
            &0,
            1,
            &mut failed,
            null_mut(),
        );
        assert_eq!((status, failed), (Status::InvalidValue, usize::MAX));
        assert_eq!(back, [3, 4, 0, 0], "nothing of it is copied");

        // Elements of an array count as its own: two of the four words of its last row.
        let array = array(BOX).expect("room");
        let pointer =
            CUmemcpy3DPointer { address: device, row_length: 0, layer_height: 0, location: nowhere };
        let operation = CUDA_MEMCPY3D_BATCH_OP {
            src: CUmemcpy3DOperand { kind: 1, place: CUmemcpy3DPlace { pointer } },
            dst: CUmemcpy3DOperand {
                kind: 2,
                place: CUmemcpy3DPlace { array: CUmemcpy3DArray { array, offset: [2, 2, 1] } },
            },
            extent: [2, 1, 1],
            source_access_order: 1,
            flags: 0,
        };
        assert_eq!(cuMemcpy3DBatchAsync_v2(1, &operation, 0, null_mut()), Status::Success);
        assert_eq!(cuMemcpyAtoH_v2(back.as_mut_ptr().cast::<c_void>(), array, 84, 12), Status::Success);
        assert_eq!(back[..3], [0, 2, 2]);
        let wide = CUDA_MEMCPY3D_BATCH_OP { extent: [3, 1, 1], ..operation };
        assert_eq!(cuMemcpy3DBatchAsync_v2(1, &wide, 0, null_mut()), Status::InvalidValue);
        assert_eq!(cuMemcpy3DBatchAsync_v2(1, &operation, 1, null_mut()), Status::InvalidValue);
    }
}
