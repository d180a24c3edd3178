//! Which CUDA source line an instruction stems from (PTX ISA 11.5.2 "Debugging Directives: .loc").
//!
//! A `.loc` holds until the next one. Code that was inlined says where (`inlined_at`), but only one
//! step; the next step is the `inlined_at` of an earlier `.loc` of the same function with the very
//! position that was named. What this can miss: a position that is inlined at several places without
//! a `.loc` of its own before each is attributed to the latest. (`.loc`s within inline assembly do not come here.)

use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::ast::{Loc, LocLine};

/// Longer chains of inlining are cut: recursion that was inlined names its own position.
const LONGEST_CHAIN: usize = 32;

/// The state of one function's `.loc` directives, in the order of the text.
#[derive(Default)]
pub(crate) struct SourceLines {
    /// The chain of the latest `.loc` at a position (file, line, column).
    seen: FxHashMap<(u32, u32, u32), Rc<[LocLine]>>,
    current: Option<Rc<[LocLine]>>,
}

impl SourceLines {
    /// Takes in the next `.loc`.
    pub(crate) fn enter(&mut self, loc: &Loc) {
        let position = (loc.file, loc.line, loc.column);
        let callers: Rc<[LocLine]> = match loc.inlined_at {
            None => Rc::new([]),
            Some(at) => match self.seen.get(&at) {
                Some(chain) => Rc::clone(chain),
                None => line(at).into_iter().collect(),
            },
        };
        let chain: Rc<[LocLine]> =
            line(position).into_iter().chain(callers.iter().cloned()).take(LONGEST_CHAIN).collect();
        self.seen.insert(position, Rc::clone(&chain));
        self.current = Some(chain);
    }

    /// The chain that holds now: innermost first, empty before the first `.loc`.
    pub(crate) fn here(&self) -> Vec<LocLine> {
        self.current.as_deref().map(<[LocLine]>::to_vec).unwrap_or_default()
    }
}

/// A position as a source line; line 0 is the compiler's word for "none".
fn line((file, line, column): (u32, u32, u32)) -> Option<LocLine> {
    (line != 0).then_some(LocLine { file, line, column })
}

#[cfg(test)]
mod tests;
