use super::*;
use AllocationKind::{Managed, Pinned, Program, Tool};

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

#[test]
fn shared_memory_has_the_hosts_addresses() {
    let mut memory = Memory::new(1 << 20).unwrap();
    let (managed, pinned) =
        (memory.alloc(100, 1, Managed).unwrap(), memory.alloc(5000, 4096, Pinned).unwrap());
    assert_eq!(pinned % 4096, 0);
    memory.write(managed + 4, b"hello").unwrap();
    let host = managed as *mut u8;
    // SAFETY: a hundred bytes of memory that is allocated.
    unsafe {
        assert_eq!(host.add(4).cast::<[u8; 5]>().read(), *b"hello");
        host.add(99).write(7);
    }
    let mut last = [0];
    memory.read(managed + 99, &mut last).unwrap();
    assert_eq!(last, [7]);
    assert!(memory.read(managed + 100, &mut last).is_err());
    assert_eq!(memory.available(), 1 << 20, "the host holds it");
    let before = memory.digest();
    memory.fill(pinned, 5000, &[1, 2, 3]).unwrap();
    assert_eq!(memory.digest(), before, "the host's own");
    memory.fill(managed, 8, &[1]).unwrap();
    assert_ne!(memory.digest(), before);
    memory.free(managed).unwrap();
    assert!(memory.was_freed(managed + 50) && memory.allocation(managed).is_none());
    assert_eq!(memory.free(managed), Err(MemoryError::NotAllocated(managed)));
}

#[test]
fn registered_ranges_are_reached_as_long_as_they_are() {
    let mut memory = Memory::new(1 << 20).unwrap();
    let mut host = vec![0_u8; 1000];
    let address = host.as_mut_ptr() as u64;
    assert!(memory.region(address, false).is_none());
    // SAFETY: the vector outlives the registration.
    unsafe {
        memory.register(address + 100, 200, true).unwrap();
        let again = MemoryError::NotRegistrable { address: address + 299, bytes: 1 };
        assert_eq!(memory.register(address + 299, 1, true), Err(again));
        assert!(memory.register(address + 50, 51, true).is_err());
        memory.register(address + 300, 100, false).unwrap();
        for windowed in [1 << 32, GLOBAL_BASE, VIRTUAL_BASE, VIRTUAL_END - 1] {
            assert!(memory.register(windowed, 1, true).is_err());
        }
        assert!(memory.register(GLOBAL_BASE - 1, 2, true).is_err());
        assert!(memory.register(u64::MAX, 2, true).is_err());
    }
    memory.write(address + 100, &[5; 200]).unwrap();
    assert!(memory.write(address + 100, &[5; 201]).is_err(), "two ranges side by side are not one");
    assert!(memory.write(address + 300, &[5]).is_err(), "read only");
    assert!(memory.region(address + 300, false).is_some() && memory.region(address + 300, true).is_none());
    memory.unregister(address + 100).unwrap();
    assert!(memory.unregister(address + 100).is_err() && memory.allocation(address + 150).is_none());
    assert_eq!(host[99..301].iter().map(|byte| u32::from(*byte)).sum::<u32>(), 1000);
}

#[test]
fn chunks_are_reached_where_they_are_mapped() {
    let mut memory = Memory::new(16 << 20).unwrap();
    let range = memory.reserve_addresses(4 * GRANULARITY, 0, 0).unwrap();
    assert_eq!(range, VIRTUAL_BASE);
    let (one, two) = (memory.make_chunk(GRANULARITY).unwrap(), memory.make_chunk(GRANULARITY).unwrap());
    assert!(memory.allocation(one).is_none(), "no address of its own");
    memory.map(range, GRANULARITY, one, 0).unwrap();
    memory.map(range + GRANULARITY, GRANULARITY, two, 0).unwrap();
    assert!(memory.map(range, GRANULARITY, two, 0).is_err(), "taken");
    assert!(memory.map(range + 4 * GRANULARITY, GRANULARITY, two, 0).is_err(), "not reserved");
    assert!(memory.write(range, &[1]).is_err(), "no access yet");
    memory.set_access((range, 2 * GRANULARITY), 0, MappingAccess::ReadWrite).unwrap();
    // Over the border of the two, and the second once more at another place.
    let border = range + GRANULARITY;
    memory.fill(border - 2, 5, &[1, 2, 3, 4]).unwrap();
    memory.map(range + 3 * GRANULARITY, GRANULARITY, two, 0).unwrap();
    memory.set_access((range + 3 * GRANULARITY, GRANULARITY), 0, MappingAccess::Read).unwrap();
    let mut got = [0; 4];
    memory.read(range + 3 * GRANULARITY, &mut got).unwrap();
    assert_eq!(got, [3, 4, 1, 0]);
    memory.read(border - 2, &mut got).unwrap();
    assert_eq!(got, [1, 2, 3, 4]);
    assert!(memory.write(range + 3 * GRANULARITY, &[1]).is_err(), "read only");
    assert!(memory.release_addresses(range, 4 * GRANULARITY).is_err(), "in use");
    memory.release_chunk(one).unwrap();
    memory.release_chunk(two).unwrap();
    assert!(memory.release_chunk(two).is_err());
    assert_eq!(memory.available(), 12 << 20);
    assert!(memory.unmap(range, GRANULARITY / 2).is_err());
    memory.unmap(range, 2 * GRANULARITY).unwrap();
    assert_eq!(memory.available(), 14 << 20, "the second is mapped elsewhere");
    memory.unmap(range + 3 * GRANULARITY, GRANULARITY).unwrap();
    assert_eq!(memory.available(), 16 << 20);
    memory.release_addresses(range, 4 * GRANULARITY).unwrap();
    assert_ne!(memory.reserve_addresses(GRANULARITY, 0, 0), Ok(range), "a stale address faults");
}

#[test]
fn clearing_much_needs_little() {
    let mut memory = Memory::new(1 << 40).unwrap();
    let large = memory.alloc(4 << 30, 1, Program).unwrap();
    memory.write(large + 5, &[9]).unwrap();
    memory.fill(large, 4 << 30, &[0, 0]).unwrap();
    let mut got = [1; 8];
    memory.read(large + 1, &mut got).unwrap();
    assert_eq!(got, [0; 8]);
}

/// Bytes of this process that the host has in memory.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    4096 * text.split(' ').nth(1).unwrap().parse::<u64>().unwrap()
}

/// What is allocated and freed in turn takes no more and no more of the host's memory, and addresses come back late.
#[test]
fn memory_that_is_used_in_turn_does_not_grow() {
    let mut memory = Memory::new(16 << 30).unwrap();
    let before = resident();
    let first = memory.alloc(2500, 1, Program).unwrap();
    memory.free(first).unwrap();
    let mut highest = 0;
    for round in 0..1_000_000_u64 {
        let address = memory.alloc(2500, 1, Program).unwrap();
        memory.fill(address, 2500, &[1]).unwrap();
        // A stale pointer faults until 64 MiB were freed after it.
        assert!(round > 20_000 || memory.was_freed(first + 2499), "{round}");
        highest = highest.max(address);
        memory.free(address).unwrap();
        assert!(memory.was_freed(address));
    }
    assert!(highest - first < 66 << 20, "{highest:x}");
    assert!(resident() < before + (100 << 20), "{} MiB", (resident() - before) >> 20);
    let again = memory.alloc(2500, 1, Program).unwrap();
    let mut got = vec![1; 2500];
    memory.read(again, &mut got).unwrap();
    assert!(got.iter().all(|byte| *byte == 0));
}

/// Small and large ranges of all sizes and alignments, freed in any order: none overlap, all are zero at first.
#[test]
fn ranges_that_are_handed_out_again_are_apart() {
    let mut memory = Memory::new(1 << 30).unwrap();
    let mut live: Vec<(u64, u64)> = Vec::new();
    let mut random = 1_u64;
    let mut draw = |below: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % below
    };
    let mut reused = 0;
    let mut highest = 0;
    for _ in 0..40_000 {
        if live.len() < 40 || draw(2) == 0 {
            let most = if draw(20) == 0 { 3 << 20 } else { 60_000 };
            let bytes = 1 + draw(most);
            let align = 1 << draw(17);
            let address = memory.alloc(bytes, align, Program).unwrap();
            assert_eq!(address % align, 0);
            for &(other, len) in &live {
                assert!(address + bytes + 512 <= other || other + len + 512 <= address);
            }
            let mut ends = [1; 2];
            memory.read(address, &mut ends[..1]).unwrap();
            memory.read(address + bytes - 1, &mut ends[1..]).unwrap();
            assert_eq!(ends, [0, 0]);
            memory.fill(address, bytes, &[7]).unwrap();
            reused += u64::from(address < highest);
            highest = highest.max(address);
            live.push((address, bytes));
        } else {
            let at = draw(live.len() as u64) as usize;
            let (address, bytes) = live.swap_remove(at);
            memory.free(address).unwrap();
            assert!(memory.was_freed(address + bytes - 1));
        }
    }
    assert!(reused > 1000, "{reused}");
}
