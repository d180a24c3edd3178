//! Barriers of the whole grid, as the library has them for cooperative launches (`grid.sync()`): one thread of each block adds to a counter in the
//! grid's workspace and waits there until all blocks have. Where that workspace lies stands in `%envreg1` and `%envreg2`.
//!
//! One block is emulated, which goes on when it is alone. That all others come, too, and as often, is right where no block's course depends on
//! which one it is: then what holds of one holds of all. Where it does depend on that, the kernel is refused, unless whoever asks looks at all blocks of the grid
//! and counts ([`super::Options::whole_grid`]).
//!
//! # What it can miss
//! Counters that a program makes for itself, in memory of its own: that loops end which wait for global memory is taken for granted.

use bugaroo_ptx::op::AtomOp;
use bugaroo_simulator::decoded::{Atomic, Base};

use super::machine::Machine;
use super::refusal::{Refusal, RefusalKind};
use super::registers::Why;
use super::text::Form;

impl Machine<'_> {
    /// Whether an atomic operation is an arrival at the grid's barrier.
    pub fn is_grid_arrival(&self, frame: u32, atomic: &Atomic, lane: usize) -> bool {
        let slot = match atomic.address.base {
            Base::Row64(slot) | Base::Row32(slot) => slot,
            Base::Fixed | Base::FrameLocal => return false,
        };
        let registers = &self.calls.frames[frame as usize].registers;
        if atomic.op != AtomOp::Add || registers.known(slot) >> lane & 1 != 0 {
            return false;
        }
        // By what the address is computed from; or by where it was first not known, if it went through what makes no expressions.
        let by_origin = registers.why(slot).plain().pc().is_some_and(|pc| {
            matches!(self.set.code.extras[pc as usize].arithmetic.form, Form::Launch { workspace: true })
        });
        by_origin
            || registers.symbol(slot, lane).is_some_and(|symbol| self.known.symbols.is_of_workspace(symbol))
    }

    /// A thread comes to the grid's barrier.
    pub fn arrive_at_grid(&mut self, w: usize, pc: u32, lane: usize) -> Result<(), Refusal> {
        let leavers = self.warps[w].leavers.lanes >> lane & 1 != 0;
        if self.ways.doubt.depth > 0 || leavers {
            return Err(self.unknown(w, pc, lane, "whether the grid's barrier is reached", Why::NEVER));
        }
        self.course.grid_barriers += 1;
        Ok(())
    }

    /// Refuses a kernel of whose blocks some may come to the grid's barrier and others not, or less often.
    pub fn meet_in_grid(&self) -> Result<(), Refusal> {
        if self.course.grid_barriers == 0 || !self.known.symbols.assumes_block() {
            return Ok(());
        }
        let message = "blocks wait for all others of the grid (grid.sync), and what a block does depends on which one it is: whether all come is not known";
        Err(Refusal::new(RefusalKind::NotVerifiable, message))
    }
}
