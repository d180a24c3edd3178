//! What is told of lanes that part, and of those that are together again.
//!
//! Warps have no stack of masks: of several fragments the one whose block comes first has its turn, and those that stand at one
//! instruction are joined ([`crate::exec::warp`]). In lockstep a fragment that is chosen to run says which lanes are together
//! ([`bugaroo_semantics::parts`]).

use bugaroo_semantics::event::{Event, Lanes};
use bugaroo_semantics::parts::PartsTurn;

use super::Machine;

impl Machine<'_> {
    /// Some lanes take a branch, and the others do not: `ahead` says whether the former go first in lockstep.
    pub(in crate::exec) fn observed_split(&mut self, w: usize, pc: u32, mask: u32, taken: u32, ahead: bool) {
        let first = if ahead { taken } else { mask & !taken };
        let by = self.observed_lanes(w, mask);
        let in_lockstep = self.hooks.tells_parts;
        let Some(watch) = self.hooks.watch.as_mut().filter(|watch| watch.wants.branches) else { return };
        if in_lockstep {
            watch.parts[w].split(mask, first);
        }
        let first = if in_lockstep { first } else { 0 };
        watch.tell(&Event::Split { by, site: watch.site(pc), taken, first });
    }

    /// In lockstep: a fragment is about to run.
    #[inline(never)]
    pub(in crate::exec) fn observed_selection(&mut self, w: usize, mask: u32, pc: u32) {
        let alive = self.residents.warps[w].alive;
        let by = self.observed_lanes(w, mask);
        let Some(watch) = &mut self.hooks.watch else { return };
        let mut parts = std::mem::take(&mut watch.parts[w]);
        parts.run(mask, true, alive, |turn| {
            watch.tell(&match turn {
                PartsTurn::Else(mask) => Event::Else(Lanes { mask, ..by }),
                PartsTurn::Join(mask) => Event::Join(Lanes { mask, ..by }),
                // They have parted at something else than a branch, as lanes do at some waits.
                PartsTurn::Part { by: mask, first } => {
                    Event::Split { by: Lanes { mask, ..by }, site: watch.site(pc), taken: first, first }
                }
            });
        });
        watch.parts[w] = parts;
    }
}
