//! Launches (CUDA Driver API, "Execution Control"): what is checked before one is handed to its stream.
//!
//! As with the real driver, shapes and sizes out of the kernel's or the device's limits are
//! `CUDA_ERROR_INVALID_VALUE` at the call, and a cooperative launch whose blocks do not fit on the device all
//! at once is `CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE`. A cluster that the grid is no multiple of, or that is not the
//! one the kernel states, is `CUDA_ERROR_INVALID_CLUSTER_SIZE`.

use std::ffi::{c_uint, c_void};
use std::rc::Rc;

use bugaroo_cuda_abi::{CUevent, CUfunction, CUlaunchAttribute, CUlaunchConfig, CUstream};
use bugaroo_simulator::KernelInfo;

use crate::entry::not_null;
use crate::error::{Outcome, Status};
use crate::execute::{Request, Together};
use crate::state::Driver;
use crate::submit::twin;
use crate::submit::{on_stream, submit};
use crate::work::Work;

/// End of the `extra` list.
const EXTRA_END: usize = 0;
/// The next item of the `extra` list points to the parameter buffer.
const EXTRA_BUFFER: usize = 1;
/// The next item of the `extra` list points to the parameter buffer's size.
const EXTRA_BUFFER_SIZE: usize = 2;
/// More items than any list that ends has.
const EXTRA_ITEMS: usize = 8;

/// The two ways to pass parameters.
#[derive(Clone, Copy)]
pub struct Parameters {
    /// A pointer to each one's value.
    pub each: *const *const c_void,
    /// A list that names a buffer of all of them.
    pub extra: *const *mut c_void,
}

/// Refuses shapes and sizes that the device or the kernel do not allow.
fn check_shape(
    driver: &Driver,
    function: CUfunction,
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
) -> Outcome {
    driver.check_runnable(function)?;
    let (function, kernel) = driver.kernel(function)?;
    let device = &driver.config;
    let within = |shape: [u32; 3], limits: [u32; 3]| {
        shape.iter().zip(limits).all(|(extent, limit)| (1..=limit).contains(extent))
    };
    let threads: u64 = block.iter().map(|extent| u64::from(*extent)).product();
    let most = u64::from(kernel.max_threads.min(device.threads_per_block));
    let fits = within(grid, device.max_grid)
        && within(block, device.max_block)
        && threads <= most
        && shared <= function.dynamic_shared_limit(kernel, device);
    if fits { Ok(()) } else { Err(Status::InvalidValue) }
}

/// The kernel's parameter buffer, put together from what the program passes.
///
/// # Safety
/// As [`cuLaunchKernel`] asks of its two parameter lists.
unsafe fn collect(kernel: &KernelInfo, parameters: Parameters) -> Outcome<Vec<u8>> {
    let mut buffer = vec![0; kernel.param_bytes as usize];
    match (parameters.each.is_null(), parameters.extra.is_null()) {
        (false, false) => return Err(Status::InvalidValue),
        (false, true) => {
            for (index, parameter) in kernel.params.iter().enumerate() {
                // SAFETY: the caller's promise: the list has an item for every parameter.
                let value = unsafe { *parameters.each.add(index) };
                not_null(value)?;
                let (start, size) = (parameter.offset as usize, parameter.size as usize);
                // SAFETY: the caller's promise: the value has the parameter's size.
                let value = unsafe { std::slice::from_raw_parts(value.cast::<u8>(), size) };
                buffer[start..start + size].copy_from_slice(value);
            }
        }
        (true, false) => {
            // SAFETY: the caller's promise.
            let given = unsafe { extra_buffer(parameters.extra) }?;
            if given.len() < buffer.len() {
                return Err(Status::InvalidValue);
            }
            let used = buffer.len();
            buffer.copy_from_slice(&given[..used]);
        }
        (true, true) if kernel.params.is_empty() => {}
        (true, true) => return Err(Status::InvalidValue),
    }
    Ok(buffer)
}

/// The parameter buffer that an `extra` list names.
///
/// # Safety
/// `extra` is such a list, with an end, and names a buffer of the size that it names.
unsafe fn extra_buffer<'a>(extra: *const *mut c_void) -> Outcome<&'a [u8]> {
    let (mut buffer, mut size) = (None, None);
    let mut at = 0;
    while at < EXTRA_ITEMS {
        // SAFETY: the caller's promise: the end was not reached yet, and each key has its value.
        let (key, value) = unsafe {
            match *extra.add(at) as usize {
                EXTRA_END => break,
                key => (key, *extra.add(at + 1)),
            }
        };
        at += 2;
        match key {
            EXTRA_BUFFER => buffer = Some(value.cast::<u8>()),
            EXTRA_BUFFER_SIZE => {
                not_null(value)?;
                // SAFETY: the caller's promise.
                size = Some(unsafe { value.cast::<usize>().read_unaligned() });
            }
            _ => return Err(Status::InvalidValue),
        }
    }
    match (buffer, size) {
        (_, Some(0)) => Ok(&[]),
        (Some(buffer), Some(size)) => {
            not_null(buffer)?;
            // SAFETY: the caller's promise.
            Ok(unsafe { std::slice::from_raw_parts(buffer, size) })
        }
        _ => Err(Status::InvalidValue),
    }
}

/// What else a launch is told.
#[derive(Clone, Copy, Debug, Default)]
struct Attributes {
    together: Together,
    /// Events to be recorded when it has got so far as to say so; here, when it has ended.
    events: [Option<CUevent>; 2],
    /// It may begin before what comes before it is done.
    early: bool,
}

impl Driver {
    /// Checks a launch.
    ///
    /// # Errors
    /// As the call tells.
    ///
    /// # Safety
    /// As [`cuLaunchKernel`].
    pub unsafe fn request(
        &self,
        function: CUfunction,
        (grid, block, dynamic_shared): ([u32; 3], [u32; 3], u32),
        together: Together,
        parameters: Parameters,
    ) -> Outcome<Request> {
        check_shape(self, function, grid, block, dynamic_shared)?;
        let together = self.with_cluster(function, together)?;
        // SAFETY: the caller's promise.
        let parameters = unsafe { collect(self.kernel(function)?.1, parameters) }?;
        let watched = self.reaches_host(&parameters);
        let depth = 0;
        let request = Request { function, grid, block, dynamic_shared, parameters, together, watched, depth };
        self.check_launch(&request)?;
        Ok(request)
    }

    /// Whether some parameter is an address of memory that the host sees, too.
    fn reaches_host(&self, parameters: &[u8]) -> bool {
        let (words, _) = parameters.as_chunks::<8>();
        words.iter().any(|word| self.is_host_visible(u64::from_le_bytes(*word)))
    }
}

/// Checks a launch and hands it to its stream.
///
/// # Safety
/// As [`cuLaunchKernel`].
unsafe fn start(
    name: &str,
    function: CUfunction,
    shape: ([u32; 3], [u32; 3], u32),
    stream: CUstream,
    attributes: Attributes,
    parameters: Parameters,
) -> Status {
    let status = submit(name, stream, |driver, _| {
        // SAFETY: the caller's promise.
        let request = unsafe { driver.request(function, shape, attributes.together, parameters) }?;
        if let Some(race) = driver.race.as_mut().filter(|_| attributes.early) {
            race.early += 1;
        }
        Ok(Some(Work::Kernel(Rc::new(request), 0)))
    });
    let events = attributes.events.into_iter().flatten().filter(|_| status == Status::Success);
    events.fold(status, |status, event| match crate::event::cuEventRecord(event, stream) {
        Status::Success => status,
        failed => failed,
    })
}

twin! { cuLaunchKernel_ptsz =
    /// Launches a kernel. What goes wrong in it is told by a later call that waits for the device.
    ///
    /// # Safety
    /// Either `each` is null or has a pointer for each of the kernel's parameters, to a value of its size,
    /// or `extra` is a list that ends with `CU_LAUNCH_PARAM_END` and names a parameter buffer and its size.
    #[allow(clippy::too_many_arguments, reason = "the API's own signature")]
    pub unsafe extern "C" fn cuLaunchKernel(
        function: CUfunction,
        grid_x: c_uint,
        grid_y: c_uint,
        grid_z: c_uint,
        block_x: c_uint,
        block_y: c_uint,
        block_z: c_uint,
        dynamic_shared: c_uint,
        stream: CUstream,
        each: *const *const c_void,
        extra: *const *mut c_void,
    ) -> Status {
        let shape = ([grid_x, grid_y, grid_z], [block_x, block_y, block_z], dynamic_shared);
        let (attributes, parameters) = (Attributes::default(), Parameters { each, extra });
        // SAFETY: the caller's promise.
        unsafe { start("cuLaunchKernel", function, shape, stream, attributes, parameters) }
    }
}

/// Takes a launch attribute in; refuses those that would change what a launch means here.
fn take_attribute(driver: &Driver, attribute: &CUlaunchAttribute, taken: &mut Attributes) -> Outcome {
    // SAFETY: the forms read are those that `cuda.h` states for these attributes; any bits are
    // numbers.
    let (cooperative, cluster, event) =
        unsafe { (attribute.value.cooperative, attribute.value.cluster_dimension, attribute.value.pointer) };
    let what = match attribute.id {
        2 => {
            taken.together.cooperative = cooperative != 0;
            return Ok(());
        }
        4 => {
            taken.together.cluster = Some(cluster).filter(|extent| *extent != [0; 3]);
            return Ok(());
        }
        6 => {
            // It allows an early start, and does not ask for it.
            taken.early = cooperative != 0;
            return Ok(());
        }
        7 | 12 => {
            driver.events.get(event)?;
            taken.events[usize::from(attribute.id == 12)] = Some(event);
            return Ok(());
        }
        13 => "device-updatable kernel nodes are",
        // A preferred cluster (11) allows larger ones.
        0..=16 => return Ok(()),
        _ => return Err(Status::InvalidValue),
    };
    Err(driver.report.unsupported(&format!("cuLaunchKernelEx: {what} not supported")))
}

twin! { cuLaunchKernelEx_ptsz =
    /// Launches a kernel with attributes: cooperative, clusters, and those that only advise the hardware.
    ///
    /// # Safety
    /// `config` is null or points to a configuration whose attributes are there; the parameters are as
    /// for [`cuLaunchKernel`].
    pub unsafe extern "C" fn cuLaunchKernelEx(
        config: *const CUlaunchConfig,
        function: CUfunction,
        each: *const *const c_void,
        extra: *const *mut c_void,
    ) -> Status {
        let name = "cuLaunchKernelEx";
        if config.is_null() {
            return on_stream(name, std::ptr::null_mut(), |_, _| Err(Status::InvalidValue));
        }
        // SAFETY: not null, and the caller vouches for the rest.
        let config = unsafe { config.read_unaligned() };
        let mut attributes = Attributes::default();
        let checked = on_stream(name, config.stream, |driver, _| {
            if config.attribute_count == 0 {
                return Ok(());
            }
            not_null(config.attributes)?;
            for index in 0..config.attribute_count as usize {
                // SAFETY: the caller's promise.
                take_attribute(driver, unsafe { &*config.attributes.add(index) }, &mut attributes)?;
            }
            Ok(())
        });
        if checked != Status::Success {
            return checked;
        }
        let shape = (config.grid, config.block, config.shared_mem_bytes);
        // SAFETY: the caller's promise.
        unsafe { start(name, function, shape, config.stream, attributes, Parameters { each, extra }) }
    }
}

twin! { cuLaunchCooperativeKernel_ptsz =
    /// Launches a kernel whose blocks may wait for each other: all are resident at once.
    ///
    /// # Safety
    /// As [`cuLaunchKernel`].
    #[allow(clippy::too_many_arguments, reason = "the API's own signature")]
    pub unsafe extern "C" fn cuLaunchCooperativeKernel(
        function: CUfunction,
        grid_x: c_uint,
        grid_y: c_uint,
        grid_z: c_uint,
        block_x: c_uint,
        block_y: c_uint,
        block_z: c_uint,
        dynamic_shared: c_uint,
        stream: CUstream,
        each: *const *const c_void,
    ) -> Status {
        let shape = ([grid_x, grid_y, grid_z], [block_x, block_y, block_z], dynamic_shared);
        let attributes =
            Attributes { together: Together { cooperative: true, cluster: None }, ..Attributes::default() };
        let parameters = Parameters { each, extra: std::ptr::null() };
        // SAFETY: the caller's promise.
        unsafe { start("cuLaunchCooperativeKernel", function, shape, stream, attributes, parameters) }
    }
}
