//! Which lane holds which element of a matrix.
//!
//! `mma`: as the ISA shows it ("Matrix Fragments for mma"), in one formula for all shapes. A register holds
//! `e` neighbours; lane `4g + t` holds, in register `r` of A, row `g` (plus 8 for odd `r` where there are 16
//! rows) and columns from `t·e` (plus `4e` for each further pair of registers) on; B likewise with its rows
//! for A's columns and one column `g`; C has two neighbours `2t` and `2t + 1` of row `g`, then those of `g + 8`.
//!
//! `wmma`, opaque to programs: element `i` of lane `l` is, in row-major order, element
//! `l · (elements of a lane) + i` of the matrix; where lanes have more room than there are elements, they
//! begin again.

use bugaroo_ptx::op::{MatrixPart, MatrixShape, MatrixType, WmmaMatrix};

use crate::alu::Width;

/// Width of a fragment's registers.
pub(super) fn width(ty: MatrixType) -> Width {
    if ty == MatrixType::F64 { Width::W64 } else { Width::W32 }
}

/// Elements of a register.
pub(super) fn per_register(ty: MatrixType) -> usize {
    (width(ty).bytes() / 4 / ty.bits()) as usize
}

/// Row and column of element `i` of a lane, of `wmma` with so many elements a lane.
pub(super) fn wmma_place(
    (rows, columns): (usize, usize),
    elements: usize,
    lane: usize,
    i: usize,
) -> (usize, usize) {
    let number = (lane * elements + i) % (rows * columns);
    (number / columns, number % columns)
}

/// Row and column of element `e` of a lane's register, of `mma`.
pub(super) fn mma_place(
    shape: MatrixShape,
    part: MatrixPart,
    ty: MatrixType,
    (register, lane, e): (usize, usize, usize),
) -> (usize, usize) {
    let per = per_register(ty);
    let (group, within) = (lane / 4, lane % 4);
    let tall = shape.m == 16;
    match part {
        MatrixPart::A => {
            let (row, pair) = if tall { (group + register % 2 * 8, register / 2) } else { (group, register) };
            (row, within * per + e + pair * 4 * per)
        }
        MatrixPart::B => (within * per + e + register * 4 * per, group),
        MatrixPart::C => {
            let i = register * per + e;
            (group + i / 2 * 8, within * 2 + i % 2)
        }
    }
}

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
pub(super) unsafe fn write_element(base: *mut u8, bit: u64, bits: u32, value: u64) {
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

/// The registers of a matrix.
pub(super) struct Fragment {
    ty: MatrixType,
    registers: Vec<[u64; 32]>,
}

impl Fragment {
    /// An empty one.
    pub fn new(ty: MatrixType, registers: usize) -> Fragment {
        Fragment { ty, registers: vec![[0; 32]; registers] }
    }

    /// Reads the registers of the lanes in `mask`.
    pub fn gather(ty: MatrixType, count: usize, mask: u32, read: impl Fn(usize, usize) -> u64) -> Fragment {
        let mut fragment = Fragment::new(ty, count);
        for (register, values) in fragment.registers.iter_mut().enumerate() {
            for lane in crate::exec::data::lanes(mask) {
                values[lane] = read(register, lane);
            }
        }
        fragment
    }

    pub fn register(&self, register: usize, lane: usize) -> u64 {
        self.registers[register][lane]
    }

    /// Register, first bit, and the bits of element `i` of a lane.
    fn within(&self, i: usize) -> (usize, u32, u64) {
        let (per, bits) = (per_register(self.ty), self.ty.bits());
        (i / per, (i % per) as u32 * bits, u64::MAX >> (64 - bits))
    }

    /// Element `i` of a lane.
    pub fn element(&self, lane: usize, i: usize) -> u64 {
        let (register, shift, mask) = self.within(i);
        self.registers[register][lane] >> shift & mask
    }

    /// Sets element `i` of a lane, which is zero.
    pub fn set_element(&mut self, lane: usize, i: usize, value: u64) {
        let (register, shift, mask) = self.within(i);
        self.registers[register][lane] |= (value & mask) << shift;
    }

    /// Calls `each` with the bits of every element that a lane holds, and their place.
    pub fn elements(
        &self,
        shape: MatrixShape,
        part: MatrixPart,
        wmma: bool,
        mut each: impl FnMut((usize, usize), u64),
    ) {
        self.places(shape, part, wmma, |place, register, lane, shift, mask| {
            each(place, self.registers[register][lane] >> shift & mask);
        });
    }

    /// Sets every element to what `value` says of its place.
    pub fn fill(
        &mut self,
        shape: MatrixShape,
        part: MatrixPart,
        wmma: bool,
        value: impl Fn((usize, usize)) -> u64,
    ) {
        let mut registers = std::mem::take(&mut self.registers);
        let count = registers.len();
        self.registers = vec![[0; 32]; count];
        self.places(shape, part, wmma, |place, register, lane, shift, mask| {
            registers[register][lane] |= (value(place) & mask) << shift;
        });
        self.registers = registers;
    }

    fn places(
        &self,
        shape: MatrixShape,
        part: MatrixPart,
        wmma: bool,
        mut each: impl FnMut((usize, usize), usize, usize, u32, u64),
    ) {
        let (per, bits) = (per_register(self.ty), self.ty.bits());
        let mask = u64::MAX >> (64 - bits);
        let (extent, count) = (shape.extent(part), self.registers.len());
        // `wmma` repeats elements: the first copy counts, so it comes last.
        for lane in (0..32).rev() {
            for register in 0..count {
                for e in 0..per {
                    let place = if wmma {
                        wmma_place(extent, count * per, lane, register * per + e)
                    } else {
                        mma_place(shape, part, self.ty, (register, lane, e))
                    };
                    each(place, register, lane, e as u32 * bits, mask);
                }
            }
        }
    }
}
