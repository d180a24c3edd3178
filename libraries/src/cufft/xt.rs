//! What of cuFFT's second interface (`cufftXt.h`) is for one GPU: plans whose types are said as those of data, and transforms of any type.

use std::ffi::{c_int, c_longlong, c_void};

use bugaroo_cuda_abi::{FunctionAddress, Functions};

use super::exec;
use super::plan::{fill, many};
use super::status::{Outcome, Status};
use crate::unsupported::unsupported;

/// `cudaDataType`: real and complex numbers of 16, 32 and 64 bits.
const REAL: [c_int; 3] = [2, 0, 1];
/// As above.
const COMPLEX: [c_int; 3] = [6, 4, 5];
/// `cudaDataType`: the same of `bfloat16`.
const BRAIN: [c_int; 2] = [14, 15];

/// The `cufftType` of a transform between data of these types, which is executed in this one.
///
/// # Errors
/// `CUFFT_INVALID_TYPE` where there is none, or it is not there.
fn kind(from: c_int, to: c_int, within: c_int) -> Outcome<c_int> {
    let types = [from, to, within];
    let is_short = |number: &c_int| [REAL[0], COMPLEX[0], BRAIN[0], BRAIN[1]].contains(number);
    if types.iter().any(is_short) {
        unsupported("cufftXtMakePlanMany with numbers of 16 bits is not supported");
        return Err(Status::INVALID_TYPE);
    }
    let of = |width: usize| (from == REAL[width], to == REAL[width], [REAL[width], COMPLEX[width]]);
    for (width, wide) in [(1, 0), (2, 0x40)] {
        let (from_real, to_real, all) = of(width);
        if !types.iter().all(|number| all.contains(number)) {
            continue;
        }
        match (from_real, to_real) {
            (false, false) => return Ok(0x29 | wide),
            (true, false) => return Ok(0x2a | wide),
            (false, true) => return Ok(0x2c | wide),
            (true, true) => {}
        }
    }
    Err(Status::INVALID_TYPE)
}

#[allow(clippy::too_many_arguments, reason = "the API's own signature")]
unsafe extern "C" fn make_plan_many(
    plan: c_int,
    rank: c_int,
    n: *const c_longlong,
    room: *const c_longlong,
    stride: c_longlong,
    distance: c_longlong,
    from: c_int,
    to_room: *const c_longlong,
    to_stride: c_longlong,
    to_distance: c_longlong,
    to: c_int,
    batch: c_longlong,
    size: *mut usize,
    within: c_int,
) -> c_int {
    let layouts = [(room, stride, distance), (to_room, to_stride, to_distance)];
    // SAFETY: the caller's promise.
    unsafe {
        fill("cufftXtMakePlanMany", plan, size, || many((rank, n, layouts, kind(from, to, within)?, batch)))
    }
}

/// Transforms real numbers in the only direction that there is for them.
extern "C" fn execute(plan: c_int, from: u64, to: u64, direction: c_int) -> c_int {
    exec::of_any_type("cufftXtExec", plan, (from, to), direction)
}

/// The functions of this file, by name.
pub static FUNCTIONS: Functions = &[
    ("cufftXtMakePlanMany", FunctionAddress(make_plan_many as *const c_void)),
    ("cufftXtExec", FunctionAddress(execute as *const c_void)),
];
