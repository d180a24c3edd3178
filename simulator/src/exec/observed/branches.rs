//! What is told of lanes that part, and of those that are together again.
//!
//! Warps have no stack of masks: of several fragments the one at the lowest instruction goes first, and those that stand at one
//! instruction are joined ([`crate::exec::warp`]). Where each side of a branch is one piece of code that is what a stack would do, but a
//! compiler also lays out a side in pieces, with the other side between them. Then the sides take turns before either is done. So
//! in lockstep it is the parts of the warp that are kept here and not a stack: a fragment that is chosen to run either is one of them, or has been
//! made of several, or is what one of them has left.

use bugaroo_semantics::event::Event;

use super::Machine;

/// Which lanes of a warp are together, where several are not.
#[derive(Clone, Debug, Default)]
pub(super) struct Parts {
    /// Two or more, or none where all lanes are together. No lane is in two of them.
    all: Vec<u32>,
    /// The one that runs.
    running: u32,
}

impl Parts {
    /// A new block has the warp.
    pub fn clear(&mut self) {
        *self = Parts::default();
    }

    /// The first part that only some lanes of `mask` make up: those, and all of it.
    fn torn(&self, mask: u32, alive: u32) -> Option<(u32, u32)> {
        let of = |part: &u32| (part & mask, part & alive);
        self.all.iter().map(of).find(|(these, whole)| *these != 0 && these != whole)
    }

    /// Lanes of `whole` are parted: those of `first`, which go first, and the rest.
    fn part(&mut self, whole: u32, first: u32) {
        self.all.retain(|part| part & whole == 0);
        self.all.extend([first, whole & !first]);
        self.running = first;
    }

    /// Lanes are one part; false where they have been one.
    fn join(&mut self, mask: u32) -> bool {
        let parts = self.all.iter().filter(|part| **part & mask != 0).count();
        if parts < 2 {
            return false;
        }
        self.all.retain(|part| part & mask == 0);
        self.all.push(mask);
        self.running = mask;
        true
    }
}

impl Machine<'_> {
    /// Some lanes take a branch, and the others do not: `backward` says which go first in lockstep.
    pub(in crate::exec) fn observed_split(
        &mut self,
        w: usize,
        pc: u32,
        mask: u32,
        taken: u32,
        backward: bool,
    ) {
        let first = if backward { taken } else { mask & !taken };
        self.open_split(w, pc, mask, taken, first);
    }

    fn open_split(&mut self, w: usize, pc: u32, mask: u32, taken: u32, first: u32) {
        let by = self.observed_lanes(w, mask);
        let in_lockstep = self.tells_parts;
        let Some(watch) = self.watch.as_mut().filter(|watch| watch.wants.branches) else { return };
        if in_lockstep {
            watch.parts[w].part(mask, first);
        }
        let first = if in_lockstep { first } else { 0 };
        watch.tell(&Event::Split { by, site: watch.site(pc), taken, first });
    }

    /// In lockstep: a fragment is about to run.
    #[inline(never)]
    pub(in crate::exec) fn observed_selection(&mut self, w: usize, mask: u32, pc: u32) {
        let alive = self.warps[w].alive;
        // Who has parted at something else than a branch, as lanes do at some waits.
        loop {
            let Some(watch) = &mut self.watch else { return };
            let parts = &mut watch.parts[w];
            if parts.all.is_empty() && mask != alive {
                parts.all.push(alive);
            }
            let Some((these, whole)) = parts.torn(mask, alive) else { break };
            self.open_split(w, pc, whole, these, these);
        }
        let by = self.observed_lanes(w, mask);
        let Some(watch) = &mut self.watch else { return };
        let parts = &mut watch.parts[w];
        if parts.join(mask) {
            if mask == alive {
                parts.clear();
            }
            watch.tell(&Event::Join(by));
        } else if !parts.all.is_empty() && parts.running & alive != mask {
            parts.running = mask;
            watch.tell(&Event::Else(by));
        }
    }
}
