//! Fills (CUDA Driver API, the `cuMemset` family): a pattern of 1, 2 or 4 bytes over a range or over the rows of a
//! rectangle. They are asynchronous in all their forms, but for those without a stream of memory that the host reaches.

use std::ffi::{c_uchar, c_uint, c_ushort};

use bugaroo_cuda_abi::{CUdeviceptr, CUstream};

use crate::error::{Outcome, Status};
use crate::state::Driver;
use crate::submit::{on_stream, submit, twin, waiting_for_stream};
use crate::work::Work;

/// A fill: `height` rows of `width` bytes, `pitch` bytes apart. Plain data, to be carried out when its turn
/// comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fill {
    /// Where it writes.
    pub to: CUdeviceptr,
    /// What is repeated: the first `item` bytes of it.
    pub pattern: [u8; 4],
    /// Bytes of the pattern: 1, 2 or 4.
    pub item: usize,
    /// Items of a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Bytes from row to row.
    pub pitch: usize,
}

impl Fill {
    /// A fill of rows with items of `N` bytes.
    pub fn rows<const N: usize>(
        to: CUdeviceptr,
        item: [u8; N],
        (width, height, pitch): (usize, usize, usize),
    ) -> Self {
        let mut pattern = [0; 4];
        pattern[..N].copy_from_slice(&item);
        Fill { to, pattern, item: N, width, height, pitch }
    }

    /// Bytes of a row; refuses what is misaligned or not inside one allocation.
    ///
    /// # Errors
    /// `InvalidValue`
    pub fn check(&self, driver: &Driver) -> Outcome<usize> {
        let row = self.width.checked_mul(self.item).ok_or(Status::InvalidValue)?;
        if row == 0 || self.height == 0 {
            return Ok(0);
        }
        let gaps = self.height > 1;
        let misaligned =
            !self.to.is_multiple_of(self.item as u64) || (gaps && !self.pitch.is_multiple_of(self.item));
        if misaligned || (gaps && self.pitch < row) {
            return Err(Status::InvalidValue);
        }
        let rows_before = (self.height - 1).checked_mul(self.pitch).ok_or(Status::InvalidValue)?;
        let bytes = rows_before.checked_add(row).ok_or(Status::InvalidValue)?;
        driver.check_range(self.to, bytes, true)?;
        Ok(row)
    }

    /// Fills, and counts device time.
    ///
    /// # Errors
    /// As [`Self::check`]; nothing is filled then.
    pub fn execute(&self, driver: &mut Driver) -> Outcome {
        let row = self.check(driver)?;
        if row == 0 {
            return Ok(());
        }
        driver.tell_fill(self, row);
        for y in 0..self.height {
            let to = self.to + (y * self.pitch) as u64;
            let filled = driver.memory.fill(to, row as u64, &self.pattern[..self.item]);
            filled.map_err(|_| Status::InvalidValue)?;
        }
        driver.clock.moved(row.saturating_mul(self.height) as u64);
        Ok(())
    }

    /// Submits it to a stream.
    fn submit(self, name: &str, stream: CUstream) -> Status {
        let mut now = false;
        let looked = on_stream(name, stream, |driver, stream| {
            now = !name.contains("Async")
                && driver.is_host_visible(self.to)
                && !driver.is_broken(stream.context);
            Ok(())
        });
        if looked == Status::Success && now {
            return waiting_for_stream(name, stream, |driver, stream| {
                driver.at_call(&stream, true, |driver| self.execute(driver))
            });
        }
        submit(name, stream, |driver, _| {
            let row = self.check(driver)?;
            Ok((row != 0).then_some(Work::Fill(self)))
        })
    }
}

macro_rules! fills {
    ($($item:ty, $line:ident $line_ptds:ident, $line_async:ident $line_ptsz:ident,
        $rows:ident $rows_ptds:ident, $rows_async:ident $rows_ptsz:ident;)*) => {$(
        twin! { $line_ptds =
            /// Fills `items` items from `to` on.
            pub extern "C" fn $line(to: CUdeviceptr, item: $item, items: usize) -> Status {
                Fill::rows(to, item.to_le_bytes(), (items, 1, 0)).submit(stringify!($line), std::ptr::null_mut())
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
                Fill::rows(to, item.to_le_bytes(), (items, 1, 0)).submit(stringify!($line_async), stream)
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
                Fill::rows(to, item.to_le_bytes(), (width, height, pitch))
                    .submit(stringify!($rows), std::ptr::null_mut())
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
                Fill::rows(to, item.to_le_bytes(), (width, height, pitch)).submit(stringify!($rows_async), stream)
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
