//! What a row of addresses looks like: all the same, consecutive elements, or anything.
//!
//! All lanes are compared at once, which vectorises. Rows of 32-bit addresses are compared as such: that is half as many
//! vectors as if they were widened first.

/// Distance of each lane from lane 0 in consecutive elements, by the binary logarithm of their size.
pub(super) static STEPS: [[u64; 32]; 6] = {
    let mut steps = [[0; 32]; 6];
    let mut log = 0;
    while log < 6 {
        let mut lane = 0;
        while lane < 32 {
            steps[log][lane] = (lane as u64) << log;
            lane += 1;
        }
        log += 1;
    }
    steps
};

/// The same for addresses of 32 bits.
static STEPS32: [[u32; 32]; 6] = {
    let mut steps = [[0; 32]; 6];
    let mut log = 0;
    while log < 6 {
        let mut lane = 0;
        while lane < 32 {
            steps[log][lane] = STEPS[log][lane] as u32;
            lane += 1;
        }
        log += 1;
    }
    steps
};

/// What a row of bases looks like to the active lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Consecutive,
    Same,
    Scattered,
}

/// All ones where the lane is active.
#[inline(always)]
pub(super) fn live(mask: u32, lane: usize) -> u64 {
    u64::from(mask >> lane & 1).wrapping_neg()
}

/// The same in 32 bits.
#[inline(always)]
pub(super) fn live32(mask: u32, lane: usize) -> u32 {
    (mask >> lane & 1).wrapping_neg()
}

/// Bits in which some active lane differs from `start` plus its step.
#[inline(always)]
fn differ(base: &[u64; 32], start: u64, steps: &[u64; 32], mask: u32) -> u64 {
    let mut bits = 0;
    if mask == !0 {
        for lane in 0..32 {
            bits |= base[lane] ^ start.wrapping_add(steps[lane]);
        }
    } else {
        for lane in 0..32 {
            bits |= (base[lane] ^ start.wrapping_add(steps[lane])) & live(mask, lane);
        }
    }
    bits
}

/// The same in 32 bits.
#[inline(always)]
fn differ32(base: &[u32; 32], start: u32, steps: &[u32; 32], mask: u32) -> u32 {
    let mut bits = 0;
    if mask == !0 {
        for lane in 0..32 {
            bits |= base[lane] ^ start.wrapping_add(steps[lane]);
        }
    } else {
        for lane in 0..32 {
            bits |= (base[lane] ^ start.wrapping_add(steps[lane])) & live32(mask, lane);
        }
    }
    bits
}

/// The shape of a row, and the base of the first active lane.
#[inline(always)]
pub(super) fn shape(base: &[u64; 32], mask: u32, bytes: u32) -> (Shape, u64) {
    let steps = &STEPS[bytes.trailing_zeros() as usize];
    let first = mask.trailing_zeros() as usize;
    let start = base[first];
    if differ(base, start.wrapping_sub(steps[first]), steps, mask) == 0 {
        (Shape::Consecutive, start)
    } else if differ(base, start, &[0; 32], mask) == 0 {
        (Shape::Same, start)
    } else {
        (Shape::Scattered, start)
    }
}

/// The shape of a row of 32-bit bases. One that comes round to 0 behind the largest is scattered.
#[inline(always)]
pub(super) fn shape32(base: &[u32; 32], mask: u32, bytes: u32) -> (Shape, u64) {
    let steps = &STEPS32[bytes.trailing_zeros() as usize];
    let (first, last) = (mask.trailing_zeros() as usize, 31 - mask.leading_zeros() as usize);
    let start = base[first];
    let shape = if differ32(base, start.wrapping_sub(steps[first]), steps, mask) == 0 {
        if start.checked_add(steps[last] - steps[first]).is_some() {
            Shape::Consecutive
        } else {
            Shape::Scattered
        }
    } else if differ32(base, start, &[0; 32], mask) == 0 {
        Shape::Same
    } else {
        Shape::Scattered
    };
    (shape, u64::from(start))
}

/// Whether a whole row of 64-bit bases is consecutive.
#[inline(always)]
pub(super) fn consecutive(base: &[u64; 32], bytes: u32) -> bool {
    differ(base, base[0], &STEPS[bytes.trailing_zeros() as usize], !0) == 0
}

/// Whether a whole row of 32-bit bases, which do not come round to 0, is consecutive.
#[inline(always)]
pub(super) fn consecutive32(base: &[u32; 32], bytes: u32) -> bool {
    differ32(base, base[0], &STEPS32[bytes.trailing_zeros() as usize], !0) == 0
}
