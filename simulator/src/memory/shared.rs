//! Memory as a launch in progress holds it: lent for as long as it runs, so that several launches can take
//! turns on one memory.

use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use super::Memory;

/// A memory that is lent to a machine while it runs, and not there otherwise.
#[derive(Debug)]
pub(crate) struct Shared {
    lent: Option<NonNull<Memory>>,
    /// [`Memory::changes`] when it was taken back; None before.
    known: Option<u64>,
}

impl Shared {
    /// Nothing is lent yet.
    pub fn none() -> Shared {
        Shared { lent: None, known: None }
    }

    /// Takes the memory until [`Self::take_back`]; answers whether what is allocated has changed since it was
    /// there last. The caller keeps the borrow until then, and does not use it.
    pub fn lend(&mut self, memory: &mut Memory) -> bool {
        let changed = self.known.is_some_and(|known| known != memory.changes);
        self.lent = Some(NonNull::from(memory));
        changed
    }

    /// Ends the loan.
    pub fn take_back(&mut self) {
        self.known = Some(self.changes);
        self.lent = None;
    }
}

impl Deref for Shared {
    type Target = Memory;

    #[inline(always)]
    fn deref(&self) -> &Memory {
        let memory = self.lent.expect("a machine runs only while it has a memory");
        // SAFETY: `lend` was given it exclusively, and it has not been taken back.
        unsafe { memory.as_ref() }
    }
}

impl DerefMut for Shared {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Memory {
        let mut memory = self.lent.expect("a machine runs only while it has a memory");
        // SAFETY: as above, and `self` is borrowed exclusively.
        unsafe { memory.as_mut() }
    }
}
