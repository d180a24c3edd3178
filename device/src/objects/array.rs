//! Arrays: their shapes, and where each part lies.

use std::ffi::c_uint;

use bugaroo_cuda_abi::{CUDA_ARRAY3D_DESCRIPTOR, CUcontext};
use bugaroo_simulator::texture::{Level, Shape};

use crate::error::{Outcome, Status};
use crate::objects::transfer::{Place, Side};

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

/// Whether the depth counts layers or faces.
pub fn has_layers(descriptor: &CUDA_ARRAY3D_DESCRIPTOR) -> bool {
    descriptor.flags & (LAYERED | CUBEMAP) != 0
}
