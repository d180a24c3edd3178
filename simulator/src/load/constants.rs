//! The constant area: immediates and addresses as broadcast rows, shared by all functions of a program.

use rustc_hash::FxHashMap;

use crate::alu::Width;
use crate::decoded::LaunchValue;

/// 32 bytes on a 32-byte boundary; the area is made of these so that every row is aligned.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
struct Chunk([u8; 32]);

/// Rows of constants.
#[derive(Clone, Debug, Default)]
pub struct Constants {
    chunks: Vec<Chunk>,
    known: FxHashMap<(Width, u64), u32>,
    launch: Vec<(LaunchValue, Width, u32)>,
    full: bool,
}

/// Chunks of which every byte's offset has a slot: a program of a million distinct constants takes 8 million of them.
const MOST: usize = 1 << 25;

impl Constants {
    /// The slot of a row whose lanes all hold `bits` (for a predicate: bit 0), cut to `width`.
    pub fn slot(&mut self, width: Width, bits: u64) -> i32 {
        let bits = match width {
            Width::Pred => bits & 1,
            Width::W16 => bits & 0xffff,
            Width::W32 => bits & 0xffff_ffff,
            Width::W64 => bits,
        };
        if let Some(offset) = self.known.get(&(width, bits)) {
            return slot(*offset);
        }
        let offset = self.grow(width);
        self.set(offset, width, bits);
        self.known.insert((width, bits), offset);
        slot(offset)
    }

    /// The slot of a row that is written when a launch begins.
    pub fn launch_slot(&mut self, width: Width, value: LaunchValue) -> i32 {
        if let Some((.., offset)) = self.launch.iter().find(|row| (row.0, row.1) == (value, width)) {
            return slot(*offset);
        }
        let offset = self.grow(width);
        self.launch.push((value, width, offset));
        slot(offset)
    }

    /// Writes the rows that depend on the launch.
    pub fn fill(&mut self, value: impl Fn(LaunchValue) -> u64) {
        for i in 0..self.launch.len() {
            let (which, width, offset) = self.launch[i];
            self.set(offset, width, value(which));
        }
    }

    /// First byte of the area.
    pub fn base(&self) -> *const u8 {
        self.chunks.as_ptr().cast()
    }

    /// The area.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: a chunk is 32 bytes without padding, and any bytes are bytes.
        unsafe { std::slice::from_raw_parts(self.base(), self.chunks.len() * size_of::<Chunk>()) }
    }

    /// There are more constants than slots can tell apart: no function that uses these may run.
    pub fn full(&self) -> bool {
        self.full
    }

    fn grow(&mut self, width: Width) -> u32 {
        let start = self.chunks.len();
        let end = start + width.bytes().div_ceil(32) as usize;
        if end > MOST {
            self.full = true;
            return 0;
        }
        self.chunks.resize(end, Chunk([0; 32]));
        start as u32 * 32
    }

    fn set(&mut self, offset: u32, width: Width, bits: u64) {
        let size = (width.bytes() / 32) as usize;
        let first = offset as usize / 32;
        for chunk in self.chunks.iter_mut().skip(first).take(width.bytes().div_ceil(32) as usize) {
            if width == Width::Pred {
                let lanes = if bits & 1 == 0 { 0u32 } else { !0 };
                chunk.0[..4].copy_from_slice(&lanes.to_le_bytes());
                continue;
            }
            for lane in chunk.0.chunks_exact_mut(size) {
                lane.copy_from_slice(&bits.to_le_bytes()[..size]);
            }
        }
    }
}

/// Offsets stay below 1 GiB, see [`MOST`].
fn slot(offset: u32) -> i32 {
    !(offset as i32)
}
