//! `hotspot`: temperatures of a processor's floor plan, after Rodinia's benchmark of that name.
//!
//! Exit code 0 when every cell's temperature is within a hundredth of a kelvin of the host's own
//! simulation, 1 with one line on stderr when one isn't, 2 when the device could not be used at all.
//! Host and device may differ in rounding alone (fused multiply-add), which stays under a thousandth of
//! a kelvin; neighbouring cells start some ten kelvin apart, so that one stale value shows.

use std::process::ExitCode;

use anyhow::Context as _;
use bugaroo_apps_host::{CheckVerdict, Device, conclude};
use clap::Parser;
use cudarc::driver::{LaunchConfig, PushKernelArg as _};

use crate::chip::Chip;

mod chip;

const KERNELS: &str = include_str!("../kernel.ptx");
/// Cells along the side of a block's tile.
const TILE: u32 = 16;
/// How far a temperature may be off, in kelvin.
const TOLERANCE: f32 = 0.01;

/// Processor temperatures by a stencil in shared memory (Rodinia's hotspot). The defaults are the
/// size of the Bugaroo paper's runs: one launch of two steps.
#[derive(Parser)]
#[command(version)]
struct Options {
    /// Cells along each side of the chip
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..=2048))]
    size: u16,

    /// Time steps
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=100))]
    steps: u32,

    /// Time steps of each launch: the height of the pyramid
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=7))]
    pyramid: u32,
}

fn main() -> ExitCode {
    let options = Options::parse();
    let chip = Chip::new(options.size.into());
    conclude(
        "hotspot",
        simulate_on_device(&chip, &options).map(|temperatures| verdict(&chip, &options, &temperatures)),
    )
}

/// The temperatures after all steps, in kelvin, by the device.
fn simulate_on_device(chip: &Chip, options: &Options) -> anyhow::Result<Vec<f32>> {
    let device = Device::open(KERNELS)?;
    let kernel = device.kernel("hotspot")?;
    let stream = &device.stream;
    let power = stream.clone_htod(&chip.power)?;
    let mut from = stream.clone_htod(&chip.temperature)?;
    let mut to = stream.alloc_zeros::<f32>(chip.temperature.len())?;
    let size = i32::from(options.size);
    let mut left = options.steps;
    while left > 0 {
        let now = left.min(options.pyramid);
        let steps = now.cast_signed();
        let blocks = u32::from(options.size).div_ceil(TILE - 2 * now);
        let grid =
            LaunchConfig { grid_dim: (blocks, blocks, 1), block_dim: (TILE, TILE, 1), shared_mem_bytes: 0 };
        let mut launch = stream.launch_builder(&kernel);
        launch.arg(&power).arg(&from).arg(&mut to).arg(&size).arg(&steps);
        launch
            .arg(&chip.step.heating)
            .arg(&chip.step.lateral)
            .arg(&chip.step.vertical)
            .arg(&chip.step.ambient);
        // SAFETY: the arguments are the kernel's parameters, in order and type; it reads a square of
        // `size` cells from `power` and `from` and writes one to `to`, which is what they hold.
        unsafe { launch.launch(grid) }.context("the launch failed")?;
        std::mem::swap(&mut from, &mut to);
        left -= now;
    }
    stream.clone_dtoh(&from).context("the kernel failed")
}

/// The device's temperatures beside the host's.
fn verdict(chip: &Chip, options: &Options, temperatures: &[f32]) -> CheckVerdict {
    let expected = chip.simulate(options.steps);
    // A NaN is not right, whatever it is compared with.
    let right = |&i: &usize| (temperatures[i] - expected[i]).abs() <= TOLERANCE;
    let mut off = (0..expected.len()).filter(|i| !right(i));
    let count = off.clone().count();
    match off.next() {
        None => Ok(format!("all {} temperatures are right", expected.len())),
        Some(i) => Err(format!(
            "{count} of {} temperatures; the first is {} K instead of {} K, in column {} of row {}",
            expected.len(),
            temperatures[i],
            expected[i],
            i % chip.size,
            i / chip.size
        )),
    }
}
