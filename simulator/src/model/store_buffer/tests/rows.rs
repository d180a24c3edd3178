//! A warp's rows against plain lists, one of each lane.

use super::super::buffers::Entry;
use super::super::lookup::Hits;
use super::super::warp::Warp;
use super::super::*;
use crate::model::targets::Targets;

/// Addresses of all lanes, of a random kind.
fn targets(numbers: &mut crate::Rng, among: u32, bytes: u32) -> Targets {
    let bits = numbers.next();
    let base = (1 << 40) + (bits >> 24) % 1800 / u64::from(bytes) * u64::from(bytes);
    let step = [0, 1, 1, 2, 8, 3, 5, 7, 11][bits as usize % 9] * u64::from(bytes);
    match bits >> 8 & 3 {
        0 => {
            let scattered = |_| (1 << 40) + numbers.next() % 900 / u64::from(bytes) * u64::from(bytes);
            let each = std::array::from_fn(scattered);
            Targets::any(each, among, bytes)
        }
        1 => Targets::any(std::array::from_fn(|lane| base + 400 - step * lane as u64), among, bytes),
        _ => Targets::stepped(base, step),
    }
}

#[test]
fn rows_answer_as_lists_of_entries_do() {
    let mut numbers = crate::Rng::new(11);
    let mut warp = Warp::default();
    // By space and lane, oldest first.
    let mut expected: [[Vec<Entry>; 32]; 2] = Default::default();
    let (mut longest, mut seen) = (0, 0);
    let mut recent: [Option<(Targets, u32)>; 24] = [None; 24];
    for round in 0..60_000 {
        let bits = numbers.next();
        let space = SPACES[bits as usize & 1];
        let lists = &mut expected[space as usize];
        let bytes = 1u32 << ((bits >> 1) % 5);
        let among = (numbers.next() as u32 | if bits & 64 == 0 { !0 } else { 0 }).max(1);
        let among = if bits & 0x180 == 0 { 1 << ((bits >> 9) % 32) } else { among };
        // Often where it has been before.
        let before = recent[(bits >> 14) as usize % recent.len()];
        let (targets, bytes) = match before.filter(|_| bits & 0x3000 != 0) {
            Some(before) => before,
            None => (targets(&mut numbers, among, bytes), bytes),
        };
        recent[round % recent.len()] = Some((targets, bytes));
        // All at once, where that can be answered, and lane by lane.
        let mut hits = Hits::default();
        let hits = warp.rows[space as usize].look(&targets, bytes, among, &mut hits).map(|()| hits);
        let mut met = 0;
        for lane in lanes(among) {
            let address = targets.address(lane);
            let oldest = lists[lane].iter().find(|entry| entry.overlaps(address, bytes));
            assert_eq!(warp.overlapping(lane, space, address, bytes), oldest.copied(), "{round}");
            met |= u32::from(oldest.is_some()) << lane;
        }
        if let Some(hits) = &hits {
            seen += u32::from(hits.lanes != 0);
            assert_eq!(hits.lanes, met, "{round}: {targets:?}");
            for hit in hits.each() {
                for lane in lanes(hit.lanes) {
                    let entry = warp.rows[space as usize].entry(hit.row as usize, lane);
                    assert_eq!(targets.address(lane), entry.address.wrapping_add(hit.behind));
                }
            }
        }
        // Empty buffers now and then.
        if round % 3000 == 0 {
            for (lane, list) in lists.iter_mut().enumerate() {
                while let Some(last) = list.pop() {
                    assert_eq!(warp.take_newest(lane, space), Some(last));
                }
            }
            continue;
        }
        for lane in lanes(met) {
            let address = targets.address(lane);
            let list = &mut lists[lane];
            let taken = match bits >> 40 & 7 {
                0 => (warp.take_newest(lane, space), list.pop()),
                1 | 2 => {
                    let oldest = list.iter().position(|entry| entry.overlaps(address, bytes));
                    (warp.take_overlapping(lane, space, address, bytes), oldest.map(|at| list.remove(at)))
                }
                _ => continue,
            };
            assert_eq!(taken.0, taken.1);
        }
        if bits >> 43 & 15 == 0 {
            for lane in lanes(among) {
                let strong = |list: &Vec<Entry>| list.iter().position(|entry| entry.strong);
                let found =
                    SPACES.iter().find_map(|of| Some((*of as usize, strong(&expected[*of as usize][lane])?)));
                let taken = found.map(|(of, at)| expected[of][lane].remove(at));
                assert_eq!(warp.take_strong(lane), taken);
            }
        }
        let lists = &mut expected[space as usize];
        let meets =
            |lane: &usize| lists[*lane].iter().any(|entry| entry.overlaps(targets.address(*lane), bytes));
        let fresh = lanes(among).filter(|lane| !meets(lane)).fold(0, |all, lane| all | 1 << lane);
        let (strong, mut values) = (bits >> 50 & 7 == 0, [[0; 32]; 4]);
        let cut = u128::MAX >> (128 - 8 * bytes);
        for lane in lanes(among) {
            let value = (u128::from(numbers.next()) << 64 | u128::from(bits + lane as u64)) & cut;
            values.iter_mut().enumerate().for_each(|(at, plane)| plane[lane] = (value >> (32 * at)) as u32);
            let entry = Entry::new(targets.address(lane), bytes, value, strong);
            if fresh >> lane & 1 != 0 {
                lists[lane].push(entry);
            } else if let Some(row) = warp.exact(lane, space, entry.address, bytes) {
                let older = lists[lane].iter_mut().find(|older| older.overlaps(entry.address, bytes));
                let older = older.expect("the rows have it");
                *older = Entry { strong: strong || older.strong, ..entry };
                warp.replace((space, row), (1 << lane, strong), &values.each_ref(), None);
            }
        }
        if fresh != 0 {
            warp.push(space, (&targets, bytes), (fresh, strong), &values.each_ref(), None);
        }
        for (lane, list) in lists.iter().enumerate() {
            assert_eq!(warp.entries[space as usize][lane] as usize, list.len());
            longest = longest.max(list.len());
        }
    }
    assert!(longest > 100 && seen > 1000, "{longest} {seen}");
}
