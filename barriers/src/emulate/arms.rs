//! Branches on values that are not known: both arms are run, up to where they meet again.
//!
//! # Semantics
//! A state says of each lane's registers and local memory what is known. The lanes of an open branch run each arm from the branch's
//! state, up to the branch's immediate post-dominator; there, what is known in both arms and equal stays known, and nothing else.
//! An arm that comes back to its branch (a loop whose number of rounds is not known) joins its state into the branch's, until nothing
//! changes: a least fixed point over "known or not", which ends as nothing becomes known again. A branch inside an arm whose lanes' values are
//! known is followed as it is everywhere; an open one inside is treated in the same way, up to its own meeting point.
//!
//! Accesses of shared memory in an arm are commands with a condition: they happen or not. What an arm writes there is not known
//! afterwards. Barriers, exchanges of warps, mbarriers and whatever else others could wait for are refused in arms, with the branch. Exchanges are not where the
//! lanes go one way together ([`super::together`]).
//!
//! # Why that is sound
//! Whatever the inputs are, each lane goes one of the ways that are run here, from a state that this one covers: each value that is known
//! has that value in all executions. So the commands without a condition are done in all executions, those with a condition cover all
//! accesses that any execution makes, and barriers are under no condition: happens-before is the same for all inputs. A proof over all
//! commands holds for all inputs; a race of two accesses without conditions is one for all inputs; any other is possible, no more.
//! Where an arm stops the kernel (`trap`, a failed assertion) or would access memory outside of the CTA's, its lanes are taken not to go there.
//!
//! # What it can miss
//! Conditions of threads are taken to be independent of each other, unless they are the same expression of parameters
//! ([`super::symbol`]): races may be called possible that no input shows. An address that is only known round by round of such a
//! loop is refused.

use bugaroo_simulator::decoded::{Asynchronous, Inst, Kind, NO_GUARD, Provided};

use super::doubt::Doubt;
use super::flow::successors;
use super::held::frame::ROOT;
use super::machine::Machine;
use super::refusal::{Refusal, RefusalKind};
use super::registers::{Why, lanes};
use super::states::{End, Ends};
use super::step::what;
use crate::program::{AccessCondition, Literal};

/// Open branches inside each other at which a kernel is refused.
const DEEPEST: u32 = 64;
/// Instructions in the arms of one open branch, those inside included, at which a kernel is refused.
const MOST_IN_ARMS: u64 = 10_000_000;

impl<'a> Machine<'a> {
    /// Lanes of a fragment stand at a branch of which it is not known whether they take it: runs both arms, and leaves the lanes where they
    /// meet.
    pub fn unknown_branch(
        &mut self,
        w: usize,
        fragment: usize,
        pc: u32,
        doubtful: u32,
    ) -> Result<(), Refusal> {
        let (mask, frame) = (self.warps[w].fragments[fragment].mask, self.warps[w].fragments[fragment].frame);
        let part = if mask == doubtful { fragment } else { self.warps[w].split(fragment, doubtful) };
        let head = &self.calls.frames[frame as usize];
        let (function, root) = (head.function as usize, head.parent == ROOT);
        let flow = &self.set.code.flows[function];
        let (meet, last) = (flow.meet(pc), flow.last());
        if let Some(behind) = self.stops_otherwise(pc) {
            self.warps[w].fragments[part].pc = behind;
            return Ok(());
        }
        self.ways.doubt.together = true;
        let shape = self.shape(function, pc, &[]);
        self.ways.loops.clear();
        self.ways.doubt.until = self.course.steps + MOST_IN_ARMS;
        if shape.waits {
            // Perhaps none of it is reached.
            let before = self.state(w, frame, doubtful);
            self.ways.doubt.silent = true;
            let tried = match shape.refused {
                // Nothing has to be run to see that.
                Some(at) => {
                    let what = what(self.set.code.image.code[at as usize].kind);
                    let why = self.calls.frames[frame as usize].registers.why(self.decider(pc)).plain();
                    Err(self.unknown(w, at, doubtful.trailing_zeros() as usize, what, why))
                }
                None => self.arms(w, frame, pc, doubtful, &[]),
            };
            self.ways.doubt =
                Doubt { silent: false, condition: None, depth: 0, ..std::mem::take(&mut self.ways.doubt) };
            self.install(w, frame, &before);
            if tried.is_err()
                && let Some(behind) = self.early_return(w, frame, pc, doubtful)
                && self
                    .common_condition(frame, pc, doubtful)
                    .is_none_or(|condition| self.known.symbols.is_of_warp(condition))
            {
                let guard = self.set.code.image.code[pc as usize].guard as i32;
                let why = self.calls.frames[frame as usize].registers.why(guard).plain();
                self.may_leave(w, pc, doubtful, why)?;
                self.warps[w].fragments[part].pc = behind;
                return Ok(());
            }
            if let Err(refusal) = tried {
                self.ask(frame, pc, doubtful);
                return Err(self.open_branch(w, frame, pc, doubtful, refusal));
            }
        }
        let ends = self.arms(w, frame, pc, doubtful, &[]);
        let ends = ends.map_err(|refusal| self.open_branch(w, frame, pc, doubtful, refusal))?;
        let (mut ended, mut goes_on) = (0, 0);
        for (end, state) in &ends {
            match end {
                End::Exited => ended |= state.mask,
                End::Returned if root => ended |= state.mask,
                End::At(_) | End::Returned => {
                    goes_on |= state.mask;
                    self.install(w, frame, state);
                }
            }
        }
        if ended & goes_on != 0 || (ended | goes_on) != doubtful || ended != 0 && !root {
            let inst = &self.set.code.image.code[pc as usize];
            self.certain(w, frame, pc, inst, doubtful, what(Kind::Exit))?;
        }
        let behind = meet.unwrap_or(last);
        let warp = &mut self.warps[w];
        warp.fragments[part].pc = behind;
        if ended != 0 && goes_on != 0 {
            let gone = warp.split(part, ended);
            warp.fragments[gone].pc = last;
        } else if ended != 0 {
            warp.fragments[part].pc = last;
        }
        Ok(())
    }

    /// Notes that the outcome of a branch has to be assumed, if it is the same for all threads.
    fn ask(&mut self, frame: u32, pc: u32, doubtful: u32) {
        let inst = &self.set.code.image.code[pc as usize];
        let registers = &self.calls.frames[frame as usize].registers;
        let guard = inst.guard as i32;
        let Some(symbol) = registers.common_symbol(guard, doubtful).filter(|_| inst.kind == Kind::Branch)
        else {
            return;
        };
        let name =
            |offset| self.set.memory.params.name_at(self.set.code.function, offset).map(|(_, given)| given);
        let names = self.known.symbols.params(symbol).into_iter().filter_map(name).collect();
        self.known.asked = Some((symbol, names));
    }

    /// What a branch goes by, if that is the same for all threads.
    pub fn common_condition(&self, frame: u32, pc: u32, doubtful: u32) -> Option<super::symbol::Symbol> {
        let inst = &self.set.code.image.code[pc as usize];
        let registers = &self.calls.frames[frame as usize].registers;
        registers.common_symbol(inst.guard as i32, doubtful).filter(|_| inst.kind == Kind::Branch)
    }

    /// What is said of a branch whose arms cannot be run: what its outcome decides, unless it is the address of an access.
    fn open_branch(&self, w: usize, frame: u32, pc: u32, doubtful: u32, inside: Refusal) -> Refusal {
        let inst = &self.set.code.image.code[pc as usize];
        let is_wait = inside.message.starts_with("a branch") || inside.message.starts_with("whether");
        match self.certain(w, frame, pc, inst, doubtful, "a branch") {
            Err(refusal) if is_wait => refusal,
            _ => inside,
        }
    }

    /// The slot that a branch goes by: its guard, or the index of a branch by table.
    fn decider(&self, pc: u32) -> i32 {
        let inst = &self.set.code.image.code[pc as usize];
        if inst.guard != NO_GUARD { inst.guard as i32 } else { inst.ops.src[0] }
    }

    /// Runs both arms of the branch at `pc` for some lanes of a frame, up to where they meet or to one of `stops`.
    fn arms(&mut self, w: usize, frame: u32, pc: u32, mask: u32, stops: &[u32]) -> Result<Ends<'a>, Refusal> {
        let inst = &self.set.code.image.code[pc as usize];
        let function = self.calls.frames[frame as usize].function as usize;
        let registers = &self.calls.frames[frame as usize].registers;
        let guard = self.decider(pc);
        let why = registers.why(guard).plain();
        if self.ways.doubt.depth >= DEEPEST {
            return Err(self.unknown(w, pc, mask.trailing_zeros() as usize, "a branch", why));
        }
        let mut targets = Vec::new();
        successors(&self.set.code.image, pc, |to| {
            if !targets.contains(&to) {
                targets.push(to);
            }
        });
        let mut inner = stops.to_vec();
        inner.push(pc);
        inner.extend(self.set.code.flows[function].meet(pc));
        let cyclic = self.shape(function, pc, stops).cyclic;
        let (was_silent, outer) = (self.ways.doubt.silent, self.ways.doubt.condition);
        let were_together = self.ways.doubt.together;
        self.ways.doubt.together = self.goes_together(frame, pc, mask);
        let mut entry = self.state(w, frame, mask);
        let first = cyclic.then(|| self.state(w, frame, mask));
        let mut fresh = !cyclic;
        if cyclic {
            self.resume(frame, pc, &mut entry, why);
        }
        self.ways.doubt.depth += 1;
        self.ways.doubt.silent |= cyclic;
        let ends = loop {
            let forgotten = self.ways.doubt.forgotten;
            let mut ends: Ends<'a> = Vec::new();
            for target in &targets {
                let common = match inst.kind {
                    Kind::Branch => entry.registers.common_symbol(guard, mask),
                    _ => None,
                };
                let taken = *target == inst.extra;
                let literal = common.filter(|_| !self.ways.rounds.has_stations());
                let literal = literal.map(|symbol| Literal {
                    value: symbol.index() as u32,
                    holds: taken ^ symbol.is_negated() ^ (inst.guard_flip != 0),
                });
                let condition = AccessCondition { origin: pc, literal, outer, last: false };
                self.ways.doubt.condition = Some(self.out.condition(condition));
                // The frame stands there already where the first arm is run for the first time.
                if !fresh {
                    self.install(w, frame, &entry);
                }
                fresh = false;
                if ends.is_empty() || cyclic {
                    self.arm(w, frame, (mask, *target), &inner, &mut ends, why)?;
                    continue;
                }
                let mut others: Ends<'a> = Vec::new();
                self.arm(w, frame, (mask, *target), &inner, &mut others, why)?;
                let condition = common.filter(|_| targets.len() == 2).map(|symbol| {
                    // Whether this arm is the one that is run.
                    if taken ^ (inst.guard_flip != 0) { symbol } else { symbol.not() }
                });
                self.join_arms(frame, &mut ends, others, condition, why);
            }
            if !cyclic {
                break ends;
            }
            let back = ends.iter().position(|(end, _)| *end == End::At(pc)).map(|at| ends.swap_remove(at).1);
            let changed = back.is_some_and(|back| self.merge(frame, &mut entry, &back, why));
            if changed || forgotten != self.ways.doubt.forgotten {
                continue;
            }
            if self.ways.doubt.silent == was_silent {
                break ends;
            }
            self.ways.doubt.silent = was_silent;
        };
        if let Some(first) = first {
            self.ways.loops.insert((frame, pc, mask), [first, entry]);
        }
        self.ways.doubt.depth -= 1;
        self.ways.doubt.condition = outer;
        self.ways.doubt.together = were_together;
        Ok(ends)
    }

    /// Runs lanes from an instruction on, up to one of `stops` or their end.
    fn arm(
        &mut self,
        w: usize,
        frame: u32,
        start: (u32, u32),
        stops: &[u32],
        ends: &mut Ends<'a>,
        why: Why,
    ) -> Result<(), Refusal> {
        let image = self.set.code.image;
        let root = self.calls.frames[frame as usize].parent == ROOT;
        let mut groups: Vec<(u32, u32)> = vec![start];
        while let Some(lowest) = (0..groups.len()).min_by_key(|at| groups[*at].1) {
            let (mut mask, mut pc) = groups.swap_remove(lowest);
            loop {
                if stops.contains(&pc) {
                    self.end(w, frame, ends, End::At(pc), mask, why);
                    break;
                }
                if let Some(other) = groups.iter_mut().find(|(_, at)| *at == pc) {
                    other.0 |= mask;
                    break;
                }
                self.count_step(w, pc, mask)?;
                if self.course.steps > self.ways.doubt.until {
                    return Err(self.too_much(w, pc, mask));
                }
                let inst = &image.code[pc as usize];
                let (mut active, mut doubtful) = (mask, 0);
                if inst.guard != NO_GUARD {
                    let registers = &self.calls.frames[frame as usize].registers;
                    let known = registers.known(inst.guard as i32);
                    active &= known & (registers.predicate(inst.guard as i32) ^ inst.guard_flip);
                    doubtful = mask & !known;
                }
                match inst.kind {
                    Kind::Alu => self.arithmetic(frame, pc, inst, active, doubtful),
                    Kind::Nop => {}
                    Kind::Fence if self.is_harmless(pc) => self.signal_fence(w, pc, active | doubtful),
                    Kind::ActiveMask => {
                        let registers = &mut self.calls.frames[frame as usize].registers;
                        registers.mark(inst.ops.dst, active | doubtful, 0, Why::at(pc));
                    }
                    Kind::Load | Kind::Store | Kind::Atomic => {
                        mask &= !self.outside(w, frame, inst, active);
                        self.access(w, frame, pc, inst, active & mask, doubtful)?;
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
                    | Kind::Getctarank => self.lane_data(w, frame, pc, inst, active, doubtful)?,
                    Kind::Branch | Kind::IndexedBranch
                        if doubtful != 0 || self.is_open(frame, inst, active) =>
                    {
                        let open = if inst.kind == Kind::Branch { doubtful } else { active | doubtful };
                        if open != mask {
                            groups.push((mask & !open, pc));
                        }
                        let meet =
                            self.set.code.flows[self.calls.frames[frame as usize].function as usize].meet(pc);
                        for (end, state) in self.arms(w, frame, pc, open, stops)? {
                            self.install(w, frame, &state);
                            match end {
                                End::At(at) if Some(at) == meet && !stops.contains(&at) => {
                                    groups.push((state.mask, at));
                                }
                                end => self.end(w, frame, ends, end, state.mask, why),
                            }
                        }
                        break;
                    }
                    Kind::Branch => {
                        if active != 0 && active != mask {
                            groups.push((mask & !active, pc + 1));
                        }
                        if active != 0 {
                            mask = active;
                            pc = inst.extra;
                            continue;
                        }
                    }
                    Kind::IndexedBranch => {
                        let table = &image.tables[inst.extra as usize];
                        let registers = &self.calls.frames[frame as usize].registers;
                        for lane in lanes(active) {
                            let entry =
                                registers.read(inst.ops.src[0], bugaroo_simulator::alu::Width::W32, lane);
                            // One outside of the table is taken not to happen.
                            if let Some(target) = table.get(entry as usize) {
                                groups.push((1 << lane, *target));
                            }
                        }
                        mask &= !active;
                    }
                    Kind::Trap => mask &= !active,
                    Kind::Ret | Kind::Exit if doubtful == 0 => {
                        let end = if root || inst.kind == Kind::Exit { End::Exited } else { End::Returned };
                        if active != 0 {
                            self.end(w, frame, ends, end, active, why);
                        }
                        mask &= !active;
                    }
                    Kind::Ret | Kind::Exit => {
                        let end = if root || inst.kind == Kind::Exit { End::Exited } else { End::Returned };
                        self.end(w, frame, ends, end, active | doubtful, why);
                        mask &= !active;
                    }
                    Kind::Call if doubtful == 0 => {
                        if active != 0 {
                            mask = mask & !active | self.call_in_arm(w, frame, pc, active, ends, why)?;
                        }
                    }
                    Kind::Provided if doubtful == 0 => {
                        if Provided::ALL[inst.extra as usize] == Provided::Assert {
                            mask &= !active;
                        } else {
                            self.provided_results(frame, active);
                        }
                    }
                    Kind::Asynchronous
                        if doubtful == 0
                            && matches!(image.asyncs[inst.extra as usize], Asynchronous::Copy { .. }) =>
                    {
                        self.group_copy(w, frame, pc, inst.extra, active)?;
                    }
                    Kind::Collective
                        if doubtful == 0 && active == mask && self.exchange_in_arm(w, frame, pc, active) => {}
                    _ if active | doubtful == 0 => {}
                    kind => {
                        let lane = (active | doubtful).trailing_zeros() as usize;
                        return Err(self.unknown(w, pc, lane, what(kind), why));
                    }
                }
                if mask == 0 {
                    break;
                }
                pc += 1;
            }
        }
        Ok(())
    }

    #[cold]
    fn too_much(&self, w: usize, pc: u32, mask: u32) -> Refusal {
        let message = format!(
            "more than {MOST_IN_ARMS} instructions where branches on values that are not known stand inside each other"
        );
        let (place, thread) =
            (Some(Box::new(self.place(pc))), Some(self.thread(w, mask.trailing_zeros() as usize)));
        Refusal { place, thread, ..Refusal::new(RefusalKind::NotVerifiable, message) }
    }

    /// Whether the index of a branch by table is not known in some of the lanes.
    fn is_open(&self, frame: u32, inst: &Inst, active: u32) -> bool {
        let registers = &self.calls.frames[frame as usize].registers;
        inst.kind == Kind::IndexedBranch && active & !registers.known(inst.ops.src[0]) != 0
    }

    /// Runs a call's function in an arm; answers which lanes come back.
    fn call_in_arm(
        &mut self,
        w: usize,
        frame: u32,
        pc: u32,
        active: u32,
        ends: &mut Ends<'a>,
        why: Why,
    ) -> Result<u32, Refusal> {
        let index = self.set.code.image.code[pc as usize].extra;
        let (callee, group) = self.enter_call(w, frame, pc, index, active)?;
        if group != active {
            return Err(self.unknown(
                w,
                pc,
                active.trailing_zeros() as usize,
                "whether a function is called",
                why,
            ));
        }
        let function = self.calls.frames[callee as usize].function;
        let entry = self.set.code.image.functions[function as usize].entry;
        let mut inside = Vec::new();
        self.arm(w, callee, (active, entry), &[], &mut inside, why)?;
        let mut back = 0;
        for (end, state) in inside {
            if end == End::Returned {
                self.install(w, callee, &state);
                back = state.mask;
            } else {
                self.end(w, frame, ends, End::Exited, state.mask, why);
            }
        }
        self.give_results(callee, frame, back);
        self.leave(callee, active);
        Ok(back)
    }
}
