//! Copies of vectors and matrices between host and device. They need no handle; those without a stream are done when the call
//! returns, as copies of the runtime are.

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

use super::call::anytime;
use super::functions;
use super::number::{Int, count};
use super::status::{Outcome, Status};
use crate::driver::{self, Copy2D, Stream};

/// `CU_MEMORYTYPE_HOST`
const HOST: u32 = 1;
/// `CU_MEMORYTYPE_DEVICE`
const DEVICE: u32 = 2;

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
    stream: Option<Stream>,
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
    let (mut source_pitch, mut pitch) = (product(apart, bytes)?, product(to_apart, bytes)?);
    if source_pitch == width && pitch == width {
        (width, height) = (product(width, height)?, 1);
        (source_pitch, pitch) = (width, width);
    }
    let into_device = way == Way::ToDevice;
    let kind = |device: bool| if device { DEVICE } else { HOST };
    let copy = Copy2D {
        source_x: 0,
        source_y: 0,
        source_type: kind(!into_device),
        source_host: from.0,
        source_device: from.0 as u64,
        source_array: null_mut(),
        source_pitch,
        x: 0,
        y: 0,
        kind: kind(into_device),
        host: to.0,
        device: to.0 as u64,
        array: null_mut(),
        pitch,
        width,
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
            stream: Stream,
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
            stream: Stream,
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
