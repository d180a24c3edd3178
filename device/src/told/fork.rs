//! Comes to the fork server with the device as it is before its first launch ([`crate::trial::fork_server`]).

use std::sync::Arc;

use bugaroo_simulator::DeviceConfig;

use crate::objects::known::TrialsWant;
use crate::objects::parts::Code;
use crate::state::Gpu;
use crate::trial::fork_server::{self, Served};

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
        let injection = &mut self.trial.injection;
        let wants = TrialsWant { table: injection.wants_table(), native: injection.wants_native() };
        let mut served = Forked { code: &mut self.code, config: &self.config, wants };
        let taken = fork_server::fork_from_here(injection, &mut self.trial.report, &mut served);
        if let Some(injection) = taken {
            self.take_orders(injection);
        }
    }
}

/// What trials have from this device, and it from them.
struct Forked<'g> {
    code: &'g mut Code,
    config: &'g DeviceConfig,
    wants: TrialsWant,
}

impl Served for Forked<'_> {
    fn prepare(&mut self) {
        // Trials unload modules at their end; to free a program, and what is known of it, they had to copy its pages first.
        let modules = &self.code.modules;
        for module in modules.find(|_| true) {
            if let Ok(module) = modules.get(module) {
                std::mem::forget((Arc::clone(&module.program), module.injected.clone()));
            }
        }
        self.code.known.open();
    }

    fn learn(&mut self) -> bool {
        self.code.known.learn(self.config, self.wants)
    }
}
