//! A warp's turn: instruction by instruction until none of its lanes can go on.

use bugaroo_simulator::decoded::{Inst, Kind, NO_GUARD, Together};

use super::arithmetic::arithmetic;
use super::emulation::Stuck;
use super::held::warp::{Flow, State};
use super::machine::Machine;
use super::refusal::{Refusal, RefusalKind};
use crate::program::CommandAction;

impl Machine<'_> {
    /// Runs warp `w` until it cannot go on; answers whether it did anything.
    pub fn turn(&mut self, w: usize) -> Result<bool, Refusal> {
        let code = self.set.code.image.code;
        let mut progress = false;
        'select: while let Some((index, stop)) = self.warps[w].select(self.set.lockstep) {
            progress = true;
            if self.ways.rounds.covered {
                break;
            }
            let fragment = self.warps[w].fragments[index];
            let (mask, frame) = (fragment.mask, fragment.frame);
            let mut pc = fragment.pc;
            loop {
                if pc == stop {
                    self.warps[w].fragments[index].pc = pc;
                    continue 'select;
                }
                if self.ways.rounds.begins(pc) && !self.passes(w, index, pc) {
                    continue 'select;
                }
                let inst = &code[pc as usize];
                self.count_step(w, pc, mask)?;
                let (mut active, mut doubtful) = (mask, 0);
                if inst.guard != NO_GUARD {
                    let registers = &self.calls.frames[frame as usize].registers;
                    let known = registers.known(inst.guard as i32);
                    active &= known & (registers.predicate(inst.guard as i32) ^ inst.guard_flip);
                    doubtful = mask & !known;
                }
                if self.warps[w].multiplying.is_under_way() && active != 0 {
                    self.leaves_alone(w, frame, pc, inst, active)?;
                }
                match inst.kind {
                    Kind::Alu => {
                        let decisions = self.known.symbols.decisions();
                        self.arithmetic(frame, pc, inst, active, doubtful);
                        if decisions != self.known.symbols.decisions() {
                            self.ways.rounds.decided(w, pc, self.known.symbols.decided_last());
                        }
                        if pc == self.known.counters.decided_at() {
                            self.decide();
                        }
                        pc += 1;
                    }
                    Kind::Branch => {
                        if doubtful != 0 {
                            self.warps[w].fragments[index].pc = pc;
                            self.unknown_branch(w, index, pc, doubtful)?;
                            continue 'select;
                        }
                        if active == 0 {
                            pc += 1;
                            continue;
                        }
                        if active == mask {
                            pc = inst.extra;
                            if self.warps[w].fragments.len() > 1 {
                                self.warps[w].fragments[index].pc = pc;
                                continue 'select;
                            }
                            continue;
                        }
                        let warp = &mut self.warps[w];
                        warp.fragments[index].pc = pc + 1;
                        let taken = warp.split(index, active);
                        warp.fragments[taken].pc = inst.extra;
                        continue 'select;
                    }
                    Kind::Nop => pc += 1,
                    Kind::Fence => {
                        self.fence(w, frame, pc, inst, [active, doubtful])?;
                        self.signal_fence(w, pc, active | doubtful);
                        pc += 1;
                    }
                    Kind::Load | Kind::Store | Kind::Atomic => {
                        self.access(w, frame, pc, inst, active, doubtful)?;
                        pc += 1;
                    }
                    Kind::ParamLoad
                    | Kind::ParamStore
                    | Kind::LocalAddress
                    | Kind::Special
                    | Kind::Pack
                    | Kind::Unpack
                    | Kind::IsSpace
                    | Kind::Lanewise
                    | Kind::Texture
                    | Kind::Mapa
                    | Kind::Getctarank
                    | Kind::ActiveMask => {
                        self.lane_data(w, frame, pc, inst, active, doubtful)?;
                        pc += 1;
                    }
                    // Who goes on has not stopped.
                    Kind::Trap if active == 0 => pc += 1,
                    _ => {
                        self.certain(w, frame, pc, inst, doubtful, what(inst.kind))?;
                        if active == 0 {
                            pc += 1;
                            continue;
                        }
                        self.warps[w].fragments[index].pc = pc;
                        match self.control(w, index, pc, inst, active)? {
                            Flow::Next => pc += 1,
                            Flow::Select => continue 'select,
                        }
                    }
                }
            }
        }
        Ok(progress)
    }

    /// Counts an instruction of these lanes.
    #[inline(always)]
    pub fn count_step(&mut self, w: usize, pc: u32, mask: u32) -> Result<(), Refusal> {
        self.course.steps += 1;
        self.course.thread_steps += u64::from(mask.count_ones());
        if self.course.steps > self.set.max_steps {
            return Err(self.runaway(w, pc, mask));
        }
        Ok(())
    }

    /// Arithmetic of a frame.
    #[inline(always)]
    pub fn arithmetic(&mut self, frame: u32, pc: u32, inst: &Inst, active: u32, doubtful: u32) {
        let head = &mut self.calls.frames[frame as usize];
        let info = &self.set.code.extras[pc as usize].arithmetic;
        let meaning = (&mut self.known.symbols, &self.set.code.flows[head.function as usize]);
        // SAFETY: the instruction is one of the function whose frame this is.
        unsafe { arithmetic(&mut head.registers, inst, info, pc, active, doubtful, meaning) };
    }

    /// Refuses when it is not known which lanes run an instruction for which that matters.
    #[inline(always)]
    pub fn certain(
        &self,
        w: usize,
        frame: u32,
        pc: u32,
        inst: &Inst,
        doubtful: u32,
        what: &str,
    ) -> Result<(), Refusal> {
        if doubtful == 0 {
            return Ok(());
        }
        let why = self.calls.frames[frame as usize].registers.why(inst.guard as i32);
        Err(self.unknown(w, pc, doubtful.trailing_zeros() as usize, what, why))
    }

    /// Instructions that change who is where.
    fn control(
        &mut self,
        w: usize,
        fragment: usize,
        pc: u32,
        inst: &Inst,
        active: u32,
    ) -> Result<Flow, Refusal> {
        match inst.kind {
            Kind::Call => self.call(w, fragment, pc, inst.extra, active),
            Kind::Ret => self.ret(w, fragment, pc, active),
            Kind::Exit => {
                self.warps[w].fragments[fragment].pc += 1;
                self.exit_lanes(w, fragment, active, pc)?;
                Ok(Flow::Select)
            }
            Kind::Trap => {
                let lane = active.trailing_zeros() as usize;
                Err(self.illegal(w, pc, lane, "the kernel stops itself with `trap`"))
            }
            Kind::IndexedBranch => self.indexed_branch(w, fragment, pc, inst, active),
            Kind::Barrier => self.barrier(w, fragment, pc, inst.extra, active),
            Kind::Collective => self.collective(w, fragment, pc, inst.extra, active),
            Kind::Asynchronous => self.asynchronous(w, fragment, pc, inst.extra, active),
            Kind::ClusterBarrier => {
                self.cluster_barrier(w, fragment, pc, [inst.extra & 1 != 0, inst.extra & 2 != 0], active)
            }
            Kind::Provided => self.provided(w, fragment, inst.extra, active),
            Kind::Alloca | Kind::StackSave | Kind::StackRestore => self.stack(w, fragment, pc, inst, active),
            _ => unreachable!("the loop sends nothing else here"),
        }
    }

    #[cold]
    pub fn runaway(&self, w: usize, pc: u32, mask: u32) -> Refusal {
        let limit = self.set.max_steps;
        let message = format!("no end after {limit} warp instructions (--max-steps sets the bound)");
        Refusal {
            kind: RefusalKind::NotVerifiable,
            message,
            place: Some(Box::new(self.place(pc))),
            thread: Some(self.thread(w, mask.trailing_zeros() as usize)),
            cause: None,
        }
    }

    /// Writes down what those wait for who wait for ever, as far as that was not done when they came, and who they are.
    pub fn stuck(&mut self) -> Result<Stuck, Refusal> {
        let mut groups = Vec::new();
        for w in 0..self.warps.len() {
            for fragment in self.warps[w].fragments.clone() {
                groups.push((w as u32, fragment.mask, fragment.pc));
                let sync = match self.set.code.image.code[fragment.pc as usize] {
                    Inst { kind: Kind::Collective, extra, .. } => {
                        self.set.code.image.collectives[extra as usize].what == Together::Sync
                    }
                    _ => false,
                };
                if let (State::Mask(members), true) = (fragment.state, sync) {
                    self.emit(w, fragment.mask, fragment.pc, CommandAction::WarpSync { members })?;
                }
            }
        }
        Ok(Stuck { groups })
    }
}

/// What the guard of an instruction decides.
pub(super) fn what(kind: Kind) -> &'static str {
    match kind {
        Kind::Call | Kind::Provided => "whether a function is called",
        Kind::Ret | Kind::Exit | Kind::Trap => "whether the thread goes on",
        Kind::IndexedBranch => "a branch",
        Kind::Barrier | Kind::ClusterBarrier => "whether a barrier is reached",
        Kind::Collective => "whether the thread takes part in an exchange of its warp",
        Kind::Asynchronous => "whether an asynchronous copy or an mbarrier operation happens",
        _ => "whether an instruction is executed",
    }
}
