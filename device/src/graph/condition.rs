//! Conditions are set, and the bodies of conditional nodes picked.

use bugaroo_cuda_abi::CUcontext;

use crate::error::{CallResult, Status};
use crate::lane::Ticket;
use crate::objects::work::{Act, BranchChoice, Doing, GraphStep, Pick, Work};
use crate::state::Gpu;

impl Gpu {
    /// Conditions of steps, at any depth, that a launch sets, with their values.
    pub fn defaults(&self, steps: &[GraphStep]) -> Vec<(u64, u32)> {
        let mut found = Vec::new();
        for step in steps {
            match step.doing() {
                Doing::All(steps) => found.extend(self.defaults(steps)),
                Doing::Branch(choice) => {
                    let condition = self.ordered.graphs.conditions.get(&choice.handle);
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
    pub fn take_branch(
        &mut self,
        context: CUcontext,
        ticket: Ticket,
        choice: &BranchChoice,
    ) -> CallResult<bool> {
        let mut word = [0; 4];
        self.memory.read(choice.handle, &mut word).map_err(|_| Status::InvalidValue)?;
        let Some(at) = choice.pick.body(u32::from_le_bytes(word), choice.bodies.len()) else {
            return Ok(false);
        };
        self.running.queue.tell(|order| order.under(Some(ticket), None));
        let body = self.enqueue(context, &choice.bodies[at], &[]);
        self.running.queue.tell(|order| order.under(None, None));
        let body = body?;
        if choice.pick != Pick::While
            && let Some(item) = self.running.queue.item(ticket)
        {
            item.work = Work::Nothing;
        }
        self.running.queue.wait_again(ticket, &body);
        Ok(true)
    }
}
