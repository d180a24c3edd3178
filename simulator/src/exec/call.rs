//! Calls, returns and branches by table.

use super::data::{lanes, read_lane, row, write_lane};
use super::frames::{Frame, ROOT};
use super::step::Flow;
use super::warp::{Fragment, State};
use super::{Machine, Trouble};
use crate::address::function_index;
use crate::alu::Width;
use crate::decoded::{Callee, CopyWidth, Inst, WORD_ROW};
use crate::fault::StopKind;
use crate::load::agrees;

/// Copies one argument or result for the lanes in `mask`.
///
/// # Safety
/// Both are rows of this width.
unsafe fn copy(from: *const u8, to: *mut u8, width: CopyWidth, mask: u32) {
    // SAFETY: the caller's promise.
    unsafe {
        match width {
            CopyWidth::Words(rows) if mask == !0 => {
                std::ptr::copy_nonoverlapping(from, to, (rows * WORD_ROW) as usize);
            }
            CopyWidth::Words(rows) => {
                for word in 0..rows {
                    let at = (word * WORD_ROW) as usize;
                    for lane in lanes(mask) {
                        write_lane(to.add(at), Width::W32, lane, read_lane(from.add(at), Width::W32, lane));
                    }
                }
            }
            CopyWidth::Row(width) => {
                lanes(mask).for_each(|lane| write_lane(to, width, lane, read_lane(from, width, lane)));
            }
        }
    }
}

impl Machine<'_> {
    /// Leaves `group` (some of the `active` lanes of a fragment) alone in a fragment and answers its index.
    /// Lanes that are not active go on behind the instruction; active ones outside the group stay at it.
    pub(super) fn isolate(&mut self, w: usize, fragment: usize, group: u32, active: u32) -> usize {
        let warp = &mut self.residents.warps[w];
        let passive = warp.fragments[fragment].mask & !active;
        if passive != 0 {
            let passive = warp.split(fragment, passive);
            warp.fragments[passive].pc += 1;
        }
        if group == active { fragment } else { warp.split(fragment, group) }
    }

    /// `call`
    pub(super) fn call(
        &mut self,
        w: usize,
        fragment: usize,
        index: u32,
        active: u32,
    ) -> Result<Flow, Trouble> {
        let program = self.given.program;
        let call = &program.calls[index as usize];
        let consts = self.given.constants.base();
        let caller = self.residents.warps[w].fragments[fragment];
        let head = *self.residents.frames.get(caller.frame);
        let lane = active.trailing_zeros();
        let (function, group) = match call.callee {
            Callee::Function(function) => (function, active),
            Callee::Row(slot) => {
                // SAFETY: the loader's slot, 64 bits wide.
                let target = |lane| unsafe { read_lane(row(head.rows, consts, slot), Width::W64, lane) };
                let first = target(lane as usize);
                let fits = |f: &u32| {
                    program.functions.get(*f as usize).is_some_and(|loaded| {
                        loaded.defined
                            && agrees(&call.args, &loaded.params)
                            && agrees(&call.rets, &loaded.rets)
                    })
                };
                let Some(function) = function_index(first).filter(fits) else {
                    return Err(Box::new((StopKind::BadCall { target: first }, lane)));
                };
                let group = lanes(active).filter(|l| target(*l) == first).fold(0, |g, l| g | 1 << l);
                (function, group)
            }
        };
        let callee = &program.functions[function as usize];
        let below = program.functions[head.function as usize].local_bytes;
        let local_base = head.local_base + below + head.grown;
        let depth = head.depth + 1;
        if depth > self.given.config.call_depth
            || local_base + callee.local_bytes > self.given.plan.local_bytes
        {
            return Err(Box::new((StopKind::StackOverflow { depth }, lane)));
        }
        let at = self.isolate(w, fragment, group, active);
        let new = Frame {
            rows: std::ptr::null_mut(),
            function,
            parent: caller.frame,
            return_pc: caller.pc + 1,
            live: group,
            depth,
            local_base,
            grown: 0,
        };
        let frame = self.residents.frames.enter(callee.frame_bytes, new);
        let rows = self.residents.frames.get(frame).rows;
        for (argument, formal) in call.args.iter().zip(&callee.params) {
            // SAFETY: arguments and parameters agree in width, as the loader or `fits` checked.
            unsafe {
                copy(
                    row(head.rows, consts, argument.slot),
                    rows.add(formal.offset as usize),
                    formal.width,
                    group,
                );
            }
        }
        let fragment = &mut self.residents.warps[w].fragments[at];
        fragment.frame = frame;
        fragment.rows = rows;
        fragment.pc = callee.entry;
        Ok(Flow::Select)
    }

    /// `ret`: of a kernel it is `exit`.
    pub(super) fn ret(&mut self, w: usize, fragment: usize, active: u32) -> Result<Flow, Trouble> {
        let from = self.residents.warps[w].fragments[fragment];
        let head = *self.residents.frames.get(from.frame);
        if head.parent == ROOT {
            self.residents.warps[w].fragments[fragment].pc += 1;
            self.exit_lanes(w, fragment, active)?;
            return Ok(Flow::Select);
        }
        let program = self.given.program;
        let call = &program.calls[program.code[head.return_pc as usize - 1].extra as usize];
        let callee = &program.functions[head.function as usize];
        let parent = self.residents.frames.get(head.parent).rows;
        for (argument, formal) in call.rets.iter().zip(&callee.rets) {
            // SAFETY: results agree in width, as was checked at the call; a result's slot is a frame row.
            unsafe {
                let to = parent.add(argument.slot as usize);
                copy(head.rows.add(formal.offset as usize), to, formal.width, active);
            }
        }
        self.residents.frames.leave(from.frame, active);
        let warp = &mut self.residents.warps[w];
        let back = Fragment {
            rows: parent,
            mask: active,
            pc: head.return_pc,
            frame: head.parent,
            state: State::Ready,
        };
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
    pub(super) fn indexed_branch(
        &mut self,
        w: usize,
        fragment: usize,
        inst: &Inst,
        active: u32,
    ) -> Result<Flow, Trouble> {
        let table = &self.given.program.tables[inst.extra as usize];
        let consts = self.given.constants.base();
        let frame = self.residents.warps[w].fragments[fragment].rows;
        // SAFETY: the loader's slot, 32 bits wide.
        let index = |lane| unsafe { read_lane(row(frame, consts, inst.ops.src[0]), Width::W32, lane) as u32 };
        if let Some(lane) = lanes(active).find(|l| index(*l) as usize >= table.len()) {
            let kind = StopKind::BadBranch { index: index(lane), entries: table.len() as u32 };
            return Err(Box::new((kind, lane as u32)));
        }
        let target = table[index(active.trailing_zeros() as usize) as usize];
        let group = lanes(active).filter(|l| table[index(*l) as usize] == target).fold(0, |g, l| g | 1 << l);
        let (pc, mask) = (
            self.residents.warps[w].fragments[fragment].pc,
            self.residents.warps[w].fragments[fragment].mask,
        );
        if self.hooks.watch.is_some() && group != mask {
            self.observed_split(w, pc, mask, group, target <= pc);
        }
        let at = self.isolate(w, fragment, group, active);
        self.residents.warps[w].fragments[at].pc = target;
        Ok(Flow::Select)
    }

    /// Lanes of a fragment exit: they leave their frames, and barriers no longer wait for them.
    pub(super) fn exit_lanes(&mut self, w: usize, fragment: usize, lanes: u32) -> Result<(), Trouble> {
        self.observed_exit(w, lanes);
        let warp = &mut self.residents.warps[w];
        let mut frame = warp.fragments[fragment].frame;
        warp.fragments[fragment].mask &= !lanes;
        if warp.fragments[fragment].mask == 0 {
            warp.fragments.swap_remove(fragment);
        }
        warp.alive &= !lanes;
        let cta = warp.cta;
        while frame != ROOT {
            let parent = self.residents.frames.get(frame).parent;
            self.residents.frames.leave(frame, lanes);
            frame = parent;
        }
        self.residents.ctas[cta as usize].alive -= lanes.count_ones();
        self.lanes_exited(w)
    }
}
