//! Lookups through texture objects against the formulas of the CUDA Programming Guide ("Texture Fetching") in double precision: all
//! address modes and filters, one to three dimensions, all formats.

use bugaroo_cuda_abi::*;
use cuda::api::texture::*;

use crate::support::{Device, download, launch, parameter, upload};
use crate::texture_support::reference::{MODES, Texture};
use crate::texture_support::*;

/// Lookups of each combination.
const LOOKUPS: usize = 100_000;
const EXTENTS: [[usize; 3]; 3] = [[37, 1, 1], [37, 21, 1], [13, 11, 7]];

fn descriptor(dimensions: usize, format: u32, channels: usize) -> CUDA_ARRAY3D_DESCRIPTOR {
    let [width, height, depth] = EXTENTS[dimensions - 1];
    let height = if dimensions > 1 { height } else { 0 };
    let depth = if dimensions > 2 { depth } else { 0 };
    CUDA_ARRAY3D_DESCRIPTOR { width, height, depth, format, channels: channels as u32, flags: 0 }
}

/// Coordinates inside, outside and far outside of the texture; some exactly on texels' edges and middles.
fn places(extent: [usize; 3], normalized: bool, random: &mut Random) -> Vec<[f32; 4]> {
    let mut place = || {
        let mut place = [0.0; 4];
        for (coordinate, count) in place.iter_mut().zip(extent) {
            let count = count as f64;
            let mut texels = random.between(-3.0 * count, 4.0 * count);
            if random.next().is_multiple_of(8) {
                texels = (texels * 2.0).round() / 2.0;
            }
            *coordinate = if normalized { texels / count } else { texels } as f32;
        }
        place
    };
    (0..LOOKUPS).map(|_| place()).collect()
}

/// A texture of one combination, and the results of its lookups, beside what the formulas say.
struct Case<'c> {
    dimensions: usize,
    format: u32,
    channels: usize,
    /// Integers are read as parts of 1.
    parts: bool,
    how: &'c CUDA_TEXTURE_DESC,
}

impl Case<'_> {
    /// Runs the lookups; `compare` gets what came out of a component, and the texture that it should have come out of.
    fn run(&self, random: &mut Random, compare: &mut dyn FnMut(u32, &Texture<'_>, [f64; 3])) {
        let device = Device::new();
        let module = kernels(&device);
        let extent = EXTENTS[self.dimensions - 1];
        let texels: usize = extent.iter().product();
        let bytes: Vec<u8> = (0..texels).flat_map(|_| content(self.format, self.channels, random)).collect();
        let size = bytes.len() / texels;
        let array = array(descriptor(self.dimensions, self.format, self.channels), &bytes);
        let object = texture(&of_array(array), self.how).expect("it is made");
        let normalized = self.how.flags & 2 != 0;
        let places = places(extent, normalized, random);
        let kind = match self.format {
            _ if self.parts => "f32",
            0x10 | 0x20 => "f32",
            0x08..=0x0a => "s32",
            _ => "u32",
        };
        let kernel = kernel(module, &format!("d{}_{kind}", self.dimensions));
        let found = lookups(kernel, object, &places).expect("they run");
        for channel in 0..4 {
            let value = |[x, y, z]: [usize; 3]| {
                let at = ((z * extent[1] + y) * extent[0] + x) * size;
                component(self.format, &bytes[at..at + size], channel, self.parts)
            };
            let texture = Texture {
                values: &value,
                extent,
                dimensions: self.dimensions,
                mode: MODES[self.how.address_mode[0] as usize],
                normalized,
                border: self.how.border_color[channel].into(),
            };
            for (place, found) in places.iter().zip(&found) {
                if channel < self.channels {
                    compare(found[channel], &texture, [place[0], place[1], place[2]].map(f64::from));
                } else {
                    assert_eq!(found[channel], 0, "there is no such channel");
                }
            }
        }
        assert_eq!(cuTexObjectDestroy(object), cuda::Status::Success);
    }
}

/// The bits of a result as a number.
fn number(case: &Case<'_>, bits: u32) -> f64 {
    match case.format {
        _ if case.parts => f64::from(f32::from_bits(bits)),
        0x10 | 0x20 => f64::from(f32::from_bits(bits)),
        0x08..=0x0a => f64::from(bits.cast_signed()),
        _ => f64::from(bits),
    }
}

fn how(mode: u32, linear: bool, normalized: bool, integers: bool) -> CUDA_TEXTURE_DESC {
    let flags = u32::from(integers) | u32::from(normalized) << 1;
    let border_color = if integers { [0.0; 4] } else { [0.25, -0.5, 0.75, 1.0] };
    CUDA_TEXTURE_DESC { address_mode: [mode; 3], filter_mode: linear.into(), flags, border_color, ..PLAIN }
}

#[test]
fn the_nearest_texel_in_every_mode() {
    let mut random = Random(1);
    let mut formats = FORMATS.into_iter().cycle();
    for dimensions in 1..=3 {
        for (mode, normalized) in (0..4).flat_map(|mode| [(mode, false), (mode, true)]) {
            let (format, _) = formats.next().expect("it goes round");
            let how = how(mode, false, normalized, true);
            let case = Case { dimensions, format, channels: 1, parts: false, how: &how };
            case.run(&mut random, &mut |found, texture, at| {
                let expected = texture.nearest(at);
                let found = number(&case, found);
                assert_eq!(
                    found, expected,
                    "{dimensions}D, mode {mode}, {normalized}, {format:#x}, at {at:?}"
                );
            });
        }
    }
}

#[test]
fn filtering_in_every_mode() {
    let mut random = Random(2);
    let mut formats = [(0x20, false), (0x10, false), (0x01, true), (0x02, true), (0x08, true), (0x09, true)]
        .into_iter()
        .cycle();
    for dimensions in 1..=3 {
        for (mode, normalized) in (0..4).flat_map(|mode| [(mode, false), (mode, true)]) {
            let (format, parts) = formats.next().expect("it goes round");
            let how = how(mode, true, normalized, false);
            let case = Case { dimensions, format, channels: 1, parts, how: &how };
            let (mut count, mut exact) = (0, 0);
            case.run(&mut random, &mut |found, texture, at| {
                let expected = texture.linear(at);
                let far = (number(&case, found) - expected.value).abs();
                let rounding = 1e-6 * (1.0 + expected.value.abs());
                let what = format!("{dimensions}D, mode {mode}, {normalized}, {format:#x}, at {at:?}");
                assert!(far <= expected.step + rounding, "{what}: {} not {expected:?}", number(&case, found));
                count += 1;
                exact += usize::from(far <= rounding);
            });
            assert_eq!(count, LOOKUPS);
            // All but those that lie just between two weights.
            assert!(
                exact * 100 >= 99 * count,
                "{dimensions}D, mode {mode}, {normalized}: {exact} of {count}"
            );
        }
    }
}

#[test]
fn formats_and_channels() {
    let mut random = Random(3);
    for (format, bytes) in FORMATS {
        for channels in [1, 2, 4] {
            for parts in [false, true] {
                if parts && (bytes == 4 || format == 0x10) {
                    continue;
                }
                // Only floats have a border other than 0.
                let integers = !parts && !matches!(format, 0x10 | 0x20);
                let how = how(3, false, true, integers);
                let case = Case { dimensions: 2, format, channels, parts, how: &how };
                case.run(&mut random, &mut |found, texture, at| {
                    let (found, expected) = (number(&case, found), texture.nearest(at));
                    let near = (found - expected).abs() <= 1e-7 * expected.abs().max(1.0);
                    let exact = found == expected;
                    assert!(
                        if parts { near } else { exact },
                        "{format:#x}, {channels}: {found}, not {expected}"
                    );
                });
            }
        }
    }
}

#[test]
fn linear_and_pitched_memory() {
    let device = Device::new();
    let module = kernels(&device);
    let mut random = Random(4);
    // 1000 texels of two signed shorts, of which the object has 900.
    let texels: Vec<[i16; 2]> = (0..1000).map(|_| [random.next() as i16, random.next() as i16]).collect();
    let memory = upload(&texels);
    let linear = LinearResource { address: memory, format: 0x09, channels: 2, bytes: 3601 };
    let resource = CUDA_RESOURCE_DESC { resource_type: 2, resource: AnyResource { linear }, flags: 0 };
    // Modes and filters mean nothing.
    let how = CUDA_TEXTURE_DESC { filter_mode: 1, address_mode: [3; 3], border_color: [1.0; 4], ..PLAIN };
    let object = texture(&resource, &how).expect("it is made");
    let indices: Vec<i32> = (0..LOOKUPS).map(|_| random.between(-500.0, 1500.0) as i32).collect();
    let places: Vec<[f32; 4]> =
        indices.iter().map(|at| [f32::from_bits(at.cast_unsigned()), 0.0, 0.0, 0.0]).collect();
    let found = lookups(kernel(module, "fetch_s32"), object, &places).expect("they run");
    for (at, found) in indices.iter().zip(found) {
        let expected = match usize::try_from(*at) {
            Ok(at) if at < 900 => [i32::from(texels[at][0]), i32::from(texels[at][1]), 0, 0],
            _ => [0; 4],
        };
        assert_eq!(found.map(u32::cast_signed), expected, "at {at}");
    }
    // Rows of 30 floats, 160 bytes apart.
    let rows: Vec<[f32; 40]> =
        (0..20).map(|_| std::array::from_fn(|_| random.between(-1.0, 1.0) as f32)).collect();
    let pitched = PitchedResource {
        address: upload(&rows),
        format: 0x20,
        channels: 1,
        width: 30,
        height: 20,
        pitch: 160,
    };
    let resource = CUDA_RESOURCE_DESC { resource_type: 3, resource: AnyResource { pitched }, flags: 0 };
    let object = texture(&resource, &self::how(1, true, false, false)).expect("it is made");
    let values = |[x, y, _]: [usize; 3]| f64::from(rows[y][x]);
    let expected = Texture {
        values: &values,
        extent: [30, 20, 1],
        dimensions: 2,
        mode: MODES[1],
        normalized: false,
        border: 0.0,
    };
    let places = self::places([30, 20, 1], false, &mut random);
    let found = lookups(kernel(module, "d2_f32"), object, &places).expect("they run");
    for (place, found) in places.iter().zip(found) {
        let expected = expected.linear([place[0], place[1], 0.0].map(f64::from));
        let far = (f64::from(f32::from_bits(found[0])) - expected.value).abs();
        assert!(far <= expected.step + 1e-6, "at {place:?}: {found:?}, not {expected:?}");
    }
}

#[test]
fn lanes_that_name_several_objects() {
    let device = Device::new();
    let module = kernels(&device);
    let object = |start: f32| {
        let address = upload(&(0..64).map(|at| start + at as f32).collect::<Vec<f32>>());
        let linear = LinearResource { address, format: 0x20, channels: 1, bytes: 256 };
        let resource = CUDA_RESOURCE_DESC { resource_type: 2, resource: AnyResource { linear }, flags: 0 };
        texture(&resource, &PLAIN).expect("it is made")
    };
    let (one, other, out) = (object(100.0), object(1000.0), upload(&[0.0_f32; 64]));
    let parameters = [parameter(&one), parameter(&other), parameter(&out)];
    assert_eq!(launch(kernel(module, "two"), 1, 64, &parameters), cuda::Status::Success);
    let expected: Vec<f32> = (0..64).map(|at| if at % 2 == 1 { 100.0 } else { 1000.0 } + at as f32).collect();
    assert_eq!(download::<f32>(out, 64), Ok(expected));
}

#[test]
fn coordinates_that_are_no_places() {
    let device = Device::new();
    let module = kernels(&device);
    let texels: Vec<u8> = (0..8).flat_map(|at| (1.0 + at as f32).to_le_bytes()).collect();
    let descriptor =
        CUDA_ARRAY3D_DESCRIPTOR { width: 8, height: 0, depth: 0, format: 0x20, channels: 1, flags: 0 };
    let array = array(descriptor, &texels);
    let odd = [
        f32::NAN,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::MAX,
        f32::MIN,
        f32::MIN_POSITIVE,
        -f32::MIN_POSITIVE,
        -0.0,
    ];
    let places: Vec<[f32; 4]> = odd.iter().map(|at| [*at, *at, *at, 0.0]).collect();
    for (mode, linear) in (0..4).flat_map(|mode| [(mode, false), (mode, true)]) {
        for normalized in [false, true] {
            let object =
                texture(&of_array(array), &how(mode, linear, normalized, false)).expect("it is made");
            let found = lookups(kernel(module, "d1_f32"), object, &places).expect("they run");
            for (at, found) in odd.iter().zip(found) {
                let found = f32::from_bits(found[0]);
                let inside = (1.0..=8.0).contains(&found) || mode == 3 && (0.25..=1.0).contains(&found);
                assert!(inside, "mode {mode}, {linear}, {normalized}, at {at}: {found}");
            }
        }
    }
}
