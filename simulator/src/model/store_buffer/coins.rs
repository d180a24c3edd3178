//! The coins: those of the device code (`bugaroo_device_handlers::coin`), so that both forms of the model delay the
//! same stores.

use bugaroo_device_handlers::constants::hash::GOLDEN;
use bugaroo_device_handlers::mix;

use crate::model::At;
use crate::model::fetch::{LINE, fetch};

/// Store sites of a warp whose rows are fetched at once: a kernel's inner loop has few.
const FEW: usize = 2;

/// How often each thread came by each store site: a row of 32 lanes per warp and site, made when it is needed.
#[derive(Debug, Default)]
pub(super) struct Coins {
    key: u64,
    store_sites: usize,
    /// By warp and store site: number of the row, from 1; 0 for none.
    places: Vec<u32>,
    rows: Vec<Row>,
    unused: Vec<u32>,
    /// The processor multiplies vectors of 64 bits.
    avx512: bool,
}

/// A warp at a store site.
#[derive(Clone, Debug, Default)]
pub(super) struct Row {
    pub counts: [u32; 32],
    tossed: Option<Tossed>,
}

/// Coins that have been tossed for a store that is not done yet: it is asked about again after each step of what drains before it.
#[derive(Clone, Copy, Debug)]
struct Tossed {
    elements: u32,
    threshold: u64,
    /// Those that are less than the threshold, of all lanes.
    less: u32,
}

impl Coins {
    pub fn new(key: u64, store_sites: u32) -> Coins {
        Coins { key, store_sites: store_sites as usize, avx512: has_avx512(), ..Coins::default() }
    }

    pub fn key(&self) -> u64 {
        self.key
    }

    pub fn begin(&mut self, warps: u32) {
        self.places = vec![0; self.store_sites * warps as usize];
    }

    /// Threads of another block come into this warp slot: all begin at zero.
    pub fn reset(&mut self, warp: u32) {
        let first = self.store_sites * warp as usize;
        for place in &mut self.places[first..first + self.store_sites] {
            if *place != 0 {
                self.unused.push(std::mem::take(place));
            }
        }
    }

    /// A warp is about to be at some store site.
    pub fn fetch(&self, warp: u32) {
        let first = self.store_sites * warp as usize;
        for place in self.places[first..].iter().take(self.store_sites.min(FEW)) {
            let row = self.rows.as_ptr().wrapping_add((*place as usize).wrapping_sub(1));
            (0..size_of::<Row>()).step_by(LINE).for_each(|at| fetch(row.wrapping_byte_add(at)));
        }
    }

    /// A warp at a store site.
    #[inline(always)]
    pub(super) fn row(&mut self, warp: u32, slot: u32) -> &mut Row {
        let place = &mut self.places[self.store_sites * warp as usize + slot as usize];
        if *place == 0 {
            *place = self.unused.pop().unwrap_or_else(|| {
                self.rows.push(Row::default());
                self.rows.len() as u32
            });
            self.rows[*place as usize - 1] = Row::default();
        }
        &mut self.rows[*place as usize - 1]
    }

    /// Those of the lanes, at a store of so many elements, whose coin is less than the threshold.
    #[inline(always)]
    pub fn toss(
        &mut self,
        at: &At,
        (slot, site, elements): (u32, u32, u32),
        threshold: u64,
        among: u32,
    ) -> u32 {
        if threshold == 0 {
            return 0;
        }
        let (of, avx512) = ((self.key, at.first_thread as u32, site), self.avx512);
        let row = self.row(at.warp, slot);
        if let Some(tossed) = &row.tossed
            && (tossed.elements, tossed.threshold) == (elements, threshold)
        {
            return tossed.less & among;
        }
        let less = match avx512 {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the processor has these features.
            true => unsafe { less_by_avx512(of, &row.counts, elements, threshold) },
            _ => less(of, &row.counts, elements, threshold),
        };
        row.tossed = Some(Tossed { elements, threshold, less });
        less & among
    }

    /// The lanes have come by a store site once more.
    #[inline(always)]
    pub fn count(&mut self, at: &At, slot: u32) {
        let row = self.row(at.warp, slot);
        row.tossed = None;
        for (lane, count) in row.counts.iter_mut().enumerate() {
            *count = count.wrapping_add(at.lanes >> lane & 1);
        }
    }

    pub fn bytes(&self) -> u64 {
        (self.rows.len() * size_of::<Row>() + self.places.len() * 4) as u64
    }
}

/// Whether [`less_by_avx512`] may be called.
fn has_avx512() -> bool {
    #[cfg(target_arch = "x86_64")]
    return is_x86_feature_detected!("avx512dq") && is_x86_feature_detected!("avx512vl");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// As [`less`], by vectors that multiply 64 bits: of a coin, such products take most of the time.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512vl")]
fn less_by_avx512(of: (u64, u32, u32), counts: &[u32; 32], elements: u32, threshold: u64) -> u32 {
    less(of, counts, elements, threshold)
}

/// Those of a warp's lanes whose coin is less than the threshold, at a store of so many elements. The first are the launch's key, the
/// thread of the first lane, and the site.
#[inline(always)]
fn less((key, first, site): (u64, u32, u32), counts: &[u32; 32], elements: u32, threshold: u64) -> u32 {
    let mut less = 0;
    for (lane, count) in counts.iter().enumerate() {
        let thread = first.wrapping_add(lane as u32);
        let coin = coin(key, thread, site, count.wrapping_mul(elements));
        less |= u32::from(u64::from(coin) < threshold) << lane;
    }
    less
}

/// The coin of an execution in the launch of this key: uniform over `u32`.
#[inline(always)]
pub(super) fn coin(key: u64, thread: u32, site: u32, count: u32) -> u32 {
    let id = u64::from(site) << 32 | u64::from(thread);
    (mix((key ^ mix(id)).wrapping_add(u64::from(count).wrapping_mul(GOLDEN))) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However many are tossed at a time.
    #[test]
    fn coins_are_the_same_by_vectors() {
        let mut draws = crate::schedule::Rng::new(7);
        for round in 0..2_000_u32 {
            let of = (draws.next(), draws.next() as u32, round % 5);
            let counts = [(); 32].map(|()| (draws.next() >> (32 + round % 32)) as u32);
            let elements = 1 << (round % 3);
            let threshold = match round % 9 {
                0 => 0,
                1 => 1 << 32,
                _ => draws.next() >> 32,
            };
            let one_by_one = (0..32).fold(0, |lanes, lane| {
                let count = counts[lane as usize].wrapping_mul(elements);
                let coin = coin(of.0, of.1.wrapping_add(lane), of.2, count);
                lanes | u32::from(u64::from(coin) < threshold) << lane
            });
            assert_eq!(less(of, &counts, elements, threshold), one_by_one);
            #[cfg(target_arch = "x86_64")]
            if has_avx512() {
                // SAFETY: the processor has these features.
                assert_eq!(unsafe { less_by_avx512(of, &counts, elements, threshold) }, one_by_one);
            }
        }
    }
}
