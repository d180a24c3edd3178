use super::*;

fn shape(blocks: u64, threads_per_cta: u32) -> Shape {
    let warps_per_cta = threads_per_cta.div_ceil(32);
    Shape {
        warps: warps_per_cta,
        ctas: 1,
        warps_per_cta,
        threads_per_cta,
        blocks,
        cluster: 1,
        shared_bytes: 0,
    }
}

#[test]
fn fields_come_out_as_they_went_in() {
    for (blocks, threads) in [(1, 1), (2, 33), (1 << 10, 1 << 10), (1 << 20, 256), (1 << 31, 1024)] {
        for instructions in [1, 100, 5_000] {
            let layout = WordLayout::fit(&shape(blocks, threads), instructions, Widths::default()).unwrap();
            let (block_clock, warp_clock) = layout.latest();
            for writes in [false, true] {
                let site = (instructions - 1) as SiteNumber;
                let now = Now {
                    action: Action::BlockAtomic,
                    writes,
                    block: blocks - 1,
                    block_clock,
                    warp_clock,
                    site,
                };
                let word = of_thread(layout.template(&now), threads - 1);
                let last = layout.last(word);
                assert_eq!((last.action, last.writes), (Action::BlockAtomic, writes));
                assert_eq!((last.thread, last.block), (threads - 1, blocks - 1));
                assert_eq!(last.site, if layout.site == 0 { None } else { Some(site) });
                assert_eq!(state(word), 0);
            }
        }
    }
}

#[test]
fn a_grid_of_a_million_threads_has_room_for_sites_and_many_barriers() {
    let layout = WordLayout::fit(&shape(1 << 10, 1 << 10), 1_000, Widths::default()).unwrap();
    assert!(layout.site >= 10, "{layout:?}");
    assert!(layout.latest().0 >= (1 << 13) - 1, "{layout:?}");
}

#[test]
fn widths_are_those_that_were_asked_for() {
    let widths = Widths { block_clock: Some(20), warp_clock: Some(4), site: Some(0) };
    let layout = WordLayout::fit(&shape(64, 256), 100, widths).unwrap();
    assert_eq!(layout.latest(), ((1 << 20) - 1, 15));
    assert_eq!(layout.last(0).site, None);
    let widths = Widths { block_clock: Some(40), warp_clock: Some(40), site: None };
    assert_eq!(WordLayout::fit(&shape(64, 256), 100, widths), None);
}

#[test]
fn relations_follow_threads_and_clocks() {
    let layout = WordLayout::fit(&shape(4, 64), 10, Widths::default()).unwrap();
    let word = |block, thread, block_clock, warp_clock| {
        let now = Now { action: Action::Read, writes: false, block, block_clock, warp_clock, site: 0 };
        of_thread(layout.template(&now), thread)
    };
    let old = word(1, 3, 5, 2);
    assert_eq!(layout.relation(old, word(1, 3, 5, 2)), (Apart::Thread, Since::Nothing));
    assert_eq!(layout.relation(old, word(1, 4, 5, 3)), (Apart::Warp, Since::WarpBarrier));
    assert_eq!(layout.relation(old, word(1, 35, 6, 0)), (Apart::Block, Since::BlockBarrier));
    assert_eq!(layout.relation(old, word(2, 3, 0, 0)), (Apart::Grid, Since::Nothing));
    assert_eq!(layout.relation(old, word(1, 4, 4, 9)), (Apart::Warp, Since::Nothing));
}
