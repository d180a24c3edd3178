//! Calls, returns, branches by table, the device's own functions, and local memory that grows.

use bugaroo_simulator::CODE_BASE;
use bugaroo_simulator::alu::Width;
use bugaroo_simulator::decoded::{Callee, CopyWidth, Inst, Kind, Provided, WORD_ROW};

use super::held::frame::ROOT;
use super::held::warp::{Flow, Fragment, State};
use super::machine::Machine;
use super::refusal::Refusal;
use super::registers::{Why, lanes};

/// Distance between two functions' addresses.
const CODE_STRIDE: u64 = 16;
/// Calls in progress at which a thread's stack counts as overflown.
const DEEPEST: u32 = 512;

impl Machine<'_> {
    /// Copies an argument or a result between frames, with what is known of it.
    fn copy(&mut self, (from, slot): (u32, i32), (to, row): (u32, u32), width: CopyWidth, mask: u32) {
        let (rows, width) = match width {
            CopyWidth::Words(rows) => (rows, Width::W32),
            CopyWidth::Row(width) => (1, width),
        };
        for word in 0..rows {
            let (slot, row) = (slot + (word * WORD_ROW) as i32, row + word * WORD_ROW);
            let source = &self.calls.frames[from as usize].registers;
            let (known, why) = (source.known(slot), source.why(slot));
            let mut values = [0; 32];
            lanes(mask).for_each(|lane| values[lane] = source.read(slot, width, lane));
            let target = &mut self.calls.frames[to as usize].registers;
            lanes(mask).for_each(|lane| target.write(row, width, lane, values[lane]));
            target.mark(row, mask, known, why);
        }
    }

    /// `call`
    pub fn call(
        &mut self,
        w: usize,
        fragment: usize,
        pc: u32,
        index: u32,
        active: u32,
    ) -> Result<Flow, Refusal> {
        let caller = self.warps[w].fragments[fragment];
        let (frame, group) = self.enter_call(w, caller.frame, pc, index, active)?;
        let at = self.warps[w].isolate(fragment, group, active);
        let head = &self.calls.frames[frame as usize];
        let entry = self.set.code.image.functions[head.function as usize].entry;
        let fragment = &mut self.warps[w].fragments[at];
        (fragment.frame, fragment.depth, fragment.pc) = (frame, head.depth, entry);
        Ok(Flow::Select)
    }

    /// Makes the frame of a call for those lanes that call what the first one calls, with their arguments; answers both.
    pub fn enter_call(
        &mut self,
        w: usize,
        caller: u32,
        pc: u32,
        index: u32,
        active: u32,
    ) -> Result<(u32, u32), Refusal> {
        let image = self.set.code.image;
        let call = &image.calls[index as usize];
        let lane = active.trailing_zeros() as usize;
        let head = &self.calls.frames[caller as usize];
        let (function, group) = match call.callee {
            Callee::Function(function) => (function, active),
            Callee::Row(slot) => {
                let registers = &head.registers;
                let missing = active & !registers.known(slot);
                if missing != 0 {
                    let lane = missing.trailing_zeros() as usize;
                    return Err(self.unknown(w, pc, lane, "which function is called", registers.why(slot)));
                }
                let target = |lane: usize| registers.read(slot, Width::W64, lane);
                let first = target(lane);
                let offset = first.wrapping_sub(CODE_BASE);
                let function = (offset / CODE_STRIDE) as u32;
                let agrees = |loaded: &bugaroo_simulator::decoded::LoadedFunction| {
                    let fits =
                        |arguments: &[bugaroo_simulator::decoded::Argument],
                         formals: &[bugaroo_simulator::decoded::Formal]| {
                            arguments.len() == formals.len()
                                && arguments.iter().zip(formals).all(|(a, f)| a.width == f.width)
                        };
                    loaded.defined && fits(&call.args, &loaded.params) && fits(&call.rets, &loaded.rets)
                };
                let loaded = image.functions.get(function as usize);
                if offset % CODE_STRIDE != 0 || !loaded.is_some_and(agrees) {
                    return Err(self.illegal(w, pc, lane, "a call of what is no such function"));
                }
                let group = lanes(active).filter(|l| target(*l) == first).fold(0, |g, l| g | 1 << l);
                (function, group)
            }
        };
        let callee = &image.functions[function as usize];
        let below = image.functions[head.function as usize].local_bytes;
        let (local_base, depth) = (head.local_base + below + head.grown, head.depth + 1);
        if depth > DEEPEST {
            return Err(self.illegal(w, pc, lane, format!("{DEEPEST} calls inside each other")));
        }
        let frame = self.enter(function, caller, pc + 1, group, depth, local_base);
        for (argument, formal) in call.args.iter().zip(&callee.params) {
            self.copy((caller, argument.slot), (frame, formal.offset), formal.width, group);
        }
        Ok((frame, group))
    }

    /// Copies the results of a call to its caller.
    pub fn give_results(&mut self, frame: u32, parent: u32, mask: u32) {
        let image = self.set.code.image;
        let head = &self.calls.frames[frame as usize];
        let call = &image.calls[image.code[head.return_pc as usize - 1].extra as usize];
        let function = head.function;
        for (argument, formal) in call.rets.iter().zip(&image.functions[function as usize].rets) {
            // A result's slot is a row of the frame.
            let to = (parent, argument.slot as u32);
            self.copy((frame, formal.offset as i32), to, formal.width, mask);
        }
    }

    /// `ret`: of a kernel it is `exit`.
    pub fn ret(&mut self, w: usize, fragment: usize, pc: u32, active: u32) -> Result<Flow, Refusal> {
        let from = self.warps[w].fragments[fragment];
        let head = &self.calls.frames[from.frame as usize];
        let (parent, return_pc) = (head.parent, head.return_pc);
        if parent == ROOT {
            self.warps[w].fragments[fragment].pc += 1;
            self.exit_lanes(w, fragment, active, pc)?;
            return Ok(Flow::Select);
        }
        self.give_results(from.frame, parent, active);
        let depth = self.calls.frames[parent as usize].depth;
        self.leave(from.frame, active);
        let back = Fragment { mask: active, pc: return_pc, frame: parent, depth, state: State::Ready };
        let warp = &mut self.warps[w];
        if active == from.mask {
            warp.fragments[fragment] = back;
        } else {
            warp.fragments[fragment].mask &= !active;
            warp.fragments[fragment].pc += 1;
            warp.fragments.push(back);
        }
        Ok(Flow::Select)
    }

    /// `brx.idx`: lanes go by target; those of the first lane's target now, the others when they are next.
    pub fn indexed_branch(
        &mut self,
        w: usize,
        fragment: usize,
        pc: u32,
        inst: &Inst,
        active: u32,
    ) -> Result<Flow, Refusal> {
        let table = &self.set.code.image.tables[inst.extra as usize];
        let registers = &self.calls.frames[self.warps[w].fragments[fragment].frame as usize].registers;
        let slot = inst.ops.src[0];
        let missing = active & !registers.known(slot);
        if missing != 0 {
            let lane = missing.trailing_zeros() as usize;
            return Err(self.unknown(w, pc, lane, "a branch", registers.why(slot)));
        }
        let index = |lane| registers.read(slot, Width::W32, lane) as usize;
        if let Some(lane) = lanes(active).find(|lane| index(*lane) >= table.len()) {
            let message = format!("a branch by entry {} of a table of {}", index(lane), table.len());
            return Err(self.illegal(w, pc, lane, message));
        }
        let target = table[index(active.trailing_zeros() as usize)];
        let group = lanes(active).filter(|l| table[index(*l)] == target).fold(0, |g, l| g | 1 << l);
        let at = self.warps[w].isolate(fragment, group, active);
        self.warps[w].fragments[at].pc = target;
        Ok(Flow::Select)
    }

    /// What the device has as functions: `printf` and `free` do nothing, what `malloc` gives is not known, an assertion that
    /// fails ends the kernel.
    pub fn provided(&mut self, w: usize, fragment: usize, which: u32, active: u32) -> Result<Flow, Refusal> {
        let frame = self.warps[w].fragments[fragment].frame;
        let call = self.calls.frames[frame as usize].return_pc - 1;
        if Provided::ALL[which as usize] == Provided::Assert {
            let lane = active.trailing_zeros() as usize;
            return Err(self.illegal(w, call, lane, "an assertion fails"));
        }
        self.provided_results(frame, active);
        Ok(Flow::Next)
    }

    /// What such a function gives is not known.
    pub fn provided_results(&mut self, frame: u32, active: u32) {
        let head = &mut self.calls.frames[frame as usize];
        let call = head.return_pc - 1;
        let rets = &self.set.code.image.functions[head.function as usize].rets;
        for formal in rets {
            let rows = match formal.width {
                CopyWidth::Words(rows) => rows,
                CopyWidth::Row(_) => 1,
            };
            for word in 0..rows {
                head.registers.mark(formal.offset + word * WORD_ROW, active, 0, Why::at(call));
            }
        }
    }

    /// `alloca`, `stacksave`, `stackrestore`
    pub fn stack(
        &mut self,
        w: usize,
        fragment: usize,
        pc: u32,
        inst: &Inst,
        active: u32,
    ) -> Result<Flow, Refusal> {
        let at = self.warps[w].fragments[fragment];
        let width = if inst.extra & 1 != 0 { Width::W64 } else { Width::W32 };
        let slot = inst.ops.src[0];
        let head = &mut self.calls.frames[at.frame as usize];
        let (registers, live, grown) = (&mut head.registers, head.live, head.grown);
        let reads = inst.kind != Kind::StackSave;
        let missing = if reads { active & !registers.known(slot) } else { 0 };
        if missing != 0 {
            let why = registers.why(slot);
            let lane = missing.trailing_zeros() as usize;
            return Err(self.unknown(w, pc, lane, "the size of a piece of local memory", why));
        }
        let most =
            if reads { lanes(active).map(|l| registers.read(slot, width, l)).max().unwrap_or(0) } else { 0 };
        let mut give = |value: u64| {
            lanes(active).for_each(|lane| registers.write(inst.ops.dst, width, lane, value));
            registers.mark(inst.ops.dst, active, !0, Why::NEVER);
        };
        match inst.kind {
            Kind::StackSave => give(u64::from(grown)),
            Kind::StackRestore => {
                if active == live {
                    head.grown = grown.min(most as u32);
                }
            }
            _ => {
                let own = head.local_base + self.set.code.image.functions[head.function as usize].local_bytes;
                let align = u64::from(inst.extra >> 1).max(16);
                let start = u64::from(own + grown).next_multiple_of(align);
                let end = start.checked_add(most).map(|end| end.next_multiple_of(16));
                let Some(end) = end.filter(|end| *end <= 512 << 10) else {
                    let lane = active.trailing_zeros() as usize;
                    return Err(self.illegal(w, pc, lane, "more local memory than a thread has"));
                };
                give(start);
                head.grown = end as u32 - own;
            }
        }
        Ok(Flow::Next)
    }
}
