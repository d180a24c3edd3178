//! What the histories count, beside what they hold: after each of many changes by chance.

use super::*;
use crate::Rng;

/// Granules in three rows.
const GRANULES: u64 = 96;

fn check(histories: &Histories) {
    let rows = &histories.rows;
    assert_eq!(histories.granules, rows.iter().map(Row::len).sum::<usize>());
    assert_eq!(histories.listed, rows.iter().map(Row::bytes).sum::<usize>());
}

fn some_lanes(random: &mut Rng) -> u32 {
    let (all, some) = (random.next() as u32, random.next() as u32);
    [all, all & some, all & some & random.next() as u32, u32::MAX][random.next() as usize % 4]
}

#[test]
fn what_is_counted_is_what_is_held() {
    let mut random = Rng::new(3);
    for _ in 0..200 {
        let mut histories = Histories::new();
        for time in 1..200 {
            let at = Location::global(random.next() % GRANULES * 4);
            let thread = ThreadKey::new(0, (random.next() % 3) as u32);
            let strength = [Strength::Weak, Strength::Strong(crate::model::ptx::Scope::Gpu)];
            let strength = strength[random.next() as usize % 2];
            let store = Store { time, value: time as u32, origin: 0 };
            match random.next() % 8 {
                0..3 => {
                    let row = histories.row_for(at.row(), 1);
                    histories.add_store((row, at.place_in_row()), || 0, (thread, strength), store);
                }
                3 => {
                    let single = |lane: usize| {
                        let (time, base, value) = (NonZeroU64::new(time)?, 0, lane as u32);
                        Some(Single { time, base, value, thread, origin: 0 })
                    };
                    histories.add_fresh(at.row(), some_lanes(&mut random), single);
                }
                4 => {
                    histories.insert(at, || 0, Message::plain(thread, strength, store), NONE);
                }
                5 => histories.close(at),
                6 => {
                    histories.chain(at);
                }
                _ => histories.retain(|_, _, _| !random.next().is_multiple_of(3)),
            }
            check(&histories);
        }
    }
}
