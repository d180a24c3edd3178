//! Fills (CUDA Driver API, the `cuMemset` family): a pattern of 1, 2 or 4 bytes over a range or over the rows of a
//! rectangle. They are asynchronous in all their forms, as far as the host can tell.

use std::ffi::{c_uchar, c_uint, c_ushort};

use crate::error::{Outcome, Status};
use crate::state::Driver;
use crate::stream::with_stream;
use crate::types::{CUdeviceptr, CUstream};

/// A fill: `height` rows of `width` items, `pitch` bytes apart.
struct Fill<const N: usize> {
    to: CUdeviceptr,
    pattern: [u8; N],
    width: usize,
    height: usize,
    pitch: usize,
}

impl<const N: usize> Fill<N> {
    fn line(to: CUdeviceptr, pattern: [u8; N], items: usize) -> Self {
        Fill { to, pattern, width: items, height: 1, pitch: 0 }
    }

    fn run(self, name: &str, stream: CUstream) -> Status {
        with_stream(name, stream, |driver, stream| {
            let row = self.check(driver)?;
            if row == 0 || driver.is_broken(stream.context) {
                return Ok(());
            }
            for y in 0..self.height {
                let to = self.to + (y * self.pitch) as u64;
                driver.memory.fill(to, row as u64, &self.pattern).map_err(|_| Status::InvalidValue)?;
            }
            driver.clock.moved(row.saturating_mul(self.height) as u64);
            Ok(())
        })
    }

    /// Bytes of a row; refuses what is misaligned or not inside one allocation.
    fn check(&self, driver: &Driver) -> Outcome<usize> {
        let row = self.width.checked_mul(N).ok_or(Status::InvalidValue)?;
        if row == 0 || self.height == 0 {
            return Ok(0);
        }
        let gaps = self.height > 1;
        let misaligned = !self.to.is_multiple_of(N as u64) || (gaps && !self.pitch.is_multiple_of(N));
        if misaligned || (gaps && self.pitch < row) {
            return Err(Status::InvalidValue);
        }
        let rows_before = (self.height - 1).checked_mul(self.pitch).ok_or(Status::InvalidValue)?;
        let bytes = rows_before.checked_add(row).ok_or(Status::InvalidValue)?;
        driver.check_range(self.to, bytes)?;
        Ok(row)
    }
}

macro_rules! fills {
    ($($item:ty, $line:ident, $line_async:ident, $rows:ident, $rows_async:ident;)*) => {$(
        /// Fills `items` items from `to` on.
        #[unsafe(no_mangle)]
        pub extern "C" fn $line(to: CUdeviceptr, item: $item, items: usize) -> Status {
            Fill::line(to, item.to_le_bytes(), items).run(stringify!($line), std::ptr::null_mut())
        }

        /// Fills `items` items from `to` on, in a stream.
        #[unsafe(no_mangle)]
        pub extern "C" fn $line_async(
            to: CUdeviceptr,
            item: $item,
            items: usize,
            stream: CUstream,
        ) -> Status {
            Fill::line(to, item.to_le_bytes(), items).run(stringify!($line_async), stream)
        }

        /// Fills `height` rows of `width` items, `pitch` bytes apart.
        #[unsafe(no_mangle)]
        pub extern "C" fn $rows(
            to: CUdeviceptr,
            pitch: usize,
            item: $item,
            width: usize,
            height: usize,
        ) -> Status {
            Fill { to, pattern: item.to_le_bytes(), width, height, pitch }
                .run(stringify!($rows), std::ptr::null_mut())
        }

        /// Fills `height` rows of `width` items, `pitch` bytes apart, in a stream.
        #[unsafe(no_mangle)]
        pub extern "C" fn $rows_async(
            to: CUdeviceptr,
            pitch: usize,
            item: $item,
            width: usize,
            height: usize,
            stream: CUstream,
        ) -> Status {
            Fill { to, pattern: item.to_le_bytes(), width, height, pitch }.run(stringify!($rows_async), stream)
        }
    )*};
}

fills! {
    c_uchar, cuMemsetD8_v2, cuMemsetD8Async, cuMemsetD2D8_v2, cuMemsetD2D8Async;
    c_ushort, cuMemsetD16_v2, cuMemsetD16Async, cuMemsetD2D16_v2, cuMemsetD2D16Async;
    c_uint, cuMemsetD32_v2, cuMemsetD32Async, cuMemsetD2D32_v2, cuMemsetD2D32Async;
}
