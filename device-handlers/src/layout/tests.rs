use super::*;
use proptest::prelude::*;

/// Start and size of each array, in order.
fn arrays(layout: &Layout, ctas: u64) -> [(u64, u64); 9] {
    let rows = u64::from(layout.chunk_rows);
    [
        (layout.delayed, 8),
        (layout.flushes, 2 * (u64::from(layout.capacity) + 1) * 8),
        (layout.pending, layout.threads * 8),
        (layout.ctas, ctas * cta::BYTES),
        (layout.taken, layout.threads * 4),
        (layout.coins, u64::from(layout.coin_slots) * layout.threads * 4),
        (layout.chunks, 2 * rows * layout.threads * 4),
        (layout.pool, u64::from(layout.pool_chunks) * CHUNK_BYTES),
        (layout.total_bytes, 0),
    ]
}

proptest! {
    #[test]
    fn arrays_lie_apart_and_within(
        ctas in 0u64..1_000, cta_threads in 1u64..1024, sites in 0u32..300, capacity in 0u32..70_000,
        budget in 0u64..1 << 34,
    ) {
        let layout = Layout::new((ctas, cta_threads), sites, capacity, budget);
        prop_assert_eq!(layout.threads, ctas * cta_threads);
        let mut end = 0;
        for (start, size) in arrays(&layout, ctas) {
            prop_assert!(start >= end, "{layout:?}");
            prop_assert_eq!(start % Layout::ALIGN, 0);
            end = start + size;
        }
        prop_assert!(end <= layout.total_bytes);
        prop_assert_eq!(layout.zeroed_bytes, layout.chunks);
        prop_assert!(layout.capacity >= 1 && layout.capacity <= capacity.max(1));
        prop_assert!(layout.coin_slots >= 1 && layout.coin_slots <= sites.max(1));
        prop_assert!(layout.pool_chunks >= 1);
        prop_assert!(layout.chunk_rows * CHUNK >= layout.capacity);
        let smallest = layout.capacity == 1 && layout.coin_slots == 1 && layout.pool_chunks == 1;
        prop_assert!(layout.total_bytes <= budget || smallest, "{layout:?}");
    }
}

#[test]
fn a_small_launch_has_room_for_every_entry() {
    let layout = Layout::new((64, 128), 12, 256, 1 << 40);
    assert_eq!((layout.capacity, layout.coin_slots), (256, 12));
    assert_eq!(u64::from(layout.pool_chunks) * u64::from(CHUNK), 8192 * 2 * 256);
}

/// The paper needs 0.45 GB for each space (IV.E).
#[test]
fn buffers_of_65535_threads_take_less_than_256_megabytes() {
    for cta_threads in [32, 64, 128, 255, 257, 1024] {
        let ctas = 65_535u64.div_ceil(cta_threads);
        let layout = Layout::new((ctas, cta_threads), 64, 256, 1 << 40);
        assert_eq!(layout.capacity, 256);
        assert!(layout.buffer_bytes() < 256_000_000, "{}", layout.buffer_bytes());
        assert!(layout.total_bytes < 256_000_000, "{}", layout.total_bytes);
    }
}

#[test]
fn a_short_budget_costs_chunks_before_entries_and_entries_before_counters() {
    let layout = Layout::new((1 << 12, 256), 40, 256, 1 << 30);
    assert_eq!((layout.coin_slots, layout.capacity), (40, 256));
    assert!((2_000_000..4_000_000).contains(&layout.pool_chunks), "{layout:?}");
    let layout = Layout::new((1 << 12, 256), 4000, 256, 1 << 30);
    assert!(layout.capacity <= CHUNK, "{layout:?}");
    assert!((200..=256).contains(&layout.coin_slots), "{layout:?}");
}

#[test]
fn what_cannot_be_is_still_a_layout() {
    let layout = Layout::new((u64::MAX, 2), u32::MAX, u32::MAX, 0);
    assert_eq!((layout.capacity, layout.coin_slots, layout.pool_chunks), (1, 1, 1));
    assert!(layout.total_bytes > 1 << 60);
}
