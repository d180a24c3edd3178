//! The state as it is now.

use super::standing::Standing;
use super::state::{Call, Cut, Placed, Row, Waiting};
use crate::emulate::held::frame::ROOT;
use crate::emulate::held::warp::{Fragment, Warp};
use crate::emulate::machine::Machine;
use crate::emulate::registers::Registers;

impl<'a> Machine<'a> {
    /// The registers of a row, as they are now.
    pub(super) fn registers_with(&mut self, row: &Row) -> &mut Registers<'a> {
        let frame = self.frames_of(row.warp)[row.call];
        &mut self.calls.frames[frame as usize].registers
    }

    /// The frames of a warp's calls: those of its lowest lanes first, each from the inside out.
    fn frames_of(&self, w: usize) -> Vec<u32> {
        let mut fragments: Vec<&Fragment> = self.warps[w].fragments.iter().collect();
        fragments.sort_unstable_by_key(|fragment| fragment.mask.trailing_zeros());
        let mut frames = Vec::new();
        for fragment in fragments {
            let mut frame = fragment.frame;
            while frame != ROOT && !frames.contains(&frame) {
                frames.push(frame);
                frame = self.calls.frames[frame as usize].parent;
            }
        }
        frames
    }

    pub(super) fn cut_now(&self) -> Cut<'a> {
        let waiting = |(w, warp): (usize, &Warp)| {
            let frames = self.frames_of(w);
            let number = |frame: u32| frames.iter().position(|other| *other == frame);
            let call = |frame: &u32| {
                let of = &self.calls.frames[*frame as usize];
                Call {
                    function: of.function,
                    lanes: of.live,
                    return_pc: of.return_pc,
                    local_base: of.local_base,
                    grown: of.grown,
                    parent: number(of.parent),
                    registers: of.registers.clone(),
                }
            };
            let placed = |fragment: &Fragment| Placed {
                mask: fragment.mask,
                pc: fragment.pc,
                state: fragment.state,
                call: number(fragment.frame).expect("the frames of all fragments are among them"),
            };
            let mut fragments: Vec<Placed> = warp.fragments.iter().map(placed).collect();
            fragments.sort_unstable_by_key(|placed| placed.mask.trailing_zeros());
            Waiting {
                lanes: warp.alive,
                fragments,
                calls: frames.iter().map(call).collect(),
                local: warp.local.clone(),
                multiplying: warp.multiplying.clone(),
            }
        };
        let warps = self.warps.iter().enumerate().map(waiting).collect();
        let shared = self.ctas.iter().map(|cta| cta.shared.clone()).collect();
        let standing = self.standing();
        Cut { warps, shared, escaped: self.addressing.escaped, standing }
    }

    /// How the barriers of all CTAs stand, and who has arrived at the cluster's.
    pub(super) fn standing(&self) -> (Vec<Standing>, Vec<u32>) {
        (self.ctas.iter().map(Standing::of).collect(), self.course.cluster_arrived.clone())
    }
}
