//! Has race detectors look at launches ([`crate::trial::race`]).

use std::rc::Rc;
use std::sync::Arc;

use bugaroo_semantics::Observer as _;
use bugaroo_semantics::event::Event;
use bugaroo_simulator::{LaunchWatch, Program};

use crate::lane::Ticket;
use crate::state::Gpu;
use crate::trial::race::grids::RaceGrid;

impl Gpu {
    /// What a launch is looked at with, if anybody looks on.
    pub fn watch(
        &mut self,
        ticket: Ticket,
        program: &Arc<Program>,
        kernel: &str,
        shape: ([u32; 3], [u32; 3]),
    ) -> Option<LaunchWatch> {
        let seed = self.trial.injection.seed();
        let device = self.runs_on(ticket);
        let (grid, site) = self.running.queue.order.as_ref()?.work(ticket);
        let race = self.trial.race.as_mut()?;
        let Some((first_site, is_new)) = race.programs.first(program) else {
            race.counts.unwatched += 1;
            return None;
        };
        if let Some(device) = device {
            race.looker.borrow_mut().event(&Event::OnDevice { work: grid, device });
        }
        race.grids.insert(grid, RaceGrid { kernel: kernel.into(), shape, site });
        if is_new {
            let roles = program.roles();
            race.looker
                .borrow_mut()
                .set
                .each()
                .for_each(|detector| detector.learn_program(first_site, &roles));
        }
        if let Some(watching) = &mut race.watching {
            let watched = watching.of_launch(program, kernel, seed);
            let mut looker = race.looker.borrow_mut();
            looker.set.each().for_each(|detector| detector.watch(grid, watched.clone()));
        }
        Some(LaunchWatch { observer: Rc::clone(&race.looker) as _, grid, first_site })
    }
}
