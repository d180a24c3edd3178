//! Contributions to the gain by the device.

use anyhow::Context as _;
use bugaroo_apps_host::{Device, shape};
use cudarc::driver::{CudaFunction, CudaSlice, PushKernelArg as _};

use crate::gain::{Contributions, Gain, Solution};
use crate::points::{DIMENSIONS, Points};

const KERNELS: &str = include_str!("../kernel.ptx");
const THREADS_PER_BLOCK: u32 = 256;

/// The points on the device, and room for what a launch reads and writes.
pub struct OnDevice {
    device: Device,
    kernel: CudaFunction,
    size: usize,
    coordinates: CudaSlice<f32>,
    cost: CudaSlice<f32>,
    assigned: CudaSlice<i32>,
    slot: CudaSlice<i32>,
    /// Rows for as many centres as there ever were.
    lower: CudaSlice<f32>,
    switches: CudaSlice<u8>,
}

impl OnDevice {
    /// Takes the points to the device.
    ///
    /// # Errors
    /// When the device cannot be used.
    pub fn new(points: &Points) -> anyhow::Result<OnDevice> {
        let device = Device::open(KERNELS)?;
        let kernel = device.kernel("gain")?;
        let (stream, size) = (&device.stream, points.size);
        Ok(OnDevice {
            size,
            coordinates: stream.clone_htod(&points.by_dimension)?,
            cost: stream.alloc_zeros(size)?,
            assigned: stream.alloc_zeros(size)?,
            slot: stream.alloc_zeros(size)?,
            lower: stream.alloc_zeros(size)?,
            switches: stream.alloc_zeros(size)?,
            kernel,
            device,
        })
    }
}

impl Gain for OnDevice {
    type Error = anyhow::Error;

    fn contributions(
        &mut self,
        solution: &Solution,
        candidate: usize,
        contributions: &mut Contributions,
    ) -> anyhow::Result<()> {
        let stream = &self.device.stream;
        let floats = self.size * (solution.centres.len() + 1);
        if self.lower.len() < floats {
            self.lower = stream.alloc_zeros(floats)?;
        }
        stream.memcpy_htod(&solution.cost, &mut self.cost)?;
        stream.memcpy_htod(&solution.assigned, &mut self.assigned)?;
        stream.memcpy_htod(&solution.slot, &mut self.slot)?;
        stream.memset_zeros(&mut self.lower.slice_mut(..floats))?;
        stream.memset_zeros(&mut self.switches)?;

        let (size, dimensions) = (i32::try_from(self.size)?, DIMENSIONS as i32);
        let (candidate, centres) = (i32::try_from(candidate)?, i32::try_from(solution.centres.len())?);
        let mut launch = stream.launch_builder(&self.kernel);
        launch.arg(&self.coordinates).arg(&self.cost).arg(&self.assigned).arg(&self.slot);
        launch.arg(&mut self.lower).arg(&mut self.switches);
        launch.arg(&size).arg(&dimensions).arg(&candidate).arg(&centres);
        let grid = shape(size.cast_unsigned().div_ceil(THREADS_PER_BLOCK), THREADS_PER_BLOCK);
        // SAFETY: the arguments are the kernel's parameters, in order and type; it reads `size` points
        // and what belongs to them and writes `size` flags and rows of `centres` + 1 floats, which is
        // what the arrays hold. Every assigned centre is a point, and its slot is below `centres`.
        unsafe { launch.launch(grid) }.context("a launch failed")?;

        contributions.lower.resize(floats, 0.0);
        contributions.switches.resize(self.size, 0);
        stream
            .memcpy_dtoh(&self.lower.slice(..floats), &mut contributions.lower)
            .context("a kernel failed")?;
        stream.memcpy_dtoh(&self.switches, &mut contributions.switches).context("a kernel failed")
    }
}
