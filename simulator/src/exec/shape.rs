//! What a row of addresses looks like: all the same, consecutive elements, or anything.
//!
//! All lanes are compared at once, which vectorises. Rows of 32-bit addresses are compared as such: that is half as many
//! vectors as if they were widened first.

use std::ops::{BitAnd, BitOr, BitXor};

/// Distances of each lane from lane 0 in consecutive elements, by the binary logarithm of their size.
pub(super) type Steps<T> = [[T; 32]; 6];

/// An address of a lane.
pub(super) trait Place:
    Copy + Default + PartialEq + BitAnd<Output = Self> + BitOr<Output = Self> + BitXor<Output = Self> + 'static
{
    /// See [`Steps`].
    const STEPS: &'static Steps<Self>;

    /// The sum, which may come round.
    fn plus(self, other: Self) -> Self;

    /// The difference, which may come round.
    fn minus(self, other: Self) -> Self;

    /// All ones where the lane is active.
    fn live(mask: u32, lane: usize) -> Self;
}

macro_rules! places {
    ($($ty:ident)*) => {
        $(
            impl Place for $ty {
                const STEPS: &'static Steps<$ty> = {
                    static STEPS: Steps<$ty> = {
                        let mut steps = [[0; 32]; 6];
                        let mut log = 0;
                        while log < 6 {
                            let mut lane = 0;
                            while lane < 32 {
                                steps[log][lane] = (lane as $ty) << log;
                                lane += 1;
                            }
                            log += 1;
                        }
                        steps
                    };
                    &STEPS
                };

                #[inline(always)]
                fn plus(self, other: $ty) -> $ty {
                    self.wrapping_add(other)
                }

                #[inline(always)]
                fn minus(self, other: $ty) -> $ty {
                    self.wrapping_sub(other)
                }

                #[inline(always)]
                fn live(mask: u32, lane: usize) -> $ty {
                    $ty::from(mask >> lane & 1).wrapping_neg()
                }
            }
        )*
    };
}

places! { u32 u64 }

/// What a row of bases looks like to the active lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Consecutive,
    Same,
    Scattered,
}

/// The distances of elements of so many bytes.
#[inline(always)]
pub(super) fn steps<T: Place>(bytes: u32) -> &'static [T; 32] {
    &T::STEPS[bytes.trailing_zeros() as usize]
}

/// Whether no active lane differs from `start` plus its step.
#[inline(always)]
fn are<T: Place>(base: &[T; 32], start: T, steps: &[T; 32], mask: u32) -> bool {
    let mut bits = T::default();
    if mask == !0 {
        for lane in 0..32 {
            bits = bits | (base[lane] ^ start.plus(steps[lane]));
        }
    } else {
        for lane in 0..32 {
            bits = bits | (base[lane] ^ start.plus(steps[lane])) & T::live(mask, lane);
        }
    }
    bits == T::default()
}

/// The shape of a row, and the base of the first active lane.
#[inline(always)]
pub(super) fn shape<T: Place>(base: &[T; 32], mask: u32, bytes: u32) -> (Shape, T) {
    let steps = steps(bytes);
    let first = mask.trailing_zeros() as usize;
    let start = base[first];
    if are(base, start.minus(steps[first]), steps, mask) {
        (Shape::Consecutive, start)
    } else if are(base, start, &[T::default(); 32], mask) {
        (Shape::Same, start)
    } else {
        (Shape::Scattered, start)
    }
}

/// The shape of a row of 32-bit bases, and its start. One that comes round to 0 behind the largest is scattered.
#[inline(always)]
pub(super) fn shape32(base: &[u32; 32], mask: u32, bytes: u32) -> (Shape, u64) {
    let (first, last) = (mask.trailing_zeros(), 31 - mask.leading_zeros());
    let (shape, start) = shape(base, mask, bytes);
    let comes_round = shape == Shape::Consecutive && start.checked_add((last - first) * bytes).is_none();
    (if comes_round { Shape::Scattered } else { shape }, start.into())
}

/// Whether a whole row of bases is consecutive.
#[inline(always)]
pub(super) fn consecutive<T: Place>(base: &[T; 32], bytes: u32) -> bool {
    are(base, base[0], steps(bytes), !0)
}
