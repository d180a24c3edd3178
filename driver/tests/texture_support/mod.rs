//! What the tests of textures share: arrays with content, objects, and lookups.

#![allow(dead_code, reason = "each test file uses a part")]

pub mod reference;

use std::ptr::{null, null_mut};

use bugaroo_cuda_abi::*;
use cuda::Status;
use cuda::api::array::*;
use cuda::api::copy3d::*;
use cuda::api::texture::*;

use crate::support::{Device, download, launch, load, parameter, upload};

pub const KERNELS: &str = include_str!("../textures.ptx");

/// Formats by their numbers: unsigned, signed, floats; bytes of a channel.
pub const FORMATS: [(u32, usize); 8] =
    [(0x01, 1), (0x02, 2), (0x03, 4), (0x08, 1), (0x09, 2), (0x0a, 4), (0x10, 2), (0x20, 4)];

pub const NO_RESOURCE: CUDA_RESOURCE_DESC =
    CUDA_RESOURCE_DESC { resource_type: 0, resource: AnyResource { reserved: [0; 32] }, flags: 0 };

/// Clamping, nearest, texels, integers as they are.
pub const PLAIN: CUDA_TEXTURE_DESC = CUDA_TEXTURE_DESC {
    address_mode: [1; 3],
    filter_mode: 0,
    flags: 1,
    max_anisotropy: 0,
    mipmap_filter_mode: 0,
    mipmap_level_bias: 0.0,
    min_mipmap_level_clamp: 0.0,
    max_mipmap_level_clamp: 0.0,
    border_color: [0.0; 4],
    reserved: [0; 12],
};

/// Numbers that look random, the same in every run (splitmix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// From `low` up to `high`.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Bytes of texels of a format that are random, and finite where they are floats: from -8 to 8.
pub fn content(format: u32, channels: usize, random: &mut Random) -> Vec<u8> {
    let mut bytes = Vec::new();
    for _ in 0..channels {
        match format {
            0x10 => {
                // Sign, exponents from 2^-4 to 2^2, and fraction.
                let bits = random.next() as u16 & 0x83ff | ((11 + random.next() % 7) as u16) << 10;
                bytes.extend(bits.to_le_bytes());
            }
            0x20 => bytes.extend((random.between(-8.0, 8.0) as f32).to_le_bytes()),
            _ => {
                let (_, size) = FORMATS.into_iter().find(|(of, _)| *of == format).expect("it is listed");
                bytes.extend(&random.next().to_le_bytes()[..size]);
            }
        }
    }
    bytes
}

/// A component of a texel as a number: the integer or float that its bytes are, times the factor that makes of it a part of 1 if so asked.
pub fn component(format: u32, bytes: &[u8], at: usize, parts: bool) -> f64 {
    let (_, size) = FORMATS.into_iter().find(|(of, _)| *of == format).expect("it is listed");
    let piece = &bytes[at * size..(at + 1) * size];
    let mut word = [0; 8];
    word[..size].copy_from_slice(piece);
    let unsigned = u64::from_le_bytes(word);
    let bits = 8 * size as u32;
    match format {
        0x10 => half(unsigned as u16),
        0x20 => f64::from(f32::from_bits(unsigned as u32)),
        0x08..=0x0a => {
            let value = ((unsigned << (64 - bits)) as i64 >> (64 - bits)) as f64;
            if parts { (value / ((1_u64 << (bits - 1)) - 1) as f64).max(-1.0) } else { value }
        }
        _ if parts => unsigned as f64 / ((1_u64 << bits) - 1) as f64,
        _ => unsigned as f64,
    }
}

/// A normal number of 16 bits.
fn half(bits: u16) -> f64 {
    let fraction = 1.0 + f64::from(bits & 0x3ff) / 1024.0;
    let size = fraction * 2_f64.powi(i32::from(bits >> 10 & 0x1f) - 15);
    if bits >> 15 == 1 { -size } else { size }
}

/// An array with this content, row after row.
pub fn array(descriptor: CUDA_ARRAY3D_DESCRIPTOR, bytes: &[u8]) -> CUarray {
    let mut array = null_mut();
    // SAFETY: the places are there.
    assert_eq!(unsafe { cuArray3DCreate_v2(&mut array, &descriptor) }, Status::Success);
    let (rows, slices) = (descriptor.height.max(1), descriptor.depth.max(1));
    assert_eq!(bytes.len() % (rows * slices), 0);
    let row = bytes.len() / rows / slices;
    let nothing = Operand3D {
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
    let copy = CUDA_MEMCPY3D {
        src: Operand3D { host: bytes.as_ptr().cast_mut().cast(), pitch: row, height: rows, ..nothing },
        dst: Operand3D { memory_type: 3, array, ..nothing },
        width_in_bytes: row,
        height: rows,
        depth: slices,
    };
    // SAFETY: the array is as large as the content.
    assert_eq!(unsafe { cuMemcpy3D_v2(&copy) }, Status::Success);
    array
}

/// What an array is as a resource.
pub fn of_array(array: CUarray) -> CUDA_RESOURCE_DESC {
    CUDA_RESOURCE_DESC { resource: AnyResource { array }, ..NO_RESOURCE }
}

/// A texture object.
pub fn texture(resource: &CUDA_RESOURCE_DESC, how: &CUDA_TEXTURE_DESC) -> Result<CUtexObject, Status> {
    let mut object = 0;
    // SAFETY: the places are there.
    match unsafe { cuTexObjectCreate(&mut object, resource, how, null()) } {
        Status::Success => Ok(object),
        status => Err(status),
    }
}

/// The module of these kernels.
pub fn kernels(_device: &Device) -> CUmodule {
    load(KERNELS).expect("they load")
}

pub fn kernel(module: CUmodule, name: &str) -> CUfunction {
    let name = std::ffi::CString::new(name).expect("names hold no NUL");
    let mut function = null_mut();
    // SAFETY: the place is one for a handle, the name a C string.
    let status = unsafe { cuda::api::module::cuModuleGetFunction(&mut function, module, name.as_ptr()) };
    assert_eq!(status, Status::Success, "{name:?}");
    function
}

/// Lookups at these places, one a thread.
pub fn lookups(
    kernel: CUfunction,
    object: CUtexObject,
    places: &[[f32; 4]],
) -> Result<Vec<[u32; 4]>, Status> {
    let count = places.len() as u32;
    let (from, to) = (upload(places), upload(&vec![[0_u32; 4]; places.len()]));
    let parameters = [parameter(&object), parameter(&from), parameter(&count), parameter(&to)];
    assert_eq!(launch(kernel, count.div_ceil(128), 128, &parameters), Status::Success);
    let found = download(to, places.len());
    for address in [from, to] {
        let freed = cuda::api::memory::cuMemFree_v2(address);
        assert!(found.is_err() || freed == Status::Success);
    }
    found
}
