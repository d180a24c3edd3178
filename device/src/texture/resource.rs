//! What textures and surfaces are made from (CUDA Driver API, `CUDA_RESOURCE_DESC`): arrays and linear memory.

use std::ffi::c_uint;

use bugaroo_cuda_abi::{CUDA_RESOURCE_DESC, LinearResource, PitchedResource};
use bugaroo_simulator::texture::{Channel, Level, TexelFormat, TexelShape};

use crate::error::{CallResult, Status};
use crate::mipmap;
use crate::objects::array::Array;
use crate::state::Gpu;

/// `CUresourcetype` of an array.
pub const ARRAY: c_uint = 0;
const MIPMAPPED: c_uint = 1;
const LINEAR: c_uint = 2;
const PITCHED: c_uint = 3;

/// Alignment of what textures lie in, in bytes. The device's attribute is twice as much; its allocations are aligned to this.
const ALIGNMENT: u64 = 256;
/// Attributes of the device: alignment of rows in bytes; most texels of linear memory; most texels of a row, rows, and bytes from
/// one to the next.
const ROW_ALIGNMENT: usize = 32;
const LONGEST_LINE: usize = 1 << 28;
const WIDEST: usize = 131_072;
const HIGHEST: usize = 65000;
const WIDEST_PITCH: usize = 2_097_120;

/// What a descriptor stands for.
#[derive(Debug)]
pub struct TexelSource {
    /// How the texels lie.
    pub shape: TexelShape,
    /// What a texel is.
    pub format: TexelFormat,
    /// Its integers mean parts of 1.
    pub always_float: bool,
    /// Its levels of detail, the largest first.
    pub levels: Vec<Level>,
}

impl TexelSource {
    /// It is linear memory, which has no modes.
    pub fn is_line(&self) -> bool {
        self.shape == TexelShape::Line
    }
}

fn sure(holds: bool) -> CallResult {
    if holds { Ok(()) } else { Err(Status::InvalidValue) }
}

/// A format of arrays, and whether its integers mean parts of 1 whatever they are read as.
pub(super) fn format(format: c_uint, channels: c_uint) -> CallResult<(TexelFormat, bool)> {
    let (channel, always_float) = match format {
        0x01 => (Channel::U8, false),
        0x02 => (Channel::U16, false),
        0x03 => (Channel::U32, false),
        0x08 => (Channel::S8, false),
        0x09 => (Channel::S16, false),
        0x0a => (Channel::S32, false),
        0x10 => (Channel::F16, false),
        0x20 => (Channel::F32, false),
        0xc0..=0xc2 => (Channel::U8, true),
        0xc3..=0xc5 => (Channel::U16, true),
        0xc6..=0xc8 => (Channel::S8, true),
        0xc9..=0xcb => (Channel::S16, true),
        _ => return Err(Status::InvalidValue),
    };
    sure(matches!(channels, 1 | 2 | 4))?;
    Ok((TexelFormat { channel, count: channels as u8 }, always_float))
}

/// An array as textures and surfaces see it.
pub fn of_array(array: &Array) -> CallResult<TexelSource> {
    let descriptor = array.descriptor();
    let (format, always_float) = format(descriptor.format, descriptor.channels)?;
    Ok(TexelSource { shape: array.shape(), format, always_float, levels: vec![array.level()] })
}

/// What a descriptor stands for.
///
/// # Errors
/// `InvalidValue` for one that says nothing that can be, `InvalidHandle` for an array that there is not.
pub fn read(gpu: &Gpu, of: &CUDA_RESOURCE_DESC) -> CallResult<TexelSource> {
    sure(of.flags == 0)?;
    match of.resource_type {
        ARRAY => {
            // SAFETY: the type says which member it is; all are numbers.
            let array = gpu.held.arrays.get(unsafe { of.resource.array })?;
            of_array(array)
        }
        LINEAR => {
            // SAFETY: as above.
            let LinearResource { address, format: code, channels, bytes } = unsafe { of.resource.linear };
            let (format, always_float) = format(code, channels)?;
            let count = bytes / format.bytes() as usize;
            sure(address != 0 && address.is_multiple_of(ALIGNMENT) && (1..=LONGEST_LINE).contains(&count))?;
            let level =
                Level { address, extent: [count as u64, 1, 1], pitch: bytes as u64, slice: bytes as u64 };
            Ok(TexelSource { shape: TexelShape::Line, format, always_float, levels: vec![level] })
        }
        PITCHED => {
            // SAFETY: as above.
            let PitchedResource { address, format: code, channels, width, height, pitch } =
                unsafe { of.resource.pitched };
            let (format, always_float) = format(code, channels)?;
            sure(address != 0 && address.is_multiple_of(ALIGNMENT))?;
            sure((1..=WIDEST).contains(&width) && (1..=HIGHEST).contains(&height))?;
            sure(pitch.is_multiple_of(ROW_ALIGNMENT) && pitch <= WIDEST_PITCH)?;
            sure(pitch >= width * format.bytes() as usize)?;
            let extent = [width as u64, height as u64, 1];
            let (pitch, slice) = (pitch as u64, pitch as u64 * height as u64);
            let level = Level { address, extent, pitch, slice };
            Ok(TexelSource { shape: TexelShape::D2, format, always_float, levels: vec![level] })
        }
        MIPMAPPED => {
            // SAFETY: as above.
            let levels = mipmap::levels(gpu, unsafe { of.resource.array })?;
            let mut all = levels.into_iter().map(of_array);
            // There is one at least.
            let mut finest = all.next().ok_or(Status::InvalidValue)??;
            for level in all {
                finest.levels.extend(level?.levels);
            }
            Ok(finest)
        }
        _ => Err(Status::InvalidValue),
    }
}
