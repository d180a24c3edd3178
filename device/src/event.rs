//! Events: places in the order of work, with the device's time ([`crate::objects::clock`]) when they are reached.

use bugaroo_cuda_abi::{CUcontext, CUevent};

use crate::error::CallResult;
use crate::lane::Ticket;
use crate::objects::work::Work;
use crate::state::Gpu;

/// Records an event that is reached when all of `before` is done.
///
/// # Errors
/// `InvalidHandle` when there is no such event.
pub fn record(gpu: &mut Gpu, context: CUcontext, event: CUevent, before: &[Ticket]) -> CallResult {
    gpu.ordered.events.get(event)?;
    let ticket = gpu.running.queue.insert(context, Work::Record(event), before);
    gpu.queued();
    gpu.recorded(event, ticket)
}

impl Gpu {
    /// An event was recorded anew.
    ///
    /// # Errors
    /// `InvalidHandle` when there is no such event.
    pub fn recorded(&mut self, event: CUevent, ticket: Ticket) -> CallResult {
        let pending = self.running.queue.is_pending(ticket);
        let event = self.ordered.events.get_mut(event)?;
        (event.ticket, event.reached, event.captured) = (Some(ticket), None, None);
        if let Some(shared) = &event.shared {
            let number = shared.record();
            // What was dropped is nothing to wait for.
            if pending { event.numbers.push((ticket, number)) } else { shared.reach(number) }
        }
        Ok(())
    }

    /// Other processes are told that a record of an event is reached.
    pub fn tell_reached(&mut self, event: CUevent, ticket: Ticket) {
        let Ok(event) = self.ordered.events.get_mut(event) else { return };
        let Some(shared) = &event.shared else { return };
        let at = event.numbers.iter().position(|(record, _)| *record == ticket);
        // A graph's record has no number before it is reached.
        shared.reach(at.map_or_else(|| shared.record(), |at| event.numbers.swap_remove(at).1));
    }

    /// An event is reached, as far as it was not recorded anew or destroyed since.
    pub fn reach(&mut self, event: CUevent, ticket: Ticket) {
        self.tell_reached(event, ticket);
        self.running.clock.recorded();
        let now = self.running.clock.now();
        if let Ok(event) = self.ordered.events.get_mut(event)
            && event.ticket == Some(ticket)
        {
            event.reached = Some(now);
        }
    }
}
