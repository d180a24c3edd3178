//! Where lanes go that each have an address of their own: in which order along a page, as far as that makes them one step.

use bugaroo_semantics::event::each;

use super::page::{PAGE, PAGE_SHIFT};

/// Elements of a page that lanes go to, one each.
pub(super) struct Places {
    /// By lane; of lanes that take no part, some element of the page.
    pub elements: [u32; 32],
    /// Lanes that take part.
    pub mask: u32,
    /// Lanes that go where the lane before goes, which takes part, too.
    same: u32,
    /// Lanes that go one element further than the lane before, which takes part, too.
    next: u32,
    /// Those that go further than it.
    further: u32,
}

/// Lanes behind each other that go to one element, or to elements in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    /// The first lane.
    pub first: u32,
    /// How many.
    pub lanes: u32,
    /// Its element.
    pub element: usize,
    /// They go to elements in a row.
    pub row: bool,
}

impl Run {
    /// The element behind those that they go to.
    pub fn end(self) -> usize {
        self.element + if self.row { self.lanes as usize } else { 1 }
    }
}

/// Elements by lane, and how each lane goes from the one before: to the same element, to the next one, further. Of lanes that take
/// no part, and of lane 0, anything.
#[derive(Debug, PartialEq, Eq)]
struct Found {
    elements: [u32; 32],
    same: u32,
    next: u32,
    further: u32,
}

impl Found {
    #[inline(always)]
    fn of(self, mask: u32) -> Places {
        let Found { elements, same, next, further } = self;
        let both = mask & mask << 1;
        Places { elements, mask, same: same & both, next: next & both, further: further & both }
    }
}

/// Looks at all lanes, of which one that takes part goes to `start`. None where they go to several pages.
#[inline(always)]
fn look(addresses: &[u64; 32], start: u64, mask: u32, shift: u32) -> Option<Found> {
    let mut found = Found { elements: [0; 32], same: 0, next: 0, further: 0 };
    let (mut differ, mut before) = (0, 0_u32);
    for (lane, address) in addresses.iter().enumerate() {
        differ |= (address ^ start) & u64::from(mask >> lane & 1).wrapping_neg();
        let element = (address & (PAGE - 1)) as u32 >> shift;
        let apart = element.wrapping_sub(before);
        found.elements[lane] = element;
        found.same |= u32::from(apart == 0) << lane;
        found.next |= u32::from(apart == 1) << lane;
        found.further |= u32::from(element > before) << lane;
        before = element;
    }
    (differ >> PAGE_SHIFT == 0).then_some(found)
}

/// The same with vectors.
#[cfg(target_arch = "x86_64")]
mod wide {
    use std::arch::x86_64::*;

    use super::{Found, PAGE, PAGE_SHIFT};

    /// As [`super::look`].
    ///
    /// # Safety
    /// The processor has AVX2.
    #[target_feature(enable = "avx2")]
    #[inline]
    pub unsafe fn look(addresses: &[u64; 32], start: u64, mask: u32, shift: u32) -> Option<Found> {
        let mut found = Found { elements: [0; 32], same: 0, next: 0, further: 0 };
        let starts = _mm256_set1_epi64x(start as i64);
        let (low, high) = (_mm256_setr_epi64x(1, 2, 4, 8), _mm256_setr_epi64x(16, 32, 64, 128));
        let page = _mm256_set1_epi32((PAGE - 1) as i32);
        let shift = _mm_cvtsi32_si128(shift as i32);
        let one_back = _mm256_setr_epi32(7, 0, 1, 2, 3, 4, 5, 6);
        let mut differ = _mm256_setzero_si256();
        let mut last = _mm256_setzero_si256();
        for eight in 0..4 {
            // SAFETY: a vector of four addresses, twice, is within the array.
            let (a, b) = unsafe {
                let from = addresses.as_ptr().add(eight * 8).cast::<__m256i>();
                (_mm256_loadu_si256(from), _mm256_loadu_si256(from.add(1)))
            };
            let lanes = _mm256_set1_epi64x(i64::from(mask >> (eight * 8) & 0xff));
            for (some, bits) in [(a, low), (b, high)] {
                let live = _mm256_cmpeq_epi64(_mm256_and_si256(lanes, bits), bits);
                let other = _mm256_and_si256(_mm256_xor_si256(some, starts), live);
                differ = _mm256_or_si256(differ, other);
            }
            // The low halves of all eight, in order.
            let halves = _mm256_shuffle_ps::<0b10_00_10_00>(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b));
            let halves = _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_castps_si256(halves));
            let elements = _mm256_srl_epi32(_mm256_and_si256(halves, page), shift);
            // SAFETY: a vector of eight elements is within the array.
            unsafe { _mm256_storeu_si256(found.elements.as_mut_ptr().add(eight * 8).cast(), elements) };
            let back = _mm256_permutevar8x32_epi32(elements, one_back);
            let apart = _mm256_sub_epi32(elements, _mm256_blend_epi32::<1>(back, last));
            last = back;
            let bits =
                |lanes: __m256i| (_mm256_movemask_ps(_mm256_castsi256_ps(lanes)) as u32) << (eight * 8);
            found.same |= bits(_mm256_cmpeq_epi32(apart, _mm256_setzero_si256()));
            found.next |= bits(_mm256_cmpeq_epi32(apart, _mm256_set1_epi32(1)));
            found.further |= bits(_mm256_cmpgt_epi32(apart, _mm256_setzero_si256()));
        }
        let within = _mm256_set1_epi64x(!((1 << PAGE_SHIFT) - 1));
        (_mm256_testz_si256(differ, within) != 0).then_some(found)
    }
}

impl Places {
    /// None where they go to several pages. (A bit of `mask` is set.)
    #[inline(always)]
    pub fn new<const V3: bool>(addresses: &[u64; 32], mask: u32, shift: u32) -> Option<Places> {
        let start = addresses[mask.trailing_zeros() as usize & 31];
        #[cfg(target_arch = "x86_64")]
        if V3 {
            // SAFETY: who says V3 is on a processor that has it.
            return unsafe { wide::look(addresses, start, mask, shift) }.map(|found| found.of(mask));
        }
        look(addresses, start, mask, shift).map(|found| found.of(mask))
    }

    /// The lowest and the highest of the elements that lanes go to.
    #[inline(always)]
    pub fn extent(&self) -> (u32, u32) {
        let (mut lowest, mut highest) = (u32::MAX, 0);
        for (lane, element) in self.elements.iter().enumerate() {
            let absent = (self.mask >> lane & 1).wrapping_sub(1);
            lowest = lowest.min(element | absent);
            highest = highest.max(element & !absent);
        }
        (lowest, highest)
    }

    /// The same lanes, each so many elements further. All of these are on the page.
    #[inline(always)]
    pub fn further_by(&self, elements: u32) -> Places {
        Places { elements: self.elements.map(|element| element.wrapping_add(elements)), ..*self }
    }

    /// All ones where a lane takes part.
    #[inline(always)]
    pub fn live(&self, lane: usize) -> u64 {
        u64::from(self.mask >> lane & 1).wrapping_neg()
    }

    /// Whether lanes come in few runs, so that it is worth while to look at these.
    #[inline(always)]
    pub fn few(&self) -> bool {
        (self.mask & !(self.same | self.next)).count_ones() <= 8
    }

    /// Whether it is sure that no two lanes go to one element, where there are no gaps between them.
    #[inline(always)]
    pub fn differ(&self) -> bool {
        self.further == self.mask & self.mask << 1
    }

    /// The first lane, and how many lanes behind each other there are. None where there are gaps between them.
    #[inline(always)]
    pub fn without_gaps(&self) -> Option<(u32, u32)> {
        let first = self.mask.trailing_zeros();
        let lanes = (self.mask >> first).trailing_ones();
        (lanes == self.mask.count_ones()).then_some((first, lanes))
    }

    /// All lanes in their order.
    #[inline(always)]
    pub fn runs(&self) -> impl Iterator<Item = Run> {
        let mut left = self.mask;
        std::iter::from_fn(move || {
            if left == 0 {
                return None;
            }
            let first = left.trailing_zeros();
            let behind = |links: u32| u64::from(links >> first >> 1).trailing_ones();
            let (ones, rows) = (behind(self.same), behind(self.next));
            let lanes = ones.max(rows) + 1;
            left &= u64::MAX.checked_shl(first + lanes).unwrap_or(0) as u32;
            Some(Run { first, lanes, element: self.elements[first as usize] as usize, row: ones == 0 })
        })
    }

    /// Each lane and its element.
    #[inline(always)]
    pub fn each(&self) -> impl Iterator<Item = (u32, usize)> {
        each(self.mask).map(|lane| (lane, self.elements[lane as usize] as usize))
    }
}

#[cfg(test)]
mod tests;
