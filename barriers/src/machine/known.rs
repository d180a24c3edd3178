//! What is known of how far chains have come: clocks.

/// What a chain or a barrier knows.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// By component, how much of it happened before.
    pub(super) clock: Vec<u32>,
    /// The clocks beside that one: see [`crate::chains::Layout::fenced_len`].
    pub(super) fenced: Vec<u32>,
}

impl Known {
    /// Nothing, in clocks of so many components.
    pub(super) fn nothing(components: usize, fenced: usize) -> Known {
        Known { clock: vec![0; components], fenced: vec![0; fenced] }
    }

    /// It knows what another knows, and no more.
    pub(super) fn set(&mut self, from: &Known) {
        self.clock.clone_from(&from.clock);
        self.fenced.clone_from(&from.fenced);
    }

    /// Takes in what another knows.
    pub(super) fn join(&mut self, from: &Known) {
        join(&mut self.clock, &from.clock);
        join(&mut self.fenced, &from.fenced);
    }

    /// The same, where it may have no components yet.
    pub(super) fn gather(&mut self, from: &Known) {
        gather(&mut self.clock, &from.clock);
        gather(&mut self.fenced, &from.fenced);
    }

    /// It knows nothing from here on.
    pub(super) fn forget(&mut self) {
        self.clock.fill(0);
        self.fenced.fill(0);
    }

    /// What it knows, which is nothing from here on.
    pub(super) fn take(&mut self) -> Known {
        let nothing = Known::nothing(self.clock.len(), self.fenced.len());
        std::mem::replace(self, nothing)
    }
}

/// Joins clocks.
pub(super) fn join(into: &mut [u32], from: &[u32]) {
    for (a, b) in into.iter_mut().zip(from) {
        *a = (*a).max(*b);
    }
}

/// Joins clocks, the first of which may have no components yet.
pub(super) fn gather(into: &mut Vec<u32>, from: &[u32]) {
    into.resize(from.len().max(into.len()), 0);
    join(into, from);
}
