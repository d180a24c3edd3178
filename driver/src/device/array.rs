//! Arrays: their shapes, and where they lie in the device's memory.

use std::ffi::c_uint;

use bugaroo_cuda_abi::{CUDA_ARRAY3D_DESCRIPTOR, CUarray, CUcontext};
use bugaroo_simulator::AllocationKind;
use bugaroo_simulator::texture::{Level, Shape};

use crate::device::state::Driver;
use crate::device::transfer::{Place, Side};
use crate::error::{Outcome, Status};

const LAYERED: c_uint = 0x01;
const CUBEMAP: c_uint = 0x04;
/// `CUDA_ARRAY3D_SPARSE`, `DEFERRED_MAPPING` and `VIDEO_ENCODE_DECODE`.
const UNSUPPORTED_FLAGS: c_uint = 0x1c0;
/// `LAYERED`, `SURFACE_LDST`, `CUBEMAP`, `TEXTURE_GATHER`, `DEPTH_TEXTURE` and `COLOR_ATTACHMENT`.
const FLAGS_MASK: c_uint = 0x3f;

/// An array.
#[derive(Clone, Copy, Debug)]
pub struct Array {
    /// Whose it is.
    pub context: CUcontext,
    /// As asked for; in the two-dimensional form the depth is 0.
    pub(crate) descriptor: CUDA_ARRAY3D_DESCRIPTOR,
    /// Bytes of an element.
    pub element: usize,
    address: u64,
    /// It is a part of a mipmapped array, and goes with it.
    pub(crate) is_level: bool,
}

/// Where a box begins, and its extent: bytes, rows and slices.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// Where.
    pub start: [usize; 3],
    /// How much.
    pub extent: [usize; 3],
}

impl Array {
    /// Bytes of a row, rows of a slice, slices.
    fn extent(&self) -> [usize; 3] {
        let CUDA_ARRAY3D_DESCRIPTOR { width, height, depth, .. } = self.descriptor;
        [width * self.element, height.max(1), depth.max(1)]
    }

    /// As asked for; in the two-dimensional form the depth is 0.
    pub fn descriptor(&self) -> CUDA_ARRAY3D_DESCRIPTOR {
        self.descriptor
    }

    /// How textures and surfaces see its dimensions (CUDA Driver API, `cuArray3DCreate`).
    pub fn shape(&self) -> Shape {
        let CUDA_ARRAY3D_DESCRIPTOR { height, depth, flags, .. } = self.descriptor;
        match (flags & LAYERED != 0, flags & CUBEMAP != 0) {
            (true, true) => Shape::CubeArray,
            (false, true) => Shape::Cube,
            (true, false) if height == 0 => Shape::A1,
            (true, false) => Shape::A2,
            (false, false) if depth > 0 => Shape::D3,
            (false, false) if height > 0 => Shape::D2,
            (false, false) => Shape::D1,
        }
    }

    /// Its texels.
    pub fn level(&self) -> Level {
        let [row, rows, slices] = self.extent().map(|part| part as u64);
        let extent = [self.descriptor.width as u64, rows, slices];
        Level { address: self.address, extent, pitch: row, slice: row * rows }
    }

    /// A part of the array as a side of a copy.
    ///
    /// # Errors
    /// `InvalidValue` when it is not inside.
    pub fn side(&self, part: &Part) -> Outcome<Side> {
        let whole = self.extent();
        for ((start, extent), whole) in part.start.iter().zip(part.extent).zip(whole) {
            if start.checked_add(extent).is_none_or(|end| end > whole) {
                return Err(Status::InvalidValue);
            }
        }
        let (pitch, slice) = (whole[0], whole[0] * whole[1]);
        let skipped = part.start[2] * slice + part.start[1] * pitch + part.start[0];
        Ok(Side { start: Place::Device(self.address + skipped as u64), pitch, slice })
    }

    /// Consecutive bytes of the array, row after row, as a place.
    ///
    /// # Errors
    /// `InvalidValue` when they are not inside.
    pub fn line(&self, offset: usize, bytes: usize) -> Outcome<Place> {
        let end = offset.checked_add(bytes).ok_or(Status::InvalidValue)?;
        if end > self.extent().iter().product() {
            return Err(Status::InvalidValue);
        }
        Ok(Place::Device(self.address + offset as u64))
    }
}

/// Bytes of an element: of a channel, times the channels. None for formats of blocks and planes.
fn element_bytes(format: c_uint, channels: c_uint) -> Option<usize> {
    let (bytes, needed) = match format {
        0x01 | 0x08 => (1, None),
        0x02 | 0x09 | 0x10 => (2, None),
        0x03 | 0x0a | 0x20 => (4, None),
        // UNORM and SNORM forms of 1, 2 and 4 channels.
        0xc0..=0xc2 => (1, Some(1 << (format - 0xc0))),
        0xc3..=0xc5 => (2, Some(1 << (format - 0xc3))),
        0xc6..=0xc8 => (1, Some(1 << (format - 0xc6))),
        0xc9..=0xcb => (2, Some(1 << (format - 0xc9))),
        _ => return None,
    };
    let known = matches!(channels, 1 | 2 | 4) && needed.is_none_or(|needed| needed == channels);
    known.then_some(bytes * channels as usize)
}

/// Whether the depth counts layers or faces.
pub fn has_layers(descriptor: &CUDA_ARRAY3D_DESCRIPTOR) -> bool {
    descriptor.flags & (LAYERED | CUBEMAP) != 0
}

/// Makes an array, perhaps as a level of another.
///
/// # Errors
/// `InvalidValue` for a shape that no array has, `NotSupported`, `OutOfMemory`.
pub fn create(
    driver: &mut Driver,
    context: CUcontext,
    descriptor: CUDA_ARRAY3D_DESCRIPTOR,
    is_level: bool,
) -> Outcome<CUarray> {
    let CUDA_ARRAY3D_DESCRIPTOR { width, height, depth, format, channels, flags } = descriptor;
    if flags & UNSUPPORTED_FLAGS != 0 {
        let what = "cuArray3DCreate: sparse, deferred and video arrays are not supported";
        return Err(driver.report.unsupported(what));
    }
    let cube = flags & CUBEMAP != 0;
    let faces = if flags & LAYERED != 0 { depth.is_multiple_of(6) } else { depth == 6 };
    let layers = flags & LAYERED == 0 || depth > 0;
    if width == 0 || flags & !FLAGS_MASK != 0 || !layers || cube && (width != height || !faces) {
        return Err(Status::InvalidValue);
    }
    let Some(element) = element_bytes(format, channels) else {
        if matches!(format, 0x50 | 0x91..=0xb3) {
            let what = format!("cuArrayCreate: format {format:#x} is not supported");
            return Err(driver.report.unsupported(&what));
        }
        return Err(Status::InvalidValue);
    };
    let extents = [width, height.max(1), depth.max(1), element];
    let bytes = extents.iter().try_fold(1_usize, |product, extent| product.checked_mul(*extent));
    let bytes = bytes.ok_or(Status::InvalidValue)?;
    let found = driver.memory.alloc(bytes as u64, 512, AllocationKind::Program);
    let address = found.map_err(|_| Status::OutOfMemory)?;
    driver.origins.allocated(address, bytes as u64);
    driver.ends.allocated(address);
    driver.queue.tell(|order| order.allocated(address, bytes as u64, false));
    Ok(driver.arrays.insert(Array { context, descriptor, element, address, is_level }))
}

/// Destroys an array.
///
/// # Errors
/// `InvalidHandle`
pub fn destroy(driver: &mut Driver, array: CUarray) -> Outcome {
    let array = driver.arrays.remove(array)?;
    driver.note_end(array.address);
    driver.origins.freed(array.address);
    if let Some((address, bytes)) = driver.memory.allocation(array.address) {
        driver.queue.tell(|order| order.freed(address, bytes));
    }
    driver.memory.free(array.address).map_err(|_| Status::InvalidValue)
}
