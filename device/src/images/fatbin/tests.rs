//! Fat binaries of our own making: every form is read back, and every damage is an error.

mod damage;
mod encoder;
mod memory;
mod selection;

use super::{Architecture, Compression, EntryKind, FatBinary};
use encoder::{Part, encode};

const PTX: &str = ".version 9.0\n.target sm_75\n.address_size 64\n.visible .entry k()\n{\n\tret;\n}\n";

#[test]
fn what_is_packed_in_any_way_is_read_back() {
    let long = PTX.repeat(500);
    for compression in [Compression::None, Compression::Lz4, Compression::Zstd] {
        for text in [PTX, &long] {
            let bytes = encode(&[
                Part::ptx(75, text).packed(compression),
                Part::machine_code(90),
                Part::ptx(90, text).packed(compression).specific().with_options("-g --line"),
            ]);
            let binary = FatBinary::parse(&bytes).expect("it is whole");
            let kinds: Vec<EntryKind> = binary.entries.iter().map(|entry| entry.kind).collect();
            assert_eq!(kinds, [EntryKind::Ptx, EntryKind::Elf, EntryKind::Ptx]);
            assert_eq!(binary.entries[0].text().as_deref(), Ok(text));
            assert_eq!(binary.entries[2].text().as_deref(), Ok(text));
            assert_eq!(binary.entries[0].compression, compression);
            assert_eq!(binary.entries[2].architecture, Architecture { number: 90, suffix: Some('a') });
        }
    }
}

#[test]
fn what_follows_the_declared_size_is_not_looked_at() {
    let mut bytes = encode(&[Part::ptx(75, PTX)]);
    bytes.extend([0xff; 100]);
    assert_eq!(FatBinary::parse(&bytes).expect("it is whole").entries.len(), 1);
    assert!(FatBinary::parse(&encode(&[])).expect("empty is whole").entries.is_empty());
}

#[test]
fn a_payload_of_another_size_than_stated_is_an_error() {
    for compression in [Compression::Lz4, Compression::Zstd] {
        for stated in [0, PTX.len() as u64 - 1, PTX.len() as u64 + 1, 200 << 20, 300 << 20, u64::MAX] {
            let bytes = encode(&[Part::ptx(75, PTX).packed(compression).stating(stated)]);
            let binary = FatBinary::parse(&bytes).expect("the headers are whole");
            let error = binary.entries[0].text().expect_err("a wrong size");
            assert!(!error.to_string().is_empty());
        }
    }
}
