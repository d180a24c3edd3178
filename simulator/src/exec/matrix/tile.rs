//! Where the elements of a `wmma` matrix lie in memory.

use bugaroo_ptx::op::{MatrixPart, MatrixType, WmmaMatrix};

use crate::alu::tensor::places::{per_register, wmma_place};

/// Where the elements of a `wmma` matrix lie in memory.
pub(super) struct Layout {
    extent: (usize, usize),
    row: bool,
    stride: u64,
    ty: MatrixType,
}

impl Layout {
    pub fn new(matrix: &WmmaMatrix, part: MatrixPart, stride: Option<u32>) -> Layout {
        let extent = matrix.shape.extent(part);
        let dense = if matrix.row { extent.1 } else { extent.0 };
        let stride = stride.map_or(dense as u64, u64::from);
        Layout { extent, row: matrix.row, stride, ty: matrix.ty }
    }

    /// Rows and columns.
    pub fn extent(&self) -> (usize, usize) {
        self.extent
    }

    /// How many elements there are.
    pub fn elements(&self) -> usize {
        self.extent.0 * self.extent.1
    }

    /// The bits of an element.
    pub fn bits(&self) -> u32 {
        self.ty.bits()
    }

    /// Elements of a register.
    pub fn per_register(&self) -> usize {
        per_register(self.ty)
    }

    /// The first bit of an element.
    pub fn bit(&self, (row, column): (usize, usize)) -> u64 {
        let (major, minor) = if self.row { (row, column) } else { (column, row) };
        (major as u64 * self.stride + minor as u64) * u64::from(self.ty.bits())
    }

    /// Bytes from the first element to the last.
    pub fn bytes(&self) -> u64 {
        (self.bit((self.extent.0 - 1, self.extent.1 - 1)) + u64::from(self.ty.bits())).div_ceil(8)
    }

    /// Whether the elements of a register lie behind each other, and begin with a byte.
    fn whole(&self, bit: u64) -> bool {
        self.row && self.extent.1 >= self.per_register() && bit.is_multiple_of(8)
    }

    /// A lane's register, of so many.
    ///
    /// # Safety
    /// Every element can be read.
    #[inline(always)]
    pub unsafe fn read(&self, base: *const u8, registers: usize, register: usize, lane: usize) -> u64 {
        let (per, bits) = (self.per_register(), self.bits());
        let place = |e: usize| wmma_place(self.extent, registers * per, lane, register * per + e);
        let first = self.bit(place(0));
        // SAFETY: the caller's promise.
        unsafe {
            if self.whole(first) {
                return read_element(base, first, bits * per as u32);
            }
            (0..per)
                .fold(0, |value, e| value | read_element(base, self.bit(place(e)), bits) << (e as u32 * bits))
        }
    }

    /// Sets the elements of a lane's register, of so many. They have 16 bits or more.
    ///
    /// # Safety
    /// Every element can be written.
    #[inline(always)]
    pub unsafe fn write(&self, base: *mut u8, registers: usize, register: usize, lane: usize, value: u64) {
        let (per, bits) = (self.per_register(), self.bits());
        for e in 0..per {
            let place = wmma_place(self.extent, registers * per, lane, register * per + e);
            // SAFETY: the caller's promise.
            unsafe { write_element(base, self.bit(place), bits, value >> (e as u32 * bits)) };
        }
    }
}

/// # Safety
/// The element's bytes can be read.
pub(super) unsafe fn read_element(base: *const u8, bit: u64, bits: u32) -> u64 {
    let from = base.wrapping_add((bit / 8) as usize);
    // SAFETY: the caller's promise.
    unsafe {
        match bits {
            64 => from.cast::<u64>().read_unaligned(),
            32 => u64::from(from.cast::<u32>().read_unaligned()),
            16 => u64::from(from.cast::<u16>().read_unaligned()),
            8 => u64::from(from.read()),
            _ => u64::from(from.read()) >> (bit % 8) & ((1 << bits) - 1),
        }
    }
}

/// # Safety
/// The element's bytes can be written. It has 16 bits or more.
unsafe fn write_element(base: *mut u8, bit: u64, bits: u32, value: u64) {
    let to = base.wrapping_add((bit / 8) as usize);
    // SAFETY: the caller's promise.
    unsafe {
        match bits {
            64 => to.cast::<u64>().write_unaligned(value),
            32 => to.cast::<u32>().write_unaligned(value as u32),
            _ => to.cast::<u16>().write_unaligned(value as u16),
        }
    }
}
