use super::*;

fn held(stores: &[(u64, u32, u128)]) -> Held {
    let mut held = Held::new(1);
    for (address, bytes, value) in stores {
        assert_eq!(held.hold(*address, *bytes, *value), None);
    }
    held
}

#[test]
fn reads_find_the_bytes_that_are_held() {
    let held = held(&[(100, 4, 0x0403_0201), (106, 2, 0x2211)]);
    let mut value = [0xff; 8];
    held.patch(102, &mut value);
    assert_eq!(value, [3, 4, 0xff, 0xff, 0x11, 0x22, 0xff, 0xff]);
    for (address, bytes, has) in
        [(96, 4, false), (96, 5, true), (104, 2, false), (107, 1, true), (108, 8, false)]
    {
        assert_eq!(held.has(address, bytes), has, "{address} {bytes}");
    }
}

#[test]
fn what_overlaps_leaves_alone() {
    let mut held = held(&[(100, 4, 1), (104, 4, 2), (108, 4, 3)]);
    let mut left = Vec::new();
    while let Some(entry) = held.take_overlapping(102, 4) {
        left.push(entry.value);
    }
    assert_eq!(left, [1, 2]);
    assert!(!held.has(100, 8) && held.has(108, 1));
    assert_eq!(held.take_any().map(|entry| entry.value), Some(3));
    assert!(held.is_empty() && !held.has(0, 16));
}

#[test]
fn all_are_due_in_the_end_and_the_oldest_makes_room() {
    let mut held = Held::new(7);
    for at in 0..MOST as u64 {
        assert_eq!(held.hold(8 * at, 8, at.into()), None);
    }
    assert_eq!(held.hold(8000, 8, 9).map(|entry| entry.address), Some(0));
    let mut left = 0;
    for _ in 0..=LONGEST {
        if held.count() {
            while held.take_due().is_some() {
                left += 1;
            }
        }
    }
    assert_eq!((left, held.is_empty()), (MOST, true));
}

#[test]
fn nothing_is_held_unless_it_may_be() {
    let mut held = Held::new(3);
    assert!((0..100).all(|_| !held.wants(4)));
    held.takes = true;
    let wanted = (0..1000).filter(|_| held.wants(4)).count();
    assert!((400..600).contains(&wanted), "{wanted}");
    assert!((0..100).all(|_| !held.wants(32)));
}
