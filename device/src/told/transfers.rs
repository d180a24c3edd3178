//! What the driver itself reads and writes: copies, fills, and memory that comes and goes.

use std::collections::BTreeMap;

use bugaroo_simulator::AllocationKind;

use crate::error::CallResult;
use crate::objects::fill::Fill;
use crate::objects::stream::Stream;
use crate::objects::transfer::{CopyPlace, CopySide, Transfer};
use crate::state::Gpu;

impl Gpu {
    /// Tells race detectors what a copy that was checked reads and writes, of what they know: row by row, but for rows
    /// without gaps.
    pub fn tell_transfer(&self, copy: &Transfer) {
        let Some(order) = self.running.queue.order.as_ref().filter(|_| !copy.is_empty()) else { return };
        let tell = |side: &CopySide, writes: bool| {
            let address = |place| match place {
                CopyPlace::Device(address) => Some(address),
                CopyPlace::Host(address) => {
                    Some(address as u64).filter(|address| self.is_host_visible(*address))
                }
            };
            if address(side.start).is_none() {
                return;
            }
            // The extents were checked: no product overflows.
            let one_slice = copy.height == 1 || side.pitch == copy.width;
            let slice_bytes = copy.width * copy.height;
            if one_slice && (copy.depth == 1 || side.slice == slice_bytes) {
                let start = address(side.start).unwrap_or_default();
                return order.accessed(start, (slice_bytes * copy.depth) as u64, writes);
            }
            for z in 0..copy.depth {
                let rows = if one_slice { 1 } else { copy.height };
                let bytes = if one_slice { slice_bytes } else { copy.width };
                for y in 0..rows {
                    let start = address(side.row(y, z)).unwrap_or_default();
                    order.accessed(start, bytes as u64, writes);
                }
            }
        };
        tell(&copy.from, false);
        tell(&copy.to, true);
    }

    /// Tells race detectors what a fill that was checked writes, in rows of so many bytes.
    pub fn tell_fill(&self, fill: &Fill, row: usize) {
        let Some(order) = &self.running.queue.order else { return };
        if fill.height == 1 || fill.pitch == row {
            return order.accessed(fill.to, (row * fill.height) as u64, true);
        }
        for y in 0..fill.height {
            order.accessed(fill.to + (y * fill.pitch) as u64, row as u64, true);
        }
    }

    /// Does a piece of a stream's work at the call, when what comes before is done. `waits`: the call promises that it is done
    /// when it returns, and that what came before it is.
    ///
    /// # Errors
    /// As `body`.
    pub fn at_call(
        &mut self,
        stream: &Stream,
        waits: bool,
        body: impl FnOnce(&mut Gpu) -> CallResult,
    ) -> CallResult {
        let ticket = self.running.queue.begin_at_call(stream);
        let done = body(self);
        self.running.queue.tell(|order| {
            order.end_at_call();
            if waits {
                order.waited(&[ticket]);
            }
        });
        done
    }

    /// The variables of modules: first addresses, bytes, and whether the host reaches them. Empty where nobody wants to know.
    pub fn module_memory(&self) -> BTreeMap<u64, (u64, bool)> {
        if self.running.queue.order.is_none() {
            return BTreeMap::new();
        }
        let variable = |(address, bytes, kind): (u64, u64, AllocationKind)| match kind {
            AllocationKind::Module | AllocationKind::Managed => Some((address, (bytes, kind.host_visible()))),
            _ => None,
        };
        self.memory.allocations().filter_map(variable).collect()
    }

    /// Tells race detectors how the variables of modules differ from what they were.
    pub fn tell_module_memory(&mut self, before: &BTreeMap<u64, (u64, bool)>) {
        let now = self.module_memory();
        self.running.queue.tell(|order| {
            for (address, (bytes, _)) in before.iter().filter(|(address, _)| !now.contains_key(address)) {
                order.freed(*address, *bytes);
            }
            for (address, (bytes, shared)) in now.iter().filter(|(address, _)| !before.contains_key(address))
            {
                order.allocated(*address, *bytes, *shared);
            }
        });
    }
}
