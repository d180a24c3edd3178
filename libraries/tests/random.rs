//! cuRAND's host interface against NVIDIA's: the numbers here are those of its own generators on the CPU
//! (`curandCreateGeneratorHost` of libcurand 10.3.10, which needs no GPU), whole runs of them by a digest.

#![allow(clippy::macro_metavars_in_unsafe, reason = "the tests pass plain values")]

#[macro_use]
mod support;

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

use support::{download, handle, upload};

type Generator = *mut c_void;

fn generator(how: &str, kind: c_int) -> Generator {
    let mut generator = null_mut();
    assert_eq!(call!(how, &raw mut generator => *mut Generator, kind => c_int), 0);
    generator
}

fn on_host(kind: c_int) -> Generator {
    generator("curandCreateGeneratorHost", kind)
}

/// Numbers of a kind: `i` 32 bits, `u` uniform, `d` uniform in double precision. Their bytes.
fn made(generator: Generator, kind: char, count: usize) -> Vec<u8> {
    let (name, width) = match kind {
        'i' => ("curandGenerate", 4),
        'u' => ("curandGenerateUniform", 4),
        _ => ("curandGenerateUniformDouble", 8),
    };
    let mut bytes = vec![0_u8; count * width];
    let place = bytes.as_mut_ptr();
    assert_eq!(call!(name, generator => Generator, place => *mut u8, count => usize), 0);
    bytes
}

/// FNV-1a of 64 bits.
fn digest(bytes: impl IntoIterator<Item = u8>) -> u64 {
    let fold = |digest: u64, byte: u8| (digest ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    bytes.into_iter().fold(0xcbf2_9ce4_8422_2325, fold)
}

/// A generator's type and ordering, the seed, the offset, what is asked for in turn, and the digest of all of it.
type Run = ((c_int, c_int), u64, u64, &'static [(char, usize)], u64);

const MIXED: &[(char, usize)] = &[('i', 5000), ('u', 5000), ('d', 4099), ('i', 3)];
const DOUBLES_FIRST: &[(char, usize)] = &[('d', 5001), ('u', 7), ('i', 9001)];

const RUNS: [Run; 12] = [
    ((101, 100), 0, 0, &[('i', 9000)], 0x9eca_a7d0_2c86_12cc),
    ((101, 100), 0x0123_4567_89ab_cdef, 0, MIXED, 0x4201_cb28_219b_ccf1),
    ((101, 100), 42, 1_000_003, DOUBLES_FIRST, 0xe623_09b4_85e7_4000),
    ((121, 100), 0, 0, &[('i', 9000)], 0xfdb1_df54_1dcd_216e),
    ((121, 100), 0x0123_4567_89ab_cdef, 0, MIXED, 0x08cf_9a38_af10_dd2e),
    ((121, 100), 42, 1_000_003, DOUBLES_FIRST, 0xf84e_d110_4fc0_4b33),
    ((121, 103), 0, 0, &[('i', 9000)], 0x5310_241e_02be_94a6),
    ((121, 103), 0x0123_4567_89ab_cdef, 0, MIXED, 0x8f68_fdca_4fc6_23c7),
    ((121, 103), 42, 1_000_003, DOUBLES_FIRST, 0x9f98_55cf_1988_df1b),
    ((161, 100), 0, 0, &[('i', 9000)], 0x61f7_fbd0_1285_c06b),
    ((161, 100), 0x0123_4567_89ab_cdef, 0, MIXED, 0x1bc3_f739_21f0_3d16),
    ((161, 100), 42, 1_000_003, DOUBLES_FIRST, 0xb572_0921_482b_5a56),
];

fn set(generator: Generator, order: c_int, seed: u64, offset: u64) {
    assert_eq!(call!("curandSetGeneratorOrdering", generator => Generator, order => c_int), 0);
    assert_eq!(call!("curandSetPseudoRandomGeneratorSeed", generator => Generator, seed => u64), 0);
    assert_eq!(call!("curandSetGeneratorOffset", generator => Generator, offset => u64), 0);
}

#[test]
fn bits_and_uniform_numbers_are_nvidia_s_to_the_bit() {
    for ((kind, order), seed, offset, asked, want) in RUNS {
        let generator = on_host(kind);
        set(generator, order, seed, offset);
        let bytes = asked.iter().flat_map(|(kind, count)| made(generator, *kind, *count));
        assert_eq!(
            digest(bytes),
            want,
            "type {kind}, ordering {order}, seed {seed}, offset {offset}, {asked:?}"
        );
        assert_eq!(call!("curandDestroyGenerator", generator => Generator), 0);
    }
}

#[test]
fn on_the_device_they_are_the_same() {
    handle();
    for ((kind, order), seed, offset, asked, want) in RUNS {
        let generator = generator("curandCreateGenerator", kind);
        set(generator, order, seed, offset);
        let mut bytes = Vec::new();
        for (kind, count) in asked {
            let (name, width) = match kind {
                'i' => ("curandGenerate", 4),
                'u' => ("curandGenerateUniform", 4),
                _ => ("curandGenerateUniformDouble", 8),
            };
            let place = upload(&vec![0_u8; count * width]);
            assert_eq!(call!(name, generator => Generator, place => u64, *count => usize), 0);
            bytes.extend(download::<u8>(place, count * width));
        }
        assert_eq!(digest(bytes), want, "type {kind}, ordering {order}, seed {seed}");
    }
}

/// Which of 300,000 normal numbers of seed 99 are compared.
const PLACES: [usize; 7] = [0, 1, 2, 3, 8191, 150_000, 299_999];

/// A type, the numbers at those places in single and in double precision, and the two of 32 bits that come next, after each.
type Normals = (c_int, [f64; 7], [u32; 2], [f64; 7], [u32; 2]);

const NORMALS: [Normals; 3] = [
    (
        101,
        [
            -1.031288743019104,
            -2.1228415966033936,
            -2.13427734375,
            -0.029928503558039665,
            0.5238262414932251,
            1.7162216901779175,
            -0.9968048930168152,
        ],
        [2655419863, 3506599093],
        [
            0.7108204709876779,
            0.7823405630777861,
            0.7327462652230918,
            0.21072946058026767,
            2.0961603740193437,
            -1.8723564355161684,
            -0.7309071381591543,
        ],
        [3629590921, 715300664],
    ),
    (
        121,
        [
            -1.0045148134231567,
            1.0683703422546387,
            -0.7630116939544678,
            1.0488778352737427,
            1.4792752265930176,
            0.7591298818588257,
            2.2989611625671387,
        ],
        [1593498983, 1357932054],
        [
            -1.0045147971338204,
            1.0683704162765344,
            -0.7630116468315604,
            1.0488779325066835,
            1.479275242061496,
            0.7591298912216453,
            2.298961007095669,
        ],
        [1593498983, 1357932054],
    ),
    (
        161,
        [
            -0.7836963534355164,
            0.2833324074745178,
            -0.35127830505371094,
            1.3302876949310303,
            0.32619887590408325,
            -0.6318456530570984,
            0.30823588371276855,
        ],
        [608889544, 2298503965],
        [
            -0.16805949567466966,
            0.6364385410782372,
            -0.6947725931565758,
            0.7444256951363909,
            0.050558130982857635,
            0.5541633261511959,
            -1.7389629278240593,
        ],
        [733358458, 1785256024],
    ),
];

/// The last bits of logarithms and sines are the C library's.
#[test]
fn normal_numbers_are_nvidia_s_but_for_the_last_bits() {
    let count = 300_000_usize;
    for (kind, single, after_single, double, after_double) in NORMALS {
        let begun = || {
            let generator = on_host(kind);
            set(generator, 100, 99, 0);
            generator
        };
        let next = |generator: Generator| {
            let bytes = made(generator, 'i', 2);
            [0, 4]
                .map(|at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]))
        };
        let generator = begun();
        let mut found = vec![0.0_f32; count];
        let status = call!(
            "curandGenerateNormal", generator => Generator, found.as_mut_ptr() => *mut f32, count => usize,
            0.0 => f32, 1.0 => f32
        );
        assert_eq!(status, 0);
        for (place, want) in PLACES.into_iter().zip(single) {
            let got = f64::from(found[place]);
            assert!((got - want).abs() <= 4e-7 * want.abs().max(0.01), "{kind} at {place}: {got}");
        }
        assert_eq!(next(generator), after_single, "{kind}");

        let generator = begun();
        let mut logarithmic = vec![0.0_f32; 1000];
        let status = call!(
            "curandGenerateLogNormal", generator => Generator, logarithmic.as_mut_ptr() => *mut f32, 1000 => usize,
            0.5 => f32, 2.0 => f32
        );
        assert_eq!(status, 0);
        for (normal, value) in found.iter().zip(&logarithmic) {
            let want = (normal * 2.0 + 0.5).exp();
            assert!((value - want).abs() <= 4e-7 * want, "{kind}");
        }

        let generator = begun();
        let mut found = vec![0.0_f64; count];
        let status = call!(
            "curandGenerateNormalDouble", generator => Generator, found.as_mut_ptr() => *mut f64, count => usize,
            0.0 => f64, 1.0 => f64
        );
        assert_eq!(status, 0);
        for (place, want) in PLACES.into_iter().zip(double) {
            assert!(
                (found[place] - want).abs() <= 1e-15 * want.abs().max(0.01),
                "{kind} at {place}: {}",
                found[place]
            );
        }
        assert_eq!(next(generator), after_double, "{kind}");
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let mut generator: Generator = null_mut();
    for kind in [141, 142, 202, 204, 77] {
        let status = call!("curandCreateGeneratorHost", &raw mut generator => *mut Generator, kind => c_int);
        assert_eq!(status, 103, "{kind}");
    }
    let generator = on_host(101);
    let mut values = [0.0_f32; 3];
    let place = values.as_mut_ptr();
    let status = call!(
        "curandGenerateNormal", generator => Generator, place => *mut f32, 3 => usize, 0.0 => f32, 1.0 => f32
    );
    assert_eq!(status, 105, "normal numbers come in pairs");
    assert_eq!(call!("curandSetGeneratorOrdering", generator => Generator, 102 => c_int), 103);
    assert_eq!(call!("curandSetGeneratorOrdering", generator => Generator, 9 => c_int), 104);
    assert_eq!(call!("curandGenerateLongLong", generator => Generator, place => *mut f32, 1 => usize), 103);
    assert_eq!(call!("curandDestroyGenerator", generator => Generator), 0);
    assert_eq!(call!("curandGenerate", generator => Generator, place => *mut f32, 1 => usize), 101);
    assert!(bugaroo_libraries::exports::find("curandGeneratePoisson").is_none());
}
