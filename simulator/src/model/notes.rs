//! What a model tells of its doings to whoever looks on at the launch: what of stores has become visible when, and what reads have read.
//!
//! Notes are taken in the order in which things happen, during one call of a hook. Of an access each lane that the model does is
//! closed by [`Note::Did`]; what is its own (where its bytes have gone, what it has read) belongs behind the access, everything else
//! happens where it stands.

use bugaroo_semantics::event::{Range, WriteId};
use rustc_hash::FxHashMap;

/// One of them. Threads are numbered by warp slot and lane: 32 for each warp.
#[derive(Clone, Copy, Debug)]
pub enum Note {
    /// A store of a thread is visible; whether it is what memory holds now. `own`: it is that of the access at hand.
    Landed { thread: u32, range: Range, write: WriteId, last: bool, own: bool },
    /// A thread has read these bytes from a write. `own`: by the access at hand.
    Read { thread: u32, range: Range, write: WriteId, own: bool },
    /// The store of the lane at hand is held, under this number.
    Held(WriteId),
    /// The lane at hand reads these elements from its own held store.
    Own(u8),
    /// What the lane at hand reads in these elements is told by [`Note::Read`], now or later.
    Sourced(u8),
    /// The lane at hand has done its access.
    Did(u32),
}

/// What has been noted and not been told yet.
#[derive(Debug, Default)]
pub struct Notes {
    pub list: Vec<Note>,
    /// Elements of the access at hand that are being done.
    pub elements: u8,
    /// The last number given to a store that is held.
    last: u32,
    /// Whose the held stores are.
    owners: FxHashMap<u32, u32>,
}

impl Notes {
    pub fn push(&mut self, note: Note) {
        self.list.push(note);
    }

    /// A number for a store that a thread holds.
    pub fn hold(&mut self, thread: u32) -> u32 {
        // 0 is nobody's.
        self.last = self.last.wrapping_add(1).max(1);
        self.owners.insert(self.last, thread);
        self.last
    }

    /// Whose a held store is.
    pub fn owner(&self, number: u32) -> Option<u32> {
        self.owners.get(&number).copied()
    }

    /// A held store has landed.
    pub fn land(&mut self, number: u32, range: Range, last: bool) {
        if let Some(thread) = self.owners.remove(&number) {
            self.push(Note::Landed { thread, range, write: number.into(), last, own: false });
        }
    }
}
