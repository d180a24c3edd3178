//! What the driver does at once when its turn comes, and no kernel, copy or fill is.

use crate::error::{CallResult, Status};
use crate::objects::transfer::{CopyPlace, CopySide, Transfer};
use crate::objects::work::Act;
use crate::state::Gpu;

impl Gpu {
    /// Does it.
    ///
    /// # Errors
    /// `InvalidValue` when memory is not there any more.
    pub fn act(&mut self, act: &Act) -> CallResult {
        match act {
            Act::Write(words) => {
                for (address, bytes) in words.iter() {
                    self.memory.write(*address, bytes).map_err(|_| Status::InvalidValue)?;
                }
                Ok(())
            }
            Act::Free { address, bytes } => {
                // Whoever uses it has to come before.
                self.running.queue.tell(|order| order.accessed(*address, *bytes, true));
                self.free(*address)
            }
            // What is wrong with an address is wrong as with an access of a kernel's.
            // SAFETY: neither side is the host's.
            Act::AskedCopy(copy) => unsafe { copy.execute(self) }.map_err(|_| Status::IllegalAddress),
            Act::AskedFill(fill) => fill.execute(self).map_err(|_| Status::IllegalAddress),
            Act::Staged { copy, taken } => {
                let from = CopySide::line(CopyPlace::Host(taken.as_ptr().cast_mut().cast()));
                // SAFETY: the bytes that were taken, which are only read; the other side is the device's or page-locked.
                unsafe { Transfer { from, ..*copy }.execute(self) }
            }
            Act::Allocated { memory, live } => {
                self.ordered.graphs.memory.set_live(memory.address, *live);
                Ok(())
            }
        }
    }
}
