//! The engine's side of a memory model: which hook is called when, and what is done with its answer (see
//! [`crate::model`]).

use std::cell::Cell;

use super::frames::ROOT;
use super::resolve::Request;
use super::{Machine, Trouble};
use crate::decoded::{Inst, Kind};
use crate::fault::{StopKind, TouchKind};
use crate::memory::Memory;
use crate::model::{Accessed, At, MemoryModel, ModelEvent, NextOperation, Shape, World};
use bugaroo_ptx::op::MbarrierOp;
use bugaroo_ptx::types::Type;
use bugaroo_semantics::effect::Effect;
use bugaroo_semantics::event;

/// How an instruction was done.
pub(super) enum Did {
    /// Others could see it; the lanes go on behind it.
    Visible,
    /// Nobody could.
    Quiet,
    /// It has not been done yet, or the lanes stay at it; others could see something.
    Again,
}

/// How the lanes that the engine has served go on.
fn done(run: u32, taken: u32, again: bool) -> Did {
    match (again, run | taken) {
        (true, _) => Did::Again,
        (false, 0) => Did::Quiet,
        (false, _) => Did::Visible,
    }
}

impl Machine<'_> {
    /// The launch's size.
    pub(crate) fn shape(&self) -> Shape {
        Shape {
            warps: self.given.plan.resident * self.given.plan.warps_per_block,
            ctas: self.given.plan.resident,
            warps_per_cta: self.given.plan.warps_per_block,
            threads_per_cta: self.given.plan.threads_per_block,
            blocks: self.given.plan.blocks,
            cluster: self.cluster_size(),
            shared_bytes: self.given.plan.shared_bytes,
        }
    }

    /// Lanes of a warp at an instruction.
    pub(super) fn at(&self, w: usize, pc: u32, lanes: u32) -> At {
        let warp = &self.residents.warps[w];
        let block = self.residents.ctas[warp.cta as usize].block;
        let first_thread = block * u64::from(self.given.plan.threads_per_block) + u64::from(warp.index) * 32;
        At { warp: w as u32, cta: warp.cta, block, first_thread, lanes, pc }
    }

    /// Calls a hook. `lane`: who is told if memory is gone that it wrote to.
    #[inline(always)]
    fn ask<T>(
        &mut self,
        lane: u32,
        hook: impl FnOnce(&Machine<'_>, &mut dyn MemoryModel, &mut World<'_>) -> T,
    ) -> Result<T, Trouble> {
        let answer = self.call_hook(hook);
        match self.hooks.lost {
            None => Ok(answer),
            Some((address, size)) => {
                self.hooks.lost = None;
                Err(Box::new((StopKind::Freed { address, size, access: TouchKind::Write }, lane)))
            }
        }
    }

    /// The call itself. It answers in registers: see [`crate::model::Split`].
    #[inline(never)]
    fn call_hook<T>(
        &mut self,
        hook: impl FnOnce(&Machine<'_>, &mut dyn MemoryModel, &mut World<'_>) -> T,
    ) -> T {
        let mut model = self.hooks.model.take().expect("only a launch with a model gets here");
        let mut notes = self.hooks.notes.take();
        let mut world = World {
            memory: &self.memory,
            shared: self.given.layout.shared.base(),
            shared_stride: self.given.layout.shared_stride,
            shared_bytes: self.given.plan.shared_bytes,
            lost: None,
            changed: false,
            known: None,
            known_read: Cell::new(None),
            notes: notes.as_deref_mut(),
            held: None,
        };
        let answer = hook(self, &mut *model, &mut world);
        let lost = world.lost;
        self.hooks.model = Some(model);
        self.hooks.notes = notes;
        if lost.is_some() {
            self.hooks.lost = lost;
        }
        answer
    }

    /// An access or a fence of the lanes in `active` (not empty).
    ///
    /// # Safety
    /// The instruction is one of these kinds, of the frame's function; with `V3`, the processor is of that level.
    #[inline(always)]
    pub(super) unsafe fn modelled<const V3: bool>(
        &mut self,
        w: usize,
        pc: u32,
        inst: &Inst,
        frame: *mut u8,
        consts: *const u8,
        active: u32,
    ) -> Result<Did, Trouble> {
        #[cfg(target_arch = "x86_64")]
        if V3 {
            // SAFETY: the caller's promise.
            return unsafe { self.modelled_v3(w, pc, inst, frame, consts, active) };
        }
        // SAFETY: the caller's promise.
        unsafe { self.modelled_portable(w, pc, inst, frame, consts, active) }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx,avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
    #[inline(never)]
    unsafe fn modelled_v3(
        &mut self,
        w: usize,
        pc: u32,
        inst: &Inst,
        frame: *mut u8,
        consts: *const u8,
        active: u32,
    ) -> Result<Did, Trouble> {
        // SAFETY: the caller's promise.
        unsafe { self.modelled_body::<true>(w, pc, inst, frame, consts, active) }
    }

    #[inline(never)]
    unsafe fn modelled_portable(
        &mut self,
        w: usize,
        pc: u32,
        inst: &Inst,
        frame: *mut u8,
        consts: *const u8,
        active: u32,
    ) -> Result<Did, Trouble> {
        // SAFETY: the caller's promise.
        unsafe { self.modelled_body::<false>(w, pc, inst, frame, consts, active) }
    }

    #[inline(always)]
    unsafe fn modelled_body<const V3: bool>(
        &mut self,
        w: usize,
        pc: u32,
        inst: &Inst,
        frame: *mut u8,
        consts: *const u8,
        active: u32,
    ) -> Result<Did, Trouble> {
        match inst.kind {
            // SAFETY: the caller's promise.
            Kind::Load => unsafe { self.modelled_load::<V3>(w, pc, inst.extra, frame, consts, active) },
            // SAFETY: the caller's promise.
            Kind::Store => unsafe { self.modelled_store(w, pc, inst.extra, frame, consts, active) },
            // SAFETY: the caller's promise.
            Kind::Atomic => unsafe { self.modelled_atomic(w, pc, inst.extra, frame, consts, active) },
            _ => self.modelled_fence(w, pc, inst.extra, active),
        }
    }

    #[inline(always)]
    unsafe fn modelled_load<const V3: bool>(
        &mut self,
        w: usize,
        pc: u32,
        index: u32,
        frame: *mut u8,
        consts: *const u8,
        active: u32,
    ) -> Result<Did, Trouble> {
        let program = self.given.program;
        let access = &program.accesses[index as usize];
        let at = self.at(w, pc, active);
        let passes = !access.visible || self.hooks.model.as_ref().is_some_and(|model| model.passes_load(&at));
        if passes && (self.hooks.watch.is_none() || !access.watched) {
            // SAFETY: the caller's promise.
            let visible = unsafe { self.load::<V3>(w, frame, consts, index, active)? };
            return Ok(if visible { Did::Visible } else { Did::Quiet });
        }
        let bytes = u32::from(access.size) * u32::from(access.vec);
        let request = Request { address: access.address, bytes, site: index as usize, kind: TouchKind::Read };
        // SAFETY: the caller's promise; pointers are checked by `resolve`.
        unsafe {
            let mut found = self.resolve(w, frame, consts, &request, active)?;
            if found.quiet {
                found.quiet = self.hooks.model.as_ref().is_none_or(|model| model.passes_quiet_load(&at));
            }
            if !found.visible || found.quiet && self.hooks.watch.is_none() && !self.hang.watching {
                self.load_rows::<V3>(frame, access, found, active);
                return Ok(Did::Quiet);
            }
            if self.hooks.watch.is_some() {
                self.foresee(w, &access.address, (frame, consts), &found, bytes, active);
            }
            if let Some(watch) = &mut self.hooks.watch {
                watch.look(&Accessed::moved(access, (frame, consts), (found, &self.paths.pointers)), active);
            }
            let step = if passes || found.quiet && !self.hang.watching {
                NextOperation::run(active)
            } else {
                self.ask(active.trailing_zeros(), |machine, model, world| {
                    let accessed = Accessed::moved(access, (frame, consts), (found, &machine.paths.pointers));
                    model.load(&at, &accessed, world)
                })?
            };
            let Some((lanes, again)) = step.done() else { return Ok(self.again()) };
            let (run, taken) = (lanes.run(), lanes.taken());
            if run != 0 {
                self.load_rows::<V3>(frame, access, found, run);
            }
            if self.hooks.watch.is_some() {
                self.observed_move(
                    w,
                    pc,
                    access,
                    (frame, consts),
                    found,
                    event::AccessKind::Load,
                    (run, taken),
                );
            }
            // A constant is told, and is no visible operation for that.
            if !access.visible || found.quiet { Ok(Did::Quiet) } else { Ok(done(run, taken, again)) }
        }
    }

    #[inline(always)]
    unsafe fn modelled_store(
        &mut self,
        w: usize,
        pc: u32,
        index: u32,
        frame: *mut u8,
        consts: *const u8,
        active: u32,
    ) -> Result<Did, Trouble> {
        let program = self.given.program;
        let access = &program.accesses[index as usize];
        let bytes = u32::from(access.size) * u32::from(access.vec);
        let request =
            Request { address: access.address, bytes, site: index as usize, kind: TouchKind::Write };
        // SAFETY: the caller's promise; pointers are checked by `resolve`.
        unsafe {
            let found = self.resolve(w, frame, consts, &request, active)?;
            if !(access.visible && found.visible) {
                self.unseen_store(w, (frame, consts), access, &found, active);
                self.store_rows(frame, consts, access, found, active);
                return Ok(Did::Quiet);
            }
            let at = self.at(w, pc, active);
            if self.hooks.watch.is_some() {
                self.foresee(w, &access.address, (frame, consts), &found, bytes, active);
            }
            if let Some(watch) = &mut self.hooks.watch {
                watch.look(&Accessed::moved(access, (frame, consts), (found, &self.paths.pointers)), active);
            }
            let step = self.ask(active.trailing_zeros(), |machine, model, world| {
                let accessed = Accessed::moved(access, (frame, consts), (found, &machine.paths.pointers));
                model.store(&at, &accessed, world)
            })?;
            let Some((lanes, again)) = step.done() else { return Ok(self.again()) };
            let (run, taken) = (lanes.run(), lanes.taken());
            if run | taken != 0 {
                self.count_stores(w, (access.counted, index), &found, run | taken, bytes);
            }
            if run != 0 {
                self.store_rows(frame, consts, access, found, run);
            }
            if self.hooks.watch.is_some() {
                self.observed_move(
                    w,
                    pc,
                    access,
                    (frame, consts),
                    found,
                    event::AccessKind::Store,
                    (run, taken),
                );
            }
            Ok(done(run, taken, again))
        }
    }

    unsafe fn modelled_atomic(
        &mut self,
        w: usize,
        pc: u32,
        index: u32,
        frame: *mut u8,
        consts: *const u8,
        active: u32,
    ) -> Result<Did, Trouble> {
        let program = self.given.program;
        let atomic = &program.atomics[index as usize];
        let bytes = atomic.ty.bytes();
        let site = program.accesses.len() + index as usize;
        let request = Request { address: atomic.address, bytes, site, kind: TouchKind::Atomic };
        // SAFETY: the caller's promise; pointers are checked by `resolve`.
        unsafe {
            let found = self.resolve(w, frame, consts, &request, active)?;
            if !found.visible {
                self.hang.unseen.set(true);
                self.atomic(w, frame, consts, index, active)?;
                return Ok(Did::Quiet);
            }
            let at = self.at(w, pc, active);
            if let Some(watch) = &self.hooks.watch {
                watch.made.begin(atomic.high.is_some());
                self.foresee(w, &atomic.address, (frame, consts), &found, bytes, active);
            }
            let first = found.lane(&self.paths.pointers, active.trailing_zeros() as usize, bytes);
            let flush = atomic.ty == Type::F32 && self.is_global(w, first);
            let step = self.ask(active.trailing_zeros(), |machine, model, world| {
                let made = machine.hooks.watch.as_ref().map(|watch| &watch.made);
                let rows = (frame, consts);
                let accessed =
                    Accessed::combined(atomic, flush, rows, (found, &machine.paths.pointers), made);
                model.atomic(&at, &accessed, world)
            })?;
            let Some((lanes, again)) = step.done() else { return Ok(self.again()) };
            let (run, taken) = (lanes.run(), lanes.taken());
            self.note_taken(w, (frame, consts), (atomic, site), &found, taken);
            if self.hooks.watch.is_some() {
                self.foresee_atomic((frame, consts), atomic, found, flush, run);
            }
            if run != 0 {
                self.atomic(w, frame, consts, index, run)?;
            }
            if self.hooks.watch.is_some() {
                self.observed_atomic(w, pc, atomic, (run, taken));
            }
            Ok(done(run, taken, again))
        }
    }

    /// The model has done a step before the instruction.
    fn again(&mut self) -> Did {
        self.observed_notes();
        Did::Again
    }

    fn modelled_fence(&mut self, w: usize, pc: u32, extra: u32, active: u32) -> Result<Did, Trouble> {
        // `nanosleep` is no fence.
        let Some(fence) = self.given.program.fences.get((extra >> 1) as usize).copied() else {
            return Ok(Did::Visible);
        };
        let at = self.at(w, pc, active);
        let step = self.ask(active.trailing_zeros(), |_, model, world| model.fence(&at, fence, world))?;
        self.observed_notes();
        let Some((lanes, again)) = step.done() else { return Ok(Did::Again) };
        let (run, taken) = (lanes.run(), lanes.taken());
        self.count_fences(extra & 1, run);
        self.observed_fence(w, pc, run | taken, fence);
        Ok(done(run, taken, again))
    }

    /// Tells the model what the lanes are about to do; answers whether they have to come again first.
    pub(super) fn announce(
        &mut self,
        w: usize,
        fragment: usize,
        inst: &Inst,
        active: u32,
    ) -> Result<bool, Trouble> {
        let Some(event) = self.event_of(w, fragment, inst) else { return Ok(false) };
        let at = self.at(w, self.residents.warps[w].fragments[fragment].pc, active);
        let step = self.ask(active.trailing_zeros(), |_, model, world| model.event(&at, event, world))?;
        self.observed_notes();
        Ok(step == NextOperation::Again)
    }

    fn event_of(&self, w: usize, fragment: usize, inst: &Inst) -> Option<ModelEvent> {
        let effect = self.given.program.effect_of(inst);
        Some(match effect {
            Effect::Exit => ModelEvent::Exit,
            Effect::Return => {
                let frame = self.residents.warps[w].fragments[fragment].frame;
                return (self.residents.frames.get(frame).parent == ROOT).then_some(ModelEvent::Exit);
            }
            Effect::BlockBarrier => ModelEvent::Barrier,
            Effect::WarpBarrier => ModelEvent::WarpBarrier,
            // Accesses and fences have hooks of their own. What the copies of a group touch was announced when they were issued.
            Effect::Nothing | Effect::Access(_) | Effect::Fence(_) | Effect::ProxyFence => return None,
            Effect::Mbarrier(MbarrierOp::PendingCount) | Effect::CopyGroup { .. } => return None,
            Effect::Pause | Effect::Call | Effect::Hint => return None,
            _ if effect.only_waits() => ModelEvent::Collective,
            _ => ModelEvent::Opaque,
        })
    }

    /// A block has begun in this slot.
    pub(super) fn model_block_begins(&mut self, slot: u32) {
        let block = self.residents.ctas[slot as usize].block;
        if let Some(model) = &mut self.hooks.model {
            model.start_block(slot, block);
        }
    }

    /// The block in this slot has ended.
    pub(super) fn model_block_ends(&mut self, slot: u32) {
        if self.hooks.model.is_some() {
            // The lanes that could be told of memory that was freed are gone.
            let _ = self.ask(0, |_, model, world| model.end_block(slot, world));
            self.observed_notes();
        }
    }

    /// Another grid of the device goes on next: see [`MemoryModel::settle`].
    pub fn settle(&mut self, memory: &mut Memory) {
        if self.hooks.model.is_some() {
            self.borrow(memory);
            // Stores to memory that was freed meanwhile are gone with it.
            let _ = self.ask(0, |_, model, world| model.settle(world));
            self.memory.take_back();
        }
    }

    /// Somebody else has run meanwhile: see [`MemoryModel::others_ran`].
    pub fn others_ran(&mut self) {
        if let Some(model) = &mut self.hooks.model {
            model.others_ran();
        }
    }

    /// Somebody else runs from now on, or does not: see [`MemoryModel::others_run`].
    pub fn others_run(&mut self, run: bool) {
        if let Some(model) = &mut self.hooks.model {
            model.others_run(run);
        }
    }

    /// A warp has arrived at a CTA barrier, with these lanes.
    pub(super) fn model_arrived(&mut self, w: usize, barrier: u32, lanes: u32, pc: u32) {
        let at = self.at(w, pc, lanes);
        if let Some(model) = &mut self.hooks.model {
            model.arrived(&at, barrier);
        }
    }

    /// Lanes go on behind a barrier; none, where a CTA barrier completes at which nobody waits.
    pub(super) fn model_released(&mut self, w: usize, barrier: Option<u32>, lanes: u32) {
        if self.hooks.model.is_some() {
            let at = self.at(w, 0, lanes);
            if let Some(model) = &mut self.hooks.model {
                model.released(&at, barrier);
            }
        }
    }
}
