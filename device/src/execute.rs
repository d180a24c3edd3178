//! One launch, from the checked call to the report: it starts when its turn in the queue comes, runs by
//! turns beside others ([`crate::pump`]), and is reported when it ends. Reports come in the order in which
//! launches end; their ordinals are those of the calls.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use bugaroo_cuda_abi::CUcontext;
use bugaroo_protocol::{Launch, LaunchCounts, LaunchEnd, Message, NearAllocation};
use bugaroo_semantics::{Both, Observer};
use bugaroo_simulator::conflicts::ConflictObserver;
use bugaroo_simulator::model::held_from_beyond;
use bugaroo_simulator::{
    AllocationKind, Counts, DeviceConfig, End, Grid, LaunchError, LaunchWatch, StopKind, check,
};

use crate::devices;
use crate::error::{CallResult, Status};
use crate::lane::Ticket;
use crate::objects::context::Broken;
use crate::objects::queue::{Flight, Shown, WorkProgress};
use crate::objects::work::LaunchRequest;
use crate::seeds::{beyond_seed, mix};
use crate::state::Gpu;
use crate::trial::conflicts::ConflictsTold;
use crate::trial::coverage::Coverage;
use crate::trial::delays::Delays;
use crate::trial::diagnosis::{self, Lines};
use crate::trial::feeds::Feed;
use crate::trial::injection::{Arms, Injected};
use crate::trial::pause::{Held, Looker, Passing};
use crate::trial::race::ProcessRaces;
use crate::trial::switches::{ByPriority, Priorities, Stepping};

/// Bytes of a grid's workspace: of these, device code uses the second word, for its barrier.
const WORKSPACE: u64 = 256;

/// Warp instructions for which threads may read the same places again and again, where nobody can say that they always
/// will: about ten seconds.
const PATIENCE: u64 = 1 << 28;

/// Who looks on already, and one more.
fn with(
    watch: Option<LaunchWatch>,
    other: Option<Rc<RefCell<impl Observer + 'static>>>,
) -> Option<LaunchWatch> {
    let Some(other) = other else { return watch };
    Some(match watch {
        Some(watch) => {
            let both = Both(Rc::clone(&watch.observer), other);
            LaunchWatch { observer: Rc::new(RefCell::new(both)), ..watch }
        }
        None => LaunchWatch { observer: other, grid: 0, first_site: 0 },
    })
}

/// What a program sees of a launch that cannot be, and a line for the user where the program's own check
/// should have known.
fn refusal(name: &str, error: &LaunchError) -> Status {
    match error {
        LaunchError::Cooperative { .. } => return Status::CooperativeLaunchTooLarge,
        LaunchError::Cluster { .. } => {
            eprintln!("bugaroo: {name}: {error}");
            return Status::InvalidClusterSize;
        }
        _ => {}
    }
    eprintln!("bugaroo: {name}: {error}");
    match error {
        LaunchError::LocalMemory { .. } | LaunchError::Host(_) => Status::LaunchOutOfResources,
        // The shape was checked, so this is a limit that the check does not know.
        _ => Status::InvalidValue,
    }
}

impl Gpu {
    /// What the simulator says of a launch before it starts.
    ///
    /// # Errors
    /// As the call has to tell.
    pub fn check_launch(&self, request: &LaunchRequest) -> CallResult {
        let (function, module) = self.function(request.function)?;
        let name = function.name();
        check(&module.program, &self.config, &request.spec(name, None), request.together.cooperative)
            .map_err(|error| refusal(name, &error))
    }

    /// Lays a launch out and arms its injection.
    ///
    /// # Errors
    /// What keeps it from starting.
    pub fn start(&mut self, ticket: Ticket, request: &LaunchRequest, ordinal: u64) -> CallResult<Flight> {
        self.before_first_kernel();
        self.record(request)?;
        let function = self.code.functions.get(request.function)?;
        let module = self.code.modules.get(function.module)?;
        let name = function.name().to_owned();
        let product = |shape: [u32; 3]| {
            shape.iter().fold(1_u64, |product, extent| product.saturating_mul(u64::from(*extent)))
        };
        let shape = (product(request.grid), product(request.block));
        let logs = module.injected.as_deref().and_then(Injected::logs).cloned();
        let Arms { armed, model, program } = match &module.injected {
            Some(injected) => self.trial.injection.arm(injected, &name, shape, ordinal, &mut self.memory)?,
            None => Arms::default(),
        };
        let program = program.unwrap_or_else(|| Arc::clone(&module.program));
        let model = match model {
            Some(model) if devices::count() > 1 => {
                Some(held_from_beyond(model, beyond_seed(self.trial.injection.seed(), ordinal)))
            }
            model => model,
        };
        let workspace = if request.together.cooperative { Some(self.take_workspace()?) } else { None };
        let mut scheduler = self.trial.injection.schedule(ordinal);
        let spec = request.spec(&name, self.trial.injection.step_budget());
        let late_copies = self.trial.injection.late_copies(&name);
        // BARRACUDA is defined over warps in lockstep, and looks at no other execution when it is alone. What others find must
        // hold for the execution that was asked for.
        let lockstep = self.trial.injection.warp_synchronous()
            || self.trial.race.as_ref().is_some_and(ProcessRaces::in_lockstep);
        let patience = Some(PATIENCE);
        let config = DeviceConfig { late_copies, lockstep, patience, ..self.config.clone() };
        // Handlers' code is not the program's.
        let recorded = self.trial.injection.conflicts() && armed.is_none();
        let conflicts = recorded.then(|| {
            let conflicts = ConflictObserver::new(Arc::clone(&program), model.is_some());
            Rc::new(RefCell::new(conflicts))
        });
        let hold = self.trial.injection.hold(ordinal).filter(|_| armed.is_none() && logs.is_none());
        let held = hold.map(|(place, seed)| Rc::new(RefCell::new(Held::new(&name, place, seed))));
        if let Some(held) = &held {
            scheduler = Box::new(Passing::new(scheduler, Rc::clone(held)));
        }
        let looker = held.map(|held| Rc::new(RefCell::new(Looker(held))));
        let switches = self.trial.injection.switches(ordinal).filter(|_| armed.is_none() && logs.is_none());
        let stepping = switches.map(|(places, seed)| {
            let all = Rc::new(RefCell::new(Priorities::new(&name, places, seed)));
            scheduler = Box::new(ByPriority::new(Rc::clone(&all)));
            Rc::new(RefCell::new(Stepping(all)))
        });
        let covers = self.trial.injection.coverage() && armed.is_none() && logs.is_none();
        let coverage = covers.then(|| Rc::new(RefCell::new(Coverage::new(&name))));
        let looked_at = logs.as_ref().map_or(&program, |logs| logs.original());
        let watch = self.watch(ticket, looked_at, &name, (request.grid, request.block));
        let blind = logs.as_ref().and_then(|logs| logs.blind(&name));
        let (watch, fed) = if logs.is_some() { (None, watch) } else { (watch, None) };
        let fed = fed.filter(|_| blind.is_none());
        if let (Some(why), Some(race)) = (blind, &mut self.trial.race) {
            *race.counts.blind.entry(why).or_default() += 1;
        }
        let watch = with(with(with(with(watch, conflicts.clone()), coverage.clone()), looker), stepping);
        match Grid::with_model(Arc::clone(&program), &config, &spec, workspace, scheduler, model, watch) {
            Ok(grid) => {
                let feed = match (logs, fed) {
                    (Some(logs), Some(watch)) => {
                        let of = (name.as_str(), &grid, &*program);
                        let told = self.trial.race.as_ref().and_then(|race| race.told.as_ref());
                        match Feed::new(&logs, of, &config, (watch, told), &mut self.memory) {
                            Ok(feed) => feed,
                            Err(broken) => {
                                self.running.workspaces.extend(workspace);
                                return Err(self.trial.report.unsupported(&format!("{name}: {broken}")));
                            }
                        }
                    }
                    _ => None,
                };
                Ok(Flight {
                    grid,
                    function: request.function,
                    name,
                    shape: (request.grid, request.block),
                    ordinal,
                    armed,
                    workspace,
                    feed,
                    shown: Shown { conflicts, coverage },
                    worked: 0,
                })
            }
            Err(error) => {
                if let Some(armed) = armed {
                    self.trial.injection.disarm(armed, &mut self.memory);
                }
                self.running.workspaces.extend(workspace);
                Err(refusal(&name, &error))
            }
        }
    }

    /// A workspace for a cooperative launch, filled with zero. It counts as a module's memory: accesses to it
    /// are visible.
    fn take_workspace(&mut self) -> CallResult<u64> {
        let address = match self.running.workspaces.pop() {
            Some(address) => address,
            None => {
                let found = self.memory.alloc(WORKSPACE, WORKSPACE, AllocationKind::Module);
                found.map_err(|_| Status::OutOfMemory)?
            }
        };
        // To the launches before, it was other memory.
        self.running.queue.tell(|order| order.allocated(address, WORKSPACE, false));
        self.memory.fill(address, WORKSPACE, &[0]).map_err(|_| Status::Unknown)?;
        Ok(address)
    }

    /// Runs a kernel for so many turns; answers how it ended, once it has.
    pub fn fly(&mut self, ticket: Ticket, flight: &mut Flight, turns: u64) -> Option<End> {
        // The launch state is one per module: of those that run, one at a time has it.
        if self.running.entered != Some(ticket) {
            self.leave();
            if let Some(armed) = &flight.armed {
                armed.enter(&mut self.memory);
                self.running.entered = Some(ticket);
            }
            if let Some(feed) = &flight.feed {
                feed.enter(&mut self.memory);
                self.running.entered = Some(ticket);
            }
        }
        self.say_who_ran(ticket, flight);
        let device = self.runs_on(ticket);
        self.memory.run_on(device);
        let end = match &mut flight.feed {
            Some(feed) => feed.advance(&mut flight.grid, &mut self.memory, (self.running.wait.others, turns)),
            None => {
                flight.grid.set_others(self.running.wait.others);
                flight.grid.advance(&mut self.memory, turns)
            }
        };
        self.memory.run_on(None);
        self.running.suspects |= end.is_none() && flight.grid.suspects();
        if end.is_none() {
            self.pulse(flight);
        }
        end
    }

    /// Tells a kernel who may have handed on between its threads what one has released to it: other work, or the program, where they
    /// share memory.
    fn say_who_ran(&mut self, ticket: Ticket, flight: &mut Flight) {
        let (shares, wait) = (self.shares_memory(), self.running.wait);
        let last = self.running.flown.replace((ticket, wait.number));
        if last.is_some_and(|(before, number)| before != ticket || shares && number != wait.number) {
            flight.grid.others_ran();
        }
        flight.grid.others_run(shares && wait.runs);
    }

    /// Takes back the launch state of the kernel that ran last, if it still runs.
    pub(crate) fn leave(&mut self) {
        if let Some(item) = self.running.entered.take().and_then(|ticket| self.running.queue.item(ticket))
            && let WorkProgress::Flying(flight) = &item.progress
        {
            if let Some(armed) = &flight.armed {
                armed.leave(&mut self.memory);
            }
            if let Some(feed) = &flight.feed {
                feed.leave(&mut self.memory);
            }
        }
    }

    /// Gives back what a kernel took, whether it has ended or is dropped.
    pub fn discard(&mut self, ticket: Ticket, flight: Flight) -> (Counts, Delays) {
        if self.running.entered == Some(ticket) {
            self.running.entered = None;
        }
        let delays = match flight.armed {
            Some(armed) => Some(self.trial.injection.disarm(armed, &mut self.memory)),
            None => flight.grid.model().map(|model| Delays::counted(&model.counts())),
        };
        let counts = flight.grid.counts();
        drop(flight.grid);
        match flight.feed.map(|feed| feed.end(&mut self.memory)) {
            Some(Ok(accesses)) => {
                if let Some(race) = &self.trial.race {
                    race.looked_at(accesses);
                }
            }
            Some(Err(broken)) => {
                let _ = self.trial.report.unsupported(&format!("{}: {broken}", flight.name));
            }
            None => {}
        }
        if let Some(address) = flight.workspace {
            self.running.queue.tell(|order| order.freed(address, WORKSPACE));
            self.running.workspaces.push(address);
        }
        (counts, delays.unwrap_or_default())
    }

    /// Reports a kernel that has ended. A fault breaks the context and is told later, by the calls that come next.
    pub fn land(&mut self, context: CUcontext, ticket: Ticket, flight: Flight, end: &End) {
        let (ordinal, kernel, (grid, block)) = (flight.ordinal, flight.name.clone(), flight.shape);
        let function = flight.function;
        let broken = flight.feed.as_ref().is_some_and(Feed::is_broken);
        let stale = flight.grid.model().map(|model| model.stale_reads()).unwrap_or_default();
        let found = flight.shown.conflicts.as_ref().map(|conflicts| conflicts.borrow().found().clone());
        let found = found.unwrap_or_default();
        let coverage =
            flight.shown.coverage.as_ref().map(|coverage| coverage.borrow().found()).unwrap_or_default();
        let (executed, delays) = self.discard(ticket, flight);
        self.running.clock.launched(executed.warp_instructions, self.config.sm_count);
        let module = self.function(function).ok().map(|(_, module)| module);
        let lines = Lines::of(module.and_then(|module| module.injected.as_deref()));
        let stale_reads =
            module.map(|module| diagnosis::stale(&stale, module.running(), (grid, block), &lines));
        let stale_reads = stale_reads.unwrap_or_default();
        let injected = module.and_then(|module| module.injected.as_deref());
        let conflicts = module.map(|module| {
            let told =
                ConflictsTold { program: module.running(), shape: (grid, block), lines: &lines, injected };
            told.conflicts(&found)
        });
        let (end, status) = match end {
            End::Complete => (LaunchEnd::Complete, broken.then_some(Status::NotSupported)),
            End::Deadlock(found) => {
                let found = diagnosis::diagnosis("deadlock", found, &lines, &self.memory);
                (LaunchEnd::Deadlock(found), Some(Status::LaunchTimeout))
            }
            End::StepBudget(found) => {
                let found = diagnosis::diagnosis("step budget used up", found, &lines, &self.memory);
                (LaunchEnd::StepBudget(found), Some(Status::LaunchTimeout))
            }
            End::Fault(fault) => {
                let fault_told = diagnosis::fault(fault, self.close_to(&fault.kind), &lines);
                (LaunchEnd::Fault(fault_told), Some(diagnosis::status(&fault.kind)))
            }
        };
        if !self.trial.report.wanted() {
            tell(&kernel, &end);
        }
        let digest = self.trial.injection.digest().then(|| {
            self.leave();
            self.trial.digest = mix(self.trial.digest, self.memory.digest());
            format!("{:016x}", self.trial.digest)
        });
        let counts = LaunchCounts {
            warp_instructions: executed.warp_instructions,
            thread_instructions: executed.thread_instructions,
            delayed_stores: delays.stores,
            fences: executed.fences,
            barriers: executed.barriers,
            shared_stores: executed.shared_stores,
            global_stores: executed.global_stores,
            flush_lengths: delays.flush_lengths,
            buffer_bytes: delays.buffer_bytes,
            forgotten: delays.forgotten,
        };
        self.trial.report.send(&Message::Launch(Launch {
            ordinal,
            kernel,
            grid,
            block,
            end,
            counts,
            digest,
            stale_reads,
            conflicts: conflicts.unwrap_or_default(),
            more_conflicts: found.more + found.unseen,
            coverage: coverage.things,
            more_coverage: coverage.more,
            meetings: coverage.meetings,
        }));
        self.tell_races(false);
        if let Some(status) = status {
            self.break_context(context, status);
        }
    }

    /// The allocation that a bad access came close to, or was in, or had been in.
    fn close_to(&self, kind: &StopKind) -> Option<NearAllocation> {
        let (address, _) = diagnosis::address(kind)?;
        let near = |found| self.near(found, address);
        match kind {
            StopKind::Freed { .. } => self.held.origins.freed_at(address),
            StopKind::OutOfBounds { near: Some(found), .. } => Some(near((found.base, found.size))),
            // Addresses of shared and local memory lie below.
            StopKind::OutOfBounds { .. } if self.memory.covers(address) => {
                self.held.origins.nearest(address).map(near)
            }
            StopKind::OutOfBounds { .. } => None,
            _ => self.memory.allocation(address).map(near),
        }
    }

    /// An allocation, as an address is told that is in it or misses it.
    pub(crate) fn near(&self, (base, size): (u64, u64), address: u64) -> NearAllocation {
        let modules = self.code.modules.find(|_| true).into_iter();
        let name = |module| {
            let (name, offset) = self.code.modules.get(module).ok()?.program.variable_at(base)?;
            (offset == 0).then_some(name)
        };
        NearAllocation {
            variable: modules.filter_map(name).next(),
            ..self.held.origins.near(base, size, address)
        }
    }

    /// Breaks a context, unless it is broken.
    pub fn break_context(&mut self, context: CUcontext, status: Status) {
        if let Ok(context) = self.context_mut(context)
            && context.fault.is_none()
        {
            context.fault = Some(Broken { status, reported: false });
        }
    }
}

/// Tells a user without a harness what went wrong.
fn tell(kernel: &str, end: &LaunchEnd) {
    match end {
        LaunchEnd::Complete => {}
        LaunchEnd::Deadlock(found) | LaunchEnd::StepBudget(found) => {
            eprintln!("bugaroo: {kernel}: {}", found.summary);
        }
        LaunchEnd::Fault(fault) => eprintln!("bugaroo: {kernel}: {}", fault.summary),
    }
}
