//! Named barriers.

use crate::emulate::registers::Why;
use crate::verdict::ThreadsPlace;

/// A named barrier between its completions.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::emulate) struct Named {
    /// Uses that are over.
    pub uses: u32,
    /// Who came first to this use.
    pub first: Option<ThreadsPlace>,
    pub come: Come,
}

/// Who has come to a use of a named barrier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(in crate::emulate) struct Come {
    pub count: Option<u32>,
    /// Somebody came without a count, and so waits for all who have not exited.
    pub all: bool,
    /// Warps that have arrived, as bits, and threads that they count as.
    pub warps: u32,
    pub arrived: u32,
    /// Threads whose predicate was true, and threads that gave one.
    pub yes: u32,
    pub votes: u32,
    /// A vote was not known.
    pub why: Option<Why>,
}

impl Named {
    /// Nobody has come to it since its last use.
    pub fn is_idle(&self) -> bool {
        self.first.is_none()
    }

    /// Who has come to it since then.
    pub fn come(&self) -> Come {
        self.come
    }
}
