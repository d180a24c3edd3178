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
    let (mut pool, mut a, mut b) = (Pool::default(), Thread::default(), Thread::default());
    for i in 0..4 {
        pool.push(&mut a, Space::Global, entry(8 * i, 4, i.into()));
        pool.push(&mut b, Space::Global, entry(8 * i, 4, (10 + i).into()));
    }
    assert_eq!(pool.take_newest(&mut a, Space::Global).map(|e| e.value()), Some(3));
    let overlapping = |entry: &Entry| entry.overlaps(0, 12);
    assert_eq!(pool.take_oldest(&mut a, Space::Global, overlapping).map(|e| e.value()), Some(0));
    assert_eq!(pool.take_oldest(&mut a, Space::Global, overlapping).map(|e| e.value()), Some(1));
    assert_eq!(pool.take_oldest(&mut a, Space::Global, overlapping).map(|e| e.value()), None);
    assert_eq!(a.entries, [1, 0]);
    pool.push(&mut a, Space::Shared, entry(100, 16, 7 << 64));
    assert_eq!(pool.each(&b, Space::Global).map(|e| e.value()).collect::<Vec<_>>(), [13, 12, 11, 10]);
    assert_eq!(pool.each(&a, Space::Shared).find_map(|e| e.part(108, 8)), Some(7));
    assert_eq!(pool.each(&a, Space::Shared).find_map(|e| e.part(112, 8)), None);
}

#[test]
fn slots_hold_eight_and_make_room_every_fourth_time() {
    let mut slots = Slots::default();
    for i in 0..8 {
        assert_eq!(slots.hold(entry(16 * i, 4, i.into())), None);
    }
    assert_eq!(slots.part(16 * 3, 4), Some(3));
    assert_eq!(slots.overlapping(16 * 3 + 2, 4), 1 << 3);
    // The ninth makes the third slot free, the next three find none.
    assert_eq!(slots.hold(entry(1000, 4, 8)).map(|e| e.value()), Some(2));
    for i in 0..3 {
        assert_eq!(slots.hold(entry(2000 + i, 1, 9)).map(|e| e.address), Some(2000 + i));
    }
    assert_eq!(slots.leave(1 << 2).map(|e| e.value()), Some(8));
    assert_eq!(slots.leave(1 << 2), None);
}

#[test]
fn slots_expire_after_many_calls() {
    let mut slots = Slots::default();
    slots.age(10_000);
    assert_eq!(slots.expired, 0, "nothing is held");
    slots.hold(entry(0, 4, 1));
    slots.age(4095);
    assert_eq!(slots.expired, 0);
    slots.age(1);
    assert_eq!(slots.expired, 1);
    slots.leave(u8::MAX);
    assert_eq!((slots.held, slots.expired), (0, 0));
}
