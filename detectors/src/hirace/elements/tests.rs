use bugaroo_semantics::event::WhoseBytes;
use proptest::prelude::*;

use super::super::follow::Follow;
use super::super::word::NEXT_THREAD;
use super::{Elements, Room};
use crate::hirace::sizes::{GROUP, PAGE};

/// What is done to a page. Elements count from the page's first byte, whatever part of it they are in.
#[derive(Clone, Debug)]
enum Act {
    /// One word is changed.
    Put(usize, u64),
    /// A group's words get to be a row.
    Row(usize, u64),
    /// Words of a group are changed; those in a row with step 0 or 1 among them.
    Group(usize, usize, u64, u64),
    Forget(usize, usize),
    /// Elements are this small, or smaller than that already.
    Size(u32),
    /// Another block's memory from now on, or all of another grid's.
    Renew,
}

const SLOT: u32 = 3;
/// Memories, and where the page is there.
const PAGES: [(WhoseBytes, u64); 2] =
    [(WhoseBytes::Global, 0x7_f000_3000), (WhoseBytes::Shared(SLOT), 0x5000)];

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let element = 0_usize..4096;
    let word = prop_oneof![Just(0_u64), (1_u64..40).prop_map(|word| word * NEXT_THREAD / 4), any::<u64>()];
    let act = prop_oneof![
        (element.clone(), word.clone()).prop_map(|(at, word)| Act::Put(at, word)),
        (element.clone(), 1_u64..500).prop_map(|(at, word)| Act::Row(at, word)),
        (element.clone(), 0..GROUP, word, 0_u64..3)
            .prop_map(|(at, part, word, apart)| Act::Group(at, part, word, apart)),
        (element.clone(), 0_usize..3000).prop_map(|(at, count)| Act::Forget(at, count)),
        (0_u32..4).prop_map(Act::Size),
        Just(Act::Renew),
    ];
    prop::collection::vec(act, 0..60)
}

/// A page, and the same words all kept.
struct Both {
    elements: Elements,
    room: Room,
    memory: WhoseBytes,
    origin: u64,
    /// Bytes of an element, as a power of two.
    shift: u32,
    plain: Vec<u64>,
}

impl Both {
    fn new((memory, origin): (WhoseBytes, u64), shift: u32) -> Both {
        let mut room = Room::new(u64::MAX);
        let elements = room.elements(8);
        Both { elements, room, memory, origin, shift, plain: vec![0; PAGE as usize >> shift] }
    }

    fn page(&mut self, element: usize) -> (super::Page<'_>, usize) {
        let address = self.origin + ((element as u64) << self.shift);
        let page = self.elements.page(self.memory, address, self.shift, &mut self.room).expect("room");
        let element = page.element(address);
        (page, element)
    }

    fn word(&mut self, element: usize) -> u64 {
        let (page, element) = self.page(element);
        page.word(element)
    }

    fn apply(&mut self, act: &Act) {
        let count = self.plain.len();
        match *act {
            Act::Put(at, word) => {
                let (mut page, element) = self.page(at % count);
                *page.word_mut(element) = word;
                self.plain[at % count] = word;
            }
            Act::Row(at, first) => {
                let from = at % count / GROUP * GROUP;
                let (mut page, element) = self.page(from);
                let follow = Follow::every(first as u32 % 5);
                page.put_first(element / GROUP, first, follow);
                (0..GROUP).for_each(|at| self.plain[from + at] = follow.word(first, at));
            }
            Act::Group(at, part, first, apart) => {
                let from = at % count / GROUP * GROUP;
                let (mut page, element) = self.page(from);
                let mut words = page.group(element / GROUP);
                for (word, at) in words[..=part].iter_mut().zip(0_u64..) {
                    *word = first.wrapping_add(at * apart * NEXT_THREAD);
                }
                page.put_group(element / GROUP, &words);
                self.plain[from..=from + part].copy_from_slice(&words[..=part]);
            }
            Act::Forget(at, bytes) => {
                let at = at as u64 % PAGE;
                let bytes = (bytes as u64 + 1).min(PAGE - at);
                self.elements.forget(self.memory, self.origin + at, bytes);
                self.plain[at as usize >> self.shift..=(at + bytes - 1) as usize >> self.shift].fill(0);
            }
            Act::Size(shift) if shift < self.shift => {
                let parts = 1 << (self.shift - shift);
                self.plain = self.plain.iter().flat_map(|word| std::iter::repeat_n(*word, parts)).collect();
                self.shift = shift;
                // The first access of the smaller ones.
                self.page(0);
            }
            Act::Size(_) => {}
            Act::Renew => {
                self.plain.fill(0);
                match self.memory {
                    WhoseBytes::Shared(slot) => self.elements.clear_shared(slot, &mut self.room),
                    WhoseBytes::Global => {
                        let elements = std::mem::take(&mut self.elements);
                        self.room.give_back(elements);
                        self.elements = self.room.elements(8);
                    }
                }
            }
        }
    }
}

proptest! {
    /// Another page beside it stays as it is.
    #[test]
    fn a_page_keeps_every_word(all in acts(), which in 0_usize..2, shift in 0_u32..4, from in 0_usize..512, elements in 1_u32..1 << GROUP) {
        let mut both = Both::new(PAGES[which], shift);
        let (other_memory, other) = PAGES[1 - which];
        both.elements.page(other_memory, other, 2, &mut both.room).expect("room").put_first(1, 77, Follow::every(0));
        for act in &all {
            both.apply(act);
        }
        let kept: Vec<u64> = (0..both.plain.len()).map(|at| both.word(at)).collect();
        prop_assert_eq!(&kept, &both.plain);
        // The lowest five bits of the thread tell lanes apart, and are not asked for.
        let bits = !(31 * NEXT_THREAD);
        let from = from / GROUP * GROUP;
        let old = both.plain[from];
        let live = |at: usize| elements >> at & 1 != 0;
        let plain = both.plain[from..from + GROUP].iter().enumerate().filter(|(at, _)| live(*at));
        let plain = plain.fold(0, |all, (_, word)| all | (word ^ old) & bits);
        let (page, first) = both.page(from);
        let differ = page.differ(first / GROUP, elements, old, bits);
        // Of a group of which the first word alone is kept it is told whether any differs.
        prop_assert!(differ == plain || differ & plain == plain && page.alike(first / GROUP).is_some(), "{differ:x} {plain:x}");
        if both.memory != WhoseBytes::Global || !all.iter().any(|act| matches!(act, Act::Renew)) {
            let word = both.elements.page(other_memory, other, 2, &mut both.room).expect("room").word(GROUP);
            prop_assert_eq!(word, 77);
        }
        // Nothing is left over once all is given back.
        let elements = std::mem::take(&mut both.elements);
        both.room.give_back(elements);
        prop_assert_eq!(both.room.used, 0);
    }
}
