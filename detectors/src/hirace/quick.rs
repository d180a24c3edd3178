//! Accesses of which there are most: all lanes of a warp in a row, behind each other where lanes in a row have been, or nobody; and lanes
//! that read one place again. They do what [`Step::lanes`](super::known::Step::lanes) does with them.

use bugaroo_semantics::event::{Access, Addresses};

use super::elements::Elements;
use super::follow::Follow;
use super::known::Known;
use super::page::Page;
use super::sizes::GROUP;
use super::word::{lane, of_thread, state, step, with_state};

/// Whether it may be such an access.
#[inline(always)]
pub(super) fn may_be_done(access: &Access<'_>) -> bool {
    match access.at {
        Addresses::Consecutive(_) => access.by.mask == u32::MAX,
        Addresses::Same(_) => true,
        Addresses::Each(_) => false,
    }
}

/// Whether it is such an access, and done. `template`: what each lane leaves, but for its thread.
#[inline(always)]
pub(super) fn done(known: &Known, elements: &mut Elements, access: &Access<'_>, template: u64) -> bool {
    let by = &access.by;
    match access.at {
        Addresses::Consecutive(_) if by.mask == u32::MAX => {
            let Some(mut page) = elements.at_hand(access.memory, access.address(0), access.size) else {
                return false;
            };
            row(known, &mut page, access, of_thread(template, by.first))
        }
        Addresses::Same(address) => {
            let Some(page) = elements.at_hand(access.memory, address, access.size) else { return false };
            let first = by.first + by.mask.trailing_zeros();
            again(known, &page, (address, access.bytes()), of_thread(template, first))
        }
        _ => false,
    }
}

/// All lanes in a row; `new` is the first one's word.
#[inline(always)]
fn row(known: &Known, page: &mut Page<'_>, access: &Access<'_>, new: u64) -> bool {
    let bytes = access.bytes();
    let element = page.element(access.address(0));
    if !page.has_whole_lanes(bytes) || !element.is_multiple_of(GROUP) {
        return false;
    }
    let each = Follow::every(bytes.trailing_zeros() - page.shift);
    let Some(groups) = page.groups_mut(element / GROUP, 2 << each.shift()) else { return false };
    let (old, follow) = groups.first();
    // Of a warp's first threads that go on as far as its last one, all are of that warp.
    if !(old == 0 || follow == each && lane(old) == 0) || !groups.follow(old, follow) {
        return false;
    }
    let to = step(known.machine, known.stepping, old, new);
    if to == state(old) && known.same[usize::from(to)] != 0 {
        return true;
    }
    if to == known.machine.race() && state(old) != to {
        return false;
    }
    groups.put(with_state(new, to), each);
    true
}

/// Lanes at one place of so many bytes: whether nothing changes but whose access was the last. `new` is the word of the first of them.
#[inline(always)]
fn again(known: &Known, page: &Page<'_>, (address, bytes): (u64, u32), new: u64) -> bool {
    let element = page.element(address);
    let old = page.word(element);
    let matters = known.same[usize::from(state(old))];
    let count = bytes >> page.shift;
    matters != 0
        && step(known.machine, known.stepping, old, new) == state(old)
        && (count == 1 || {
            let within = element % GROUP;
            let elements = (u32::MAX >> (32 - count)) << within;
            within + count as usize <= GROUP && page.differ(element / GROUP, elements, old, matters) == 0
        })
}
