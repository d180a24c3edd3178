//! Between which values numbers lie.

/// Between which values a number lies, both ends included: as signed and as unsigned.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// Of the number.
    pub(super) bytes: u8,
    pub(super) signed: (i64, i64),
    pub(super) unsigned: (u64, u64),
}

pub(super) fn mask(bytes: u8) -> u64 {
    !0 >> (64 - 8 * u32::from(bytes.clamp(1, 8)))
}

/// Sign-extended from so many bytes.
pub(super) fn signed(value: u64, bytes: u8) -> i64 {
    let shift = 64 - 8 * u32::from(bytes.clamp(1, 8));
    ((value << shift) as i64) >> shift
}

pub(super) fn extremes(bytes: u8) -> (i64, i64) {
    let high = (mask(bytes) >> 1) as i64;
    (-high - 1, high)
}
