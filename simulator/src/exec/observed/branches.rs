//! What is told of lanes that part, and of those that are together again.
//!
//! Warps have no stack of masks: of several fragments the one at the lowest instruction goes first, and those that stand at one
//! instruction are joined ([`crate::exec::warp`]). Where branches nest, that is what a stack would do. It is told as a stack in
//! any case: whenever a fragment is chosen to run, as much is closed, turned over and opened as it takes to have just its lanes on top.

use bugaroo_semantics::event::{Event, Lanes};

use super::Machine;

/// A split that is not over.
#[derive(Clone, Copy, Debug)]
pub(super) struct Open {
    first: u32,
    second: u32,
    turned: bool,
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
        let stack = self.tells_stack;
        let Some(watch) = self.watch.as_mut().filter(|watch| watch.wants.branches) else { return };
        if stack {
            watch.splits[w].push(Open { first, second: mask & !first, turned: false });
        }
        let first = if stack { first } else { 0 };
        watch.tell(&Event::Split { by, site: watch.site(pc), taken, first });
    }

    /// In lockstep: a fragment is about to run.
    #[inline(never)]
    pub(in crate::exec) fn observed_selection(&mut self, w: usize, mask: u32, pc: u32) {
        let alive = self.warps[w].alive;
        let by = self.observed_lanes(w, mask);
        loop {
            let Some(watch) = &mut self.watch else { return };
            let top = watch.splits[w].last().copied();
            let on_top = match top {
                Some(top) if top.turned => top.second,
                Some(top) => top.first,
                None => u32::MAX,
            } & alive;
            if on_top == mask {
                return;
            }
            match top {
                // The other side begins.
                Some(top) if !top.turned && mask & !top.second == 0 => {
                    if let Some(top) = watch.splits[w].last_mut() {
                        top.turned = true;
                    }
                    watch.tell(&Event::Else(Lanes { mask: top.second & alive, ..by }));
                }
                _ if mask & !on_top == 0 => return self.open_split(w, pc, on_top, mask, mask),
                Some(top) => {
                    watch.splits[w].pop();
                    let mask = (top.first | top.second) & alive;
                    if mask != 0 {
                        watch.tell(&Event::Join(Lanes { mask, ..by }));
                    }
                }
                // All lanes that live are on top of nothing.
                None => return,
            }
        }
    }
}
