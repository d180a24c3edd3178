mod differ;
mod plain;
mod rows;

use super::buffers::Entry;
use super::coins::{Coins, coin};
use super::slots::Slots;
use super::*;

#[test]
fn coins_are_those_of_the_device_code() {
    let mut numbers = crate::Rng::new(5);
    for _ in 0..10_000 {
        let (seed, launch, bits) = (numbers.next(), numbers.next() % 100, numbers.next());
        let (thread, site, count) = (bits as u32, (bits >> 32) as u32 % 5000, numbers.next() as u32 % 9);
        let expected = bugaroo_device_handlers::coin(seed, launch, thread, site, count);
        assert_eq!(coin(launch_key(seed, launch), thread, site, count), expected);
    }
}

#[test]
fn counts_of_a_warp_begin_at_zero_with_each_block() {
    let mut coins = Coins::new(0, 3);
    coins.begin(4);
    coins.row(2, 1).counts[7] += 5;
    assert_eq!(coins.row(2, 1).counts[7], 5);
    assert_eq!((coins.row(2, 0).counts[7], coins.row(1, 1).counts[7]), (0, 0));
    coins.reset(2);
    assert_eq!(coins.row(2, 1).counts[7], 0);
}

fn entry(address: u64, bytes: u32, value: u128) -> Entry {
    Entry::new(address, bytes, value, false)
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
