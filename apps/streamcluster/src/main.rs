//! `streamcluster`: online clustering, after PARSEC's and Rodinia's benchmarks of that name.
//!
//! Exit code 0 when the device's search finds as many clusters as the host's own and their centres and
//! the total cost agree to a millionth, 1 with one line on stderr when they don't, 2 when the device
//! could not be used at all. Host and device round alike and draw the same random numbers, so that all
//! decisions agree and the distance is zero when nothing went wrong.
//!
//! The default is PARSEC's simsmall: 4,096 points of 32 dimensions in one block, 10 to 20 clusters.

use std::process::ExitCode;

use bugaroo_apps_host::{CheckVerdict, conclude};
use clap::Parser;

use crate::device::OnDevice;
use crate::gain::OnHost;
use crate::points::{DIMENSIONS, Points};
use crate::search::{Clustering, search};

mod device;
mod gain;
mod points;
mod search;

/// How far a centre may be off as a share of its length, and the cost as a share of itself.
const TOLERANCE: f64 = 1e-6;

/// Online clustering with the gain of each centre computed on the device (PARSEC's and Rodinia's
/// streamcluster). The default is PARSEC's simsmall, as in the Bugaroo paper: 1,253 launches. Quick runs
/// take `--size 128 --gains 60`.
#[derive(Parser)]
#[command(version)]
struct Options {
    /// Points of the block
    #[arg(long, value_name = "N", default_value_t = 4096, value_parser = clap::value_parser!(u16).range(32..=16_384))]
    size: u16,

    /// Most gains to compute, a launch each; of its own accord a search takes 900 to 1,800
    #[arg(long, value_name = "N", default_value_t = 20_000)]
    gains: u32,
}

fn main() -> ExitCode {
    let options = Options::parse();
    let points = Points::new(options.size.into());
    let found = OnDevice::new(&points).and_then(|mut device| search(&points, options.gains, &mut device));
    conclude("streamcluster", found.map(|found| verdict(&points, &options, &found)))
}

/// The device's clustering beside the host's.
fn verdict(points: &Points, options: &Options, found: &Clustering) -> CheckVerdict {
    let Ok(expected) = search(points, options.gains, &mut OnHost(points));
    let (count, right_count) = (found.centres.len() / DIMENSIONS, expected.centres.len() / DIMENSIONS);
    if count != right_count {
        return Err(format!("{count} clusters instead of {right_count}"));
    }
    let distance = relative_distance(&found.centres, &expected.centres);
    let cost = (found.cost - expected.cost).abs() / expected.cost;
    if distance <= TOLERANCE && cost <= TOLERANCE {
        return Ok(format!(
            "{count} clusters at a cost of {} after {} gains are right",
            found.cost, found.gains
        ));
    }
    Err(format!(
        "a centre is off by {distance:e} of its length; the cost is {} instead of {}, after {} gains instead of {}",
        found.cost, expected.cost, found.gains, expected.gains
    ))
}

/// The largest distance of two centres that belong together, as a share of the expected one's length.
fn relative_distance(centres: &[f32], expected: &[f32]) -> f64 {
    let relative = |(centre, expected): (&[f32], &[f32])| {
        let square = |value: f32| f64::from(value) * f64::from(value);
        let distance: f64 = centre.iter().zip(expected).map(|(a, b)| square(a - b)).sum();
        (distance / expected.iter().map(|&value| square(value)).sum::<f64>()).sqrt()
    };
    let pairs = centres.chunks_exact(DIMENSIONS).zip(expected.chunks_exact(DIMENSIONS));
    // Not f64::max, which would drop a NaN.
    pairs.map(relative).fold(0.0, |most, next| if next <= most { most } else { next })
}

#[cfg(test)]
mod tests;
