//! Launches as before CUDA 4.0 (CUDA Driver API, "Execution Control [DEPRECATED]"): shape and parameters are set
//! one by one, and kept for every launch that follows.

use std::ffi::{c_int, c_uint, c_void};
use std::rc::Rc;

use bugaroo_cuda_abi::{CUfunction, CUstream};

use crate::api::entry::with_context;
use crate::api::submit::submit;
use bugaroo_device::error::{CallResult, Status};
use bugaroo_device::launch::Parameters;
use bugaroo_device::objects::legacy_launch::LegacyLaunch;
use bugaroo_device::objects::work::{BlocksTogether, Work};
use bugaroo_device::places::not_null;
use bugaroo_device::state::Gpu;

/// Parameters of a kernel take this many bytes at most.
const MOST: usize = 32764;

fn set(name: &str, function: CUfunction, change: impl FnOnce(&mut LegacyLaunch) -> CallResult) -> Status {
    with_context(name, |gpu, _| {
        gpu.code.functions.get(function)?;
        change(gpu.code.legacy_launches.entry(function as usize).or_default())
    })
}

/// Sets the shape of blocks.
pub extern "C" fn cuFuncSetBlockShape(function: CUfunction, x: c_int, y: c_int, z: c_int) -> Status {
    set("cuFuncSetBlockShape", function, |settings| {
        let extent = |extent| u32::try_from(extent).map_err(|_| Status::InvalidValue);
        settings.block = [extent(x)?, extent(y)?, extent(z)?];
        Ok(())
    })
}

/// Sets the bytes of dynamic shared memory.
pub extern "C" fn cuFuncSetSharedSize(function: CUfunction, bytes: c_uint) -> Status {
    set("cuFuncSetSharedSize", function, |settings| {
        settings.dynamic_shared = bytes;
        Ok(())
    })
}

/// Sets the bytes of all parameters.
pub extern "C" fn cuParamSetSize(function: CUfunction, bytes: c_uint) -> Status {
    set("cuParamSetSize", function, |settings| {
        if bytes as usize > MOST {
            return Err(Status::InvalidValue);
        }
        settings.parameters.resize(bytes as usize, 0);
        Ok(())
    })
}

fn put(settings: &mut LegacyLaunch, offset: c_int, value: &[u8]) -> CallResult {
    let start = usize::try_from(offset).map_err(|_| Status::InvalidValue)?;
    let end = start.checked_add(value.len()).filter(|end| *end <= MOST).ok_or(Status::InvalidValue)?;
    if settings.parameters.len() < end {
        settings.parameters.resize(end, 0);
    }
    settings.parameters[start..end].copy_from_slice(value);
    Ok(())
}

/// Sets a parameter that is a whole number.
pub extern "C" fn cuParamSeti(function: CUfunction, offset: c_int, value: c_uint) -> Status {
    set("cuParamSeti", function, |settings| put(settings, offset, &value.to_le_bytes()))
}

/// Sets a parameter that is a floating-point number.
pub extern "C" fn cuParamSetf(function: CUfunction, offset: c_int, value: f32) -> Status {
    set("cuParamSetf", function, |settings| put(settings, offset, &value.to_le_bytes()))
}

/// Sets a parameter of any kind.
///
/// # Safety
/// `value` is null or points to `bytes` bytes.
pub unsafe extern "C" fn cuParamSetv(
    function: CUfunction,
    offset: c_int,
    value: *const c_void,
    bytes: c_uint,
) -> Status {
    set("cuParamSetv", function, |settings| {
        not_null(value)?;
        // SAFETY: not null, and the caller vouches for the rest.
        let value = unsafe { std::slice::from_raw_parts(value.cast::<u8>(), bytes as usize) };
        put(settings, offset, value)
    })
}

fn start(name: &str, function: CUfunction, (width, height): (c_int, c_int), stream: CUstream) -> Status {
    submit(name, stream, |gpu: &mut Gpu, _| {
        let extent = |extent| u32::try_from(extent).map_err(|_| Status::InvalidValue);
        let grid = [extent(width)?, extent(height)?, 1];
        gpu.code.functions.get(function)?;
        let settings = gpu.code.legacy_launches.get(&(function as usize)).cloned().unwrap_or_default();
        let needed = gpu.kernel(function)?.1.param_bytes as usize;
        let mut parameters = settings.parameters;
        if parameters.len() < needed {
            return Err(Status::InvalidValue);
        }
        let size = parameters.len();
        let extra = [
            std::ptr::without_provenance_mut::<c_void>(1),
            parameters.as_mut_ptr().cast(),
            std::ptr::without_provenance_mut(2),
            std::ptr::from_ref(&size).cast_mut().cast(),
            std::ptr::null_mut(),
        ];
        let given = if needed == 0 { std::ptr::null() } else { extra.as_ptr() };
        let given = Parameters { each: std::ptr::null(), extra: given };
        // SAFETY: the list names a buffer of as many bytes as it says, which is there.
        let request = unsafe {
            gpu.request(
                function,
                (grid, settings.block, settings.dynamic_shared),
                BlocksTogether::default(),
                given,
            )
        }?;
        Ok(Some(Work::Kernel(Rc::new(request), 0)))
    })
}

/// Launches one block.
pub extern "C" fn cuLaunch(function: CUfunction) -> Status {
    start("cuLaunch", function, (1, 1), std::ptr::null_mut())
}

/// Launches a grid.
pub extern "C" fn cuLaunchGrid(function: CUfunction, width: c_int, height: c_int) -> Status {
    start("cuLaunchGrid", function, (width, height), std::ptr::null_mut())
}

/// Launches a grid in a stream.
pub extern "C" fn cuLaunchGridAsync(
    function: CUfunction,
    width: c_int,
    height: c_int,
    stream: CUstream,
) -> Status {
    start("cuLaunchGridAsync", function, (width, height), stream)
}
