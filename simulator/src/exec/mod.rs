//! The engine: resident blocks, their warps, and the loop that gives turns.
//!
//! All of a launch's state is laid out when it begins: warps and CTAs of the resident blocks in slots, their
//! register frames, shared and local memory in blocks that do not move. A block that ends gives its slot to
//! the next one in order of index, as on hardware. Switching to another warp is reading another index.

mod access;
mod asynchronous;
mod atomic;
mod barrier;
mod call;
mod cluster;
mod collective;
mod data;
mod device_runtime;
mod diagnose;
mod format;
mod frames;
mod hang;
mod launched;
mod matrix;
mod modelled;
mod observed;
mod parts;
mod polls;
mod provided;
mod queue;
mod resolve;
mod rows;
mod shape;
mod spot;
mod stack;
mod step;
mod tally;
mod texture;
mod unwritten;
mod warp;

use std::cell::Cell;

use asynchronous::Asynchrony;
pub(crate) use atomic::{combine, combine_wide, give_wide, read_memory, write_memory};
pub(crate) use cluster::RANK_SHIFT;
pub use collective::{reduce, shuffle_source};
pub(crate) use data::{lanes, read_lane, row, write_lane};
use device_runtime::DeviceRuntime;
pub use device_runtime::{DeviceAction, DeviceWork};
use frames::{Block, Frame, Frames, ROOT};
pub use hang::Others;
pub(crate) use launched::launch_constants;
use launched::thread_indices;
pub use observed::LaunchWatch;
pub(crate) use observed::Made;
use observed::Observed;
use parts::{Given, Hang, Hooks, Layout, Paths, Progress, Residents};
use polls::Polls;
pub(crate) use resolve::{Pattern, Resolved, Whose, sum32};
use step::{ALONE, MODELLED, TOLD};
use unwritten::Unwritten;
use warp::{Fragment, Fragments, NOBODY, Parting, Passing, State, Warp};

use bugaroo_device_handlers::LAUNCH_VARIABLE;

use crate::alu::Isa;
use crate::config::DeviceConfig;
use crate::fault::StopKind;
use crate::launch::{Counts, End, LaunchError, Plan};
use crate::load::{LoadError, Program};
use crate::memory::{Memory, Region, Shared};
use crate::model::MemoryModel;
use crate::model::lockstep::in_lockstep;
use crate::poison;
use crate::schedule::SchedulerStrategy;
use crate::turns;

/// A fault and the lane that ran into it; boxed, as it is rare and the way of success is hot.
type Trouble = Box<(StopKind, u32)>;

/// Barriers that a CTA has: those that a program can name, and the one that is inserted.
const BARRIERS: usize = crate::decoded::Barrier::INSERTED as usize + 1;

/// A resident block.
#[derive(Debug)]
struct Cta {
    /// Linear index of the block; `blockIdx` follows from it.
    block: u64,
    index: [u32; 3],
    /// Threads that have not exited.
    alive: u32,
    /// Warps that have not ended.
    warps: u32,
    /// Warps, as bits, of which all threads have exited.
    gone: u32,
    first_warp: u32,
    shared: *mut u8,
    sm: u32,
    barriers: [barrier::Barrier; BARRIERS],
}

/// Why a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stop {
    /// It is over; the warp could go on.
    Turn,
    /// No lane of the warp can go on.
    Blocked,
    /// All lanes have exited.
    Finished,
}

/// Why [`Machine::run`] came back.
enum Pause {
    /// The launch has ended.
    End(End),
    /// It has had so many turns, the last one being this warp's.
    Turns(u32),
    /// The step budget is used up.
    Budget,
}

/// A launch in progress.
pub(crate) struct Machine<'a> {
    given: Given<'a>,
    memory: Shared,
    residents: Residents,
    progress: Progress,
    paths: Paths,
    /// Copies, arrivals and waits that are under way.
    asynchrony: Asynchrony,
    /// What device code has asked the device-side runtime for.
    device_runtime: DeviceRuntime,
    hooks: Hooks<'a>,
    hang: Hang<'a>,
    polls: Polls,
}

impl<'a> Machine<'a> {
    /// Lays out the state of the resident blocks and starts them.
    pub fn new(
        program: &'a Program,
        config: &'a DeviceConfig,
        plan: Plan<'a>,
        model: Option<Box<dyn MemoryModel + 'a>>,
        watch: Option<LaunchWatch>,
    ) -> Result<Machine<'a>, LaunchError> {
        if program.only_read {
            let (name, reason) = ("the module".to_string(), "it was loaded only to be read".to_string());
            return Err(LaunchError::Refused(Box::new(LoadError::Declaration { name, reason })));
        }
        let model = if config.lockstep { model.map(in_lockstep) } else { model };
        let resident = plan.resident;
        let warps = u64::from(resident) * u64::from(plan.warps_per_block);
        let host = LaunchError::Host(warps);
        let shared_stride = plan.shared_bytes.next_multiple_of(64) as usize;
        let shared_stride = if cfg!(feature = "asan") { shared_stride + 64 } else { shared_stride };
        // An odd number of cache lines between lanes, so that equal offsets do not fall into one cache set.
        let local_stride = plan.local_bytes.next_multiple_of(64) as usize + 64;
        let local_stride = if plan.local_bytes == 0 { 0 } else { local_stride };
        let shared = Block::used(shared_stride * resident as usize).ok_or_else(|| host.clone())?;
        let local = Block::new(local_stride * 32 * warps as usize).ok_or(host)?;
        poison::part(shared.base(), shared.bytes(), plan.shared_bytes as usize, shared_stride);
        poison::part(local.base(), local.bytes(), plan.local_bytes as usize, local_stride);

        let mut params = vec![0u64; plan.spec.params.len().div_ceil(8) + 1];
        for (word, bytes) in params.iter_mut().zip(plan.spec.params.chunks(8)) {
            let mut full = [0; 8];
            full[..bytes.len()].copy_from_slice(bytes);
            *word = u64::from_le_bytes(full);
        }
        let frame_bytes = program.functions[plan.kernel.function as usize].frame_bytes;
        let kernel_frames = frame_bytes as usize * warps as usize;
        let sequential = model.as_ref().is_none_or(|model| model.only_looks_on());
        let watch = watch.map(|watch| Box::new(Observed::new(watch, warps as usize, program)));
        let tells_parts = config.lockstep && watch.as_ref().is_some_and(|watch| watch.wants.branches);
        let notes = watch.as_ref().and_then(|watch| watch.wants.sources.then(Box::default));
        let layout = Layout { tids: thread_indices(&plan), local_stride, shared_stride, shared, local };
        let mut machine = Machine {
            residents: Residents {
                warps: Vec::with_capacity(warps as usize),
                ctas: Vec::with_capacity(resident as usize),
                frames: Frames::new(kernel_frames),
                runnable: Vec::with_capacity(warps as usize),
                next_block: 0,
                cluster_arrived: vec![0; warps as usize],
            },
            progress: Progress::default(),
            paths: Paths {
                regions: vec![Region::NONE; program.accesses.len() + program.atomics.len() + 1],
                spots: [Region::NONE; 2].map(Cell::new),
                strides: vec![[0; 2]; warps as usize * resolve::STRIDES],
                pointers: [0; 32],
                unwritten: Unwritten::new(plan.kernel.targets.as_deref(), plan.spec.params),
            },
            asynchrony: Asynchrony::new(program, warps as usize),
            device_runtime: DeviceRuntime::default(),
            hooks: Hooks { model, watch, notes, tells_parts, sequential, lost: None },
            hang: Hang::default(),
            polls: Polls::new(program, warps as usize),
            memory: Shared::none(),
            given: Given {
                program,
                config,
                turns: if config.lockstep { &program.turns } else { &turns::NONE },
                constants: launch_constants(program, config, &plan),
                params,
                layout,
                injected: program.variable(LAUNCH_VARIABLE).is_some(),
                budget: plan.spec.step_budget.unwrap_or(u64::MAX),
                plan,
            },
        };
        machine.observed_begin();
        let shape = machine.shape();
        if let Some(model) = &mut machine.hooks.model {
            model.begin(&shape);
        }
        for slot in 0..resident {
            // SAFETY: the block has `shared_stride` bytes for each resident block.
            let shared = unsafe { machine.given.layout.shared.base().add(shared_stride * slot as usize) };
            machine.add_cta(slot, shared);
        }
        for slot in (0..resident).step_by(machine.cluster_size() as usize) {
            machine.start_cluster(slot);
        }
        Ok(machine)
    }

    /// Before the first turn.
    pub fn begin(&mut self, scheduler: &mut dyn SchedulerStrategy) {
        scheduler.begin(self.given.plan.blocks * u64::from(self.given.plan.warps_per_block));
        let bits = scheduler.random();
        self.progress.phase = bits & 63;
        self.asynchrony.seed(bits);
    }

    /// Runs for so many turns, or to the end. What lies between two calls, nobody sees: the turns are those
    /// of one long call.
    pub fn advance(
        &mut self,
        memory: &mut Memory,
        scheduler: &mut dyn SchedulerStrategy,
        turns: u64,
    ) -> Option<End> {
        self.borrow(memory);
        let end = self.turns(scheduler, self.progress.counts.turns.saturating_add(turns));
        self.memory.take_back();
        if end.is_some()
            && let Some(watch) = &mut self.hooks.watch
        {
            watch.end();
        }
        end
    }

    /// Takes the memory, to be given back.
    fn borrow(&mut self, memory: &mut Memory) {
        if self.memory.lend(memory) {
            // Since it had it last something was allocated or freed.
            self.forget_regions();
        }
    }

    /// Gives turns until there have been `last`, in all.
    fn run(&mut self, scheduler: &mut dyn SchedulerStrategy, last: u64) -> Pause {
        let budget = self.given.budget;
        let mut ran = 0;
        loop {
            if self.residents.runnable.is_empty() {
                let done = self.residents.ctas.iter().all(|cta| cta.warps == 0);
                if done {
                    return Pause::End(End::Complete);
                }
                match self.idle() {
                    Ok(true) => continue,
                    Ok(false) => return Pause::End(End::Deadlock(self.diagnose())),
                    Err(fault) => return Pause::End(End::Fault(fault)),
                }
            }
            if self.progress.counts.turns >= self.asynchrony.due
                && let Err(fault) = self.settle_due()
            {
                return Pause::End(End::Fault(fault));
            }
            if self.progress.counts.warp_instructions >= budget {
                return Pause::Budget;
            }
            if self.progress.counts.turns >= last {
                return Pause::Turns(ran);
            }
            let turn = scheduler.next(&self.residents.runnable);
            self.progress.counts.turns += 1;
            let warp = self.residents.runnable[turn.candidate].slot;
            ran = warp;
            let mut operations = self.favour(warp, turn.operations.max(1), scheduler);
            if self.polls_on(warp as usize, operations) {
                continue;
            }
            let limit = budget - self.progress.counts.warp_instructions;
            let granted = operations;
            let w = warp as usize;
            if let Some(model) = &self.hooks.model {
                model.turn_begins(warp);
            }
            let stop = match (self.given.program.isa, self.hooks.model.is_some(), self.hooks.watch.is_some())
            {
                #[cfg(target_arch = "x86_64")]
                // SAFETY: the loader takes V3 only on processors that have it.
                (Isa::V3, false, false) => unsafe { self.turn_v3::<ALONE>(w, &mut operations, limit) },
                #[cfg(target_arch = "x86_64")]
                // SAFETY: as above.
                (Isa::V3, false, true) => unsafe { self.turn_v3::<TOLD>(w, &mut operations, limit) },
                #[cfg(target_arch = "x86_64")]
                // SAFETY: as above.
                (Isa::V3, true, _) => unsafe { self.turn_v3::<MODELLED>(w, &mut operations, limit) },
                (_, false, false) => self.turn_portable::<ALONE>(w, &mut operations, limit),
                (_, false, true) => self.turn_portable::<TOLD>(w, &mut operations, limit),
                (_, true, _) => self.turn_portable::<MODELLED>(w, &mut operations, limit),
            };
            let done = u64::from(granted.saturating_sub(operations));
            self.progress.counts.operations += done;
            let again = std::mem::take(&mut self.progress.again);
            if self.residents.warps[warp as usize].parting != Parting::None {
                self.residents.warps[warp as usize].turn_over((done as u32).saturating_sub(again));
            }
            match stop {
                Ok(Stop::Turn) => self.note_poll(w),
                Ok(Stop::Blocked) => self.dequeue(warp),
                Ok(Stop::Finished) => {
                    self.dequeue(warp);
                    self.finish_warp(warp);
                }
                Err(fault) => return Pause::End(End::Fault(fault)),
            }
        }
    }

    /// Memory was freed: what accesses found there earlier may be gone.
    #[cold]
    fn forget_regions(&mut self) {
        self.paths.regions.fill(Region::NONE);
        self.paths.spots.iter().for_each(|spot| spot.set(Region::NONE));
        self.polls.forget();
    }

    /// The memory model, if there is one.
    pub fn model(&self) -> Option<&dyn MemoryModel> {
        match &self.hooks.model {
            Some(model) => Some(&**model),
            None => None,
        }
    }

    /// How much has been executed.
    pub fn counts(&self) -> Counts {
        self.progress.counts
    }

    fn add_cta(&mut self, slot: u32, shared: *mut u8) {
        let first_warp = self.residents.warps.len() as u32;
        for index in 0..self.given.plan.warps_per_block {
            let offset = self.given.layout.local_stride * 32 * self.residents.warps.len();
            // SAFETY: the block has `local_stride * 32` bytes for each warp.
            let local = unsafe { self.given.layout.local.base().add(offset) };
            self.residents.warps.push(Warp {
                fragments: Fragments::new(),
                alive: 0,
                cta: slot,
                index,
                queued: None,
                local,
                favoured: NOBODY,
                parting: Parting::None,
                passing: Passing::default(),
            });
        }
        self.residents.ctas.push(Cta {
            block: 0,
            index: [0; 3],
            alive: 0,
            warps: 0,
            gone: 0,
            first_warp,
            shared,
            sm: slot % self.given.config.sm_count.max(1),
            barriers: [barrier::Barrier::default(); BARRIERS],
        });
    }

    /// Puts a block into a slot.
    fn start_block(&mut self, slot: u32, index: [u32; 3]) {
        self.residents.next_block += 1;
        let [x, y, _] = self.given.plan.spec.grid.map(u64::from);
        let [i, j, k] = index.map(u64::from);
        let cta = &mut self.residents.ctas[slot as usize];
        cta.block = (k * y + j) * x + i;
        cta.index = index;
        cta.alive = self.given.plan.threads_per_block;
        cta.warps = self.given.plan.warps_per_block;
        cta.gone = 0;
        cta.barriers = [barrier::Barrier::default(); BARRIERS];
        // SAFETY: the slot's shared memory has `shared_bytes` bytes.
        unsafe { cta.shared.write_bytes(0, self.given.plan.shared_bytes as usize) };
        self.observed_block_begins(slot);
        self.model_block_begins(slot);
        let cta = &self.residents.ctas[slot as usize];
        let first = cta.first_warp;
        let function = self.given.plan.kernel.function;
        let loaded = &self.given.program.functions[function as usize];
        for index in 0..self.given.plan.warps_per_block {
            let lanes = (self.given.plan.threads_per_block - index * 32).min(32);
            let mask = if lanes == 32 { !0 } else { (1 << lanes) - 1 };
            let frame = self.residents.frames.enter(
                loaded.frame_bytes,
                Frame {
                    rows: std::ptr::null_mut(),
                    function,
                    parent: ROOT,
                    return_pc: 0,
                    live: mask,
                    depth: 0,
                    local_base: 0,
                    grown: 0,
                },
            );
            let rows = self.residents.frames.get(frame).rows;
            let warp = &mut self.residents.warps[(first + index) as usize];
            warp.alive = mask;
            warp.passing = Passing::default();
            warp.fragments.clear();
            warp.fragments.push(Fragment { rows, mask, pc: loaded.entry, frame, state: State::Ready });
            self.enqueue(first + index);
        }
    }

    fn finish_warp(&mut self, warp: u32) {
        let slot = self.residents.warps[warp as usize].cta;
        let cta = &mut self.residents.ctas[slot as usize];
        cta.warps -= 1;
        if cta.warps == 0 {
            self.progress.counts.blocks += 1;
            self.model_block_ends(slot);
            self.end_block(slot);
            self.observed_block_ends(slot);
            self.next_cluster(slot);
        }
    }
}
