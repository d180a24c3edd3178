use super::*;
use AllocationKind::{Program, Tool};

#[test]
fn addresses_are_aligned_separate_and_the_same_every_time() {
    let run = || {
        let mut memory = Memory::new(1 << 20).unwrap();
        (1..20u64).map(|n| memory.alloc(n * 37, 1, Program).unwrap()).collect::<Vec<_>>()
    };
    let addresses = run();
    assert_eq!(addresses, run());
    for (n, pair) in addresses.windows(2).enumerate() {
        assert_eq!(pair[0] % 256, 0);
        assert!(pair[1] > pair[0] + (n as u64 + 1) * 37, "gap");
    }
}

#[test]
fn reads_writes_and_fills_stay_inside_one_allocation() {
    let mut memory = Memory::new(1 << 20).unwrap();
    let a = memory.alloc(100, 1, Program).unwrap();
    memory.write(a + 10, b"hello").unwrap();
    let mut got = [1; 7];
    memory.read(a + 9, &mut got).unwrap();
    assert_eq!(&got, b"\0hello\0");
    memory.fill(a, 5, &[1, 2]).unwrap();
    memory.read(a, &mut got).unwrap();
    assert_eq!(got, [1, 2, 1, 2, 1, 0, 0]);
    let outside = |address| Err(MemoryError::OutOfBounds { address, bytes: 7 });
    assert_eq!(memory.read(a + 94, &mut got), outside(a + 94));
    assert_eq!(memory.read(0, &mut got), outside(0));
    assert_eq!(memory.read(u64::MAX, &mut got), outside(u64::MAX));
}

#[test]
fn freed_memory_is_unreachable_then_reused_as_zero() {
    let mut memory = Memory::new(1 << 24).unwrap();
    let a = memory.alloc(10_000_000, 1, Program).unwrap();
    memory.fill(a, 10_000_000, &[7]).unwrap();
    memory.free(a).unwrap();
    assert_eq!(memory.free(a), Err(MemoryError::NotAllocated(a)));
    assert!(memory.was_freed(a + 9_999_999) && !memory.was_freed(a + 10_000_000));
    assert_eq!(memory.allocation(a), None);
    // Fresh room is used up first, then the hole, which reads as zero.
    let mut last = 0;
    for _ in 0..8 {
        last = memory.alloc(10_000_000, 1, Program).unwrap();
        if last == a {
            break;
        }
        memory.free(last).unwrap();
    }
    assert_eq!(last, a);
    let mut got = vec![1; 10_000_000];
    memory.read(a, &mut got).unwrap();
    assert!(got.iter().all(|byte| *byte == 0));
}

#[test]
fn capacity_is_honoured() {
    let mut memory = Memory::new(1000).unwrap();
    let a = memory.alloc(600, 1, Program).unwrap();
    let full = MemoryError::OutOfMemory { bytes: 500, available: 400 };
    assert_eq!(memory.alloc(500, 1, Program), Err(full));
    memory.free(a).unwrap();
    assert!(memory.alloc(1000, 1, Program).is_ok());
    assert_eq!(memory.available(), 0);
}

#[test]
fn the_digest_sees_contents_and_not_the_tools_memory() {
    let mut memory = Memory::new(1 << 20).unwrap();
    let a = memory.alloc(13, 1, Program).unwrap();
    let before = memory.digest();
    let tool = memory.alloc(64, 1, Tool).unwrap();
    memory.fill(tool, 64, &[9]).unwrap();
    assert_eq!(memory.digest(), before);
    memory.write(a + 12, &[1]).unwrap();
    assert_ne!(memory.digest(), before);
    memory.write(a + 12, &[0]).unwrap();
    assert_eq!(memory.digest(), before);
}

#[test]
fn the_nearest_allocation_is_told_with_its_distance() {
    let mut memory = Memory::new(1 << 20).unwrap();
    let a = memory.alloc(100, 1, Program).unwrap();
    assert_eq!(memory.nearest(a + 104), Some(Near { base: a, size: 100, distance: 4 }));
    assert_eq!(memory.nearest(a - 8), Some(Near { base: a, size: 100, distance: -8 }));
    assert_eq!(memory.nearest(a + (1 << 21)), None);
}
