use super::*;

#[inline(never)]
fn one_place(origins: &mut Origins, bases: &[u64]) {
    for &base in bases {
        origins.allocated(base, 64);
    }
}

#[test]
fn callers_are_kept_once() {
    let mut origins = Origins::default();
    one_place(&mut origins, &(0..1000).map(|at| at * 256).collect::<Vec<_>>());
    assert_eq!(origins.traces.0.len(), 1);
    one_place(&mut origins, &[1 << 20]);
    assert_eq!(origins.traces.0.len(), 2);
}

#[test]
fn the_nearest_is_the_one_that_is_missed_by_least() {
    let mut origins = Origins::default();
    one_place(&mut origins, &[1000, 2000]);
    assert_eq!(origins.nearest(1100), Some((1000, 64)));
    assert_eq!(origins.nearest(1900), Some((2000, 64)));
    assert_eq!(origins.nearest(5000), Some((2000, 64)));
    assert_eq!(origins.nearest(1), Some((1000, 64)));
    assert_eq!(Origins::default().nearest(1), None);
}

#[test]
fn what_was_freed_is_remembered_but_not_for_ever() {
    let mut origins = Origins::default();
    one_place(&mut origins, &[4096]);
    origins.freed(4096);
    let found = origins.freed_at(4100).expect("it was freed");
    assert_eq!((found.base, found.size, found.offset, found.freed), (4096, 64, 4, true));
    assert!(!found.allocated_at.is_empty() && !found.freed_at.is_empty(), "{found:?}");
    assert_eq!(origins.freed_at(4095), None);
    assert_eq!(origins.freed_at(4160), None);
    for at in 0..MOST_FREED as u64 {
        one_place(&mut origins, &[1 << 20 | at << 8]);
        origins.freed(1 << 20 | at << 8);
    }
    assert_eq!(origins.freed_at(4100), None);
    assert_eq!(origins.freed.len(), MOST_FREED);
}

#[test]
fn a_place_in_this_program_has_a_name_and_a_line() {
    let mut origins = Origins::default();
    one_place(&mut origins, &[4096]);
    let found = first_frames(&origins.live[&4096].1, DEPTH);
    let named = |frame: &HostFrame| frame.function.as_deref().is_some_and(|name| name.ends_with("one_place"));
    let frame = found.iter().find(|frame| named(frame)).unwrap_or_else(|| panic!("{found:#?}"));
    assert!(frame.source.as_ref().is_some_and(|source| source.file.ends_with("tests.rs")), "{frame:?}");
}
