//! How much programs are.

use super::packed::{Opcode, Packed};
use super::programs::{WarpProgram, WarpPrograms};
use super::signal::Signalled;

impl WarpPrograms {
    /// Commands of all threads: each lane of a command counts one. Exchanges of warps, which are commands for their waiting alone, count
    /// none.
    pub fn thread_commands(&self) -> u64 {
        let warp = |w: &WarpProgram| -> u64 {
            w.commands
                .iter()
                .filter(|c| c.opcode() != Opcode::Exit && !c.is_meeting())
                .map(|c| u64::from(c.lanes.count_ones()))
                .sum()
        };
        self.warps.iter().map(warp).sum()
    }

    /// Bytes that the programs hold.
    pub fn bytes(&self) -> usize {
        let warp = |w: &WarpProgram| {
            w.commands.capacity() * size_of::<Packed>()
                + w.addresses.capacity() * size_of::<[u32; 32]>()
                + w.values.capacity() * size_of::<u64>()
                + w.signals.capacity() * size_of::<Signalled>()
        };
        self.warps.iter().map(warp).sum()
    }
}
