//! The recorder's place in a launch: it looks on, as detectors do.

use std::sync::Arc;

use bugaroo_ptx::types::Semantics;
use bugaroo_semantics::effect::Effect;
use bugaroo_semantics::event::{Access, AccessKind, Event, Lanes, WhoseBytes};
use bugaroo_semantics::{Observer, Wants};

use super::recorder::{Touch, Touched, Toucher};
use super::{AccessWhat, FoundConflicts, Recorder};
use crate::load::Program;

/// Looks for the conflicts of one launch.
#[derive(Debug)]
pub struct ConflictObserver {
    recorder: Recorder,
    program: Arc<Program>,
    /// The site of the program's instruction 0.
    first_site: u32,
}

impl ConflictObserver {
    /// For a launch of this program; `lags`: a memory model delays its stores.
    pub fn new(program: Arc<Program>, lags: bool) -> ConflictObserver {
        ConflictObserver { recorder: Recorder::new(lags), program, first_site: 0 }
    }

    /// What was found so far.
    pub fn found(&self) -> &FoundConflicts {
        self.recorder.found()
    }

    /// Order, strength and scope of an access, as the program has them; none of matrices, which are not looked at.
    fn semantics(&self, pc: u32) -> Option<Semantics> {
        match self.program.effect(pc) {
            Effect::Access(stated) => Some(stated.semantics),
            _ => None,
        }
    }
}

impl Observer for ConflictObserver {
    fn wants(&self) -> Wants {
        Wants { before: true, ..Wants::default() }
    }

    fn access(&mut self, access: &Access<'_>) {
        let Lanes { warp, cta, block, .. } = access.by;
        let shared = match access.memory {
            WhoseBytes::Global => false,
            WhoseBytes::Shared(slot) if slot == cta => true,
            // Another block's.
            WhoseBytes::Shared(_) => return,
        };
        let what = match access.kind {
            AccessKind::Load => AccessWhat::Load,
            AccessKind::Store => AccessWhat::Store,
            AccessKind::Atomic(_) => AccessWhat::Atomic,
        };
        let pc = access.site.wrapping_sub(self.first_site);
        let Some(semantics) = self.semantics(pc) else { return };
        self.recorder.instruction();
        for lane in access.by.each() {
            for element in 0..access.elements {
                let writes = what != AccessWhat::Load && access.wrote >> lane & 1 != 0;
                self.recorder.touch(&Touch {
                    by: Toucher { warp, cta, block, lane },
                    pc,
                    what,
                    semantics,
                    at: Touched {
                        shared,
                        address: access.address(lane).wrapping_add(u64::from(element * access.size)),
                        bytes: access.size,
                    },
                    old: access.values.before(lane, element),
                    new: writes.then(|| access.values.value(lane, element)),
                });
            }
        }
    }

    fn event(&mut self, event: &Event<'_>) {
        match *event {
            Event::GridBegin { shape, lockstep, first_site, .. } => {
                self.first_site = first_site;
                self.recorder.launch(&shape, lockstep);
            }
            Event::BlockBegin { cta, .. } => self.recorder.start_block(cta),
            Event::Fence { by, .. } => self.recorder.fence(by),
            Event::Arrive { by, barrier, .. } => self.recorder.order().arrive(by, barrier),
            Event::Leave { by, barrier } => self.recorder.order().leave(by, barrier),
            Event::WarpBarrier { by, .. } => self.recorder.order().meet(by),
            Event::MbarrierPassed { by, .. } | Event::ClusterLeave(by) => self.recorder.order().wait(by),
            Event::Exit(by) => self.recorder.order().exit(by),
            _ => {}
        }
    }
}
