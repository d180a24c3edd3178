use super::buffers::{Entry, Pool, Thread};
use super::coins::Coins;
use super::slots::Slots;
use super::*;

#[test]
fn coins_are_those_of_the_device_code() {
    let mut numbers = crate::Rng::new(5);
    for _ in 0..10_000 {
        let (seed, launch, bits) = (numbers.next(), numbers.next() % 100, numbers.next());
        let (thread, site, count) = (bits as u32, (bits >> 32) as u32 % 5000, numbers.next() as u32 % 9);
        let coins = Coins::new(launch_key(seed, launch), 1);
        let expected = bugaroo_device_handlers::coin(seed, launch, thread, site, count);
        assert_eq!(coins.toss(thread, site, count), expected);
    }
}

#[test]
fn counts_of_a_warp_begin_at_zero_with_each_block() {
    let mut coins = Coins::new(0, 3);
    coins.begin(4);
    coins.row(2, 1)[7] += 5;
    assert_eq!(coins.row(2, 1)[7], 5);
    assert_eq!((coins.row(2, 0)[7], coins.row(1, 1)[7]), (0, 0));
    coins.reset(2);
    assert_eq!(coins.row(2, 1)[7], 0);
}

fn entry(address: u64, bytes: u32, value: u128) -> Entry {
    Entry::new(address, bytes, value, false)
}

#[test]
fn entries_go_newest_first_and_oldest_first_where_chosen() {
    let (mut pool, mut a, mut b) = (Pool::default(), Thread::new(0), Thread::new(1));
    for i in 0..4 {
        pool.push(&mut a, Space::Global, entry(8 * i, 4, i.into()));
        pool.push(&mut b, Space::Global, entry(8 * i, 4, (10 + i).into()));
    }
    assert_eq!(pool.take_newest(&mut a, Space::Global).map(Entry::value), Some(3));
    assert_eq!(pool.take_overlapping(&mut a, Space::Global, 0, 12).map(|e| e.value()), Some(0));
    assert_eq!(pool.take_overlapping(&mut a, Space::Global, 0, 12).map(|e| e.value()), Some(1));
    assert_eq!(pool.take_overlapping(&mut a, Space::Global, 0, 12).map(|e| e.value()), None);
    assert_eq!(a.entries, [1, 0]);
    pool.push(&mut a, Space::Shared, entry(96, 16, 7 << 64));
    assert_eq!(pool.each(&b, Space::Global).map(|e| e.value()).collect::<Vec<_>>(), [13, 12, 11, 10]);
    assert_eq!(pool.overlapping(&a, Space::Shared, 104, 8).and_then(|e| e.part(104, 8)), Some(7));
    assert!(pool.overlapping(&a, Space::Shared, 112, 8).is_none());
}

/// Long buffers are looked up by address: they answer as lists that are walked do.
#[test]
fn entries_are_found_in_long_buffers_as_in_short_ones() {
    let mut numbers = crate::Rng::new(11);
    let mut pool = Pool::default();
    let mut threads: Vec<Thread> = (0..5).map(Thread::new).collect();
    // By thread and space, oldest first.
    let mut expected = vec![[Vec::<Entry>::new(), Vec::new()]; threads.len()];
    for _ in 0..60_000 {
        let bits = numbers.next();
        let (t, space) = (bits as usize % 5, SPACES[bits as usize >> 8 & 1]);
        let (thread, list) = (&mut threads[t], &mut expected[t][space as usize]);
        let bytes = 1 << ((bits >> 16) % 5);
        let address = (1 << 40) + (bits >> 24) % 900 / u64::from(bytes) * u64::from(bytes);
        let oldest = list.iter().position(|e| e.overlaps(address, bytes));
        assert_eq!(pool.overlapping(thread, space, address, bytes), oldest.map(|i| &list[i]));
        let equal = list.iter().find(|e| (e.address, u32::from(e.bytes)) == (address, bytes));
        assert_eq!(pool.exact(thread, space, address, bytes).map(|e| *e), equal.copied());
        let taken = |list: &mut Vec<Entry>, at: Option<usize>| at.map(|at| list.remove(at));
        match (bits >> 40) % 16 {
            0 => assert_eq!(pool.take_newest(thread, space).copied(), list.pop()),
            1 => {
                let strong = list.iter().position(|e| e.strong);
                assert_eq!(pool.take_strong(thread, space).copied(), taken(list, strong));
            }
            2 if list.len() > 250 => {
                while let Some(last) = list.pop() {
                    assert_eq!(pool.take_newest(thread, space).copied(), Some(last));
                }
            }
            3 | 4 => {
                assert_eq!(pool.take_overlapping(thread, space, address, bytes).copied(), taken(list, oldest))
            }
            _ if oldest.is_none() => {
                let entry = Entry::new(address, bytes, u128::from(bits), bits >> 50 & 7 == 0);
                pool.push(thread, space, entry);
                list.push(entry);
            }
            _ => {}
        }
        let strong = expected[t].iter().flatten().filter(|e| e.strong).count();
        assert_eq!(usize::from(threads[t].strong), strong);
    }
    let longest = expected.iter().flatten().map(Vec::len).max();
    assert!(longest > Some(100), "{longest:?}");
}

/// A draw that chooses the lowest of all numbers, and one that chooses the highest.
const LOW: u64 = 0;
const HIGH: u64 = u64::MAX;

fn full() -> Slots {
    let mut slots = Slots::default();
    for i in 0..32 {
        assert_eq!(slots.hold(entry(16 * u64::from(i), 4, i.into()), i, HIGH), None);
    }
    slots
}

#[test]
fn slots_hold_what_they_can_and_make_room_by_lot() {
    let mut slots = full();
    assert_eq!(slots.part(16 * 3, 4), Some(3));
    assert_eq!(slots.overlapping(16 * 3 + 2, 4), 1 << 3);
    assert_eq!(slots.hold(entry(1000, 4, 8), 32, LOW).map(|e| e.value()), Some(0), "room is made");
    assert_eq!(slots.hold(entry(2000, 1, 9), 33, HIGH).map(|e| e.address), Some(2000), "none is");
    assert_eq!(slots.leave(1).map(|e| e.value()), Some(8));
    assert_eq!(slots.leave(1), None);
}

#[test]
fn each_store_of_a_drain_is_as_likely_to_be_held() {
    let (mut numbers, mut held) = (crate::Rng::new(3), [0; 64]);
    for _ in 0..4000 {
        let mut slots = Slots::default();
        for i in 0..64u32 {
            slots.hold(entry(16 * u64::from(i), 4, i.into()), i, numbers.next());
        }
        while let Some(entry) = slots.leave(u32::MAX) {
            held[entry.value() as usize] += 1;
        }
    }
    // Half of 4,000, and more than five standard deviations each way.
    assert!(held.iter().all(|held| (1830..=2170).contains(held)), "{held:?}");
}

#[test]
fn slots_expire_after_many_calls() {
    let mut slots = Slots::default();
    slots.age(10_000);
    assert_eq!(slots.expired, 0, "nothing is held");
    slots.hold(entry(0, 4, 1), 0, LOW);
    slots.age(4095);
    assert_eq!(slots.expired, 0);
    slots.age(1);
    assert_eq!(slots.expired, 1);
    slots.leave(u32::MAX);
    assert_eq!((slots.held, slots.expired), (0, 0));
}
