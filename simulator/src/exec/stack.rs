//! `alloca`, `stacksave`, `stackrestore` (PTX ISA 9.7.20): local memory that a frame takes as it runs.
//!
//! Lanes of a warp share a frame and so one mark of how far it has grown: an `alloca` moves it by the largest
//! size that one of its lanes asks for, and a `stackrestore` moves it back only when all lanes of the frame
//! execute it together. Diverged lanes may thus use up more than they asked for, never less.

use super::data::{lanes, read_lane, row, write_lane};
use super::step::Flow;
use super::{Machine, Trouble};
use crate::alu::Width;
use crate::decoded::{Inst, Kind};
use crate::fault::StopKind;

impl Machine<'_> {
    /// Runs one of the three.
    pub(super) fn stack(
        &mut self,
        w: usize,
        fragment: usize,
        inst: &Inst,
        active: u32,
    ) -> Result<Flow, Trouble> {
        let at = self.residents.warps[w].fragments[fragment];
        let consts = self.given.constants.base();
        let head = *self.residents.frames.get(at.frame);
        let width = if inst.extra & 1 != 0 { Width::W64 } else { Width::W32 };
        let dst = at.rows.wrapping_add(inst.ops.dst as usize);
        // SAFETY: the loader's slots, of this width.
        let source = |lane| unsafe { read_lane(row(at.rows, consts, inst.ops.src[0]), width, lane) };
        let most = lanes(active).map(source).max().unwrap_or(0);
        let give = |value: u64| {
            // SAFETY: the destination is a row of this width.
            lanes(active).for_each(|lane| unsafe { write_lane(dst, width, lane, value) });
        };
        match inst.kind {
            Kind::StackSave => give(u64::from(head.grown)),
            Kind::StackRestore => {
                if active == head.live {
                    self.residents.frames.get_mut(at.frame).grown = head.grown.min(most as u32);
                }
            }
            _ => {
                let own = head.local_base + self.given.program.functions[head.function as usize].local_bytes;
                let align = u64::from(inst.extra >> 1).max(16);
                let start = u64::from(own + head.grown).next_multiple_of(align);
                let end = start.checked_add(most).and_then(|end| end.checked_next_multiple_of(16));
                let Some(end) = end.filter(|end| *end <= u64::from(self.given.plan.local_bytes)) else {
                    let overflow = StopKind::StackOverflow { depth: head.depth };
                    return Err(Box::new((overflow, active.trailing_zeros())));
                };
                // Less than the thread's local memory.
                self.residents.frames.get_mut(at.frame).grown = end as u32 - own;
                give(start);
            }
        }
        Ok(Flow::Next)
    }
}
