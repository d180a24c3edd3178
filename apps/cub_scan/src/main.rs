//! `cub_scan`: prefix sums in one pass with decoupled look-back behind a grid barrier, as in CUB.
//!
//! Exit code 0 when all of the device's prefix sums equal the host's, 1 with one line on stderr when some
//! don't, 2 when the device could not be used at all. Everything is whole numbers, so the comparison is
//! exact: whatever differs comes from a descriptor that was read before it was ready.

use std::process::ExitCode;

use anyhow::{Context as _, ensure};
use bugaroo_apps_host::{CheckVerdict, Device, conclude, shape};
use clap::{Parser, ValueEnum};
use cudarc::driver::PushKernelArg as _;
use cudarc::driver::sys::CUdevice_attribute;

const KERNELS: &str = include_str!("../kernel.ptx");
const THREADS_PER_BLOCK: u32 = 128;
const ITEMS_PER_THREAD: u32 = 6;
const TILE: u32 = THREADS_PER_BLOCK * ITEMS_PER_THREAD;

/// A descriptor's status that says it is complete (`kInclusive` in the kernel).
const INCLUSIVE: u32 = 2;

/// The largest size: 1024 blocks, which no launch may exceed anyway unless all of them are resident at once.
const MAX_ELEMENTS: i64 = 1024 * TILE as i64;

/// Prefix sums in one pass with decoupled look-back (CUB).
#[derive(Parser)]
#[command(version)]
struct Options {
    /// Which of its fences the kernel has: f1 in the grid barrier, f2 in SetInclusive, f3 in SetPartial
    #[arg(long, value_enum, default_value_t = Variant::All)]
    variant: Variant,

    /// Elements to scan; 81 blocks by default
    #[arg(long, value_name = "N", default_value_t = 61_839, value_parser = clap::value_parser!(u32).range(1..=MAX_ELEMENTS))]
    size: u32,
}

/// The fence variants of the paper's Table IV.
#[derive(Clone, Copy, ValueEnum)]
enum Variant {
    /// All three fences
    #[value(name = "original_all_3_fence")]
    All,
    /// A tile's sum may come after its status: f3 is missing
    #[value(name = "f1_f2_fence")]
    WithoutF3,
    /// A tile's inclusive sum may come after its status: f2 is missing
    #[value(name = "f1_f3_fence")]
    WithoutF2,
    /// A descriptor may be initialised after the grid barrier: f1 is missing
    #[value(name = "f2_f3_fence")]
    WithoutF1,
    /// No fence at all
    #[value(name = "no_fence")]
    Without,
    /// The fewest fences that are right under the PTX memory model
    #[value(name = "ptx_correct")]
    PtxCorrect,
}

impl Variant {
    fn kernel(self) -> &'static str {
        match self {
            Variant::All => "scan_original_all_3_fence",
            Variant::WithoutF3 => "scan_f1_f2_fence",
            Variant::WithoutF2 => "scan_f1_f3_fence",
            Variant::WithoutF1 => "scan_f2_f3_fence",
            Variant::Without => "scan_no_fence",
            Variant::PtxCorrect => "scan_ptx_correct",
        }
    }
}

fn main() -> ExitCode {
    conclude("cub_scan", scan_on_device(&Options::parse()))
}

/// The device's prefix sums beside the host's.
fn scan_on_device(options: &Options) -> anyhow::Result<CheckVerdict> {
    let blocks = options.size.div_ceil(TILE);
    // None is zero: a tile that is left out is always missed.
    let input: Vec<u32> = (0..options.size).map(|i| i % 9 + 1).collect();
    let expected = prefix_sums(&input);

    let device = Device::open(KERNELS)?;
    let kernel = device.kernel(options.variant.kernel())?;
    let stream = &device.stream;
    let processors =
        stream.context().attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?;
    let on_each = kernel.occupancy_max_active_blocks_per_multiprocessor(THREADS_PER_BLOCK, 0, None)?;
    let at_once = on_each * u32::try_from(processors)?;
    ensure!(blocks <= at_once, "{blocks} blocks wait for each other, but the device holds {at_once} at once");

    let input = stream.clone_htod(&input)?;
    let mut output = stream.alloc_zeros::<u32>(expected.len())?;
    let mut flags = stream.alloc_zeros::<u32>(blocks as usize)?;
    // Descriptors as an earlier run over other numbers left them: complete, and all wrong.
    let mut status = stream.clone_htod(&vec![INCLUSIVE; blocks as usize])?;
    let stale: Vec<u32> = (1..=blocks).map(|block| block * 1_000_003).collect();
    let mut partial = stream.clone_htod(&stale)?;
    let mut inclusive = stream.clone_htod(&stale)?;
    let mut finished = stream.alloc_zeros::<u32>(blocks as usize)?;
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(&input).arg(&mut output).arg(&mut flags);
    launch.arg(&mut status).arg(&mut partial).arg(&mut inclusive).arg(&mut finished).arg(&options.size);
    // SAFETY: the arguments are the kernel's parameters, in order and type; the kernel reads `size` elements
    // of `input`, writes as many of `output`, and uses one element a block of the others.
    unsafe { launch.launch(shape(blocks, THREADS_PER_BLOCK)) }.context("the launch failed")?;
    let output = stream.clone_dtoh(&output).context("the kernel failed")?;
    Ok(compare(&output, &expected))
}

/// The sums of the first 1, 2, … numbers.
fn prefix_sums(numbers: &[u32]) -> Vec<u32> {
    let add = |sum: &mut u32, number: &u32| {
        *sum += number;
        Some(*sum)
    };
    numbers.iter().scan(0, add).collect()
}

/// What there is to say of the device's prefix sums.
fn compare(output: &[u32], expected: &[u32]) -> CheckVerdict {
    let wrong = output.iter().zip(expected).filter(|(have, want)| have != want).count();
    match output.iter().zip(expected).position(|(have, want)| have != want) {
        None => Ok(format!("{} prefix sums are right", expected.len())),
        Some(first) => Err(format!(
            "{wrong} of {} prefix sums, the first is element {first}: {} instead of {}",
            expected.len(),
            output[first],
            expected[first],
        )),
    }
}
