//! The last piece of each ticket that is done, for whoever waits for the ticket later.

use std::collections::VecDeque;

use bugaroo_semantics::event::WorkId;

use crate::lane::Ticket;

/// See the head.
#[derive(Debug, Default)]
pub struct Ends {
    /// The first ticket here.
    first: Ticket,
    /// By ticket; 0: none.
    all: VecDeque<WorkId>,
}

impl Ends {
    /// A ticket is done.
    pub fn insert(&mut self, ticket: Ticket, end: WorkId) {
        if self.all.is_empty() {
            self.first = ticket;
        }
        // Only what is done, or given up, was dropped at the front; but one that is older may be the first to be done.
        while ticket < self.first {
            self.first -= 1;
            self.all.push_front(0);
        }
        let at = (ticket - self.first) as usize;
        if at >= self.all.len() {
            self.all.resize(at + 1, 0);
        }
        self.all[at] = end;
    }

    /// The last piece of a ticket that is done; None where it is not, or retired.
    pub fn get(&self, ticket: Ticket) -> Option<WorkId> {
        let at = usize::try_from(ticket.checked_sub(self.first)?).ok()?;
        self.all.get(at).copied().filter(|end| *end != 0)
    }

    /// Everything before this piece comes before all that goes on or is to come. `oldest`: of the tickets that are not done.
    pub fn retire(&mut self, before: WorkId, oldest: Ticket) {
        while self.first < oldest && self.all.front().is_some_and(|end| *end < before) {
            self.all.pop_front();
            self.first += 1;
        }
    }
}
