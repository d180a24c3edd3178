//! Who a thread is, how far an operation reaches, and when two operations are morally strong.

use bugaroo_ptx::types::Semantics;

use crate::effect::strong_among;

/// The set of threads that an operation takes part with, as PTX has it.
pub use bugaroo_ptx::types::Scope;

/// A thread as the model knows it: its CTA and its place in there. Grids of more than 2^22 CTAs reuse
/// numbers; two threads that share one are taken for the same thread, which only forbids more.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ThreadKey(u32);

impl ThreadKey {
    /// Nobody's: the writer of what stood in memory before.
    pub const NOBODY: ThreadKey = ThreadKey(u32::MAX);

    /// The thread with linear number `place` (below 1,024) of CTA `cta`.
    pub fn new(cta: u32, place: u32) -> ThreadKey {
        debug_assert!(place < 1 << 10);
        ThreadKey(cta << 10 | place)
    }

    /// The linear index of its CTA in the grid (modulo 2^22).
    #[inline]
    pub fn cta(self) -> u32 {
        self.0 >> 10
    }

    /// Its linear index in its CTA.
    #[inline]
    pub fn place(self) -> u32 {
        self.0 & 0x3ff
    }

    /// Both in one number.
    #[inline]
    pub fn number(self) -> u32 {
        self.0
    }
}

/// Whether a scope of `own` takes `other` of the same grid in. `.cluster` is taken for all of the grid here: a wider scope
/// orders more. `.sys` is as wide as `.gpu` within one virtual GPU.
#[inline]
pub fn includes(scope: Scope, own: ThreadKey, other: ThreadKey) -> bool {
    scope != Scope::Cta || own.cta() == other.cta()
}

/// Whether an access is strong, and for whom.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Strength {
    /// `.weak`, and accesses with no qualifier.
    Weak,
    /// `.relaxed`, `.acquire`, `.release`, `.volatile` (at `Sys`) and atomics.
    Strong(Scope),
}

impl Strength {
    /// That of an access as the program has it.
    pub fn of(semantics: Semantics) -> Strength {
        strong_among(semantics).map_or(Strength::Weak, Strength::Strong)
    }

    /// For whom a strong one is.
    #[inline]
    pub fn scope(self) -> Option<Scope> {
        match self {
            Strength::Weak => None,
            Strength::Strong(scope) => Some(scope),
        }
    }
}

/// Whether operations of two threads are morally strong: in program order, or both strong and each one's
/// scope takes the other's thread in. That two accesses overlap completely is not asked for: taking more
/// pairs for morally strong forbids more.
#[inline]
pub fn morally_strong(a: (ThreadKey, Strength), b: (ThreadKey, Strength)) -> bool {
    if a.0 == b.0 {
        return true;
    }
    match (a.1, b.1) {
        (Strength::Strong(one), Strength::Strong(other)) => {
            includes(one, a.0, b.0) && includes(other, b.0, a.0)
        }
        _ => false,
    }
}
