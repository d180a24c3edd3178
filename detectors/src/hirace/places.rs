//! Where lanes go that each have an address of their own: in which order along a page, as far as that makes them one step.

use bugaroo_semantics::event::each;

use super::follow::Follow;
use super::row::Row;
use super::sizes::span_shift;

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
    /// Lanes that go as much further than the first one as they are behind it.
    in_step: u32,
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
    pub is_row: bool,
}

impl Run {
    /// Its lanes as a row, which they are.
    pub fn row(self) -> Row {
        let mask = (u64::MAX >> (64 - self.lanes) << self.first) as u32;
        Row::new(self.element, Follow::every(0), mask)
    }
}

/// Elements by lane, which lanes are on the page, and how each lane goes from the one before: to the same element, to the next one, further;
/// and whether it goes as much further than the first one as it is behind it. Of lanes that take no part, and of lane 0, anything.
#[derive(Debug, PartialEq, Eq)]
struct Found {
    elements: [u32; 32],
    here: u32,
    same: u32,
    next: u32,
    further: u32,
    in_step: u32,
}

impl Found {
    #[inline(always)]
    fn of(self, mask: u32) -> Places {
        let Found { elements, here, same, next, further, in_step } = self;
        let mask = mask & here;
        let both = mask & mask << 1;
        Places { elements, mask, same: same & both, next: next & both, further: further & both, in_step }
    }
}

/// Looks at all lanes, of which `first` goes to `start`, for pages of elements of so many bytes (as a power of two).
#[inline(always)]
fn look(addresses: &[u64; 32], (first, start): (u32, u64), shift: u32) -> Found {
    let mut found = Found { elements: [0; 32], here: 0, same: 0, next: 0, further: 0, in_step: 0 };
    let span = span_shift(shift);
    let element = |address: u64| (address & ((1 << span) - 1)) as u32 >> shift;
    let base = element(start).wrapping_sub(first);
    let mut before = 0;
    for (lane, address) in (0_u32..).zip(addresses) {
        let element = element(*address);
        let apart = element.wrapping_sub(before);
        found.elements[lane as usize] = element;
        found.here |= u32::from((address ^ start) >> span == 0) << lane;
        found.same |= u32::from(apart == 0) << lane;
        found.next |= u32::from(apart == 1) << lane;
        found.further |= u32::from(element > before) << lane;
        found.in_step |= u32::from(element == base.wrapping_add(lane)) << lane;
        before = element;
    }
    found
}

/// The same with vectors.
#[cfg(target_arch = "x86_64")]
mod wide {
    use std::arch::x86_64::*;

    use super::{Found, span_shift};

    /// As [`super::look`].
    ///
    /// # Safety
    /// The processor has AVX2.
    #[target_feature(enable = "avx2")]
    #[inline]
    pub unsafe fn look(addresses: &[u64; 32], (first, start): (u32, u64), shift: u32) -> Found {
        let mut found = Found { elements: [0; 32], here: 0, same: 0, next: 0, further: 0, in_step: 0 };
        let span = span_shift(shift);
        let within = _mm256_set1_epi64x(!((1 << span) - 1));
        let starts = _mm256_and_si256(_mm256_set1_epi64x(start as i64), within);
        let base = ((start & ((1 << span) - 1)) as u32 >> shift).wrapping_sub(first);
        let steps = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
        let page = _mm256_set1_epi32((1 << span) - 1);
        let shift = _mm_cvtsi32_si128(shift as i32);
        let one_back = _mm256_setr_epi32(7, 0, 1, 2, 3, 4, 5, 6);
        let mut last = _mm256_setzero_si256();
        for eight in 0..4 {
            // SAFETY: a vector of four addresses, twice, is within the array.
            let (a, b) = unsafe {
                let from = addresses.as_ptr().add(eight * 8).cast::<__m256i>();
                (_mm256_loadu_si256(from), _mm256_loadu_si256(from.add(1)))
            };
            let here = |four: __m256i| {
                let same = _mm256_cmpeq_epi64(_mm256_and_si256(four, within), starts);
                _mm256_movemask_pd(_mm256_castsi256_pd(same)) as u32
            };
            found.here |= (here(a) | here(b) << 4) << (eight * 8);
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
            let there = _mm256_set1_epi32(base.wrapping_add(eight as u32 * 8) as i32);
            found.in_step |= bits(_mm256_cmpeq_epi32(elements, _mm256_add_epi32(there, steps)));
        }
        found
    }
}

impl Places {
    /// Of lanes of `mask`, of which there is one, those that go to the page that the first one goes to.
    #[inline(always)]
    pub fn new<const V3: bool>(addresses: &[u64; 32], mask: u32, shift: u32) -> Places {
        let first = mask.trailing_zeros() & 31;
        let start = addresses[first as usize];
        #[cfg(target_arch = "x86_64")]
        if V3 {
            // SAFETY: who says V3 is on a processor that has it.
            return unsafe { wide::look(addresses, (first, start), shift) }.of(mask);
        }
        look(addresses, (first, start), shift).of(mask)
    }

    /// The lanes as a row, if they are one.
    #[inline(always)]
    pub fn row(&self) -> Option<Row> {
        let first = self.elements[self.mask.trailing_zeros() as usize & 31] as usize;
        (self.in_step & self.mask == self.mask).then(|| Row::new(first, Follow::every(0), self.mask))
    }

    /// The lowest and the highest of the elements that lanes go to.
    #[inline(always)]
    pub fn extent(&self) -> (i64, i64) {
        let (mut lowest, mut highest) = (u32::MAX, 0);
        for (lane, element) in self.elements.iter().enumerate() {
            let absent = (self.mask >> lane & 1).wrapping_sub(1);
            lowest = lowest.min(element | absent);
            highest = highest.max(element & !absent);
        }
        (i64::from(lowest), i64::from(highest))
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
            Some(Run { first, lanes, element: self.elements[first as usize] as usize, is_row: ones == 0 })
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
