//! The records of all queues in one order: that of their tickets.
//!
//! Tickets are taken one after another by who is about to commit, so those of one queue ascend, and each number comes once. A
//! record has the low half of its ticket only; as no queue runs 2^32 records ahead of another, that names it.

use std::collections::VecDeque;

use super::tail::Record;
use crate::trial::logging::broken::Broken;

/// Puts records in order.
#[derive(Debug)]
pub struct Merge {
    /// Per queue: what has been read of it and cannot be told yet.
    fronts: Vec<VecDeque<Record>>,
    /// The ticket that comes next.
    next: u64,
    /// The queue that the last record came from: often the next one's as well.
    last: usize,
}

impl Merge {
    /// Of so many queues.
    pub fn new(queues: usize) -> Merge {
        Merge { fronts: vec![VecDeque::new(); queues], next: 0, last: 0 }
    }

    /// A queue's next record.
    pub fn put(&mut self, queue: usize, record: Record) {
        self.fronts[queue].push_back(record);
    }

    /// The next record of all, with its ticket, if it has been read.
    #[allow(clippy::should_implement_trait, reason = "more may come when there is none")]
    pub fn next(&mut self) -> Option<(u64, Record)> {
        let wanted = self.next as u32;
        let fits = |front: &VecDeque<Record>| front.front().is_some_and(|record| record.ticket == wanted);
        let found = if self.fronts.get(self.last).is_some_and(fits) {
            self.last
        } else {
            self.fronts.iter().position(fits)?
        };
        self.last = found;
        let ticket = self.next;
        self.next += 1;
        self.fronts[found].pop_front().map(|record| (ticket, record))
    }

    /// Nothing more comes.
    ///
    /// # Errors
    /// Where records are left: one before them never came.
    pub fn finish(&self) -> Result<(), Broken> {
        let left = self.fronts.iter().map(VecDeque::len).sum();
        if left == 0 { Ok(()) } else { Err(Broken::Gap { ticket: self.next, left }) }
    }
}
