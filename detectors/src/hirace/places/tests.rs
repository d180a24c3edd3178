use proptest::prelude::*;

use super::*;
use crate::hirace::sizes::PAGE;

fn addresses() -> impl Strategy<Value = [u64; 32]> {
    let page = 3 * PAGE;
    let apart = prop::array::uniform32(prop_oneof![Just(0_u64), Just(4), Just(4), 0..64_u64]);
    let any = prop::array::uniform32(page - 64..page + PAGE + 64);
    let rising = apart.prop_map(move |apart| {
        let mut at = page;
        apart.map(|by| {
            at += by / 4 * 4;
            at
        })
    });
    prop_oneof![rising.clone(), rising, any]
}

proptest! {
    /// The two ways to look see the same, and the runs are the lanes one after another.
    #[test]
    fn runs_are_all_lanes_in_their_order(addresses in addresses(), mask in prop_oneof![Just(u32::MAX), 1..u32::MAX], shift in 0_u32..4) {
        let first = mask.trailing_zeros();
        let start = addresses[first as usize];
        #[cfg(target_arch = "x86_64")]
        if std::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has it.
            let wide = unsafe { wide::look(&addresses, (first, start), shift) };
            prop_assert_eq!(wide, look(&addresses, (first, start), shift));
        }
        let page = |lane: u32| addresses[lane as usize] >> span_shift(shift);
        let lanes: Vec<u32> = each(mask).filter(|lane| page(*lane) == page(first)).collect();
        let places = Places::new::<false>(&addresses, mask, shift);
        prop_assert_eq!(each(places.mask).collect::<Vec<_>>(), lanes.clone());
        let plain: Vec<(u32, usize)> =
            lanes.iter().map(|lane| (*lane, ((addresses[*lane as usize] % (1 << span_shift(shift))) >> shift) as usize)).collect();
        prop_assert_eq!(places.each().collect::<Vec<_>>(), plain.clone());
        let of_run = |run: Run| {
            (0..run.lanes).map(move |at| (run.first + at, run.element + if run.is_row { at as usize } else { 0 }))
        };
        prop_assert_eq!(places.runs().flat_map(of_run).collect::<Vec<_>>(), plain.clone());
        let contiguous = lanes.windows(2).all(|pair| pair[1] == pair[0] + 1);
        let rising = plain.windows(2).all(|pair| pair[1].1 > pair[0].1);
        prop_assert_eq!(places.without_gaps(), contiguous.then_some((lanes[0], lanes.len() as u32)));
        prop_assert!(!contiguous || places.differ() == rising);
        let in_step = plain.iter().all(|(lane, element)| element.wrapping_sub(plain[0].1) == (lane - first) as usize);
        prop_assert_eq!(places.row().map(|row| (row.extent().0 as usize, row.mask)), in_step.then_some((plain[0].1, places.mask)));
    }
}
