//! Fills (CUDA Driver API, the `cuMemset` family): a pattern of 1, 2 or 4 bytes over a range or over the rows of a
//! rectangle. They are asynchronous in all their forms, but for those without a stream of memory that the host reaches.

use std::ffi::{c_uchar, c_uint, c_ushort};

use bugaroo_cuda_abi::{CUdeviceptr, CUstream};

use crate::api::submit::{on_stream, submit, twin, waiting_for_stream};
use bugaroo_device::error::Status;
use bugaroo_device::objects::fill::Fill;
use bugaroo_device::objects::work::Work;

/// Submits a fill to a stream.
fn submit_fill(fill: Fill, name: &str, stream: CUstream) -> Status {
    let mut now = false;
    let looked = on_stream(name, stream, |gpu, stream| {
        now = !name.contains("Async") && gpu.is_host_visible(fill.to) && !gpu.is_broken(stream.context);
        Ok(())
    });
    if looked == Status::Success && now {
        return waiting_for_stream(name, stream, |gpu, stream| {
            gpu.at_call(&stream, true, |gpu| fill.execute(gpu))
        });
    }
    submit(name, stream, |gpu, _| {
        let row = fill.check(gpu)?;
        Ok((row != 0).then_some(Work::Fill(fill)))
    })
}

macro_rules! fills {
    ($($item:ty, $line:ident $line_ptds:ident, $line_async:ident $line_ptsz:ident,
        $rows:ident $rows_ptds:ident, $rows_async:ident $rows_ptsz:ident;)*) => {$(
        twin! { $line_ptds =
            /// Fills `items` items from `to` on.
            pub extern "C" fn $line(to: CUdeviceptr, item: $item, items: usize) -> Status {
                submit_fill(Fill::rows(to, item.to_le_bytes(), (items, 1, 0)), stringify!($line), std::ptr::null_mut())
            }
        }

        twin! { $line_ptsz =
            /// Fills `items` items from `to` on, in a stream.
            pub extern "C" fn $line_async(
                to: CUdeviceptr,
                item: $item,
                items: usize,
                stream: CUstream,
            ) -> Status {
                submit_fill(Fill::rows(to, item.to_le_bytes(), (items, 1, 0)), stringify!($line_async), stream)
            }
        }

        twin! { $rows_ptds =
            /// Fills `height` rows of `width` items, `pitch` bytes apart.
            pub extern "C" fn $rows(
                to: CUdeviceptr,
                pitch: usize,
                item: $item,
                width: usize,
                height: usize,
            ) -> Status {
                submit_fill(Fill::rows(to, item.to_le_bytes(), (width, height, pitch)), stringify!($rows), std::ptr::null_mut())
            }
        }

        twin! { $rows_ptsz =
            /// Fills `height` rows of `width` items, `pitch` bytes apart, in a stream.
            pub extern "C" fn $rows_async(
                to: CUdeviceptr,
                pitch: usize,
                item: $item,
                width: usize,
                height: usize,
                stream: CUstream,
            ) -> Status {
                submit_fill(Fill::rows(to, item.to_le_bytes(), (width, height, pitch)), stringify!($rows_async), stream)
            }
        }
    )*};
}

fills! {
    c_uchar, cuMemsetD8_v2 cuMemsetD8_v2_ptds, cuMemsetD8Async cuMemsetD8Async_ptsz,
        cuMemsetD2D8_v2 cuMemsetD2D8_v2_ptds, cuMemsetD2D8Async cuMemsetD2D8Async_ptsz;
    c_ushort, cuMemsetD16_v2 cuMemsetD16_v2_ptds, cuMemsetD16Async cuMemsetD16Async_ptsz,
        cuMemsetD2D16_v2 cuMemsetD2D16_v2_ptds, cuMemsetD2D16Async cuMemsetD2D16Async_ptsz;
    c_uint, cuMemsetD32_v2 cuMemsetD32_v2_ptds, cuMemsetD32Async cuMemsetD32Async_ptsz,
        cuMemsetD2D32_v2 cuMemsetD2D32_v2_ptds, cuMemsetD2D32Async cuMemsetD2D32Async_ptsz;
}
