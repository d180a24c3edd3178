//! One launch, from the checked call to the report.

use bugaroo_protocol::{Launch, LaunchCounts, LaunchEnd, Message};
use bugaroo_simulator::{End, LaunchError, LaunchSpec, RandomScheduler, launch};

use crate::diagnosis::{self, Lines};
use crate::error::{Outcome, Status};
use crate::injection::{mix, scheduler_seed};
use crate::state::{Broken, Driver};
use crate::types::{CUcontext, CUfunction};

/// What a program asks to be launched; the shape was checked.
#[derive(Debug)]
pub struct Request {
    /// The kernel.
    pub function: CUfunction,
    /// CTAs.
    pub grid: [u32; 3],
    /// Threads of a CTA.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub dynamic_shared: u32,
    /// The parameter buffer.
    pub parameters: Vec<u8>,
}

impl Driver {
    /// Runs a launch to its end and reports it. A fault breaks the context and is told later
    /// ([`crate::entry`]): the launch itself succeeds.
    ///
    /// # Errors
    /// What keeps the launch from starting.
    pub fn execute(&mut self, context: CUcontext, request: &Request) -> Outcome {
        let Request { function, grid, block, dynamic_shared, .. } = *request;
        let function = self.functions.get(function)?;
        let module = self.modules.get(function.module)?;
        let name = function.name();
        let ordinal = self.launches;
        self.launches += 1;
        let product = |shape: [u32; 3]| {
            shape.iter().fold(1_u64, |product, extent| product.saturating_mul(u64::from(*extent)))
        };
        let shape = (product(grid), product(block));
        let armed = match &module.injected {
            Some(injected) => Some(self.injection.arm(injected, name, shape, ordinal, &mut self.memory)?),
            None => None,
        };
        let spec = LaunchSpec {
            kernel: name,
            grid,
            block,
            dynamic_shared,
            params: &request.parameters,
            step_budget: self.injection.step_budget(),
        };
        let mut scheduler = RandomScheduler::new(scheduler_seed(self.injection.seed(), ordinal));
        let launched = launch(&module.program, &mut self.memory, &self.config, &spec, &mut scheduler);
        let delays = armed.map(|armed| armed.disarm(&mut self.memory)).unwrap_or_default();
        let result = launched.map_err(|error| {
            eprintln!("bugaroo: {name}: {error}");
            match error {
                LaunchError::LocalMemory { .. } | LaunchError::Host(_) => Status::LaunchOutOfResources,
                // The shape was checked, so this is a limit that the check does not know.
                _ => Status::InvalidValue,
            }
        })?;
        self.clock.launched(result.counts.warp_instructions, self.config.sm_count);
        let lines = Lines::of(module.injected.as_ref());
        let (end, status) = match &result.end {
            End::Complete => (LaunchEnd::Complete, None),
            End::Deadlock(found) => {
                let found = diagnosis::diagnosis("deadlock", found, &lines);
                (LaunchEnd::Deadlock(found), Some(Status::LaunchTimeout))
            }
            End::StepBudget(found) => {
                let found = diagnosis::diagnosis("step budget used up", found, &lines);
                (LaunchEnd::StepBudget(found), Some(Status::LaunchTimeout))
            }
            End::Fault(fault) => {
                (LaunchEnd::Fault(diagnosis::fault(fault, &lines)), Some(diagnosis::status(&fault.kind)))
            }
        };
        if !self.report.wanted() {
            tell(name, &end);
        }
        let kernel = name.to_owned();
        let digest = self.injection.digest().then(|| {
            self.digest = mix(self.digest, self.memory.digest());
            format!("{:016x}", self.digest)
        });
        let counts = LaunchCounts {
            warp_instructions: result.counts.warp_instructions,
            thread_instructions: result.counts.thread_instructions,
            delayed_stores: delays.stores,
            fences: result.counts.fences,
            barriers: result.counts.barriers,
            shared_stores: result.counts.shared_stores,
            global_stores: result.counts.global_stores,
            flush_lengths: delays.flush_lengths,
            buffer_bytes: delays.buffer_bytes,
        };
        self.report.send(&Message::Launch(Launch { ordinal, kernel, grid, block, end, counts, digest }));
        if let Some(status) = status {
            self.context_mut(context)?.fault = Some(Broken { status, reported: false });
        }
        Ok(())
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
