//! The modifiers of one instruction, taken one at a time. An instruction is understood when all were.

use crate::types::{BoolOp, Compare, Rounding, Scope, Semantics, Space, Type};

/// Modifiers that are still to be understood. The order in which PTX wants them is not checked,
/// except where it carries meaning (the two types of `cvt`).
#[derive(Clone)]
pub(super) struct Modifiers<'a> {
    all: &'a [String],
    /// Bit `i` is set when `all[i]` has been taken.
    taken: u32,
}

impl<'a> Modifiers<'a> {
    /// None when there are more modifiers than any instruction has.
    pub(super) fn new(all: &'a [String]) -> Option<Self> {
        (all.len() <= 32).then_some(Modifiers { all, taken: 0 })
    }

    /// Whether nothing is left.
    pub(super) fn done(&self) -> bool {
        self.taken.count_ones() as usize == self.all.len()
    }

    /// Takes the first modifier that `read` accepts.
    pub(super) fn take<T>(&mut self, read: impl Fn(&'a str) -> Option<T>) -> Option<T> {
        let (at, value) = (self.all.iter().enumerate())
            .filter(|(at, _)| self.taken & 1 << at == 0)
            .find_map(|(at, word)| Some((at, read(word)?)))?;
        self.taken |= 1 << at;
        Some(value)
    }

    /// Takes the modifier of this name, if it is there.
    pub(super) fn flag(&mut self, name: &str) -> bool {
        self.take(|word| (word == name).then_some(())).is_some()
    }

    /// Whether the modifier of this name is still there.
    pub(super) fn has(&self, name: &str) -> bool {
        self.all.iter().enumerate().any(|(at, word)| self.taken & 1 << at == 0 && word == name)
    }

    /// Takes one of the listed names and gives its value.
    pub(super) fn one_of<T: Copy>(&mut self, table: &[(&str, T)]) -> Option<T> {
        self.take(|word| table.iter().find(|(name, _)| *name == word).map(|(_, value)| *value))
    }

    /// The next type.
    pub(super) fn ty(&mut self) -> Option<Type> {
        self.take(Type::from_name)
    }

    /// The next type, if it is one of these.
    pub(super) fn ty_in(&mut self, allowed: &[Type]) -> Option<Type> {
        self.ty().filter(|ty| allowed.contains(ty))
    }

    /// `.rn`, `.rz`, `.rm`, `.rp`, `.rna`
    pub(super) fn rounding(&mut self) -> Option<Rounding> {
        self.one_of(&[
            ("rn", Rounding::Nearest),
            ("rna", Rounding::NearestAway),
            ("rz", Rounding::Zero),
            ("rm", Rounding::Down),
            ("rp", Rounding::Up),
        ])
    }

    /// `.rni`, `.rzi`, `.rmi`, `.rpi`
    pub(super) fn integer_rounding(&mut self) -> Option<Rounding> {
        self.one_of(&[
            ("rni", Rounding::Nearest),
            ("rzi", Rounding::Zero),
            ("rmi", Rounding::Down),
            ("rpi", Rounding::Up),
        ])
    }

    /// A state space, or generic when there is none.
    pub(super) fn space(&mut self) -> Space {
        self.named_space().unwrap_or(Space::Generic)
    }

    pub(super) fn named_space(&mut self) -> Option<Space> {
        self.one_of(&[
            ("global", Space::Global),
            ("shared", Space::Shared),
            ("shared::cta", Space::Shared),
            ("shared::cluster", Space::SharedCluster),
            ("local", Space::Local),
            ("const", Space::Const),
            ("param", Space::Param),
            ("param::entry", Space::Param),
            ("param::func", Space::Param),
        ])
    }

    pub(super) fn scope(&mut self) -> Option<Scope> {
        self.one_of(&[
            ("cta", Scope::Cta),
            ("cluster", Scope::Cluster),
            ("gpu", Scope::Gpu),
            ("sys", Scope::Sys),
        ])
    }

    /// The order of a load or store; None for a combination that PTX lacks.
    pub(super) fn semantics(&mut self) -> Option<Semantics> {
        let word = self.one_of(&[
            ("weak", "weak"),
            ("volatile", "volatile"),
            ("relaxed", "relaxed"),
            ("acquire", "acquire"),
            ("release", "release"),
        ]);
        let mmio = self.flag("mmio");
        let scope = self.scope();
        Some(match (word, mmio, scope) {
            (None | Some("weak"), false, None) => Semantics::Weak,
            (Some("volatile"), false, None) => Semantics::Volatile,
            (Some("relaxed"), true, Some(Scope::Sys)) => Semantics::Mmio,
            (Some("relaxed"), false, Some(scope)) => Semantics::Relaxed(scope),
            (Some("acquire"), false, Some(scope)) => Semantics::Acquire(scope),
            (Some("release"), false, Some(scope)) => Semantics::Release(scope),
            _ => return None,
        })
    }

    /// `.v2`, `.v4`, `.v8`: elements; 1 without.
    pub(super) fn vector(&mut self) -> u8 {
        self.one_of(&[("v2", 2), ("v4", 4), ("v8", 8)]).unwrap_or(1)
    }

    /// Steps over cache hints, which have no effect on values: `.ca` to `.wt`, `.L1::…`, `.L2::…`.
    pub(super) fn cache_hints(&mut self) {
        let hint = |word: &str| {
            let operator = matches!(word, "ca" | "cg" | "cs" | "lu" | "cv" | "wb" | "wt");
            (operator || word.starts_with("L1::") || word.starts_with("L2::") || word == "level::cache_hint")
                .then_some(())
        };
        while self.take(hint).is_some() {}
    }

    pub(super) fn combine(&mut self) -> Option<BoolOp> {
        self.one_of(&[("and", BoolOp::And), ("or", BoolOp::Or), ("xor", BoolOp::Xor)])
    }

    /// A comparison, and whether it is one of the four that only unsigned types have.
    pub(super) fn compare(&mut self) -> Option<(Compare, bool)> {
        use Compare as C;
        self.one_of(&[
            ("eq", (C::Eq, false)),
            ("ne", (C::Ne, false)),
            ("lt", (C::Lt, false)),
            ("le", (C::Le, false)),
            ("gt", (C::Gt, false)),
            ("ge", (C::Ge, false)),
            ("lo", (C::Lt, true)),
            ("ls", (C::Le, true)),
            ("hi", (C::Gt, true)),
            ("hs", (C::Ge, true)),
            ("equ", (C::Equ, false)),
            ("neu", (C::Neu, false)),
            ("ltu", (C::Ltu, false)),
            ("leu", (C::Leu, false)),
            ("gtu", (C::Gtu, false)),
            ("geu", (C::Geu, false)),
            ("num", (C::Num, false)),
            ("nan", (C::Nan, false)),
        ])
    }
}
