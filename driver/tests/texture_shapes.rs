//! Lookups in layers, cubes and levels of detail, and gathers, against the CUDA Programming Guide's formulas in double precision; what
//! objects answer when they are asked.

use std::ptr::{null, null_mut};

use bugaroo_cuda_abi::*;
use cuda::Status;
use cuda::api::array::*;
use cuda::api::mipmap::*;
use cuda::api::texture::surface::*;
use cuda::api::texture::*;

use crate::support::{Device, download, launch, load, number, parameter, upload};
use crate::texture_support::reference::{Expected, MODES, Texture};
use crate::texture_support::*;

const KERNELS: &str = include_str!("texture_shapes.ptx");
const LOOKUPS: usize = 100_000;
/// `CUDA_ARRAY3D_LAYERED`, `SURFACE_LDST`, `CUBEMAP`, `TEXTURE_GATHER`
const LAYERED: u32 = 1;
const LDST: u32 = 2;
const CUBEMAP: u32 = 4;
const GATHER: u32 = 8;

/// Floats of one channel, slice after slice.
struct Content {
    extent: [usize; 3],
    values: Vec<f32>,
}

impl Content {
    fn new(extent: [usize; 3], random: &mut Random) -> Content {
        let count = extent.iter().product();
        Content { extent, values: (0..count).map(|_| random.between(-4.0, 4.0) as f32).collect() }
    }

    fn at(&self, [x, y, z]: [usize; 3]) -> f64 {
        self.values[(z * self.extent[1] + y) * self.extent[0] + x].into()
    }

    fn bytes(&self) -> Vec<u8> {
        self.values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    fn array(&self, flat: bool, flags: u32) -> CUarray {
        let [width, height, depth] = self.extent;
        let height = if flat { 0 } else { height };
        array(
            CUDA_ARRAY3D_DESCRIPTOR { width, height, depth, format: 0x20, channels: 1, flags },
            &self.bytes(),
        )
    }

    /// What filtering in a slice gives; `dimensions` of it count.
    fn linear(
        &self,
        slice: usize,
        dimensions: usize,
        mode: usize,
        normalized: bool,
        at: [f64; 3],
    ) -> Expected {
        let values = |[x, y, z]: [usize; 3]| self.at([x, y, if dimensions == 3 { z } else { slice }]);
        let extent = self.extent;
        let mode = MODES[mode];
        Texture { values: &values, extent, dimensions, mode, normalized, border: 0.5 }.linear(at)
    }
}

fn how(mode: usize, normalized: bool) -> CUDA_TEXTURE_DESC {
    CUDA_TEXTURE_DESC {
        address_mode: [mode as u32; 3],
        filter_mode: 1,
        flags: u32::from(normalized) << 1,
        border_color: [0.5; 4],
        max_mipmap_level_clamp: 100.0,
        ..PLAIN
    }
}

fn run(module: CUmodule, name: &str, object: CUtexObject, places: &[[f32; 4]]) -> Vec<[f32; 4]> {
    let found = lookups(kernel(module, name), object, places).expect("they run");
    found.into_iter().map(|texel| texel.map(f32::from_bits)).collect()
}

fn assert_near(found: f32, expected: Expected, what: &dyn std::fmt::Debug) {
    let far = (f64::from(found) - expected.value).abs();
    assert!(far <= expected.step + 1e-5, "{what:?}: {found}, not {expected:?}");
}

fn wide(place: &[f32; 4]) -> [f64; 3] {
    [place[0], place[1], place[2]].map(f64::from)
}

#[test]
fn layers() {
    let _device = Device::new();
    let module = load(KERNELS).expect("they load");
    let mut random = Random(21);
    for (dimensions, name) in [(1, "layered1"), (2, "layered2")] {
        let extent = [17, if dimensions == 1 { 1 } else { 9 }, 5];
        let content = Content::new(extent, &mut random);
        let array = content.array(dimensions == 1, LAYERED);
        for mode in 0..4 {
            let object = texture(&of_array(array), &how(mode, true)).expect("it is made");
            let mut coordinate = |low, high| random.between(low, high) as f32;
            let places: Vec<[f32; 4]> = (0..LOOKUPS)
                .map(|_| [coordinate(-1.5, 2.5), coordinate(-1.5, 2.5), coordinate(0.0, 7.0), 0.0])
                .collect();
            for (place, found) in places.iter().zip(run(module, name, object, &places)) {
                let layer = (place[2] as usize).min(4);
                let expected = content.linear(layer, dimensions, mode, true, wide(place));
                assert_near(found[0], expected, &(name, mode, place));
            }
        }
    }
}

/// The table of "Cubemap Textures": face, s and t of a direction.
fn of_cube([x, y, z]: [f64; 3]) -> (usize, f64, f64) {
    let (face, m, s, t) =
        match (x.abs() > y.abs() && x.abs() > z.abs(), y.abs() > x.abs() && y.abs() > z.abs()) {
            (true, _) if x >= 0.0 => (0, x, -z, -y),
            (true, _) => (1, -x, z, -y),
            (_, true) if y >= 0.0 => (2, y, x, z),
            (_, true) => (3, -y, x, -z),
            _ if z >= 0.0 => (4, z, x, -y),
            _ => (5, -z, -x, -y),
        };
    (face, (s / m + 1.0) / 2.0, (t / m + 1.0) / 2.0)
}

#[test]
fn cubes() {
    let _device = Device::new();
    let module = load(KERNELS).expect("they load");
    let mut random = Random(22);
    for (slices, flags, name) in [(6, CUBEMAP, "cube"), (18, CUBEMAP | LAYERED, "cubes")] {
        let content = Content::new([16, 16, slices], &mut random);
        let object = texture(&of_array(content.array(false, flags)), &how(0, true)).expect("it is made");
        let mut places = Vec::new();
        for _ in 0..LOOKUPS {
            let mut coordinate = || random.between(-2.0, 2.0) as f32;
            let direction = [coordinate(), coordinate(), coordinate()];
            places.push([direction[0], direction[1], direction[2], random.between(0.0, 4.0) as f32]);
        }
        for (place, found) in places.iter().zip(run(module, name, object, &places)) {
            let (face, s, t) = of_cube(wide(place));
            let layer = if slices == 6 { 0 } else { (place[3] as usize).min(2) };
            // Quotients are rounded: a weight may be the next one.
            let expected = content.linear(6 * layer + face, 2, 1, true, [s, t, 0.0]);
            assert_near(found[0], expected, &(name, place));
        }
    }
}

/// Levels with content, and the array of all.
fn levels(
    extent: [usize; 3],
    dimensions: usize,
    count: usize,
    random: &mut Random,
) -> (CUmipmappedArray, Vec<Content>) {
    let some = |at: usize| if at < dimensions { extent[at] } else { 0 };
    let descriptor = CUDA_ARRAY3D_DESCRIPTOR {
        width: extent[0],
        height: some(1),
        depth: some(2),
        format: 0x20,
        channels: 1,
        flags: 0,
    };
    let mut array = null_mut();
    // SAFETY: the places are there.
    assert_eq!(unsafe { cuMipmappedArrayCreate(&mut array, &descriptor, count as u32) }, Status::Success);
    let mut all = Vec::new();
    for number in 0..count {
        let content = Content::new(extent.map(|extent| (extent >> number).max(1)), random);
        let mut level = null_mut();
        // SAFETY: the places are there, and the array is as large as the content.
        unsafe {
            assert_eq!(cuMipmappedArrayGetLevel(&mut level, array, number as u32), Status::Success);
            let bytes = content.bytes();
            let status = cuda::api::copy_array::cuMemcpyHtoA_v2(level, 0, bytes.as_ptr().cast(), bytes.len());
            assert_eq!(status, Status::Success);
        }
        all.push(content);
    }
    (array, all)
}

fn of_levels(array: CUmipmappedArray) -> CUDA_RESOURCE_DESC {
    CUDA_RESOURCE_DESC { resource_type: 1, ..of_array(array) }
}

/// The mix of two levels that a level of detail stands for.
fn mixed(all: &[Content], dimensions: usize, mode: usize, mixes: bool, lod: f64, at: [f64; 3]) -> Expected {
    let lod = lod.clamp(0.0, all.len() as f64 - 1.0);
    if !mixes {
        return all[(lod + 0.5).floor() as usize].linear(0, dimensions, mode, true, at);
    }
    let first = lod.floor();
    let weight = ((lod - first) * 256.0).round() / 256.0;
    let one = all[first as usize].linear(0, dimensions, mode, true, at);
    let Some(other) = all.get(first as usize + 1) else { return one };
    let other = other.linear(0, dimensions, mode, true, at);
    Expected {
        value: one.value * (1.0 - weight) + other.value * weight,
        step: one.step.max(other.step) + (one.value - other.value).abs() / 256.0,
    }
}

#[test]
fn levels_of_detail() {
    let _device = Device::new();
    let module = load(KERNELS).expect("they load");
    let mut random = Random(23);
    for (dimensions, extent, name) in
        [(1, [40, 1, 1], "level1"), (2, [40, 20, 1], "level2"), (3, [16, 9, 8], "level3")]
    {
        let (array, all) = levels(extent, dimensions, 4, &mut random);
        for (mode, mixes) in [(0, true), (1, false), (2, true), (3, false)] {
            let how = CUDA_TEXTURE_DESC { mipmap_filter_mode: u32::from(mixes), ..how(mode, true) };
            let object = texture(&of_levels(array), &how).expect("it is made");
            let places: Vec<[f32; 4]> = (0..LOOKUPS)
                .map(|_| {
                    let mut place = [0.0; 4].map(|_: f32| random.between(-1.0, 2.0) as f32);
                    place[3] = random.between(-1.0, 5.0) as f32;
                    place
                })
                .collect();
            for (place, found) in places.iter().zip(run(module, name, object, &places)) {
                let lod = f64::from(place[3]);
                if !mixes && (lod - lod.floor() - 0.5).abs() < 1e-6 {
                    continue;
                }
                let expected = mixed(&all, dimensions, mode, mixes, lod, wide(place));
                assert_near(found[0], expected, &(name, mode, place));
            }
        }
    }
}

#[test]
fn derivatives_bias_and_limits_of_levels() {
    let _device = Device::new();
    let module = load(KERNELS).expect("they load");
    let mut random = Random(24);
    let (array, all) = levels([64, 32, 1], 2, 5, &mut random);
    let mut places = || -> Vec<[f32; 4]> {
        let mut place = || {
            let mut place = [0.0; 4].map(|_: f32| random.between(0.0, 1.0) as f32);
            place[3] = 2_f64.powf(random.between(-8.0, 0.0)) as f32;
            place
        };
        (0..LOOKUPS).map(|_| place()).collect()
    };
    let mixing = CUDA_TEXTURE_DESC { mipmap_filter_mode: 1, ..how(1, true) };
    // By x so much in 64 texels, by y half as much in 32: the former is longer.
    let object = texture(&of_levels(array), &mixing).expect("it is made");
    let at = places();
    for (place, found) in at.iter().zip(run(module, "derived2", object, &at)) {
        let lod = (f64::from(place[3]) * 64.0).log2();
        assert_near(found[0], mixed(&all, 2, 1, true, lod, wide(place)), &place);
    }
    let limited = CUDA_TEXTURE_DESC {
        mipmap_level_bias: 0.75,
        min_mipmap_level_clamp: 0.5,
        max_mipmap_level_clamp: 2.25,
        ..mixing
    };
    let object = texture(&of_levels(array), &limited).expect("it is made");
    let at: Vec<[f32; 4]> = places().into_iter().map(|[x, y, z, w]| [x, y, z, 6.0 * w - 2.0]).collect();
    for (place, found) in at.iter().zip(run(module, "level2", object, &at)) {
        let lod = (f64::from(place[3]) + 0.75).clamp(0.5, 2.25);
        assert_near(found[0], mixed(&all, 2, 1, true, lod, wide(place)), &place);
    }
    // Without a level it is the finest.
    let at = places();
    for (place, found) in at.iter().zip(run(module, "base2", object, &at)) {
        assert_near(found[0], all[0].linear(0, 2, 1, true, wide(place)), &place);
    }
}

#[test]
fn gathers() {
    let _device = Device::new();
    let module = load(KERNELS).expect("they load");
    let mut random = Random(25);
    // Four channels of bytes; a texel tells its place.
    let (width, height) = (13_usize, 7_usize);
    let bytes: Vec<u8> = (0..width * height * 4).map(|_| random.next() as u8).collect();
    let shape = CUDA_ARRAY3D_DESCRIPTOR { width, height, depth: 0, format: 1, channels: 4, flags: GATHER };
    let how = CUDA_TEXTURE_DESC { flags: 2, filter_mode: 0, ..how(0, true) };
    let object = texture(&of_array(array(shape, &bytes)), &how).expect("it is made");
    let places: Vec<[f32; 4]> =
        (0..LOOKUPS).map(|_| [0.0; 4].map(|_: f32| random.between(-1.0, 2.0) as f32)).collect();
    for (channel, name) in [(0, "gather0"), (1, "gather1"), (3, "gather3")] {
        for (place, found) in places.iter().zip(run(module, name, object, &places)) {
            // Repeated: i = floor(x N - 0.5), and the one behind it.
            let first =
                |coordinate: f32, count: usize| (f64::from(coordinate) * count as f64 - 0.5).floor() as i64;
            let (i, j) = (first(place[0], width), first(place[1], height));
            let texel = |x: i64, y: i64| {
                let (x, y) = (x.rem_euclid(width as i64) as usize, y.rem_euclid(height as i64) as usize);
                f64::from(bytes[(y * width + x) * 4 + channel]) / 255.0
            };
            let expected = [texel(i, j + 1), texel(i + 1, j + 1), texel(i + 1, j), texel(i, j)];
            let near = found.iter().zip(expected).all(|(found, of)| (f64::from(*found) - of).abs() < 1e-6);
            assert!(near, "{name} at {place:?}: {found:?}, not {expected:?}");
        }
    }
}

#[test]
fn faces_are_layers_of_surfaces() {
    let _device = Device::new();
    let module = load(KERNELS).expect("they load");
    let content = Content::new([8, 8, 6], &mut Random(26));
    let array = content.array(false, CUBEMAP | LDST);
    let mut object = 0;
    // SAFETY: the places are there; the kernel takes the parameters.
    let status = unsafe { cuSurfObjectCreate(&mut object, &of_array(array)) };
    assert_eq!(status, Status::Success);
    let parameters = [parameter(&object)];
    let mut after = vec![0_f32; 384];
    // SAFETY: the kernel takes the parameters, and the array is as large as the place.
    unsafe {
        let faces = kernel(module, "faces");
        let status = cuda::api::launch::cuLaunchKernel(
            faces,
            6,
            1,
            1,
            8,
            8,
            1,
            0,
            null_mut(),
            parameters.as_ptr(),
            null(),
        );
        assert_eq!(status, Status::Success);
        let to = after.as_mut_ptr().cast();
        assert_eq!(cuda::api::copy_array::cuMemcpyAtoH_v2(to, array, 0, 384 * 4), Status::Success);
    }
    for (at, (after, before)) in after.iter().zip(&content.values).enumerate() {
        assert_eq!(*after, before + (at / 64) as f32);
    }
}

#[test]
fn objects_that_are_asked() {
    let _device = Device::new();
    let module = load(KERNELS).expect("they load");
    let ask = |name: &str, object: u64| {
        let out = upload(&[77_u32; 9]);
        let parameters = [parameter(&object), parameter(&out)];
        assert_eq!(launch(kernel(module, name), 1, 1, &parameters), Status::Success);
        download::<u32>(out, 9).expect("it runs")
    };
    let mut random = Random(27);
    let (array, _) = levels([40, 20, 1], 2, 4, &mut random);
    let object = texture(&of_levels(array), &how(0, true)).expect("it is made");
    assert_eq!(ask("ask_texture", object), [40, 20, 0, 0x10de, 0x10b0, 1, 0, 4, 1]);
    let layers = Content::new([8, 4, 3], &mut random).array(false, LAYERED | LDST);
    let object = texture(&of_array(layers), &how(1, false)).expect("it is made");
    assert_eq!(ask("ask_texture", object), [8, 4, 0, 0x10de, 0x10b0, 0, 3, 1, 1]);
    let mut object = 0;
    // SAFETY: the places are there.
    assert_eq!(unsafe { cuSurfObjectCreate(&mut object, &of_array(layers)) }, Status::Success);
    assert_eq!(ask("ask_surface", object)[..7], [8, 4, 0, 0x10de, 0x10b0, 3, 0]);
}

#[test]
fn mipmapped_arrays_are_made_and_go() {
    let _device = Device::new();
    let shape = CUDA_ARRAY3D_DESCRIPTOR { width: 5, height: 3, depth: 0, format: 1, channels: 4, flags: 0 };
    let (mut array, mut level, mut told) = (null_mut(), null_mut(), shape);
    // SAFETY: the places are there, or null.
    unsafe {
        assert_eq!(cuMipmappedArrayCreate(null_mut(), &shape, 3), Status::InvalidValue);
        assert_eq!(cuMipmappedArrayCreate(&mut array, null(), 3), Status::InvalidValue);
        let bad = CUDA_ARRAY3D_DESCRIPTOR { format: 99, ..shape };
        assert_eq!(cuMipmappedArrayCreate(&mut array, &bad, 3), Status::InvalidValue);
        // Down to one texel there are three.
        assert_eq!(cuMipmappedArrayCreate(&mut array, &shape, 30), Status::Success);
        assert_eq!(cuMipmappedArrayGetLevel(&mut level, array, 3), Status::InvalidValue);
        assert_eq!(cuMipmappedArrayGetLevel(null_mut(), array, 0), Status::InvalidValue);
        assert_eq!(cuMipmappedArrayGetLevel(&mut level, number(0x123), 0), Status::InvalidHandle);
        assert_eq!(cuMipmappedArrayGetLevel(&mut level, array, 2), Status::Success);
        assert_eq!(cuArray3DGetDescriptor_v2(&mut told, level), Status::Success);
        assert_eq!((told.width, told.height, told.depth), (1, 1, 0));
        assert_eq!(cuArrayDestroy(level), Status::InvalidHandle);
        // Levels go with normalised coordinates alone.
        assert_eq!(texture(&of_levels(array), &how(1, false)), Err(Status::InvalidValue));
        assert_eq!(cuMipmappedArrayDestroy(array), Status::Success);
        assert_eq!(cuMipmappedArrayDestroy(array), Status::InvalidHandle);
        assert_eq!(cuArray3DGetDescriptor_v2(&mut told, level), Status::InvalidHandle);
        assert_eq!(texture(&of_levels(array), &how(1, true)), Err(Status::InvalidHandle));
    }
    let cube = CUDA_ARRAY3D_DESCRIPTOR { width: 4, height: 4, depth: 6, flags: CUBEMAP, ..shape };
    let make = |descriptor: CUDA_ARRAY3D_DESCRIPTOR| {
        let mut array = null_mut();
        // SAFETY: the places are there.
        unsafe { cuArray3DCreate_v2(&mut array, &descriptor) }
    };
    assert_eq!(make(cube), Status::Success);
    assert_eq!(make(CUDA_ARRAY3D_DESCRIPTOR { height: 5, ..cube }), Status::InvalidValue);
    assert_eq!(make(CUDA_ARRAY3D_DESCRIPTOR { depth: 5, ..cube }), Status::InvalidValue);
    assert_eq!(
        make(CUDA_ARRAY3D_DESCRIPTOR { depth: 13, flags: CUBEMAP | LAYERED, ..cube }),
        Status::InvalidValue
    );
    assert_eq!(make(CUDA_ARRAY3D_DESCRIPTOR { depth: 0, flags: LAYERED, ..cube }), Status::InvalidValue);
}

/// A texture of some levels or layers.
fn viewed(
    resource: &CUDA_RESOURCE_DESC,
    [width, height, depth]: [usize; 3],
    parts: [u32; 4],
) -> Result<CUtexObject, Status> {
    let view = CUDA_RESOURCE_VIEW_DESC {
        format: 0,
        width,
        height,
        depth,
        first_mipmap_level: parts[0],
        last_mipmap_level: parts[1],
        first_layer: parts[2],
        last_layer: parts[3],
        reserved: [0; 16],
    };
    let mut object = 0;
    // SAFETY: the places are there.
    match unsafe { cuTexObjectCreate(&mut object, resource, &how(1, true), &view) } {
        Status::Success => Ok(object),
        status => Err(status),
    }
}

#[test]
fn views_of_levels_and_layers() {
    let _device = Device::new();
    let module = load(KERNELS).expect("they load");
    let mut random = Random(28);
    let (array, all) = levels([40, 20, 1], 2, 4, &mut random);
    let extent = [40, 20, 0];
    let object = viewed(&of_levels(array), extent, [1, 2, 0, 0]).expect("it is made");
    // The second level is the first of two, the nearest of which is taken.
    let places: Vec<[f32; 4]> = (0..1000)
        .map(|at| {
            [random.between(0.0, 1.0) as f32, random.between(0.0, 1.0) as f32, 0.0, (at % 7) as f32 - 1.0]
        })
        .collect();
    for (place, found) in places.iter().zip(run(module, "level2", object, &places)) {
        let level = if place[3] < 1.0 { 1 } else { 2 };
        assert_near(found[0], all[level].linear(0, 2, 1, true, wide(place)), &place);
    }
    assert_eq!(viewed(&of_levels(array), extent, [2, 1, 0, 0]), Err(Status::InvalidValue));
    assert_eq!(viewed(&of_levels(array), extent, [2, 4, 0, 0]), Err(Status::InvalidValue));
    assert_eq!(viewed(&of_levels(array), extent, [0, 3, 0, 1]), Err(Status::InvalidValue));

    let content = Content::new([8, 4, 6], &mut random);
    let layered = of_array(content.array(false, LAYERED));
    let object = viewed(&layered, [8, 4, 6], [0, 0, 2, 4]).expect("it is made");
    let places: Vec<[f32; 4]> = (0..1000)
        .map(|at| [random.between(0.0, 1.0) as f32, random.between(0.0, 1.0) as f32, (at % 5) as f32, 0.0])
        .collect();
    for (place, found) in places.iter().zip(run(module, "layered2", object, &places)) {
        let layer = 2 + (place[2] as usize).min(2);
        assert_near(found[0], content.linear(layer, 2, 1, true, wide(place)), &place);
    }
    assert_eq!(viewed(&layered, [8, 4, 6], [0, 0, 2, 6]), Err(Status::InvalidValue));
    assert_eq!(viewed(&layered, [8, 4, 6], [0, 0, 3, 2]), Err(Status::InvalidValue));
    let cubes = of_array(Content::new([4, 4, 12], &mut random).array(false, CUBEMAP | LAYERED));
    assert!(viewed(&cubes, [4, 4, 12], [0, 0, 0, 11]).is_ok());
    assert_eq!(viewed(&cubes, [4, 4, 12], [0, 0, 0, 5]), Err(Status::NotSupported));
}
