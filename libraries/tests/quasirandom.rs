//! Sobol's sequences of cuRAND's host interface against NVIDIA's: the numbers here are those of its own generators on the CPU
//! (`curandCreateGeneratorHost` of libcurand 10.4, which needs no GPU), whole runs of them and whole tables by a digest.

#![allow(clippy::macro_metavars_in_unsafe, reason = "the tests pass plain values")]

#[macro_use]
mod support;

use std::ffi::{c_int, c_void};
use std::ptr::{null, null_mut};

use support::{download, handle, upload};

type Generator = *mut c_void;

/// Bytes of a number, and the function that makes some.
fn makes(kind: char) -> (usize, &'static str) {
    match kind {
        'i' => (4, "curandGenerate"),
        'l' => (8, "curandGenerateLongLong"),
        'u' => (4, "curandGenerateUniform"),
        _ => (8, "curandGenerateUniformDouble"),
    }
}

fn generator(how: &str, (kind, dimensions): (c_int, u32), offset: u64) -> Generator {
    let mut generator = null_mut();
    assert_eq!(call!(how, &raw mut generator => *mut Generator, kind => c_int), 0);
    let name = "curandSetQuasiRandomGeneratorDimensions";
    assert_eq!(call!(name, generator => Generator, dimensions => u32), 0);
    assert_eq!(call!("curandSetGeneratorOffset", generator => Generator, offset => u64), 0);
    generator
}

fn on_host(kind: c_int, dimensions: u32) -> Generator {
    generator("curandCreateGeneratorHost", (kind, dimensions), 0)
}

fn made(generator: Generator, kind: char, count: usize) -> Vec<u8> {
    let (width, name) = makes(kind);
    let mut bytes = vec![0_u8; count * width];
    assert_eq!(call!(name, generator => Generator, bytes.as_mut_ptr() => *mut u8, count => usize), 0);
    bytes
}

/// FNV-1a of 64 bits.
fn digest(bytes: &[u8]) -> u64 {
    let fold = |digest: u64, byte: &u8| (digest ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, fold)
}

/// A generator's type and dimensions, the offset, what is asked for in turn, and the digest of all of it.
type Run = ((c_int, u32), u64, &'static [(char, usize)], u64);

const RUNS: [Run; 6] = [
    ((201, 1), 0, &[('i', 9000)], 0x4b79_6c35_333f_bf85),
    ((201, 7), 0, &[('i', 4900), ('u', 3500), ('d', 3493), ('i', 7)], 0x92f3_32fc_aac6_ae2e),
    ((201, 2000), 1_000_003, &[('i', 20_000), ('u', 4000), ('d', 2000)], 0x7fd1_0bd0_8173_3c9c),
    ((203, 1), 0, &[('l', 9000)], 0x0c41_3cbc_fa3b_0fc5),
    ((203, 7), 0, &[('l', 4900), ('u', 3500), ('d', 3493), ('l', 7)], 0x96a5_8497_f0c6_4c08),
    ((203, 1500), (1 << 40) + 5, &[('l', 15_000), ('u', 3000), ('d', 1500)], 0x5f2d_e265_d67f_3d3a),
];

#[test]
fn bits_and_uniform_numbers_are_nvidia_s_to_the_bit() {
    for (of, offset, asked, want) in RUNS {
        let generator = generator("curandCreateGeneratorHost", of, offset);
        let bytes: Vec<u8> = asked.iter().flat_map(|(kind, count)| made(generator, *kind, *count)).collect();
        assert_eq!(digest(&bytes), want, "{of:?} from {offset}: {asked:?}");
        assert_eq!(call!("curandDestroyGenerator", generator => Generator), 0);
    }
}

#[test]
fn on_the_device_they_are_the_same() {
    handle();
    for (of, offset, asked, want) in RUNS {
        let generator = generator("curandCreateGenerator", of, offset);
        let mut bytes = Vec::new();
        for (kind, count) in asked {
            let (width, name) = makes(*kind);
            let place = upload(&vec![0_u8; count * width]);
            assert_eq!(call!(name, generator => Generator, place => u64, *count => usize), 0);
            bytes.extend(download::<u8>(place, count * width));
        }
        assert_eq!(digest(&bytes), want, "{of:?} from {offset}");
    }
}

#[test]
fn the_tables_of_direction_vectors_are_nvidia_s() {
    let tables = [
        ("curandGetDirectionVectors32", 101, 32 * 4, 0x977d_0241_e397_4985),
        ("curandGetDirectionVectors64", 103, 64 * 8, 0xd1d2_6f6f_25e5_d2f2),
    ];
    for (name, set, bytes, want) in tables {
        let mut table: *const u8 = null();
        assert_eq!(call!(name, &raw mut table => *mut *const u8, set => c_int), 0);
        // SAFETY: the table of 20,000 dimensions, which stays.
        let bytes = unsafe { std::slice::from_raw_parts(table, 20_000 * bytes) };
        assert_eq!(digest(bytes), want, "{name}");
        // The scrambled one, and none.
        assert_eq!(call!(name, &raw mut table => *mut *const u8, set + 1 => c_int), 103);
        assert_eq!(call!(name, &raw mut table => *mut *const u8, 77 => c_int), 104);
    }
}

/// Which of 300,000 normal numbers in three dimensions are compared.
const PLACES: [usize; 7] = [0, 1, 2, 3, 8191, 150_000, 299_999];

/// A type, and the numbers at those places in single and in double precision.
const NORMALS: [(c_int, [f64; 7], [f64; 7]); 2] = [
    (
        201,
        [
            -6.337957382202148,
            0.0,
            0.6744897365570068,
            -0.6744897365570068,
            -3.6683292388916016,
            -1.4464865922927856,
            0.4619896411895752,
        ],
        [
            -6.33795775455379,
            2.918099372916623e-10,
            0.6744897505624251,
            -0.6744897498297384,
            -3.668329041243632,
            -1.446486585950112,
            0.46198964688284544,
        ],
    ),
    (
        203,
        [
            -6.337957382202148,
            0.0,
            0.6744897365570068,
            -0.6744897365570068,
            -3.6683292388916016,
            -1.4464865922927856,
            0.4619896411895752,
        ],
        [
            -8.292361075813593,
            0.0,
            0.6744897501960818,
            -0.6744897501960816,
            -3.668329285121206,
            -1.4464865867808079,
            0.4619896465581722,
        ],
    ),
];

/// 300,000 standard normal numbers in three dimensions.
fn normals<T: Copy + Into<f64>>(name: &str, kind: c_int, [zero, one]: [T; 2]) -> Vec<f64> {
    let mut found = vec![zero; 300_000];
    let (generator, place) = (on_host(kind, 3), found.as_mut_ptr());
    let status = call!(name, generator => Generator, place => *mut T, 300_000 => usize, zero => T, one => T);
    assert_eq!(status, 0);
    found.into_iter().map(Into::into).collect()
}

/// The last bits are those of another way to invert the distribution.
#[test]
fn normal_numbers_are_nvidia_s_but_for_the_last_bits() {
    for (kind, single, double) in NORMALS {
        let found = [
            (normals("curandGenerateNormal", kind, [0.0_f32, 1.0]), single, 4e-7),
            (normals("curandGenerateNormalDouble", kind, [0.0_f64, 1.0]), double, 2e-15),
        ];
        for (found, wanted, allowed) in found {
            for (place, want) in PLACES.into_iter().zip(wanted) {
                let got = found[place];
                assert!((got - want).abs() <= allowed * want.abs(), "{kind} at {place}: {got}");
            }
        }
    }
}

#[test]
fn dimensions_change_and_the_place_stays() {
    let whole = made(on_host(201, 2), 'i', 40);
    let (first, second) = whole.split_at(80);
    let generator = on_host(201, 2);
    assert_eq!(made(generator, 'i', 10), [&first[..20], &second[..20]].concat());
    let set =
        |count: u32| call!("curandSetQuasiRandomGeneratorDimensions", generator => Generator, count => u32);
    assert_eq!(set(1), 0);
    assert_eq!(made(generator, 'i', 5), first[20..40]);
    assert_eq!((set(2), set(0), set(20_001)), (0, 104, 104));
    // The one ordering begins nothing anew.
    assert_eq!(call!("curandSetGeneratorOrdering", generator => Generator, 201 => c_int), 0);
    assert_eq!(made(generator, 'i', 4), [&first[40..48], &second[40..48]].concat());
}

#[test]
fn what_cannot_be_is_refused() {
    let (narrow, wide, mut values) = (on_host(200, 3), on_host(203, 3), [0_u64; 8]);
    let place = values.as_mut_ptr();
    let make = |name: &str, generator: Generator, count: usize| call!(name, generator => Generator, place => *mut u64, count => usize);
    assert_eq!(make("curandGenerate", narrow, 4), 105, "as many for each dimension");
    assert_eq!(make("curandGenerateLongLong", narrow, 3), 103);
    assert_eq!(make("curandGenerate", wide, 3), 103);
    assert_eq!(make("curandGenerateLongLong", wide, 0), 0);
    assert_eq!(call!("curandSetPseudoRandomGeneratorSeed", narrow => Generator, 3 => u64), 103);
    assert_eq!(call!("curandSetGeneratorOrdering", narrow => Generator, 100 => c_int), 104);
    let mut pseudo: Generator = null_mut();
    assert_eq!(call!("curandCreateGeneratorHost", &raw mut pseudo => *mut Generator, 101 => c_int), 0);
    assert_eq!(call!("curandSetQuasiRandomGeneratorDimensions", pseudo => Generator, 2 => u32), 103);
    assert_eq!(call!("curandSetGeneratorOrdering", pseudo => Generator, 201 => c_int), 104);
}
