//! `sdk_red`: a reduction in one pass, after the CUDA SDK's threadFenceReduction.
//!
//! Exit code 0 when the device's sum equals the host's, 1 with one line on stderr when it doesn't,
//! 2 when the device could not be used at all. The inputs are whole numbers and their sum fits 32 bits, so
//! the comparison is exact in every order of summation: whatever differs is a partial sum that was read
//! before it was there.

use std::process::ExitCode;

use anyhow::Context as _;
use bugaroo_apps_host::{CheckVerdict, Device, conclude, shape};
use clap::{Parser, ValueEnum};
use cudarc::driver::PushKernelArg as _;

const KERNELS: &str = include_str!("../kernel.ptx");
const BLOCKS: u32 = 64;
const THREADS_PER_BLOCK: u32 = 128;

/// Elements are in 1 to this, so that no block's share adds up to the zero that stood there before.
const LARGEST_ELEMENT: u32 = 100;

/// The largest size whose sum is sure to fit 32 bits.
const MAX_ELEMENTS: i64 = 1 << 24;
const _: () = assert!(MAX_ELEMENTS as u64 * LARGEST_ELEMENT as u64 <= u32::MAX as u64);

/// Reduction in one pass, whose last block adds up the partial sums (CUDA SDK).
#[derive(Parser)]
#[command(version)]
struct Options {
    /// Whether there is a fence between partial sum and ticket
    #[arg(long, value_enum, default_value_t = Variant::Fence)]
    variant: Variant,

    /// Elements to add up
    #[arg(long, value_name = "N", default_value_t = 1 << 16, value_parser = clap::value_parser!(u32).range(1..=MAX_ELEMENTS))]
    size: u32,
}

/// The fence variants of the paper's Table IV.
#[derive(Clone, Copy, ValueEnum)]
enum Variant {
    /// A fence by every thread before its block takes a ticket
    #[value(name = "original_1_fence")]
    Fence,
    /// No fence: the bug
    #[value(name = "no_fence")]
    NoFence,
    /// The fewest fences that are right under the PTX memory model
    #[value(name = "ptx_correct")]
    PtxCorrect,
}

impl Variant {
    fn kernel(self) -> &'static str {
        match self {
            Variant::Fence => "reduce_original_1_fence",
            Variant::NoFence => "reduce_no_fence",
            Variant::PtxCorrect => "reduce_ptx_correct",
        }
    }
}

fn main() -> ExitCode {
    conclude("sdk_red", sum_on_device(&Options::parse()))
}

/// The device's sum beside the host's.
fn sum_on_device(options: &Options) -> anyhow::Result<CheckVerdict> {
    let input: Vec<u32> = (0..options.size).map(|i| i % LARGEST_ELEMENT + 1).collect();
    let expected: u32 = input.iter().sum();

    let device = Device::open(KERNELS)?;
    let kernel = device.kernel(options.variant.kernel())?;
    let stream = &device.stream;
    let input = stream.clone_htod(&input)?;
    let mut partials = stream.alloc_zeros::<u32>(BLOCKS as usize)?;
    let mut sum = stream.alloc_zeros::<u32>(1)?;
    let mut tickets = stream.alloc_zeros::<u32>(1)?;
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(&input).arg(&mut partials).arg(&mut sum).arg(&mut tickets).arg(&options.size);
    // SAFETY: the arguments are the kernel's parameters, in order and type; the kernel reads `size`
    // elements of `input`, writes one of `partials` a block, and one of `sum` and `tickets`.
    unsafe { launch.launch(shape(BLOCKS, THREADS_PER_BLOCK)) }.context("the launch failed")?;
    let sum = stream.clone_dtoh(&sum).context("the kernel failed")?[0];
    if sum == expected {
        return Ok(Ok(format!("{sum} is right")));
    }
    let error = 100.0 * f64::from(sum.abs_diff(expected)) / f64::from(expected);
    Ok(Err(format!("{sum} instead of {expected} ({error:.2} % off)")))
}
