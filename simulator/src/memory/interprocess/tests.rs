//! Two ranges of one process stand for those of two.

use std::os::fd::AsFd as _;

use super::*;

fn memory() -> Memory {
    Memory::new(1 << 24).expect("there is room")
}

fn byte(memory: &Memory, address: u64) -> u8 {
    let mut byte = [0];
    memory.read(address, &mut byte).expect("it is allocated");
    byte[0]
}

#[test]
fn what_one_writes_the_other_reads() {
    let (mut ours, mut theirs) = (memory(), memory());
    let small = ours.alloc(100, 256, AllocationKind::Program).expect("there is room");
    let neighbour = ours.alloc(100, 256, AllocationKind::Program).expect("there is room");
    let large = ours.alloc(5 * PAGE + 7, 256, AllocationKind::Program).expect("there is room");
    for (address, value) in [(small, 1), (neighbour, 2), (large, 3), (large + 5 * PAGE, 4)] {
        ours.write(address, &[value]).expect("it is allocated");
    }
    // Twice is as good as once.
    let exported = [small, large, small].map(|address| ours.export(address).expect("it is allocated"));
    assert_eq!((exported[0], exported[0].bytes, exported[1].bytes), (exported[2], 100, 5 * PAGE + 7));
    let file = ours.export_file().expect("something was exported");
    let [here, there] = [0, 1].map(|at| theirs.import(file.as_fd(), exported[at]).expect("there is room"));
    assert_eq!([byte(&theirs, here), byte(&theirs, there), byte(&theirs, there + 5 * PAGE)], [1, 3, 4]);
    theirs.write(here + 99, &[5]).expect("it is imported");
    theirs.write(there + 2 * PAGE, &[6]).expect("it is imported");
    assert_eq!([byte(&ours, small + 99), byte(&ours, large + 2 * PAGE), byte(&ours, neighbour)], [5, 6, 2]);
    // Imports have no part in a digest, and give nothing to the capacity.
    assert_eq!((theirs.digest(), theirs.available()), (memory().digest(), memory().available()));
}

#[test]
fn what_ends_is_each_ones_own_again() {
    let (mut ours, mut theirs) = (memory(), memory());
    let first = ours.alloc(3 * PAGE, PAGE, AllocationKind::Program).expect("there is room");
    let kept = ours.alloc(100, 256, AllocationKind::Program).expect("there is room");
    ours.write(first, &vec![7; 3 * PAGE as usize]).expect("it is allocated");
    ours.write(kept, &[8]).expect("it is allocated");
    let exported = [first, kept].map(|address| ours.export(address).expect("it is allocated"));
    let file = ours.export_file().expect("something was exported");
    let [here, also] = exported.map(|one| theirs.import(file.as_fd(), one).expect("there is room"));
    ours.free(first).expect("it is allocated");
    // The file's pages are given back; the neighbour's stay.
    assert_eq!([byte(&theirs, here), byte(&theirs, also)], [0, 8]);
    theirs.end_import(here).expect("it is imported");
    assert_eq!(theirs.end_import(here), Err(MemoryError::NotAllocated(here)));
    assert!(theirs.read(here, &mut [0]).is_err());
    theirs.write(also, &[9]).expect("it is imported");
    assert_eq!(byte(&ours, kept), 9);
    assert_eq!(ours.export(first), Err(MemoryError::NotAllocated(first)));
    assert_eq!(theirs.end_import(kept), Err(MemoryError::NotAllocated(kept)));
}

#[test]
fn offsets_that_are_none_are_refused() {
    let (mut ours, mut theirs) = (memory(), memory());
    let address = ours.alloc(10, 256, AllocationKind::Program).expect("there is room");
    ours.export(address).expect("it is allocated");
    let file = ours.export_file().expect("something was exported").as_fd();
    for (offset, bytes) in [(u64::MAX, 1), (1, u64::MAX), (u64::MAX - PAGE, PAGE)] {
        assert!(theirs.import(file, Exported { offset, bytes }).is_err(), "{offset} {bytes}");
    }
}
