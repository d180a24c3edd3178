//! What ends takes with it what it owns: modules their functions and variables, contexts all that was made in them.

use bugaroo_cuda_abi::{CUcontext, CUmodule};

use crate::error::CallResult;
use crate::objects::memory::{Allocation, HostBlock};
use crate::objects::queue::WorkProgress;
use crate::state::Gpu;

impl Gpu {
    /// Takes a module with its functions and variables away.
    ///
    /// # Errors
    /// `InvalidHandle`.
    pub fn unload(&mut self, module: CUmodule) -> CallResult {
        self.note_module_end(module);
        let module = self.code.modules.remove(module)?;
        for function in module.functions {
            // Functions live exactly as long as their module.
            let _ = self.code.functions.remove(function);
        }
        if let Some(injected) = &module.injected {
            injected.remove(&mut self.memory);
        }
        let before = self.module_memory();
        module.program.unload(&mut self.memory);
        self.tell_module_memory(&before);
        Ok(())
    }

    /// Frees everything that belongs to a context, as at its destruction.
    pub fn clear(&mut self, context: CUcontext) {
        for ticket in self.running.queue.of(context) {
            if let Some(item) = self.running.queue.item(ticket)
                && let WorkProgress::Flying(flight) =
                    std::mem::replace(&mut item.progress, WorkProgress::Ready)
            {
                self.discard(ticket, *flight);
            }
            self.running.queue.finish(ticket);
        }
        self.tell_races(true);
        self.forget_peer(context);
        for module in self.code.modules.find(|module| module.context == Some(context)) {
            // Just found, hence there.
            let _ = self.unload(module);
        }
        for stream in self.ordered.streams.find(|stream| stream.context == context) {
            let _ = self.ordered.streams.remove(stream);
        }
        for event in self.ordered.events.find(|event| event.context == context) {
            let _ = self.ordered.events.remove(event);
        }
        crate::texture::clear(self, context);
        for array in self.held.mipmapped.find(|array| array.context == context) {
            let _ = crate::mipmap::destroy(self, array);
        }
        for array in self.held.arrays.find(|array| array.context == context) {
            let _ = crate::array::destroy(self, array);
        }
        let owned =
            |(address, allocation): (&u64, &Allocation)| (allocation.context == context).then_some(*address);
        let addresses: Vec<u64> = self.held.allocations.iter().filter_map(owned).collect();
        for address in addresses {
            self.ordered.graphs.memory.forget(address);
            // It was allocated and not freed since, or it would not be in the map.
            let _ = self.free(address);
        }
        let owned = |(address, block): (&usize, &HostBlock)| (block.context == context).then_some(*address);
        let addresses: Vec<usize> = self.held.host_blocks.iter().filter_map(owned).collect();
        for address in addresses {
            crate::host::release(self, address);
        }
    }
}
