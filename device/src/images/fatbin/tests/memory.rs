//! Pointers without a length, into memory of the test's making.

use std::collections::BTreeMap;

use super::PTX;
use super::encoder::{Part, encode};
use crate::images::fatbin::{FatError, ImageMemory, ThisProcess, WRAPPER_MAGIC, fat_binary_at, wrapper_at};

/// Memory with holes: start of each piece, and its content.
#[derive(Default)]
struct Pieces(BTreeMap<u64, Vec<u8>>);

impl ImageMemory for Pieces {
    fn read(&self, address: u64, into: &mut [u8]) -> bool {
        let Some((start, piece)) = self.0.range(..=address).next_back() else { return false };
        let Some(from) = piece.get((address - start) as usize..) else { return false };
        from.get(..into.len()).map(|bytes| into.copy_from_slice(bytes)).is_some()
    }
}

fn wrapper(version: u32, data: u64, other: u64) -> Vec<u8> {
    let mut bytes = WRAPPER_MAGIC.to_le_bytes().to_vec();
    bytes.extend(version.to_le_bytes());
    bytes.extend(data.to_le_bytes());
    bytes.extend(other.to_le_bytes());
    bytes
}

#[test]
fn a_wrapper_leads_to_its_fat_binaries() {
    let (own, first, second) =
        (encode(&[]), encode(&[Part::ptx(75, PTX)]), encode(&[Part::machine_code(90)]));
    let list = [0x3000_u64, 0x4000, 0].iter().flat_map(|pointer| pointer.to_le_bytes()).collect();
    let memory = Pieces(BTreeMap::from([
        (0x1000, wrapper(2, 0x2000, 0x5000)),
        (0x2000, own.clone()),
        (0x3000, first.clone()),
        (0x4000, second.clone()),
        (0x5000, list),
        (0x6000, wrapper(1, 0x3000, 0xdead_beef)),
    ]));
    let found = wrapper_at(&memory, 0x1000).expect("all of it is there");
    assert_eq!((found.data, found.linked), (own, vec![first.clone(), second]));
    // A file's name is not looked at.
    let found = wrapper_at(&memory, 0x6000).expect("all of it is there");
    assert_eq!((found.data, found.linked), (first, vec![]));
}

#[test]
fn lies_lead_to_errors() {
    let mut lying = encode(&[Part::ptx(75, PTX)]);
    lying[8..16].copy_from_slice(&(1_u64 << 30).to_le_bytes());
    let mut huge = lying.clone();
    huge[8..16].copy_from_slice(&u64::MAX.to_le_bytes());
    let memory = Pieces(BTreeMap::from([
        (0x1000, wrapper(3, 0x2000, 0)),
        (0x2000, wrapper(1, 0, 0)),
        (0x3000, wrapper(2, 0x5000, 0x9000)),
        (0x4000, wrapper(1, 0x1000, 0)),
        (0x5000, lying),
        (0x6000, huge),
        (0x7000, wrapper(1, 0x5000, 0)[..20].to_vec()),
    ]));
    for address in [0x1000, 0x2000, 0x3000, 0x4000, 0x7000, 0x8000, 0, u64::MAX] {
        assert!(wrapper_at(&memory, address).is_err(), "{address:#x}");
    }
    assert!(matches!(fat_binary_at(&memory, 0x5000), Err(FatError::Memory { .. })));
    assert!(matches!(fat_binary_at(&memory, 0x6000), Err(FatError::TooBig { .. })));
}

#[test]
fn a_list_without_an_end_is_an_error() {
    struct Endless;
    impl ImageMemory for Endless {
        fn read(&self, address: u64, into: &mut [u8]) -> bool {
            let source = match address {
                0x1000 => wrapper(2, 0x2000, 0x3000),
                0x2000 => encode(&[]),
                _ => 0x2000_u64.to_le_bytes().to_vec(),
            };
            into.copy_from_slice(&source[..into.len()]);
            true
        }
    }
    assert!(matches!(wrapper_at(&Endless, 0x1000), Err(FatError::TooBig { .. })));
}

#[test]
fn this_process_tells_where_it_has_no_memory() {
    let bytes: Vec<u8> = (0..100_000_u32).map(|index| index as u8).collect();
    let mut copied = vec![0; bytes.len()];
    assert!(ThisProcess.read(bytes.as_ptr() as u64, &mut copied));
    assert_eq!(copied, bytes);
    for address in [0, 8, u64::MAX - 50, 1 << 63] {
        assert!(!ThisProcess.read(address, &mut copied[..100]), "{address:#x}");
    }
    let page = 4096;
    // SAFETY: two fresh pages, the second of which is made unreadable, and both are given back.
    unsafe {
        let (anywhere, flags) = (std::ptr::null_mut(), libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        let pages = libc::mmap(anywhere, 2 * page, libc::PROT_READ, flags, -1, 0);
        assert_ne!(pages, libc::MAP_FAILED);
        assert_eq!(libc::munmap(pages.add(page), page), 0);
        assert!(ThisProcess.read(pages as u64, &mut copied[..page]));
        assert!(!ThisProcess.read(pages as u64 + 1, &mut copied[..page]));
        assert_eq!(libc::munmap(pages, page), 0);
    }
}
