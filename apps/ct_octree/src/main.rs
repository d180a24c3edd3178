//! `ct_octree`: octree partitioning of particles by blocks with work-stealing deques, after Cederman
//! and Tsigas.
//!
//! Exit code 0 when the device's octree is the host's, 1 with one line on stderr when it isn't, 2 when
//! the device could not be used at all. All numbers are whole, so the comparison is exact.

mod check;
mod particles;

use std::process::ExitCode;

use anyhow::{Context as _, bail, ensure};
use bugaroo_apps_host::{CheckVerdict, Device, conclude, shape};
use clap::{Parser, ValueEnum};
use cudarc::driver::PushKernelArg as _;

use crate::check::{Limits, check, divided, leaves, slot};
use crate::particles::{packed, particles};

const KERNELS: &str = include_str!("../kernel.ptx");
const BLOCKS: u32 = 16;
const THREADS_PER_BLOCK: u32 = 64;
/// The root's code.
const ROOT: u32 = 1;
const LIMITS: Limits = Limits { leaf: 32, depth: 8 };

/// Octree partitioning of particles with work-stealing deques (Cederman and Tsigas).
#[derive(Parser)]
#[command(version)]
struct Options {
    /// Whether push() has its fence
    #[arg(long, value_enum, default_value_t = Variant::NoFence)]
    variant: Variant,

    /// Particles
    #[arg(long, value_name = "N", default_value_t = 3072, value_parser = clap::value_parser!(u32).range(1..=MAX_PARTICLES))]
    size: u32,

    /// Say how many tasks were pushed and stolen, which differs from schedule to schedule
    #[arg(long)]
    stats: bool,
}

/// The largest size, so that a deque's elements do not fill the device.
const MAX_PARTICLES: i64 = 1 << 22;

/// The largest index that a deque's word can hold (20 bits).
const MAX_CAPACITY: usize = (1 << 20) - 1;

/// The fence variants of the paper's Table IV.
#[derive(Clone, Copy, ValueEnum)]
enum Variant {
    /// No fence: the bug
    #[value(name = "original_no_fence")]
    NoFence,
    /// A fence in push()
    #[value(name = "1_fence")]
    InPush,
    /// The fewest fences that are right under the PTX memory model
    #[value(name = "ptx_correct")]
    PtxCorrect,
}

impl Variant {
    fn kernel(self) -> &'static str {
        match self {
            Variant::NoFence => "octree_original_no_fence",
            Variant::InPush => "octree_1_fence",
            Variant::PtxCorrect => "octree_ptx_correct",
        }
    }
}

/// The kernel's counters at the launch, `struct Control` of `kernel.cu`: open, failed, pushes, steals.
/// The root is open.
const CONTROL: [u32; 4] = [1, 0, 0, 0];

fn main() -> ExitCode {
    conclude("ct_octree", octree_on_device(&Options::parse()))
}

/// The device's octree beside the host's.
fn octree_on_device(options: &Options) -> anyhow::Result<CheckVerdict> {
    let particles = particles(options.size);
    let expected = leaves(&particles, LIMITS);
    // An index of a deque that was stolen is not used again, so a block may need one for every task.
    let capacity = divided(&expected);
    ensure!(capacity <= MAX_CAPACITY, "{capacity} tasks are more than a deque can count");
    let slots: Vec<u64> = (0..options.size).map(|number| slot(ROOT, number)).collect();
    let positions: Vec<u64> = particles.iter().map(|&particle| packed(particle)).collect();

    let device = Device::open(KERNELS)?;
    let kernel = device.kernel(options.variant.kernel())?;
    let stream = &device.stream;
    let mut slots = stream.clone_htod(&slots)?;
    let positions = stream.clone_htod(&positions)?;
    let mut control = stream.clone_htod(&CONTROL)?;
    let mut words = stream.alloc_zeros::<u64>(BLOCKS as usize)?;
    let mut elements = stream.alloc_zeros::<u32>(4 * BLOCKS as usize * capacity)?;
    let capacity = u32::try_from(capacity)?;
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(&mut slots).arg(&positions).arg(&mut control).arg(&mut words).arg(&mut elements);
    launch.arg(&options.size).arg(&LIMITS.leaf).arg(&LIMITS.depth).arg(&capacity);
    // SAFETY: the arguments are the kernel's parameters, in order and type. The kernel checks every
    // index that it reads from memory against `size` (there are as many slots and positions) or against
    // `capacity` (each block has as many elements).
    unsafe { launch.launch(shape(BLOCKS, THREADS_PER_BLOCK)) }.context("the launch failed")?;
    let control = stream.clone_dtoh(&control).context("the kernel failed")?;
    let [open, failed, pushes, steals] = control[..] else { bail!("{} counters", control.len()) };
    if options.stats {
        println!("ct_octree: {pushes} tasks pushed, {steals} stolen");
    }
    if failed != 0 {
        return Ok(Err("a block met a task or a particle that cannot be".to_owned()));
    }
    if open != 0 {
        return Ok(Err(format!("{open} tasks are still open")));
    }
    let slots = stream.clone_dtoh(&slots)?;
    Ok(check(&particles, &expected, &slots)
        .map(|()| format!("{} particles in {} leaves are right", particles.len(), expected.len())))
}
