//! Accesses to surfaces: at random places with each of the three ways to be outside, in every size, and what is refused.

use std::ptr::{null, null_mut};

use bugaroo_cuda_abi::*;
use cuda::Status;
use cuda::api::texture::surface::*;
use cuda::api::texture::*;

use crate::support::{Device, download, launch, load, parameter, upload};
use crate::texture_support::*;

const KERNELS: &str = include_str!("surfaces.ptx");
const ACCESSES: usize = 100_000;
/// `CUDA_ARRAY3D_SURFACE_LDST`, `CUDA_ARRAY3D_LAYERED`
const LDST: u32 = 2;
const LAYERED: u32 = 1;

fn surface(array: CUarray) -> Result<CUsurfObject, Status> {
    let mut object = 0;
    // SAFETY: the places are there.
    match unsafe { cuSurfObjectCreate(&mut object, &of_array(array)) } {
        Status::Success => Ok(object),
        status => Err(status),
    }
}

/// Words of an array, by extents with ones for dimensions that it lacks, and the kernels' names for it.
const SHAPES: [([usize; 3], u32, &str); 4] =
    [([37, 1, 1], 0, "1"), ([19, 11, 1], 0, "2"), ([7, 5, 9], 0, "3"), ([7, 5, 9], LAYERED, "l")];

fn descriptor([width, height, depth]: [usize; 3], flags: u32) -> CUDA_ARRAY3D_DESCRIPTOR {
    let some = |extent| if extent == 1 { 0 } else { extent };
    CUDA_ARRAY3D_DESCRIPTOR {
        width,
        height: some(height),
        depth: some(depth),
        format: 3,
        channels: 1,
        flags: flags | LDST,
    }
}

/// Places in bytes, rows and slices: inside alone, or outside as well.
fn places(extent: [usize; 3], outside: bool, random: &mut Random) -> Vec<[i32; 4]> {
    let mut coordinate = |extent: usize| {
        let extent = extent as f64;
        let (low, high) = if outside { (-0.2 * extent - 1.0, 1.2 * extent + 1.0) } else { (0.0, extent) };
        random.between(low, high).floor() as i32
    };
    (0..ACCESSES)
        .map(|_| [4 * coordinate(extent[0]), coordinate(extent[1]), coordinate(extent[2]), 0])
        .collect()
}

/// What the guide says that a place outside stands for.
fn stands_for(place: [i32; 4], extent: [usize; 3], used: usize, bounds: &str) -> Option<[usize; 3]> {
    let at = [place[0] / 4, place[1], place[2]];
    let mut found = [0; 3];
    for dimension in 0..used {
        let last = extent[dimension] as i32 - 1;
        if bounds == "zero" && !(0..=last).contains(&at[dimension]) {
            return None;
        }
        found[dimension] = at[dimension].clamp(0, last) as usize;
    }
    Some(found)
}

fn run(
    kernel: CUfunction,
    object: CUsurfObject,
    places: &[[i32; 4]],
    values: &[u32],
) -> Result<Vec<u32>, Status> {
    let count = places.len() as u32;
    let (from, to) = (upload(places), upload(values));
    let parameters = [parameter(&object), parameter(&from), parameter(&count), parameter(&to)];
    assert_eq!(launch(kernel, count.div_ceil(128), 128, &parameters), Status::Success);
    download(to, values.len())
}

#[test]
fn reads_in_and_out_of_bounds() {
    let _device = Device::new();
    let module = load(KERNELS).expect("they load");
    let mut random = Random(11);
    for (extent, flags, name) in SHAPES {
        let used = SHAPES[..2].iter().position(|(_, _, of)| *of == name).map_or(3, |at| at + 1);
        let words: Vec<u32> = (0..extent.iter().product()).map(|_| random.next() as u32).collect();
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let object = surface(array(descriptor(extent, flags), &bytes)).expect("it is made");
        for bounds in ["trap", "clamp", "zero"] {
            let places = places(extent, bounds != "trap", &mut random);
            let kernel = kernel(module, &format!("read{name}_{bounds}"));
            let found = run(kernel, object, &places, &vec![7; places.len()]).expect("they run");
            for (place, found) in places.iter().zip(found) {
                let at = stands_for(*place, extent, used, bounds);
                let expected = at.map_or(0, |[x, y, z]| words[(z * extent[1] + y) * extent[0] + x]);
                assert_eq!(found, expected, "{name}, {bounds}, at {place:?}");
            }
        }
    }
}

#[test]
fn writes_in_and_out_of_bounds() {
    let _device = Device::new();
    let module = load(KERNELS).expect("they load");
    for (extent, used, name) in [([19, 11, 1], 2, "2"), ([7, 5, 9], 3, "3")] {
        for bounds in ["clamp", "zero"] {
            // Each place from two outside on once, one launch after the other, so that there is an order.
            let count: usize = extent.iter().product();
            let array = array(descriptor(extent, 0), &vec![0; 4 * count]);
            let object = surface(array).expect("it is made");
            let mut expected = vec![0_u32; count];
            let ends = |at: usize| if at < used { -1..=extent[at] as i32 } else { 0..=0 };
            let write = kernel(module, &format!("write{name}_{bounds}"));
            let read = kernel(module, &format!("read{name}_zero"));
            let mut value = 1;
            for z in ends(2) {
                for y in ends(1) {
                    for x in ends(0) {
                        let place = [4 * x, y, z, 0];
                        if bounds == "zero" || x < 1 {
                            if let Some([x, y, z]) = stands_for(place, extent, used, bounds) {
                                expected[(z * extent[1] + y) * extent[0] + x] = value;
                            }
                            run(write, object, &[place], &[value]).expect("it runs");
                            value += 1;
                        }
                    }
                }
            }
            let all: Vec<[i32; 4]> = (0..count)
                .map(|at| {
                    let (x, rest) = (at % extent[0], at / extent[0]);
                    [4 * x as i32, (rest % extent[1]) as i32, (rest / extent[1]) as i32, 0]
                })
                .collect();
            assert_eq!(run(read, object, &all, &vec![7; count]), Ok(expected), "{name}, {bounds}");
        }
    }
}

#[test]
fn accesses_of_every_size() {
    let _device = Device::new();
    let module = load(KERNELS).expect("they load");
    let mut random = Random(12);
    // 4 rows of 64 bytes, as words of 16 bytes.
    let shape =
        CUDA_ARRAY3D_DESCRIPTOR { width: 4, height: 4, depth: 0, format: 3, channels: 4, flags: LDST };
    let bytes: Vec<u8> = (0..256).map(|_| random.next() as u8).collect();
    let from = surface(array(shape, &bytes)).expect("it is made");
    let names = [
        ("uchar1", 1),
        ("uchar2", 2),
        ("uchar4", 4),
        ("short1", 2),
        ("short2", 4),
        ("short4", 8),
        ("int1", 4),
        ("int2", 8),
        ("int4", 16),
        ("longlong1", 8),
        ("longlong2", 16),
    ];
    for (name, size) in names {
        let target = array(shape, &[0; 256]);
        let to = surface(target).expect("it is made");
        let parameters = [parameter(&from), parameter(&to)];
        let kernel = kernel(module, &format!("copy_{name}"));
        // SAFETY: what the kernel takes.
        let status = unsafe {
            cuda::api::launch::cuLaunchKernel(
                kernel,
                1,
                1,
                1,
                64 / size,
                4,
                1,
                0,
                null_mut(),
                parameters.as_ptr(),
                null(),
            )
        };
        assert_eq!(status, Status::Success);
        let mut copied = vec![0_u8; 256];
        // SAFETY: the array has so many bytes.
        let status =
            unsafe { cuda::api::copy_array::cuMemcpyAtoH_v2(copied.as_mut_ptr().cast(), target, 0, 256) };
        assert_eq!((status, &copied), (Status::Success, &bytes), "{name}");
    }
}

/// What a read of one word at a place gives, in a context of its own.
fn one(
    kernel_name: &str,
    place: [i32; 4],
    object: impl FnOnce(CUarray) -> CUsurfObject,
) -> Result<Vec<u32>, Status> {
    let _device = Device::new();
    let module = load(KERNELS).expect("they load");
    let array = array(descriptor([4, 4, 1], 0), &[1; 64]);
    run(kernel(module, kernel_name), object(array), &[place], &[0])
}

#[test]
fn what_is_no_place_faults() {
    let good = |array| surface(array).expect("it is made");
    assert_eq!(one("read2_trap", [12, 3, 0, 0], good), Ok(vec![0x0101_0101]));
    assert_eq!(one("read2_trap", [16, 3, 0, 0], good), Err(Status::IllegalAddress));
    assert_eq!(one("read2_trap", [0, -1, 0, 0], good), Err(Status::IllegalAddress));
    assert_eq!(one("read2_trap", [2, 1, 0, 0], good), Err(Status::MisalignedAddress));
    assert_eq!(one("read3_zero", [0, 0, 0, 0], good), Err(Status::IllegalAddress));
    assert_eq!(one("read2_zero", [0, 0, 0, 0], |_| 0x77), Err(Status::IllegalAddress));
    let looked_up = |array| texture(&of_array(array), &PLAIN).expect("it is made");
    assert_eq!(one("read2_zero", [0, 0, 0, 0], looked_up), Err(Status::IllegalAddress));
}

#[test]
fn what_is_no_surface_is_refused() {
    let _device = Device::new();
    let plain = array(CUDA_ARRAY3D_DESCRIPTOR { flags: 0, ..descriptor([4, 4, 1], 0) }, &[0; 64]);
    assert_eq!(surface(plain), Err(Status::InvalidValue));
    assert_eq!(surface(crate::support::number(0x1234)), Err(Status::InvalidHandle));
    let good = array(descriptor([4, 4, 1], 0), &[0; 64]);
    let object = surface(good).expect("it is made");
    let (mut told, mut other) = (NO_RESOURCE, 0);
    let resource = of_array(good);
    // SAFETY: null, or places that are there; the member is the type's.
    unsafe {
        assert_eq!(cuSurfObjectGetResourceDesc(&mut told, object), Status::Success);
        assert_eq!(told.resource.array, good);
        assert_eq!(cuSurfObjectCreate(null_mut(), &resource), Status::InvalidValue);
        assert_eq!(cuSurfObjectCreate(&mut other, null()), Status::InvalidValue);
        let linear = CUDA_RESOURCE_DESC { resource_type: 2, ..resource };
        assert_eq!(cuSurfObjectCreate(&mut other, &linear), Status::InvalidValue);
        let flagged = CUDA_RESOURCE_DESC { flags: 1, ..resource };
        assert_eq!(cuSurfObjectCreate(&mut other, &flagged), Status::InvalidValue);
    }
    assert_eq!(cuTexObjectDestroy(object), Status::InvalidValue);
    assert_eq!(cuSurfObjectDestroy(object), Status::Success);
    assert_eq!(cuSurfObjectDestroy(object), Status::InvalidValue);
}
