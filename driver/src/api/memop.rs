//! Waiting for and writing words of memory in stream order (CUDA Driver API, "Stream Memory Operations").
//! Remote writes are never outstanding, so that there is nothing to flush; the attribute says so.

use std::ffi::{c_uint, c_void};

use bugaroo_cuda_abi::{CUdeviceptr, CUstream, CUstreamBatchMemOpParams};

use crate::api::settle::settle;
use crate::api::submit::{on_stream, twin};
use bugaroo_device::error::{CallResult, Status};
use bugaroo_device::objects::work::{Act, WaitValue, Work};
use bugaroo_device::places::not_null;
use bugaroo_device::state::Gpu;
use bugaroo_device::submit::Submitted;

/// Bits of the comparison in a wait's flags.
const COMPARISON: c_uint = 3;

/// One operation.
#[derive(Clone, Copy, Debug)]
enum Operation {
    Wait { address: CUdeviceptr, value: u64, wide: bool, flags: c_uint },
    Write { address: CUdeviceptr, value: u64, wide: bool, flags: c_uint },
    Barrier,
}

impl Operation {
    fn work(self, gpu: &mut Gpu) -> CallResult<Work> {
        let (Operation::Wait { address, value, wide, flags }
        | Operation::Write { address, value, wide, flags }) = self
        else {
            return Ok(Work::Nothing);
        };
        let bytes = if wide { 8 } else { 4 };
        gpu.running.queue.tell(|order| order.signals(address, bytes as u64));
        gpu.check_range(address, bytes, matches!(self, Operation::Write { .. }))?;
        if !address.is_multiple_of(bytes as u64) {
            return Err(Status::InvalidValue);
        }
        if matches!(self, Operation::Wait { .. }) {
            if flags & !COMPARISON != 0 {
                return Err(if flags >> 30 == 1 { Status::NotSupported } else { Status::InvalidValue });
            }
            return Ok(Work::WaitValue(WaitValue { address, value, wide, comparison: flags }));
        }
        if flags > 1 {
            return Err(Status::InvalidValue);
        }
        Ok(Work::Act(Act::Write(vec![(address, value.to_le_bytes()[..bytes].to_vec())].into())))
    }
}

fn run(name: &str, stream: CUstream, operations: impl FnOnce() -> CallResult<Vec<Operation>>) -> Status {
    let mut settling: Vec<Submitted> = Vec::new();
    let status = on_stream(name, stream, |gpu, stream| {
        let works = operations()?.into_iter().map(|operation| operation.work(gpu));
        let works: Vec<Work> = works.collect::<CallResult<_>>()?;
        for work in works {
            settling.extend(gpu.submit(&stream, work)?);
        }
        Ok(())
    });
    let told = settling.into_iter().map(|submitted| settle(&submitted, name));
    told.fold(status, |status, told| if status == Status::Success { told } else { status })
}

macro_rules! operations {
    ($($(#[$doc:meta])* $variant:ident $value:ty, $wide:literal:
        $name:ident $ptsz:ident, $second:ident $second_ptsz:ident;)*) => {$(
        twin! { $ptsz =
            $(#[$doc])*
            pub extern "C" fn $name(
                stream: CUstream, address: CUdeviceptr, value: $value, flags: c_uint,
            ) -> Status {
                run(stringify!($name), stream, || {
                    Ok(vec![Operation::$variant { address, value: value.into(), wide: $wide, flags }])
                })
            }
        }

        twin! { $second_ptsz =
            $(#[$doc])*
            pub extern "C" fn $second(
                stream: CUstream, address: CUdeviceptr, value: $value, flags: c_uint,
            ) -> Status {
                $name(stream, address, value, flags)
            }
        }
    )*};
}

operations! {
    /// Lets a stream wait for a word of memory.
    Wait u32, false: cuStreamWaitValue32_v2 cuStreamWaitValue32_v2_ptsz, cuStreamWaitValue32 cuStreamWaitValue32_ptsz;
    /// Lets a stream wait for a double word of memory.
    Wait u64, true: cuStreamWaitValue64_v2 cuStreamWaitValue64_v2_ptsz, cuStreamWaitValue64 cuStreamWaitValue64_ptsz;
    /// Writes a word of memory in stream order.
    Write u32, false: cuStreamWriteValue32_v2 cuStreamWriteValue32_v2_ptsz, cuStreamWriteValue32 cuStreamWriteValue32_ptsz;
    /// Writes a double word of memory in stream order.
    Write u64, true: cuStreamWriteValue64_v2 cuStreamWriteValue64_v2_ptsz, cuStreamWriteValue64 cuStreamWriteValue64_ptsz;
}

twin! { cuStreamBatchMemOp_v2_ptsz =
    /// Does several operations in stream order.
    ///
    /// # Safety
    /// `list` is null or holds `count` operations.
    pub unsafe extern "C" fn cuStreamBatchMemOp_v2(
        stream: CUstream,
        count: c_uint,
        list: *mut CUstreamBatchMemOpParams,
        flags: c_uint,
    ) -> Status {
        run("cuStreamBatchMemOp_v2", stream, || {
            if flags != 0 || count > 256 {
                return Err(Status::InvalidValue);
            }
            if count > 0 {
                not_null(list)?;
            }
            let operation = |at: usize| {
                // SAFETY: the caller's promise.
                let CUstreamBatchMemOpParams { operation, address, value, flags, .. } =
                    unsafe { list.add(at).read_unaligned() };
                let narrow = value & u64::from(u32::MAX);
                Ok(match operation {
                    1 => Operation::Wait { address, value: narrow, wide: false, flags },
                    2 => Operation::Write { address, value: narrow, wide: false, flags },
                    4 => Operation::Wait { address, value, wide: true, flags },
                    5 => Operation::Write { address, value, wide: true, flags },
                    6 => Operation::Barrier,
                    3 => return Err(Status::NotSupported),
                    _ => return Err(Status::InvalidValue),
                })
            };
            (0..count as usize).map(operation).collect()
        })
    }
}

twin! { cuStreamBatchMemOp_ptsz =
    /// Does several operations in stream order.
    ///
    /// # Safety
    /// As [`cuStreamBatchMemOp_v2`].
    pub unsafe extern "C" fn cuStreamBatchMemOp(
        stream: CUstream,
        count: c_uint,
        list: *mut c_void,
        flags: c_uint,
    ) -> Status {
        // SAFETY: the same contract.
        unsafe { cuStreamBatchMemOp_v2(stream, count, list.cast(), flags) }
    }
}
