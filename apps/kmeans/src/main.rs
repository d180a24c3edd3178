//! `kmeans`: k-means clustering, after Rodinia's benchmark of that name.
//!
//! Exit code 0 when every centre is where the host's own search has it, to a millionth of its length;
//! 1 with one line on stderr when one isn't, 2 when the device could not be used at all. Host and
//! device round alike, so that the distance is zero when nothing went wrong; a single point in a wrong
//! cluster exceeds the tolerance many times at every size.

use std::convert::Infallible;
use std::process::ExitCode;

use anyhow::Context as _;
use bugaroo_apps_host::{CheckVerdict, Device, conclude, shape};
use clap::Parser;
use cudarc::driver::PushKernelArg as _;

use crate::cluster::{Clustering, FEATURES, nearest, points, relative_distance, search};

mod cluster;

const KERNELS: &str = include_str!("../kernel.ptx");
const THREADS_PER_BLOCK: u32 = 256;
/// How far a centre may be off, as a share of its length.
const TOLERANCE: f32 = 1e-6;

/// K-means clustering of points with 34 features (Rodinia's kmeans). The defaults are the size of the
/// Bugaroo paper's runs: two iterations over 100 points.
#[derive(Parser)]
#[command(version)]
struct Options {
    /// Points
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    size: u32,

    /// Clusters to find; no more than points. The points come in five groups: other numbers take
    /// more iterations
    #[arg(long, value_name = "K", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=256))]
    clusters: u32,
}

fn main() -> ExitCode {
    let mut options = Options::parse();
    options.clusters = options.clusters.min(options.size);
    let points = points(options.size as usize);
    conclude("kmeans", search_on_device(&points, &options).map(|found| verdict(&points, &options, &found)))
}

/// The clustering by the device.
fn search_on_device(points: &[f32], options: &Options) -> anyhow::Result<Clustering> {
    let device = Device::open(KERNELS)?;
    let (transpose, assign) = (device.kernel("transpose")?, device.kernel("assign")?);
    let stream = &device.stream;
    let grid = shape(options.size.div_ceil(THREADS_PER_BLOCK), THREADS_PER_BLOCK);
    let (size, features) = (options.size.cast_signed(), FEATURES as i32);
    let clusters = options.clusters.cast_signed();

    let by_point = stream.clone_htod(points)?;
    let mut by_feature = stream.alloc_zeros::<f32>(points.len())?;
    let mut launch = stream.launch_builder(&transpose);
    launch.arg(&by_point).arg(&mut by_feature).arg(&size).arg(&features);
    // SAFETY: the arguments are the kernel's parameters, in order and type; it reads and writes `size`
    // points, which is what the arrays hold.
    unsafe { launch.launch(grid) }.context("the first launch failed")?;

    let mut centres = stream.alloc_zeros::<f32>(options.clusters as usize * FEATURES)?;
    let mut membership = stream.alloc_zeros::<i32>(options.size as usize)?;
    search(points, options.clusters as usize, |now| {
        stream.memcpy_htod(now, &mut centres)?;
        let mut launch = stream.launch_builder(&assign);
        launch.arg(&by_feature).arg(&centres).arg(&mut membership).arg(&size).arg(&features).arg(&clusters);
        // SAFETY: as above; it reads `clusters` centres and writes `size` memberships, which is what
        // the arrays hold.
        unsafe { launch.launch(grid) }.context("a launch failed")?;
        stream.clone_dtoh(&membership).context("a kernel failed")
    })
}

/// The device's centres beside the host's.
fn verdict(points: &[f32], options: &Options, found: &Clustering) -> CheckVerdict {
    let by_host = |centres: &[f32]| Ok::<_, Infallible>(nearest(points, centres));
    let Ok(expected) = search(points, options.clusters as usize, by_host);
    let distance = relative_distance(&found.centres, &expected.centres);
    if distance <= TOLERANCE {
        return Ok(format!("{} centres after {} iterations are right", options.clusters, found.iterations));
    }
    Err(format!(
        "a centre is off by {distance:e} of its length, after {} iterations instead of {}",
        found.iterations, expected.iterations
    ))
}
