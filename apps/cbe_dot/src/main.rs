//! `cbe_dot`: the dot product of "CUDA by Example" with its global sum under a spin lock.
//!
//! Exit code 0 when the device's sum equals the host's, 1 with one line on stderr when it doesn't,
//! 2 when the device could not be used at all. The inputs are small whole numbers, so every order of
//! summation gives the same float and the comparison is exact: whatever differs is a lost or a
//! doubled update, never rounding.

use std::process::ExitCode;

use anyhow::{Context as _, ensure};
use bugaroo_apps_host::{CheckVerdict, Device, conclude, shape};
use clap::{Parser, ValueEnum};
use cudarc::driver::PushKernelArg as _;

const KERNELS: &str = include_str!("../kernel.ptx");
const BLOCKS: u32 = 32;
const THREADS_PER_BLOCK: u32 = 256;

/// Dot product with a global sum under a spin lock (CUDA by Example).
#[derive(Parser)]
#[command(version)]
struct Options {
    /// Which fences lock() and unlock() have
    #[arg(long, value_enum, default_value_t = Variant::Both)]
    variant: Variant,

    /// Elements of each vector
    #[arg(long, value_name = "N", default_value_t = 33 * 1024, value_parser = clap::value_parser!(u32).range(1..=MAX_ELEMENTS))]
    size: u32,
}

/// The largest size whose sum is exact in a float: the mean product is under 16, and sums stay
/// below 2^24.
const MAX_ELEMENTS: i64 = 1 << 20;

/// The fence variants of the paper's Table IV.
#[derive(Clone, Copy, ValueEnum)]
enum Variant {
    /// A fence in lock() and one in unlock()
    #[value(name = "original_2_fence")]
    Both,
    /// A fence in unlock() only
    #[value(name = "1_fence")]
    InUnlock,
    /// No fence: the bug
    #[value(name = "no_fence")]
    Neither,
    /// The fewest fences that are right under the PTX memory model
    #[value(name = "ptx_correct")]
    PtxCorrect,
}

impl Variant {
    fn kernel(self) -> &'static str {
        match self {
            Variant::Both => "dot_original_2_fence",
            Variant::InUnlock => "dot_1_fence",
            Variant::Neither => "dot_no_fence",
            Variant::PtxCorrect => "dot_ptx_correct",
        }
    }
}

fn main() -> ExitCode {
    conclude("cbe_dot", dot_on_device(&Options::parse()))
}

/// The device's dot product beside the host's.
fn dot_on_device(options: &Options) -> anyhow::Result<CheckVerdict> {
    let a: Vec<f32> = (0..options.size).map(|i| (i % 7) as f32).collect();
    let b: Vec<f32> = (0..options.size).map(|i| (i % 5) as f32).collect();
    let expected: f32 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
    ensure!(expected < (1 << 24) as f32, "{} elements: the sum is not exact in a float", options.size);

    let device = Device::open(KERNELS)?;
    let kernel = device.kernel(options.variant.kernel())?;
    let stream = &device.stream;
    let a = stream.clone_htod(&a)?;
    let b = stream.clone_htod(&b)?;
    let mut sum = stream.alloc_zeros::<f32>(1)?;
    let mut mutex = stream.alloc_zeros::<i32>(1)?;
    let size = i32::try_from(options.size)?;
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(&a).arg(&b).arg(&mut sum).arg(&mut mutex).arg(&size);
    // SAFETY: the arguments are the kernel's parameters, in order and type; the kernel reads `size`
    // elements of `a` and `b` and writes one of `sum` and `mutex`, which is what they hold.
    unsafe { launch.launch(shape(BLOCKS, THREADS_PER_BLOCK)) }.context("the launch failed")?;
    let sum = stream.clone_dtoh(&sum).context("the kernel failed")?[0];
    if sum == expected {
        return Ok(Ok(format!("{sum} is right")));
    }
    let error = 100.0 * f64::from((sum - expected).abs()) / f64::from(expected);
    Ok(Err(format!("{sum} instead of {expected} ({error:.2} % off)")))
}
