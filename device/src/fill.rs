//! Fills are checked and done.

use bugaroo_cuda_abi::CUdeviceptr;

use crate::error::{CallResult, Status};
use crate::objects::fill::Fill;
use crate::state::Gpu;

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
    pub fn check(&self, gpu: &Gpu) -> CallResult<usize> {
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
        gpu.check_range(self.to, bytes, true)?;
        Ok(row)
    }

    /// Fills, and counts device time.
    ///
    /// # Errors
    /// As [`Self::check`]; nothing is filled then.
    pub fn execute(&self, gpu: &mut Gpu) -> CallResult {
        let row = self.check(gpu)?;
        if row == 0 {
            return Ok(());
        }
        gpu.tell_fill(self, row);
        for y in 0..self.height {
            let to = self.to + (y * self.pitch) as u64;
            let filled = gpu.memory.fill(to, row as u64, &self.pattern[..self.item]);
            filled.map_err(|_| Status::InvalidValue)?;
        }
        gpu.running.clock.moved(row.saturating_mul(self.height) as u64);
        Ok(())
    }
}
