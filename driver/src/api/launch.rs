//! Launches (CUDA Driver API, "Execution Control"): what is checked before one is handed to its stream.
//!
//! As with the real driver, shapes and sizes out of the kernel's or the device's limits are
//! `CUDA_ERROR_INVALID_VALUE` at the call, and a cooperative launch whose blocks do not fit on the device all
//! at once is `CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE`. A cluster that the grid is no multiple of, or that is not the
//! one the kernel states, is `CUDA_ERROR_INVALID_CLUSTER_SIZE`.

use std::ffi::{c_uint, c_void};
use std::rc::Rc;

use bugaroo_cuda_abi::{CUevent, CUfunction, CUlaunchAttribute, CUlaunchConfig, CUstream};

use crate::api::submit::{on_stream, submit, twin};
use bugaroo_device::error::{CallResult, Status};
use bugaroo_device::launch::Parameters;
use bugaroo_device::objects::work::{BlocksTogether, Work};
use bugaroo_device::places::not_null;
use bugaroo_device::state::Gpu;

/// What else a launch is told.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Attributes {
    together: BlocksTogether,
    /// Events to be recorded when it has got so far as to say so; here, when it has ended.
    events: [Option<CUevent>; 2],
    /// It may begin before what comes before it is done.
    early: bool,
}

/// Checks a launch and hands it to its stream.
///
/// # Safety
/// As [`cuLaunchKernel`].
pub(crate) unsafe fn start(
    name: &str,
    function: CUfunction,
    shape: ([u32; 3], [u32; 3], u32),
    stream: CUstream,
    attributes: Attributes,
    parameters: Parameters,
) -> Status {
    let status = submit(name, stream, |gpu, stream| {
        let function = gpu.function_on(stream.context, function)?;
        // SAFETY: the caller's promise.
        let request = unsafe { gpu.request(function, shape, attributes.together, parameters) }?;
        if let Some(race) = gpu.trial.race.as_mut().filter(|_| attributes.early) {
            race.counts.early += 1;
        }
        Ok(Some(Work::Kernel(Rc::new(request), 0)))
    });
    let events = attributes.events.into_iter().flatten().filter(|_| status == Status::Success);
    events.fold(status, |status, event| match crate::api::event::cuEventRecord(event, stream) {
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
fn take_attribute(gpu: &Gpu, attribute: &CUlaunchAttribute, taken: &mut Attributes) -> CallResult {
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
            gpu.ordered.events.get(event)?;
            taken.events[usize::from(attribute.id == 12)] = Some(event);
            return Ok(());
        }
        13 => "device-updatable kernel nodes are",
        // A preferred cluster (11) allows larger ones.
        0..=16 => return Ok(()),
        _ => return Err(Status::InvalidValue),
    };
    Err(gpu.trial.report.unsupported(&format!("cuLaunchKernelEx: {what} not supported")))
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
        let checked = on_stream(name, config.stream, |gpu, _| {
            if config.attribute_count == 0 {
                return Ok(());
            }
            not_null(config.attributes)?;
            for index in 0..config.attribute_count as usize {
                // SAFETY: the caller's promise.
                take_attribute(gpu, unsafe { &*config.attributes.add(index) }, &mut attributes)?;
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
            Attributes { together: BlocksTogether { cooperative: true, cluster: None }, ..Attributes::default() };
        let parameters = Parameters { each, extra: std::ptr::null() };
        // SAFETY: the caller's promise.
        unsafe { start("cuLaunchCooperativeKernel", function, shape, stream, attributes, parameters) }
    }
}
