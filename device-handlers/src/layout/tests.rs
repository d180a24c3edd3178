use super::*;
use proptest::prelude::*;

/// Start and size of each array, in order.
fn arrays(layout: &Layout) -> [(u64, u64); 5] {
    let entries = 2 * u64::from(layout.capacity) * layout.threads * 8;
    [
        (layout.delayed, 8),
        (layout.pending, layout.threads * 8),
        (layout.coins, u64::from(layout.coin_slots) * layout.threads * 4),
        (layout.addresses, entries),
        (layout.values, entries),
    ]
}

proptest! {
    #[test]
    fn arrays_lie_apart_and_within(
        threads in 0u64..100_000, sites in 0u32..300, capacity in 0u32..70_000, budget in 0u64..1 << 34,
    ) {
        let layout = Layout::new(threads, sites, capacity, budget);
        let mut end = 0;
        for (start, size) in arrays(&layout) {
            prop_assert!(start >= end, "{layout:?}");
            prop_assert_eq!(start % Layout::ALIGN, 0);
            end = start + size;
        }
        prop_assert!(end <= layout.total_bytes);
        prop_assert_eq!(layout.zeroed_bytes, layout.addresses);
        prop_assert!(layout.capacity >= 1 && layout.capacity <= capacity.max(1));
        prop_assert!(layout.coin_slots >= 1 && layout.coin_slots <= sites.max(1));
        let smallest = layout.capacity == 1 && layout.coin_slots == 1;
        prop_assert!(layout.total_bytes <= budget || smallest, "{layout:?}");
    }
}

#[test]
fn a_generous_budget_changes_nothing() {
    let layout = Layout::new(8192, 12, 256, 1 << 40);
    assert_eq!((layout.capacity, layout.coin_slots), (256, 12));
    assert_eq!(layout.total_bytes, 256 + 8192 * 8 + 8192 * 12 * 4 + 2 * (2 * 256 * 8192 * 8));
}

#[test]
fn a_short_budget_costs_entries_before_counters() {
    let layout = Layout::new(1 << 20, 40, 256, 1 << 30);
    assert_eq!(layout.coin_slots, 40);
    assert!((20..=32).contains(&layout.capacity), "{layout:?}");
    let layout = Layout::new(1 << 20, 4000, 256, 1 << 30);
    assert_eq!(layout.capacity, 1);
    assert!((200..=256).contains(&layout.coin_slots), "{layout:?}");
}

#[test]
fn what_cannot_be_is_still_a_layout() {
    let layout = Layout::new(u64::MAX, u32::MAX, u32::MAX, 0);
    assert_eq!((layout.capacity, layout.coin_slots), (1, 1));
    assert!(layout.total_bytes > 1 << 60);
}
