//! Conditional nodes: conditions, how they pick, and what was picked.

use crate::device::graph::exec::{Choice, Doing, Step};
use crate::device::state::Driver;
use crate::device::work::{Act, Work};
use crate::error::{Outcome, Status};
use crate::lane::Ticket;
use bugaroo_cuda_abi::{CUcontext, CUgraph};

/// What is known of a condition.
#[derive(Clone, Copy, Debug)]
pub struct Condition {
    /// Its value when a graph with it is launched, if it is set then.
    pub(crate) default: Option<u32>,
}

/// How a value picks a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pick {
    /// The first if it is not zero, else the second, if there is one.
    If,
    /// The only one, again and again as long as it is not zero.
    While,
    /// The one of this number, if there is one.
    Switch,
}

impl Pick {
    /// The body that a value picks, among so many.
    pub fn body(self, value: u32, count: usize) -> Option<usize> {
        let at = match (self, value) {
            (Pick::If, 0) => 1,
            (Pick::While, 0) => return None,
            (Pick::If | Pick::While, _) => 0,
            (Pick::Switch, value) => value as usize,
        };
        (at < count).then_some(at)
    }
}

/// A conditional node.
#[derive(Clone, Debug)]
pub struct Branch {
    /// The condition's handle.
    pub handle: u64,
    /// How it picks.
    pub pick: Pick,
    /// The graphs that it picks among, which the node owns. The program is told where this list lies, which stays.
    pub bodies: Box<[CUgraph]>,
}

impl Driver {
    /// Conditions of steps, at any depth, that a launch sets, with their values.
    pub fn defaults(&self, steps: &[Step]) -> Vec<(u64, u32)> {
        let mut found = Vec::new();
        for step in steps {
            match step.doing() {
                Doing::All(steps) => found.extend(self.defaults(steps)),
                Doing::Branch(choice) => {
                    let condition = self.graphs.conditions.get(&choice.handle);
                    let default = condition.and_then(|condition| condition.default);
                    found.extend(default.map(|default| (choice.handle, default)));
                    choice.bodies.iter().for_each(|body| found.extend(self.defaults(body)));
                }
                Doing::Body(_) => {}
            }
        }
        found
    }

    /// The work that sets conditions.
    pub fn setting_conditions(values: Vec<(u64, u32)>) -> Work {
        let words = values.into_iter().map(|(word, value)| (word, value.to_le_bytes().to_vec()));
        Work::Act(Act::Write(words.collect()))
    }

    /// A conditional node's turn: the body that is picked goes into the queue, and what is queued as `ticket` waits for
    /// it. Answers whether anything was picked.
    pub fn take_branch(&mut self, context: CUcontext, ticket: Ticket, choice: &Choice) -> Outcome<bool> {
        let mut word = [0; 4];
        self.memory.read(choice.handle, &mut word).map_err(|_| Status::InvalidValue)?;
        let Some(at) = choice.pick.body(u32::from_le_bytes(word), choice.bodies.len()) else {
            return Ok(false);
        };
        self.queue.tell(|order| order.under(Some(ticket), None));
        let body = self.enqueue(context, &choice.bodies[at], &[]);
        self.queue.tell(|order| order.under(None, None));
        let body = body?;
        if choice.pick != Pick::While
            && let Some(item) = self.queue.item(ticket)
        {
            item.work = Work::Nothing;
        }
        self.queue.wait_again(ticket, &body);
        Ok(true)
    }
}
