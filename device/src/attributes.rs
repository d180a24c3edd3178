//! The virtual GPU's attributes (`CUdevice_attribute` of CUDA 13.0).
//!
//! What decides behaviour comes from the simulator's configuration, hence is true. Texture and surface
//! extents are those of a device of compute capability 9.0; most of them nobody enforces. Whatever it cannot do, it says so (0).

use std::ffi::c_int;

use bugaroo_simulator::DeviceConfig;

use crate::error::{CallResult, Status};

/// The largest number that CUDA 13.0 gives a meaning to.
const LAST: u32 = 147;

/// Threads of a warp.
pub const WARP_SIZE: u32 = 32;
/// Registers of a block and of an SM: plenty, the simulator does not run out of them.
const REGISTERS: c_int = 65536;
/// Kilohertz: one warp instruction a nanosecond ([`crate::objects::clock`]).
const CLOCK_KHZ: c_int = 1_000_000;
/// Alignment of rows, for textures and `cuMemAllocPitch`.
pub const PITCH_ALIGNMENT: usize = 512;
/// The largest pitch.
pub const MAX_PITCH: usize = 0x7fff_ffff;

/// The value of an attribute.
///
/// # Errors
/// `InvalidValue` when CUDA 13.0 has no such attribute.
pub fn attribute(number: u32, device: &DeviceConfig) -> CallResult<c_int> {
    // Device limits are far below what an int holds; were one not, the largest int is right.
    let int = |value: u32| c_int::try_from(value).unwrap_or(c_int::MAX);
    Ok(match number {
        0 => return Err(Status::InvalidValue),
        1 => int(device.threads_per_block),
        2..=4 => int(device.max_block[number as usize - 2]),
        5..=7 => int(device.max_grid[number as usize - 5]),
        8 => int(device.shared_per_block),
        9 => 65536, // constant memory
        10 => int(WARP_SIZE),
        11 => c_int::MAX, // pitch
        12 | 82 => REGISTERS,
        13 => CLOCK_KHZ,
        14 | 30 => 512, // texture and surface alignment
        15 => 1,        // copies and kernels may overlap
        19 => 1,        // page-locked memory has device addresses
        16 => int(device.sm_count),
        31 => 1,         // concurrent kernels
        33 => 1,         // PCI bus
        36 => 2_619_000, // memory clock in kHz
        37 => 5120,      // memory bus width in bits
        38 => 50 << 20,  // L2 cache
        39 => int(device.threads_per_sm),
        40 => 3,  // copy engines
        41 => 1,  // unified addressing
        51 => 32, // texture pitch alignment
        75 => int(device.compute_capability.0),
        76 => int(device.compute_capability.1),
        78..=80 => 1, // stream priorities; L1 caches of global and local memory
        81 => int(device.shared_per_sm),
        83 => 1, // managed memory
        87 => 2, // single to double precision
        // Managed memory while kernels run: nothing is ever moved, so the host may touch it at any time.
        // (Atomics between host and device are none: 86 is 0.)
        89 => 1,
        90 => 1,                  // preemption
        91 => 1,                  // registered memory has the host's address
        92..=94 | 122 | 123 => 1, // stream memory operations
        95 => 1,                  // cooperative launches
        97 => int(device.shared_per_block_optin),
        99 => 1,  // memory of the program can be registered
        102 => 1, // virtual memory management
        106 => int(device.blocks_per_sm),
        111 => int(crate::objects::occupancy::RESERVED_SHARED),
        113 => 1,        // memory registered for reading
        115 => 1,        // memory pools
        126 => 1,        // memory synchronisation domains
        131 | 134 => -1, // NUMA nodes: none
        142 | 144 => 1,  // pools of host memory
        _ => texture_extent(number).unwrap_or(if number <= LAST {
            0
        } else {
            return Err(Status::InvalidValue);
        }),
    })
}

/// Extents of textures and surfaces.
fn texture_extent(number: u32) -> Option<c_int> {
    Some(match number {
        21..=23 => [131_072, 131_072, 65536][number as usize - 21],
        24..=26 | 47..=49 => 16384,
        27 | 28 | 42 | 45 | 46 | 52 | 53 | 55 | 58..=60 | 61 | 63 | 64 | 66 | 67 | 73 | 74 | 77 => 32768,
        29 | 43 | 62 | 65 => 2048,
        54 | 68 => 2046,
        56 => 131_072,
        57 => 65536,
        69 => 1 << 28,
        70 => 131_072,
        71 => 65000,
        72 => 2_097_120,
        _ => return None,
    })
}

/// What the device is called.
pub const NAME: &str = "Bugaroo virtual GPU";
