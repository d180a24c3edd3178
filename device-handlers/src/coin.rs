//! The coin flips: a hash of counters, the twin of `toss` in `handlers.cu`.
//!
//! No flip depends on interleaving, nor on which spaces or kernels are delayed: a store site counts its
//! executions by each thread whatever the thresholds are.

pub use bugaroo_semantics::splitmix::mix;

use crate::constants::hash::GOLDEN;

/// What seed and launch contribute; the host computes it once a launch.
pub const fn launch_key(seed: u64, launch: u64) -> u64 {
    mix(mix(seed.wrapping_add(GOLDEN)).wrapping_add(launch.wrapping_mul(GOLDEN)))
}

/// The coin of one execution of a store: uniform over `u32`.
///
/// `thread` is the linear index in the launch, `site` the site's number in its module, and `count` says
/// how often the thread came by this site before. A vector store of n elements counts n: its element
/// e has `count` n × executions + e. The store is delayed when the coin is less than the
/// [`threshold`].
pub const fn coin(seed: u64, launch: u64, thread: u32, site: u32, count: u32) -> u32 {
    let id = (site as u64) << 32 | thread as u64;
    let key = launch_key(seed, launch) ^ mix(id);
    (mix(key.wrapping_add((count as u64).wrapping_mul(GOLDEN))) >> 32) as u32
}

/// The threshold of a probability: 0 never delays, 2^32 always does. Values outside 0 to 1, and NaN,
/// are taken to the nearer end (NaN to 0).
pub fn threshold(pw: f64) -> u64 {
    // `as` clamps, and turns NaN into 0.
    ((pw.clamp(0.0, 1.0) * 4_294_967_296.0).round()) as u64
}

#[cfg(test)]
mod tests;
