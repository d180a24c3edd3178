//! The interpreter loop: one warp, one turn.

use super::modelled::Did;
use super::{Machine, Stop, Trouble};
use crate::address;
use crate::decoded::{Inst, Kind, NO_GUARD};
use crate::fault::{LaunchFault, StopKind};

/// Instructions without a visible operation after which a warp's turn ends all the same.
pub(super) const SLICE: u64 = 1 << 14;

/// As so many instructions counts a load that nobody else could see. Else a thread that waits for a value that
/// never comes would take a whole [`SLICE`] at each of its turns, and be found by the search for hangs late.
const QUIET_LOAD: u64 = SLICE >> 8;

/// How a launch is run: without a memory model and with nobody looking on.
pub(super) const ALONE: u8 = 0;
/// Without a memory model, and somebody is told.
pub(super) const TOLD: u8 = 1;
/// Under a memory model, whether or not somebody is told.
pub(super) const MODELLED: u8 = 2;

/// How an instruction of the slow kind left the fragment.
pub(super) enum Flow {
    /// The fragment goes on behind the instruction.
    Next,
    /// It goes on behind the instruction, which others could see.
    Visible,
    /// It stays at the instruction, which is not done yet; others could see something.
    Again,
    /// Fragments have changed; the next one is to be selected.
    Select,
}

impl Machine<'_> {
    /// As [`Machine::turn_body`], for processors of the x86-64-v3 level.
    ///
    /// # Safety
    /// The processor has these features.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx,avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
    pub(super) unsafe fn turn_v3<const HOW: u8>(
        &mut self,
        w: usize,
        left: &mut u32,
        limit: u64,
    ) -> Result<Stop, Box<LaunchFault>> {
        self.turn_body::<true, HOW>(w, left, limit)
    }

    /// As [`Machine::turn_body`], for any processor.
    pub(super) fn turn_portable<const HOW: u8>(
        &mut self,
        w: usize,
        left: &mut u32,
        limit: u64,
    ) -> Result<Stop, Box<LaunchFault>> {
        self.turn_body::<false, HOW>(w, left, limit)
    }

    /// Runs warp `w` for `left` visible operations, which are counted down, or `limit` instructions, whichever
    /// comes first. `V3`: on a processor of the x86-64-v3 level. `HOW`: [`ALONE`], [`TOLD`] or [`MODELLED`].
    #[inline(always)]
    fn turn_body<const V3: bool, const HOW: u8>(
        &mut self,
        w: usize,
        left: &mut u32,
        limit: u64,
    ) -> Result<Stop, Box<LaunchFault>> {
        let code = self.given.program.code.as_ptr();
        let consts = self.given.constants.base();
        let mut slice = SLICE.min(limit);
        'select: loop {
            let Some(selected) = self.residents.warps[w].select(&self.residents.frames, self.given.turns)
            else {
                return Ok(if self.residents.warps[w].alive == 0 { Stop::Finished } else { Stop::Blocked });
            };
            let fragment = self.residents.warps[w].fragments[selected.index];
            if HOW != ALONE && self.hooks.tells_parts {
                self.observed_selection(w, fragment.mask, fragment.pc);
            }
            let mask = fragment.mask;
            let frame = fragment.rows;
            let mut pc = fragment.pc;
            let mut count = 0u64;

            // Puts the fragment's state back where everybody sees it.
            macro_rules! save {
                () => {{
                    self.residents.warps[w].fragments[selected.index].pc = pc;
                    self.progress.counts.warp_instructions += count;
                    self.progress.counts.thread_instructions += count * u64::from(mask.count_ones());
                    #[allow(unused_assignments, reason = "some users leave the loop")]
                    {
                        slice = slice.saturating_sub(count);
                        count = 0;
                    }
                }};
            }
            // Others could see something, and `pc` is still to be done.
            macro_rules! again {
                () => {{
                    self.progress.again += 1;
                    visible!();
                }};
            }
            // A visible operation is done and `pc` is behind it.
            macro_rules! visible {
                () => {{
                    *left -= 1;
                    if *left == 0 {
                        save!();
                        return Ok(Stop::Turn);
                    }
                }};
            }

            loop {
                if pc == selected.stop {
                    save!();
                    continue 'select;
                }
                // SAFETY: the loader ends every function with `ret`, and targets are instructions of it.
                let inst: &Inst = unsafe { &*code.add(pc as usize) };
                count += 1;
                let mut active = mask;
                if inst.guard != NO_GUARD {
                    // SAFETY: the guard is a predicate row of the frame.
                    let guard = unsafe { *frame.add(inst.guard as usize).cast::<u32>() };
                    active &= guard ^ inst.guard_flip;
                }
                match inst.kind {
                    Kind::Alu => {
                        // SAFETY: the loader chose the function for rows of these widths in this frame, and
                        // for the processor that we run on.
                        unsafe { (inst.run)(frame, consts, &inst.ops, active) };
                        pc += 1;
                        // So many like it are behind it, without guards; another fragment may wait at one.
                        let more = inst.extra.min(selected.stop.wrapping_sub(pc));
                        for _ in 0..more {
                            // SAFETY: as above; the loader counted them.
                            unsafe {
                                let inst = &*code.add(pc as usize);
                                (inst.run)(frame, consts, &inst.ops, mask);
                            }
                            pc += 1;
                        }
                        count += u64::from(more);
                    }
                    Kind::Branch => {
                        if active == 0 {
                            pc += 1;
                        } else if active == mask {
                            let backward = inst.extra <= pc;
                            pc = inst.extra;
                            if backward && count >= slice {
                                save!();
                                return Ok(Stop::Turn);
                            }
                            if selected.diverged {
                                save!();
                                continue 'select;
                            }
                        } else {
                            if HOW != ALONE && self.hooks.watch.is_some() {
                                let first = self.given.turns.turn(inst.extra) < self.given.turns.turn(pc + 1);
                                self.observed_split(w, pc, mask, active, first);
                            }
                            pc += 1;
                            save!();
                            let warp = &mut self.residents.warps[w];
                            let taken = warp.split(selected.index, active);
                            warp.fragments[taken].pc = inst.extra;
                            if slice == 0 {
                                return Ok(Stop::Turn);
                            }
                            continue 'select;
                        }
                    }
                    Kind::Load | Kind::Store | Kind::Atomic | Kind::Fence if HOW == MODELLED => {
                        if active == 0 {
                            pc += 1;
                            // As below: who looks on changes nothing.
                            if inst.kind == Kind::Fence && self.hooks.sequential {
                                visible!();
                            }
                            continue;
                        }
                        // SAFETY: rows are the loader's; addresses are checked there.
                        match unsafe { self.modelled::<V3>(w, pc, inst, frame, consts, active) } {
                            Ok(Did::Visible) => {
                                pc += 1;
                                visible!();
                            }
                            Ok(Did::Quiet) => {
                                pc += 1;
                                slice = slice.saturating_sub(QUIET_LOAD);
                            }
                            Ok(Did::Again) => again!(),
                            Err(trouble) => return Err(self.fault(w, pc, *trouble)),
                        }
                    }
                    Kind::Load => {
                        pc += 1;
                        if active != 0 {
                            // SAFETY: rows are the loader's; addresses are checked there.
                            let done = unsafe {
                                if HOW == TOLD {
                                    self.told_load::<V3>(w, pc - 1, (frame, consts), inst.extra, active)
                                } else {
                                    self.load::<V3>(w, frame, consts, inst.extra, active)
                                }
                            };
                            match done {
                                Ok(true) => visible!(),
                                Ok(false) => slice = slice.saturating_sub(QUIET_LOAD),
                                Err(trouble) => return Err(self.fault(w, pc - 1, *trouble)),
                            }
                        }
                    }
                    Kind::Store => {
                        pc += 1;
                        if active != 0 {
                            // SAFETY: rows are the loader's; addresses are checked there.
                            let done = unsafe {
                                if HOW == TOLD {
                                    self.told_store(w, pc - 1, (frame, consts), inst.extra, active)
                                } else {
                                    self.store(w, frame, consts, inst.extra, active)
                                }
                            };
                            match done {
                                Ok(true) => visible!(),
                                Ok(false) => {}
                                Err(trouble) => return Err(self.fault(w, pc - 1, *trouble)),
                            }
                        }
                    }
                    Kind::Atomic => {
                        pc += 1;
                        if active != 0 {
                            // SAFETY: rows are the loader's; addresses are checked there.
                            let done = unsafe {
                                if HOW == TOLD {
                                    self.told_atomic(w, pc - 1, (frame, consts), inst.extra, active)
                                } else {
                                    self.atomic(w, frame, consts, inst.extra, active)
                                }
                            };
                            match done {
                                Ok(true) => visible!(),
                                Ok(false) => {}
                                Err(trouble) => return Err(self.fault(w, pc - 1, *trouble)),
                            }
                        }
                    }
                    Kind::Fence => {
                        pc += 1;
                        if HOW == TOLD {
                            self.told_fence(w, pc - 1, inst.extra, active);
                        } else {
                            self.count_fences(inst.extra & 1, active);
                        }
                        visible!();
                    }
                    Kind::Nop => pc += 1,
                    Kind::ParamLoad => {
                        // SAFETY: word rows of this frame.
                        unsafe { self.param_load(frame, inst.extra, active) };
                        pc += 1;
                    }
                    Kind::ParamStore => {
                        // SAFETY: word rows of this frame.
                        unsafe { self.param_store(frame, consts, inst.extra, active) };
                        pc += 1;
                    }
                    Kind::LocalAddress
                    | Kind::Special
                    | Kind::Pack
                    | Kind::Unpack
                    | Kind::IsSpace
                    | Kind::Lanewise
                    | Kind::Mapa
                    | Kind::Getctarank
                    | Kind::ActiveMask => {
                        save!();
                        // SAFETY: rows are the loader's.
                        unsafe { self.lane_data(w, selected.index, inst, frame, consts, active) };
                        pc += 1;
                    }
                    Kind::Call
                    | Kind::Ret
                    | Kind::Exit
                    | Kind::Trap
                    | Kind::IndexedBranch
                    | Kind::Barrier
                    | Kind::Collective
                    | Kind::Asynchronous
                    | Kind::Texture
                    | Kind::ClusterBarrier
                    | Kind::Provided
                    | Kind::Alloca
                    | Kind::StackSave
                    | Kind::StackRestore => {
                        if active == 0 {
                            pc += 1;
                            continue;
                        }
                        save!();
                        match self.control(w, selected.index, inst, active) {
                            Ok(Flow::Next) => pc += 1,
                            Ok(Flow::Again) => again!(),
                            Ok(Flow::Visible) => {
                                pc += 1;
                                *left -= 1;
                                if *left == 0 || self.progress.woken {
                                    self.progress.woken = false;
                                    save!();
                                    return Ok(Stop::Turn);
                                }
                            }
                            Ok(Flow::Select) => {
                                if matches!(inst.kind, Kind::Barrier | Kind::Asynchronous) {
                                    *left -= 1;
                                }
                                if (*left == 0 || self.progress.woken || slice == 0)
                                    && self.residents.warps[w].ready() != 0
                                {
                                    self.progress.woken = false;
                                    return Ok(Stop::Turn);
                                }
                                self.progress.woken = false;
                                *left = (*left).max(1);
                                continue 'select;
                            }
                            Err(trouble) if inst.kind == Kind::Provided => {
                                // What the user wrote is the call.
                                let call = self.residents.frames.get(fragment.frame).return_pc - 1;
                                return Err(self.fault(w, call, *trouble));
                            }
                            Err(trouble) => return Err(self.fault(w, pc, *trouble)),
                        }
                    }
                }
            }
        }
    }

    /// Instructions that change who is where.
    #[inline(never)]
    fn control(&mut self, w: usize, fragment: usize, inst: &Inst, active: u32) -> Result<Flow, Trouble> {
        if self.hooks.model.is_some() && self.announce(w, fragment, inst, active)? {
            return Ok(Flow::Again);
        }
        match inst.kind {
            Kind::Call => self.call(w, fragment, inst.extra, active),
            Kind::Ret => self.ret(w, fragment, active),
            Kind::Exit => {
                self.residents.warps[w].fragments[fragment].pc += 1;
                self.exit_lanes(w, fragment, active)?;
                Ok(Flow::Select)
            }
            Kind::Trap => Err(Box::new((StopKind::Trap, active.trailing_zeros()))),
            Kind::IndexedBranch => self.indexed_branch(w, fragment, inst, active),
            Kind::Barrier => self.barrier(w, fragment, inst.extra, active),
            Kind::Collective => self.collective(w, fragment, inst.extra, active),
            Kind::Asynchronous => self.asynchronous(w, fragment, inst.extra, active),
            Kind::Texture => self.texture(w, fragment, inst.extra, active),
            Kind::ClusterBarrier => self.cluster_barrier(w, fragment, inst.extra, active),
            Kind::Provided => self.provided(w, fragment, inst.extra, active),
            Kind::Alloca | Kind::StackSave | Kind::StackRestore => self.stack(w, fragment, inst, active),
            _ => unreachable!("the loop sends nothing else here"),
        }
    }

    /// Dresses a fault with thread and place.
    #[cold]
    pub(super) fn fault(&self, w: usize, pc: u32, (kind, lane): (StopKind, u32)) -> Box<LaunchFault> {
        Box::new(LaunchFault { kind, thread: self.thread(w, lane), place: self.given.program.place(pc) })
    }

    /// The window of a generic address, as the number that `isspacep` carries.
    pub(super) fn window_number(generic: u64) -> u32 {
        match address::window(generic) {
            address::Window::Global => 0,
            address::Window::Shared => 1,
            address::Window::Local => 2,
            address::Window::Param => 3,
        }
    }
}
