//! Which lanes of a warp are together, in lockstep.
//!
//! Source: BARRACUDA (Eizenberg et al., PLDI 2017), section 3.1: `if`, `else` and `fi` of a warp, there on a stack of active masks, with compilers'
//! reconvergence points for where lanes are together again. Here it is as the virtual GPU does it: lanes come together where they
//! stand at one instruction. And there is no stack: a compiler may lay out a side of a branch in pieces, with the other side
//! between them, and then the sides take turns before either is done. So it is the parts of a warp that are kept: who runs
//! either is one of them, or has been made of several, or is what one of them has left.

/// What happens to the parts; masks of lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartsTurn {
    /// This part goes on, and who ran before waits.
    Else(u32),
    /// These were several parts and are one.
    Join(u32),
    /// Of the part `by`, only these go on.
    Part {
        /// Who were together.
        by: u32,
        /// Who go on.
        first: u32,
    },
}

/// The parts of a warp.
#[derive(Clone, Debug, Default)]
pub struct Parts {
    /// Two or more, or none where all lanes are together. No lane is in two of them; lanes that have ended may be.
    all: Vec<u32>,
    /// The one that runs.
    running: u32,
}

impl Parts {
    /// All lanes are together.
    pub fn clear(&mut self) {
        self.all.clear();
        self.running = 0;
    }

    /// The lanes of `by`, which are a part, are parted: those of `first`, which go on, and the rest.
    pub fn split(&mut self, by: u32, first: u32) {
        self.all.retain(|part| part & by == 0);
        self.all.extend([first, by & !first]);
        self.running = first;
    }

    /// These lanes do something, of those that have not ended. `whole`: no others are with them; else others may be, as at a guarded
    /// instruction. Tells what that says of the parts.
    pub fn run(&mut self, lanes: u32, whole: bool, alive: u32, mut tell: impl FnMut(PartsTurn)) {
        if self.all.is_empty() {
            if lanes == alive || !whole {
                return;
            }
            self.all.push(alive);
            self.running = alive;
        }
        let mut together = lanes;
        if whole {
            while let Some(by) = self.torn(lanes, alive) {
                self.split(by, by & lanes);
                tell(PartsTurn::Part { by, first: by & lanes });
            }
        } else {
            let touched = self.all.iter().filter(|part| **part & lanes != 0);
            together = touched.fold(0, |all, part| all | part & alive);
        }
        if self.all.iter().filter(|part| **part & together != 0).count() > 1 {
            self.all.retain(|part| part & together == 0);
            self.all.push(together);
            self.running = together;
            if together == alive {
                self.clear();
            }
            tell(PartsTurn::Join(together));
        } else if self.running & alive != together {
            self.running = together;
            tell(PartsTurn::Else(together));
        }
    }

    /// A part of which only some lanes are among `lanes`.
    fn torn(&self, lanes: u32, alive: u32) -> Option<u32> {
        self.all.iter().map(|part| part & alive).find(|part| part & lanes != 0 && part & !lanes != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(parts: &mut Parts, lanes: u32, whole: bool, alive: u32) -> Vec<PartsTurn> {
        let mut told = Vec::new();
        parts.run(lanes, whole, alive, |turn| told.push(turn));
        told
    }

    #[test]
    fn sides_take_turns() {
        let mut parts = Parts::default();
        parts.split(0xff, 0xf0);
        assert_eq!(run(&mut parts, 0xf0, true, 0xff), []);
        assert_eq!(run(&mut parts, 0x0f, true, 0xff), [PartsTurn::Else(0x0f)]);
        assert_eq!(run(&mut parts, 0xf0, true, 0xff), [PartsTurn::Else(0xf0)]);
        parts.split(0xf0, 0x30);
        // A guarded instruction may be others' as well.
        assert_eq!(run(&mut parts, 0x10, false, 0xff), []);
        assert_eq!(run(&mut parts, 0x40, false, 0xff), [PartsTurn::Else(0xc0)]);
        // Those of the other side have ended.
        assert_eq!(run(&mut parts, 0xf0, true, 0xf0), [PartsTurn::Join(0xf0)]);
        assert_eq!(run(&mut parts, 0x20, false, 0xf0), []);
    }

    #[test]
    fn lanes_come_together_across_splits() {
        let mut parts = Parts::default();
        parts.split(0xff, 0xf0);
        parts.split(0xf0, 0x30);
        // The others of both sides are where they were.
        let told = [PartsTurn::Part { by: 0x0f, first: 0x03 }, PartsTurn::Join(0xc3)];
        assert_eq!(run(&mut parts, 0xc3, true, 0xff), told);
        assert_eq!(run(&mut parts, 0x0c, true, 0xff), [PartsTurn::Else(0x0c)]);
        assert_eq!(run(&mut parts, 0xff, true, 0xff), [PartsTurn::Join(0xff)]);
        assert_eq!(run(&mut parts, 0x0f, false, 0xff), []);
        assert_eq!(run(&mut parts, 0x0f, true, 0xff), [PartsTurn::Part { by: 0xff, first: 0x0f }]);
    }
}
