//! The registers of a multiplication, where the engine keeps them.

use bugaroo_ptx::op::MatrixPart;

use crate::alu::tensor::Registers;
use crate::exec::data::{lanes, row};

/// The rows of a warp's multiplication.
pub(super) struct Operands<'a> {
    /// By lane; null for those that do not take part.
    pub frames: &'a [*mut u8; 32],
    pub mask: u32,
    /// The one frame of all 32 lanes, if they share one.
    pub whole: Option<*mut u8>,
    pub consts: *const u8,
    /// Slots of A, B and C.
    pub sources: [&'a [i32]; 3],
    /// Rows of D.
    pub destinations: &'a [Option<u32>],
}

impl<'a> Operands<'a> {
    /// # Safety
    /// The slots are the loader's, for registers of the types that the multiplication has.
    pub unsafe fn new(
        frames: &'a [*mut u8; 32],
        mask: u32,
        consts: *const u8,
        sources: [&'a [i32]; 3],
        destinations: &'a [Option<u32>],
    ) -> Operands<'a> {
        let whole =
            (!frames[0].is_null() && frames.iter().all(|frame| *frame == frames[0])).then_some(frames[0]);
        Operands { frames, mask, whole, consts, sources, destinations }
    }

    #[inline(always)]
    fn read<T: Copy + Default>(&self, part: MatrixPart, register: usize) -> [T; 32] {
        let slot = self.sources[part as usize][register];
        if let Some(frame) = self.whole {
            // SAFETY: the loader's row has 32 elements of this type, and is aligned for them.
            return unsafe { *row(frame, self.consts, slot).cast::<[T; 32]>() };
        }
        let mut values = [T::default(); 32];
        for lane in lanes(self.mask) {
            // SAFETY: as above.
            values[lane] = unsafe { *row(self.frames[lane], self.consts, slot).cast::<T>().add(lane) };
        }
        values
    }

    #[inline(always)]
    fn write<T: Copy>(&mut self, register: usize, values: &[T; 32]) {
        let Some(dst) = self.destinations[register] else { return };
        if let Some(frame) = self.whole {
            // SAFETY: as in `read`.
            unsafe { *frame.add(dst as usize).cast::<[T; 32]>() = *values };
            return;
        }
        for lane in lanes(self.mask) {
            // SAFETY: as in `read`.
            unsafe { *self.frames[lane].add(dst as usize).cast::<T>().add(lane) = values[lane] };
        }
    }
}

impl Registers for Operands<'_> {
    #[inline(always)]
    fn words(&self, part: MatrixPart, register: usize) -> [u32; 32] {
        self.read(part, register)
    }

    #[inline(always)]
    fn doubles(&self, part: MatrixPart, register: usize) -> [u64; 32] {
        self.read(part, register)
    }

    #[inline(always)]
    fn set_words(&mut self, register: usize, row: &[u32; 32]) {
        self.write(register, row);
    }

    #[inline(always)]
    fn set_doubles(&mut self, register: usize, row: &[u64; 32]) {
        self.write(register, row);
    }
}
