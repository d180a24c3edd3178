//! In lockstep: the stack of active masks that a warp's records bear out.
//!
//! Source: BARRACUDA (Eizenberg et al., PLDI 2017), section 3.1: `if`, `else` and `fi` of a warp. There compilers' reconvergence
//! points say where lanes are together again. Here it is as the virtual GPU does it and tells it: lanes come together where
//! they stand at one instruction, and as much is closed, turned over and opened as it takes to have just the lanes of
//! a record on top. Of a guarded instruction not all lanes that are there are known, so it opens nothing.
//!
//! What it can miss: lanes that come together, or change places, and part again before any of them tells anything.

/// A split that is not over.
#[derive(Clone, Copy, Debug)]
struct Open {
    first: u32,
    second: u32,
    turned: bool,
}

/// The stack of one warp.
#[derive(Clone, Debug)]
pub(super) struct Stack {
    open: Vec<Open>,
    /// Lanes that have not exited.
    alive: u32,
}

/// What happens to the stack; masks of lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// These go on, with the other side.
    Else(u32),
    /// These are together again.
    Join(u32),
    /// Of those of `by`, only these go on.
    Part {
        /// Who were together.
        by: u32,
        /// Who go on.
        first: u32,
    },
}

impl Stack {
    /// Of a warp that begins with these lanes.
    pub fn new(lanes: u32) -> Stack {
        Stack { open: Vec::new(), alive: lanes }
    }

    /// Lanes part at a branch; answers who go first.
    pub fn split(&mut self, by: u32, taken: u32, backward: bool) -> u32 {
        let first = if backward { taken } else { by & !taken };
        self.open.push(Open { first, second: by & !first, turned: false });
        first
    }

    /// Lanes end.
    pub fn exit(&mut self, lanes: u32) {
        self.alive &= !lanes;
    }

    /// These lanes do something; `all`: no others are there. Tells what that says of the stack.
    pub fn run(&mut self, lanes: u32, all: bool, mut tell: impl FnMut(Turn)) {
        loop {
            let top = self.open.last().copied();
            let on_top = self.alive
                & match top {
                    Some(top) if top.turned => top.second,
                    Some(top) => top.first,
                    None => u32::MAX,
                };
            let fits = lanes & !on_top == 0;
            if lanes == on_top || fits && !all {
                return;
            }
            match top {
                Some(top) if !top.turned && lanes & !top.second == 0 => {
                    if let Some(top) = self.open.last_mut() {
                        top.turned = true;
                    }
                    tell(Turn::Else(top.second & self.alive));
                }
                _ if fits => {
                    self.open.push(Open { first: lanes, second: on_top & !lanes, turned: false });
                    return tell(Turn::Part { by: on_top, first: lanes });
                }
                Some(top) => {
                    self.open.pop();
                    let together = (top.first | top.second) & self.alive;
                    if together != 0 {
                        tell(Turn::Join(together));
                    }
                }
                // Lanes that have ended do nothing.
                None => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(stack: &mut Stack, lanes: u32, all: bool) -> Vec<Turn> {
        let mut told = Vec::new();
        stack.run(lanes, all, |turn| told.push(turn));
        told
    }

    #[test]
    fn sides_come_one_after_the_other() {
        let mut stack = Stack::new(0xff);
        assert_eq!(stack.split(0xff, 0x0f, false), 0xf0);
        assert_eq!(run(&mut stack, 0xf0, true), []);
        assert_eq!(stack.split(0xf0, 0x30, true), 0x30);
        assert_eq!(run(&mut stack, 0x10, false), []);
        assert_eq!(run(&mut stack, 0x40, false), [Turn::Else(0xc0)]);
        assert_eq!(run(&mut stack, 0x03, false), [Turn::Join(0xf0), Turn::Else(0x0f)]);
        stack.exit(0x0f);
        assert_eq!(run(&mut stack, 0xf0, true), [Turn::Join(0xf0)]);
        assert_eq!(run(&mut stack, 0x10, false), []);
    }

    #[test]
    fn who_does_not_keep_to_the_stack_parts_anew() {
        let mut stack = Stack::new(0xff);
        stack.split(0xff, 0x0f, false);
        stack.split(0xf0, 0x30, false);
        assert_eq!(
            run(&mut stack, 0xc3, true),
            [Turn::Join(0xf0), Turn::Join(0xff), Turn::Part { by: 0xff, first: 0xc3 }]
        );
        // A guarded instruction may be others' as well.
        assert_eq!(run(&mut stack, 0x81, false), []);
    }
}
