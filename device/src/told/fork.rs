//! Comes to the fork server with the device as it is before its first launch ([`crate::trial::fork_server`]).

use std::sync::Arc;

use crate::state::Gpu;
use crate::trial::fork_server;

impl Gpu {
    /// Called when the program calls for a launch, before that is taken in.
    pub fn at_launch(&mut self) {
        if self.trial.injection.forks_at_the_call() {
            self.fork_from_here();
        }
    }

    /// Called before the first kernel begins and before the first draw by the seed; a trial that is forked here has orders of its
    /// own.
    pub fn before_first_kernel(&mut self) {
        self.trial.begun = true;
        self.fork_from_here();
    }

    fn fork_from_here(&mut self) {
        let modules = &self.code.modules;
        // Trials unload modules at their end.
        let keep = || {
            for module in modules.find(|_| true) {
                if let Ok(module) = modules.get(module) {
                    std::mem::forget(Arc::clone(&module.program));
                }
            }
        };
        let taken = fork_server::fork_from_here(&mut self.trial.injection, &mut self.trial.report, keep);
        if let Some(injection) = taken {
            self.take_orders(injection);
        }
    }
}
