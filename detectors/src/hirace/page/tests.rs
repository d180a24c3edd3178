use proptest::prelude::*;

use super::{GROUP, NEXT_THREAD, PAGE, Page};

/// What is done to a page.
#[derive(Clone, Debug)]
enum Act {
    /// One word is changed.
    Put(usize, u64),
    /// A group's words get to be a row.
    Row(usize, u64),
    /// Words of a group are changed; those in a row with step 0 or 1 among them.
    Group(usize, usize, u64, u64),
    Forget(usize, usize),
    Split(u32),
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let element = 0_usize..4096;
    let word = prop_oneof![Just(0_u64), (1_u64..40).prop_map(|word| word * NEXT_THREAD / 4), any::<u64>()];
    let act = prop_oneof![
        (element.clone(), word.clone()).prop_map(|(at, word)| Act::Put(at, word)),
        (element.clone(), 1_u64..500).prop_map(|(at, word)| Act::Row(at, word)),
        (element.clone(), 0..GROUP, word, 0_u64..3)
            .prop_map(|(at, part, word, apart)| Act::Group(at, part, word, apart)),
        (element.clone(), 0_usize..100).prop_map(|(at, count)| Act::Forget(at, count)),
        (0_u32..3).prop_map(Act::Split),
    ];
    prop::collection::vec(act, 0..60)
}

/// The same on words that are all kept.
fn apply(act: &Act, page: &mut Page, plain: &mut Vec<u64>) {
    let elements = plain.len();
    match *act {
        Act::Put(at, word) => {
            *page.word_mut(at % elements) = word;
            plain[at % elements] = word;
        }
        Act::Row(at, first) => {
            let group = at % elements / GROUP;
            page.put_row(group, first);
            (0..GROUP).for_each(|at| plain[group * GROUP + at] = first + at as u64 * NEXT_THREAD);
        }
        Act::Group(at, part, first, apart) => {
            let group = at % elements / GROUP;
            let mut words = page.group(group);
            for (word, at) in words[..=part].iter_mut().zip(0_u64..) {
                *word = first.wrapping_add(at * apart * NEXT_THREAD);
            }
            page.put_group(group, &words);
            plain[group * GROUP..group * GROUP + part + 1].copy_from_slice(&words[..=part]);
        }
        Act::Forget(at, count) => {
            let (from, to) = (at % elements, (at % elements + count).min(elements - 1));
            page.forget(from, to);
            plain[from..=to].fill(0);
        }
        Act::Split(shift) if shift < page.shift => {
            let parts = 1 << (page.shift - shift);
            page.split(shift);
            *plain = plain.iter().flat_map(|word| std::iter::repeat_n(*word, parts)).collect();
        }
        Act::Split(_) => {}
    }
}

proptest! {
    #[test]
    fn a_page_keeps_every_word(all in acts(), from in 0_usize..512, count in 1_usize..80) {
        let mut page = Page::new(vec![u64::MAX; 100], 3);
        let mut plain = vec![0; PAGE as usize >> 3];
        for act in &all {
            apply(act, &mut page, &mut plain);
        }
        let kept: Vec<u64> = (0..plain.len()).map(|at| page.word(at)).collect();
        prop_assert_eq!(&kept, &plain);
        // The lowest five bits of the thread tell lanes apart, and are not asked for.
        let bits = !(31 * NEXT_THREAD);
        let (to, old) = ((from + count).min(plain.len()), plain[from]);
        let differ = plain[from..to].iter().fold(0, |all, word| all | (word ^ old) & bits);
        prop_assert_eq!(page.differ(from, to, old, bits), differ);
    }
}
