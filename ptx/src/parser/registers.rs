//! Which names are registers here: an identifier without `%` can be a register or a symbol, and
//! only the declarations that are in scope tell.

use rustc_hash::FxHashMap;

/// A declared name.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Name<'s> {
    /// `t1`
    Whole(&'s str),
    /// `t` of `t<10>`
    Numbered(&'s str),
}

/// The registers in scope. Entering and leaving scopes costs what was declared in them.
#[derive(Default)]
pub(super) struct Registers<'s> {
    /// How many registers a name stands for, per name.
    declared: FxHashMap<Name<'s>, u32>,
    /// What each declaration of the open scopes replaced.
    undo: Vec<(Name<'s>, Option<u32>)>,
}

impl<'s> Registers<'s> {
    /// A mark to return to with [`Registers::leave`].
    pub(super) fn enter(&self) -> usize {
        self.undo.len()
    }

    /// Forgets what was declared since the mark.
    pub(super) fn leave(&mut self, mark: usize) {
        while self.undo.len() > mark {
            match self.undo.pop() {
                Some((name, Some(count))) => drop(self.declared.insert(name, count)),
                Some((name, None)) => drop(self.declared.remove(&name)),
                None => break,
            }
        }
    }

    /// Declares `name`, or `name0` to `name(count - 1)`.
    pub(super) fn declare(&mut self, name: &'s str, count: Option<u32>) {
        let (key, count) = match count {
            None => (Name::Whole(name), 1),
            Some(count) => (Name::Numbered(name), count),
        };
        self.undo.push((key, self.declared.insert(key, count)));
    }

    /// Whether a name means a register. One with `%` always does: the rest of PTX keeps off that sign.
    pub(super) fn contains(&self, name: &'s str) -> bool {
        if name.starts_with('%') || self.declared.contains_key(&Name::Whole(name)) {
            return true;
        }
        // `t10` is in `t<11>`; also in `t1<1>`, so every split of the digits counts.
        let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count().min(9);
        (1..=digits).any(|length| {
            let (stem, index) = name.split_at(name.len() - length);
            let canonical = length == 1 || !index.starts_with('0');
            let count = self.declared.get(&Name::Numbered(stem));
            canonical && count.is_some_and(|count| index.parse().is_ok_and(|index: u32| index < *count))
        })
    }
}
