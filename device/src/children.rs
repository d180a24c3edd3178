//! What device code launches (CUDA C++ Programming Guide, "CUDA Dynamic Parallelism", version 2): queued when the kernel
//! that asked for it has ended, and done before anything that comes after that kernel.
//!
//! Work of one block in one stream is in order, and so is what waits for an event; `cudaStreamFireAndForget` waits for
//! nothing, and `cudaStreamTailLaunch` for all the rest. A stream that is not the default one is the grid's own.

use std::collections::BTreeMap;
use std::rc::Rc;

use bugaroo_cuda_abi::{CUcontext, CUfunction};
use bugaroo_simulator::{DeviceAction, DeviceWork};

use crate::error::{CallResult, Status};
use crate::lane::Ticket;
use crate::objects::fill::Fill;
use crate::objects::transfer::{CopyPlace, Transfer};
use crate::objects::work::{Act, BlocksTogether, LaunchRequest, Work};
use crate::state::Gpu;

/// `cudaStreamTailLaunch`
const TAIL_LAUNCH: u64 = 3;
/// `cudaStreamFireAndForget`
const FIRE_AND_FORGET: u64 = 4;
/// Deepest nesting of launches, as on hardware.
const DEEPEST: u32 = 24;

/// A stream of device code: of a block, for the default one, or of the grid.
type Lane = (Option<u64>, u64);

impl Gpu {
    /// Queues what a kernel asked for; what is queued as `parent`, which was that kernel, waits for it. Answers whether
    /// there is anything to wait for.
    ///
    /// # Errors
    /// What keeps something of it from being launched.
    pub fn queue_children(
        &mut self,
        context: CUcontext,
        parent: Ticket,
        kernel: (CUfunction, u32),
        asked: Vec<DeviceWork>,
    ) -> CallResult<bool> {
        self.running.queue.tell(|order| order.under(Some(parent), None));
        let queued = self.queue_asked(context, parent, kernel, asked);
        self.running.queue.tell(|order| order.under(None, None));
        queued
    }

    fn queue_asked(
        &mut self,
        context: CUcontext,
        parent: Ticket,
        (function, depth): (CUfunction, u32),
        asked: Vec<DeviceWork>,
    ) -> CallResult<bool> {
        let mut ends: BTreeMap<Lane, Ticket> = BTreeMap::new();
        let mut events: BTreeMap<u64, Ticket> = BTreeMap::new();
        let mut all: Vec<Ticket> = Vec::new();
        let (tail, now): (Vec<_>, Vec<_>) = asked.into_iter().partition(|work| work.stream == TAIL_LAUNCH);
        for DeviceWork { block, stream, number, what } in now {
            self.running.queue.tell(|order| order.under(Some(parent), Some(number)));
            let lane: Lane = ((stream == 0).then_some(block), stream);
            let before = if stream == FIRE_AND_FORGET { None } else { ends.get(&lane).copied() };
            let mut before: Vec<Ticket> = before.into_iter().collect();
            let recorded = if let DeviceAction::Record(event) = what { Some(event) } else { None };
            if let DeviceAction::Wait(event) = what {
                before.extend(events.get(&event));
            }
            let work = self.child(function, depth, what)?;
            let ticket = self.running.queue.insert(context, work, &before);
            events.extend(recorded.map(|event| (event, ticket)));
            ends.insert(lane, ticket);
            all.push(ticket);
        }
        // These come behind all of the parent.
        self.running.queue.tell(|order| order.under(Some(parent), None));
        for DeviceWork { what, .. } in tail {
            if matches!(what, DeviceAction::Record(_) | DeviceAction::Wait(_)) {
                continue;
            }
            let work = self.child(function, depth, what)?;
            let ticket = self.running.queue.insert(context, work, &all);
            all.push(ticket);
        }
        if let Some(item) = self.running.queue.item(parent) {
            item.work = Work::Nothing;
        }
        self.running.queue.wait_again(parent, &all);
        self.queued();
        Ok(!all.is_empty())
    }

    /// A piece of work that device code asked for.
    fn child(&mut self, function: CUfunction, depth: u32, what: DeviceAction) -> CallResult<Work> {
        match what {
            DeviceAction::Launch { kernel, grid, block, dynamic_shared, params } => {
                let depth = depth + 1;
                if depth > DEEPEST {
                    eprintln!(
                        "bugaroo: {kernel}: launches from the device are nested more than {DEEPEST} deep"
                    );
                    return Err(Status::LaunchFailed);
                }
                let module = self.code.functions.get(function)?.module;
                let function = self.find_function(module, &kernel)?;
                self.check_runnable(function)?;
                let together = self.with_cluster(function, BlocksTogether::default())?;
                let (parameters, watched) = (params, false);
                let request = LaunchRequest {
                    function,
                    grid,
                    block,
                    dynamic_shared,
                    parameters,
                    together,
                    watched,
                    depth,
                };
                self.check_launch(&request)?;
                Ok(self.numbered(Work::Kernel(Rc::new(request), 0)))
            }
            // What is wrong with an address shows when its turn comes, as with an access of a kernel's.
            DeviceAction::Copy { to, from, bytes } => {
                let bytes = usize::try_from(bytes).map_err(|_| Status::IllegalAddress)?;
                let copy = Transfer::line(CopyPlace::Device(to), CopyPlace::Device(from), bytes);
                Ok(Work::Act(Act::AskedCopy(copy)))
            }
            DeviceAction::Fill { to, value, bytes } => {
                let bytes = usize::try_from(bytes).map_err(|_| Status::IllegalAddress)?;
                let fill = Fill::rows(to, [value], (bytes, 1, 0));
                Ok(Work::Act(Act::AskedFill(fill)))
            }
            DeviceAction::Record(_) | DeviceAction::Wait(_) => Ok(Work::Nothing),
        }
    }
}
