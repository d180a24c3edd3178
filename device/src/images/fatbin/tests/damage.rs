//! Ten thousand damaged fat binaries: an error or a valid parse each, and what unpacks has the size
//! that it states.

use super::PTX;
use super::encoder::{Part, encode};
use crate::images::fatbin::{Compression, FatBinary, MOST_UNPACKED};
use crate::images::image::Image;

/// Numbers from a seed (SplitMix64, Steele, Lea and Flood).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((word ^ (word >> 31)) % below as u64) as usize
    }
}

fn corpus() -> Vec<Vec<u8>> {
    let long = PTX.repeat(50);
    [Compression::None, Compression::Lz4, Compression::Zstd]
        .into_iter()
        .flat_map(|compression| {
            [
                encode(&[Part::ptx(75, PTX).packed(compression)]),
                encode(&[
                    Part::machine_code(75).packed(compression),
                    Part::ptx(80, &long).packed(compression),
                    Part::ptx(90, PTX).packed(compression).specific().with_options("-maxrregcount=32"),
                ]),
            ]
        })
        .collect()
}

/// Reads all there is; whether it was whole.
fn read(bytes: &[u8]) -> bool {
    let Ok(binary) = FatBinary::parse(bytes) else {
        assert!(Image::of(bytes).ptx((9, 0)).is_err() || !bytes.starts_with(&[0x50, 0xed, 0x55, 0xba]));
        return false;
    };
    let mut whole = true;
    for entry in &binary.entries {
        match entry.unpack() {
            Ok(unpacked) => {
                assert_eq!(unpacked.len() as u64, entry.unpacked_size);
                assert!(unpacked.len() as u64 <= MOST_UNPACKED);
            }
            Err(error) => {
                assert!(!error.to_string().is_empty());
                whole = false;
            }
        }
    }
    whole
}

#[test]
fn cut_off_anywhere_it_is_an_error() {
    for bytes in corpus() {
        assert!(read(&bytes));
        for end in 0..bytes.len() {
            assert!(FatBinary::parse(&bytes[..end]).is_err(), "{end} bytes of {}", bytes.len());
        }
    }
}

#[test]
fn ten_thousand_with_flipped_bits_do_no_harm() {
    let (corpus, mut numbers) = (corpus(), Numbers(4));
    let mut refused = 0;
    for _ in 0..10_000 {
        let mut bytes = corpus[numbers.next(corpus.len())].clone();
        // Half of the cases aim at the headers, where the numbers are.
        let reach = if numbers.next(2) == 0 { 96.min(bytes.len()) } else { bytes.len() };
        for _ in 0..=numbers.next(4) {
            bytes[numbers.next(reach)] ^= 1 << numbers.next(8);
        }
        if numbers.next(4) == 0 {
            bytes.truncate(numbers.next(bytes.len()));
        }
        refused += u32::from(!read(&bytes));
    }
    // The rest flipped what nothing depends on: an architecture, a plain text, padding.
    assert!(refused > 5_000, "only {refused} of 10,000 were refused");
}
