//! Coordinates to texels along one dimension (CUDA Programming Guide, "Texture Fetching": "Nearest-Point Sampling",
//! "Linear Filtering", and the address modes).
//!
//! The guide transforms the coordinate and then takes the texel. Here this is so for mirroring alone. Where a texture is repeated
//! or clamped, the texel's number is taken first and transformed then, which comes to the same and needs no rounding. A
//! coordinate that is no number counts as 0, which the guide leaves open.

use super::AddressMode;

/// Steps of the weight of a texel in linear filtering: 8 bits of fraction, and the 1.
pub const STEPS: f64 = 256.0;
/// No coordinate is farther away: sums with texels cannot overflow.
const FAR: f64 = 1e15;

/// The texels that a coordinate lies between, and the second one's weight in steps of a 256th; the nearest one alone
/// with a weight of 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Between {
    /// Number of the first texel, perhaps outside; the second one follows it.
    pub first: i64,
    /// Weight of the second one, 0 to 256.
    pub weight: u32,
}

/// A coordinate in texels; mirrored, where that is asked for, to what lies from 0 to the extent.
pub fn scaled(coordinate: f32, extent: u64, normalized: bool, mode: AddressMode) -> f64 {
    if coordinate.is_nan() {
        return 0.0;
    }
    let factor = if normalized { extent as f64 } else { 1.0 };
    let at = (f64::from(coordinate) * factor).clamp(-FAR, FAR);
    if mode != AddressMode::Mirror {
        return at;
    }
    // Twice as much is there and back again.
    let both = 2.0 * extent as f64;
    let within = at.rem_euclid(both);
    if within < extent as f64 { within } else { both - within }
}

/// The largest whole number that is no larger, for what [`scaled`] gives: without a call, which `f64::floor` is on older
/// processors.
fn floor(at: f64) -> i64 {
    let whole = at as i64;
    whole - i64::from(whole as f64 > at)
}

/// The nearest texel.
pub fn nearest(at: f64) -> Between {
    Between { first: floor(at), weight: 0 }
}

/// The texels to filter between. The guide says that a weight has 8 bits of fraction, not how it is rounded: here to the nearest.
pub fn linear(at: f64) -> Between {
    let before = at - 0.5;
    let first = floor(before);
    let weight = ((before - first as f64) * STEPS + 0.5) as u32;
    Between { first, weight }
}

/// The texel that stands for number `index`; None for the border.
pub fn texel(index: i64, extent: u64, mode: AddressMode) -> Option<u64> {
    let count = i64::try_from(extent).unwrap_or(i64::MAX);
    let found = match mode {
        AddressMode::Wrap => index.rem_euclid(count),
        // What is mirrored is inside, but for the end itself and neighbours in filtering.
        AddressMode::Clamp | AddressMode::Mirror => index.clamp(0, count - 1),
        AddressMode::Border if (0..count).contains(&index) => index,
        AddressMode::Border => return None,
    };
    Some(found.cast_unsigned())
}
