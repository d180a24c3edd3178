//! Arrays: their shapes, and where each part lies.

use std::ffi::c_uint;

use bugaroo_cuda_abi::{CUDA_ARRAY3D_DESCRIPTOR, CUcontext};
use bugaroo_simulator::texture::{Level, TexelShape};

use crate::error::{CallResult, Status};
use crate::objects::transfer::{CopyPlace, CopySide};

pub(crate) const LAYERED: c_uint = 0x01;
pub(crate) const CUBEMAP: c_uint = 0x04;

/// An array.
#[derive(Clone, Copy, Debug)]
pub struct Array {
    /// Whose it is.
    pub context: CUcontext,
    /// As asked for; in the two-dimensional form the depth is 0.
    pub descriptor: CUDA_ARRAY3D_DESCRIPTOR,
    /// Bytes of an element.
    pub element: usize,
    pub(crate) address: u64,
    /// It is a part of a mipmapped array, and goes with it.
    pub is_level: bool,
}

/// Where a box begins, and its extent: bytes, rows and slices.
#[derive(Clone, Copy, Debug)]
pub struct BoxPart {
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
    pub fn shape(&self) -> TexelShape {
        let CUDA_ARRAY3D_DESCRIPTOR { height, depth, flags, .. } = self.descriptor;
        match (flags & LAYERED != 0, flags & CUBEMAP != 0) {
            (true, true) => TexelShape::CubeArray,
            (false, true) => TexelShape::Cube,
            (true, false) if height == 0 => TexelShape::A1,
            (true, false) => TexelShape::A2,
            (false, false) if depth > 0 => TexelShape::D3,
            (false, false) if height > 0 => TexelShape::D2,
            (false, false) => TexelShape::D1,
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
    pub fn side(&self, part: &BoxPart) -> CallResult<CopySide> {
        let whole = self.extent();
        for ((start, extent), whole) in part.start.iter().zip(part.extent).zip(whole) {
            if start.checked_add(extent).is_none_or(|end| end > whole) {
                return Err(Status::InvalidValue);
            }
        }
        let (pitch, slice) = (whole[0], whole[0] * whole[1]);
        let skipped = part.start[2] * slice + part.start[1] * pitch + part.start[0];
        Ok(CopySide { start: CopyPlace::Device(self.address + skipped as u64), pitch, slice })
    }

    /// Consecutive bytes of the array, row after row, as a place.
    ///
    /// # Errors
    /// `InvalidValue` when they are not inside.
    pub fn line(&self, offset: usize, bytes: usize) -> CallResult<CopyPlace> {
        let end = offset.checked_add(bytes).ok_or(Status::InvalidValue)?;
        if end > self.extent().iter().product() {
            return Err(Status::InvalidValue);
        }
        Ok(CopyPlace::Device(self.address + offset as u64))
    }
}

/// Whether the depth counts layers or faces.
pub fn has_layers(descriptor: &CUDA_ARRAY3D_DESCRIPTOR) -> bool {
    descriptor.flags & (LAYERED | CUBEMAP) != 0
}
