//! Programs that go on behind their ends with what they have done: where their parts are the same.

use std::ops::Range;

use super::access::SharedAddresses;
use super::packed::{Opcode, Packed};
use super::programs::WarpPrograms;
use super::shape::LANES;
use super::signal::Signal;

impl WarpPrograms {
    /// The programs go on behind their ends, with what is known to be right: threads do not exit there, and who waits there need not do so for
    /// ever.
    pub fn set_open_end(&mut self) {
        self.open_end = true;
    }

    /// So many first commands of each warp's program, with an open end.
    pub(crate) fn beginning(&self, commands: &[usize]) -> WarpPrograms {
        let mut program = self.clone();
        for (warp, commands) in program.warps.iter_mut().zip(commands) {
            warp.commands.truncate(*commands);
            warp.signals.retain(|signalled| signalled.before as usize <= *commands);
            let is_there =
                |command: Option<u32>| command.is_none_or(|command| (command as usize) < *commands);
            warp.signals.retain(|signalled| match signalled.what {
                Signal::Read(command) | Signal::Write(command) => is_there(command),
                Signal::Acquire | Signal::Release => true,
            });
        }
        program.open_end = true;
        program
    }

    /// Whether the programs go on behind their ends.
    pub fn has_open_end(&self) -> bool {
        self.open_end
    }

    /// Whether two ranges of a warp's commands are the same: the same instructions of the same lanes at the same places, with the same values
    /// as far as they are known. Conditions may differ: an access that happens and one that may happen are ordered alike.
    pub(crate) fn repeats(&self, warp: usize, first: Range<usize>, second: Range<usize>) -> bool {
        let packed = self.warps[warp].packed();
        let (first, second) = (&packed[first], &packed[second]);
        first.len() == second.len() && first.iter().zip(second).all(|(a, b)| self.is_same(warp, a, b))
    }

    fn is_same(&self, warp: usize, a: &Packed, b: &Packed) -> bool {
        let warp = &self.warps[warp];
        if a.opcode() != b.opcode() || a.lanes != b.lanes || a.origin != b.origin {
            return false;
        }
        if a.opcode() != Opcode::Access {
            return a.has_same_head(b) && (a.a, a.b, a.c) == (b.a, b.b, b.c);
        }
        let on = |lane: &u32| a.lanes >> lane & 1 != 0;
        let places = match (warp.addresses_of(a), warp.addresses_of(b)) {
            (
                SharedAddresses::Affine { base, stride },
                SharedAddresses::Affine { base: other, stride: same },
            ) => (base, stride) == (other, same),
            (first, second) => (0..LANES).filter(on).all(|lane| first.lane(lane) == second.lane(lane)),
        };
        let certain = a.condition().is_none() && b.condition().is_none();
        let values = || (0..LANES).filter(on).all(|lane| warp.value_of(a, lane) == warp.value_of(b, lane));
        places
            && (a.kind(), a.size(), a.strength()) == (b.kind(), b.size(), b.strength())
            && a.completion() == b.completion()
            && [a, b].iter().all(|access| access.condition().is_none_or(|at| !self.is_last(at)))
            && (!certain || values())
    }
}
