//! The recorder's place in a launch: around its memory model, or alone where it has none.
//!
//! It changes nothing: answers are the model's, and without one those that leave every instruction to the engine.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use super::{Event as Told, Found, Group, Recorder, Touch, What};
use crate::address::{SHARED_WINDOW, Window, window};
use crate::decoded::Kind;
use crate::load::Program;
use crate::model::lockstep::in_lockstep;
use crate::model::{
    Accessed, At, Event, Fence, MemoryModel, ModelCounts, Shape, StaleRead, Step, World, is_elsewhere,
};
use bugaroo_ptx::op::FenceKind;

/// What a launch's recorder has found so far.
#[derive(Clone, Debug)]
pub struct Notes(Rc<RefCell<Recorder>>);

impl Notes {
    /// What was found.
    pub fn found(&self) -> Found {
        self.0.borrow().found().clone()
    }
}

/// The model of a launch of this program, with a recorder around it, and where to ask what that finds.
pub fn attach(program: Arc<Program>, under: Option<Box<dyn MemoryModel>>) -> (Box<dyn MemoryModel>, Notes) {
    let recorder = Rc::new(RefCell::new(Recorder::new(under.is_some())));
    let notes = Notes(Rc::clone(&recorder));
    let touches = Vec::new();
    (Box::new(Recorded { under, recorder, program, lockstep: false, touches, written: Vec::new() }), notes)
}

struct Recorded {
    under: Option<Box<dyn MemoryModel>>,
    recorder: Rc<RefCell<Recorder>>,
    program: Arc<Program>,
    lockstep: bool,
    /// What the lanes of the instruction at hand do, and what atomics have written so far.
    touches: Vec<Touch>,
    written: Vec<(u64, u128)>,
}

fn group(at: &At) -> Group {
    Group { warp: at.warp, cta: at.cta, block: at.block, lanes: at.lanes }
}

fn lanes(mask: u32) -> impl Iterator<Item = u32> {
    (0..32).filter(move |lane| mask >> lane & 1 != 0)
}

/// Lanes for which an instruction has been done now.
fn served(step: Step) -> u32 {
    match step {
        Step::Again => 0,
        Step::Do { run, taken, .. } => run | taken,
    }
}

impl Recorded {
    fn tell(&self, event: &Told) {
        self.recorder.borrow_mut().take(event);
    }

    /// Looks at what the lanes are about to do, while registers and memory are as before.
    fn look(&mut self, at: &At, access: &Accessed<'_>, what: What) {
        self.touches.clear();
        self.written.clear();
        for lane in lanes(at.lanes) {
            let address = access.address(lane as usize);
            let shared = match window(address) {
                Window::Global => false,
                Window::Shared if !is_elsewhere(address) => true,
                _ => continue,
            };
            let place = if shared { address - SHARED_WINDOW } else { address };
            for element in 0..access.elements {
                let address = place.wrapping_add(u64::from(element * access.size));
                let (old, new) = self.values(access, lane as usize, element, address, what);
                self.touches.push(Touch {
                    warp: at.warp,
                    cta: at.cta,
                    block: at.block,
                    lane,
                    pc: at.pc,
                    what,
                    semantics: access.semantics,
                    shared,
                    address,
                    bytes: access.size,
                    old,
                    new,
                });
            }
        }
    }

    /// What memory holds, and what the lane leaves there.
    fn values(
        &mut self,
        access: &Accessed<'_>,
        lane: usize,
        element: u32,
        address: u64,
        what: What,
    ) -> (u128, Option<u128>) {
        match what {
            What::Load => (access.read(lane, element).into(), None),
            What::Store => (access.read(lane, element).into(), Some(access.value(lane, element).into())),
            What::Atomic => {
                // Lanes come one after the other.
                let before = self.written.iter().rev().find(|(written, _)| *written == address);
                let old = before.map_or_else(|| access.read_whole(lane), |(_, value)| *value);
                let new = access.combine(lane, old);
                self.written.push((address, new));
                (old, (new != old || !access.compares()).then_some(new))
            }
        }
    }

    /// Tells what these lanes have done.
    fn tell_touches(&self, lanes: u32) {
        if lanes == 0 || self.touches.is_empty() {
            return;
        }
        let mut recorder = self.recorder.borrow_mut();
        recorder.take(&Told::Instruction);
        for touch in self.touches.iter().filter(|touch| lanes >> touch.lane & 1 != 0) {
            recorder.touch(touch);
        }
    }
}

impl MemoryModel for Recorded {
    fn in_lockstep(&mut self) -> bool {
        self.lockstep = true;
        self.under = self.under.take().map(in_lockstep);
        true
    }

    fn only_looks_on(&self) -> bool {
        self.under.as_ref().is_none_or(|under| under.only_looks_on())
    }

    fn begin(&mut self, shape: &Shape) {
        self.tell(&Told::Launch {
            warps: shape.warps,
            warps_per_cta: shape.warps_per_cta,
            threads_per_cta: shape.threads_per_cta,
            lockstep: self.lockstep,
        });
        if let Some(under) = &mut self.under {
            under.begin(shape);
        }
    }

    fn start_block(&mut self, cta: u32, block: u64) {
        self.tell(&Told::Block { cta });
        if let Some(under) = &mut self.under {
            under.start_block(cta, block);
        }
    }

    fn end_block(&mut self, cta: u32, world: &mut World<'_>) {
        if let Some(under) = &mut self.under {
            under.end_block(cta, world);
        }
    }

    fn load(&mut self, at: &At, access: &Accessed<'_>, world: &mut World<'_>) -> Step {
        self.look(at, access, What::Load);
        let step = match &mut self.under {
            Some(under) if !under.passes_load(at) => under.load(at, access, world),
            _ => Step::run(at.lanes),
        };
        self.tell_touches(served(step));
        step
    }

    fn store(&mut self, at: &At, access: &Accessed<'_>, world: &mut World<'_>) -> Step {
        self.look(at, access, What::Store);
        let step = match &mut self.under {
            Some(under) => under.store(at, access, world),
            None => Step::run(at.lanes),
        };
        self.tell_touches(served(step));
        step
    }

    fn atomic(&mut self, at: &At, access: &Accessed<'_>, world: &mut World<'_>) -> Step {
        self.look(at, access, What::Atomic);
        let step = match &mut self.under {
            Some(under) => under.atomic(at, access, world),
            None => Step::run(at.lanes),
        };
        self.tell_touches(served(step));
        step
    }

    fn fence(&mut self, at: &At, fence: Fence, world: &mut World<'_>) -> Step {
        let step = match &mut self.under {
            Some(under) => under.fence(at, fence, world),
            None => Step::run(at.lanes),
        };
        let lanes = served(step);
        if lanes != 0 && fence.kind != FenceKind::Proxy {
            self.tell(&Told::Fence(Group { lanes, ..group(at) }));
        }
        step
    }

    fn event(&mut self, at: &At, event: Event, world: &mut World<'_>) -> Step {
        let step = match &mut self.under {
            Some(under) => under.event(at, event, world),
            None => Step::run(at.lanes),
        };
        if step != Step::Again {
            let waits =
                matches!(self.program.code[at.pc as usize].kind, Kind::Asynchronous | Kind::ClusterBarrier);
            match event {
                Event::Exit => self.tell(&Told::Exit(group(at))),
                Event::Collective if waits => self.tell(&Told::Wait(group(at))),
                _ => {}
            }
        }
        step
    }

    fn arrived(&mut self, at: &At, barrier: u32) {
        self.tell(&Told::Arrive(group(at), barrier));
        if let Some(under) = &mut self.under {
            under.arrived(at, barrier);
        }
    }

    fn released(&mut self, at: &At, barrier: Option<u32>) {
        match barrier {
            Some(barrier) => self.tell(&Told::Leave(group(at), barrier)),
            None => self.tell(&Told::Meet(group(at))),
        }
        if let Some(under) = &mut self.under {
            under.released(at, barrier);
        }
    }

    fn is_restless(&self) -> bool {
        self.under.as_ref().is_some_and(|under| under.is_restless())
    }

    fn holds_back(&self, cta: u32, address: u64, bytes: u32) -> bool {
        self.under.as_ref().is_some_and(|under| under.holds_back(cta, address, bytes))
    }

    fn stale_reads(&self) -> Vec<StaleRead> {
        self.under.as_ref().map(|under| under.stale_reads()).unwrap_or_default()
    }

    fn counts(&self) -> ModelCounts {
        self.under.as_ref().map(|under| under.counts()).unwrap_or_default()
    }
}
