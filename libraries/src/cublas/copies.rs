//! Copies of vectors and matrices between host and device. They need no handle; those without a stream are done when the call
//! returns, as copies of the runtime are.

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

use bugaroo_cuda_abi::{CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST, CUDA_MEMCPY2D, CUstream};

use super::call::anytime;
use super::functions::functions;
use super::number::{Int, count};
use super::status::{Outcome, Status};
use crate::driver;

/// Which way a copy goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    ToDevice,
    FromDevice,
}

/// Copies `columns` columns of `rows` values.
///
/// # Safety
/// The host's side holds what is copied.
unsafe fn copy<I: Int>(
    way: Way,
    [rows, columns, bytes]: [I; 3],
    from: (*const c_void, I),
    to: (*mut c_void, I),
    stream: Option<CUstream>,
) -> Outcome {
    let (rows, columns, bytes) = (count(rows)?, count(columns)?, count(bytes)?);
    let (apart, to_apart) = (count(from.1)?, count(to.1)?);
    if bytes == 0 || apart < rows.max(1) || to_apart < rows.max(1) {
        return Err(Status::INVALID_VALUE);
    }
    if rows == 0 || columns == 0 {
        return Ok(());
    }
    let product = |a: usize, b: usize| a.checked_mul(b).ok_or(Status::INVALID_VALUE);
    let (mut width, mut height) = (product(rows, bytes)?, columns);
    let (mut src_pitch, mut dst_pitch) = (product(apart, bytes)?, product(to_apart, bytes)?);
    if src_pitch == width && dst_pitch == width {
        (width, height) = (product(width, height)?, 1);
        (src_pitch, dst_pitch) = (width, width);
    }
    let into_device = way == Way::ToDevice;
    let kind = |device: bool| if device { CU_MEMORYTYPE_DEVICE } else { CU_MEMORYTYPE_HOST };
    let copy = CUDA_MEMCPY2D {
        src_x_in_bytes: 0,
        src_y: 0,
        src_memory_type: kind(!into_device),
        src_host: from.0,
        src_device: from.0 as u64,
        src_array: null_mut(),
        src_pitch,
        dst_x_in_bytes: 0,
        dst_y: 0,
        dst_memory_type: kind(into_device),
        dst_host: to.0,
        dst_device: to.0 as u64,
        dst_array: null_mut(),
        dst_pitch,
        width_in_bytes: width,
        height,
    };
    driver::ready()?;
    // SAFETY: a whole description, and the caller's promise.
    let done = unsafe {
        match stream {
            Some(stream) => driver::cuMemcpy2DAsync_v2(&raw const copy, stream),
            None => driver::cuMemcpy2D_v2(&raw const copy),
        }
    };
    done.map_err(|_| Status::MAPPING_ERROR)
}

macro_rules! copies {
    ($($vector:ident $vector_async:ident $matrix:ident $matrix_async:ident $way:ident;)*) => {$(
        unsafe extern "C" fn $vector<I: Int>(
            n: I,
            bytes: I,
            x: *const c_void,
            x_step: I,
            y: *mut c_void,
            y_step: I,
        ) -> c_int {
            let shape = [I::of(1), n, bytes];
            // SAFETY: the caller's promise.
            anytime(stringify!($vector), || unsafe { copy(Way::$way, shape, (x, x_step), (y, y_step), None) })
        }

        unsafe extern "C" fn $vector_async<I: Int>(
            n: I,
            bytes: I,
            x: *const c_void,
            x_step: I,
            y: *mut c_void,
            y_step: I,
            stream: CUstream,
        ) -> c_int {
            let (shape, stream) = ([I::of(1), n, bytes], Some(stream));
            // SAFETY: the caller's promise.
            anytime(stringify!($vector_async), || unsafe {
                copy(Way::$way, shape, (x, x_step), (y, y_step), stream)
            })
        }

        unsafe extern "C" fn $matrix<I: Int>(
            rows: I,
            columns: I,
            bytes: I,
            a: *const c_void,
            a_leading: I,
            b: *mut c_void,
            b_leading: I,
        ) -> c_int {
            let shape = [rows, columns, bytes];
            // SAFETY: the caller's promise.
            anytime(stringify!($matrix), || unsafe {
                copy(Way::$way, shape, (a, a_leading), (b, b_leading), None)
            })
        }

        #[allow(clippy::too_many_arguments, reason = "the API's own signature")]
        unsafe extern "C" fn $matrix_async<I: Int>(
            rows: I,
            columns: I,
            bytes: I,
            a: *const c_void,
            a_leading: I,
            b: *mut c_void,
            b_leading: I,
            stream: CUstream,
        ) -> c_int {
            let (shape, stream) = ([rows, columns, bytes], Some(stream));
            // SAFETY: the caller's promise.
            anytime(stringify!($matrix_async), || unsafe {
                copy(Way::$way, shape, (a, a_leading), (b, b_leading), stream)
            })
        }
    )*};
}
copies! {
    set_vector set_vector_async set_matrix set_matrix_async ToDevice;
    get_vector get_vector_async get_matrix get_matrix_async FromDevice;
}

functions! {
    "cublasSetVector" = set_vector<>; "cublasSetVectorAsync" = set_vector_async<>;
    "cublasSetMatrix" = set_matrix<>; "cublasSetMatrixAsync" = set_matrix_async<>;
    "cublasGetVector" = get_vector<>; "cublasGetVectorAsync" = get_vector_async<>;
    "cublasGetMatrix" = get_matrix<>; "cublasGetMatrixAsync" = get_matrix_async<>;
}
