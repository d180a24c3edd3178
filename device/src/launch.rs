//! What a call asks to be launched: the shape is checked, and parameters are collected into their buffer.

use std::ffi::c_void;

use bugaroo_cuda_abi::CUfunction;
use bugaroo_simulator::KernelInfo;

use crate::error::{CallResult, Status};
use crate::objects::work::{BlocksTogether, LaunchRequest};
use crate::places::not_null;
use crate::state::Gpu;

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
    gpu: &Gpu,
    function: CUfunction,
    (grid, block, shared): ([u32; 3], [u32; 3], u32),
) -> CallResult {
    gpu.check_runnable(function)?;
    let (function, kernel) = gpu.kernel(function)?;
    let device = &gpu.config;
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
/// As `cuLaunchKernel` asks of its two parameter lists.
unsafe fn collect(kernel: &KernelInfo, parameters: Parameters) -> CallResult<Vec<u8>> {
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
unsafe fn extra_buffer<'a>(extra: *const *mut c_void) -> CallResult<&'a [u8]> {
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

impl Gpu {
    /// Checks a launch whose parameters are given as `cuLaunchKernel` takes them.
    ///
    /// # Errors
    /// As [`Self::request_of`], and `InvalidValue` for parameters that are not the kernel's.
    ///
    /// # Safety
    /// The pointers of `parameters` are as `cuLaunchKernel` wants them.
    pub unsafe fn request(
        &self,
        function: CUfunction,
        shape: ([u32; 3], [u32; 3], u32),
        together: BlocksTogether,
        parameters: Parameters,
    ) -> CallResult<LaunchRequest> {
        check_shape(self, function, shape)?;
        let together = self.with_cluster(function, together)?;
        // SAFETY: the caller's promise.
        let parameters = unsafe { collect(self.kernel(function)?.1, parameters) }?;
        self.checked(function, shape, together, parameters)
    }

    /// Checks a launch: blocks of the grid, threads of a block, bytes of dynamic shared memory, and the parameter buffer.
    ///
    /// # Errors
    /// `InvalidValue` for a shape out of the kernel's or the device's limits or a buffer of another size,
    /// `CooperativeLaunchTooLarge`, `InvalidClusterSize`; `InvalidHandle` for what is no function.
    pub fn request_of(
        &self,
        function: CUfunction,
        shape: ([u32; 3], [u32; 3], u32),
        together: BlocksTogether,
        parameters: Vec<u8>,
    ) -> CallResult<LaunchRequest> {
        check_shape(self, function, shape)?;
        if parameters.len() != self.kernel(function)?.1.param_bytes as usize {
            return Err(Status::InvalidValue);
        }
        let together = self.with_cluster(function, together)?;
        self.checked(function, shape, together, parameters)
    }

    fn checked(
        &self,
        function: CUfunction,
        (grid, block, dynamic_shared): ([u32; 3], [u32; 3], u32),
        together: BlocksTogether,
        parameters: Vec<u8>,
    ) -> CallResult<LaunchRequest> {
        let watched = self.reaches_host(&parameters);
        let depth = 0;
        let request =
            LaunchRequest { function, grid, block, dynamic_shared, parameters, together, watched, depth };
        self.check_launch(&request)?;
        Ok(request)
    }

    /// Whether some parameter is an address of memory that the host sees, too.
    fn reaches_host(&self, parameters: &[u8]) -> bool {
        let (words, _) = parameters.as_chunks::<8>();
        words.iter().any(|word| self.is_host_visible(u64::from_le_bytes(*word)))
    }
}
