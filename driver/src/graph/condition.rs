//! Conditional nodes (CUDA Driver API, "Graph Management", `CU_GRAPH_NODE_TYPE_CONDITIONAL`): graphs that run, or run
//! again and again, as a word says that kernels set.
//!
//! A condition's handle is the address of its word in memory of the tester's own: that is where the virtual GPU's
//! `cudaGraphSetConditional` writes. When a conditional node's turn comes, the word is read, and the steps of the body
//! that it picks go into the queue; the node is done when they are, or, for a loop, is looked at again. Words
//! stay until the process ends, as executable graphs may outlive the graph that a condition was made for.

use std::ffi::{c_uint, c_ulonglong};

use bugaroo_cuda_abi::{CUDA_CONDITIONAL_NODE_PARAMS, CUcontext, CUgraph};
use bugaroo_simulator::AllocationKind;

use crate::entry::{not_null, with_context, write};
use crate::error::{Outcome, Status};
use crate::graph::Body;
use crate::graph::exec::{Choice, Doing, Step};
use crate::graph::params::read;
use crate::queue::Ticket;
use crate::state::Driver;
use crate::work::Work;

/// `CU_GRAPH_COND_ASSIGN_DEFAULT`
const ASSIGN_DEFAULT: c_uint = 1;
/// Most bodies of a node: there is no such limit in the API, but nobody switches among more.
const MOST_BODIES: c_uint = 1 << 16;

/// What is known of a condition.
#[derive(Clone, Copy, Debug)]
pub struct Condition {
    /// Its value when a graph with it is launched, if it is set then.
    default: Option<u32>,
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

/// A conditional node with empty graphs in it; where these are listed goes into the parameters.
///
/// # Safety
/// `params` is null or as `cuda.h` has it, and may be written.
pub unsafe fn branch(driver: &mut Driver, params: *mut CUDA_CONDITIONAL_NODE_PARAMS) -> Outcome<Body> {
    // SAFETY: the caller's promise.
    let CUDA_CONDITIONAL_NODE_PARAMS { handle, kind, size, .. } = unsafe { read(params) }?;
    if !driver.graphs.conditions.contains_key(&handle) {
        return Err(Status::InvalidValue);
    }
    let pick = match (kind, size) {
        (0, 1 | 2) => Pick::If,
        (1, 1) => Pick::While,
        (2, 1..=MOST_BODIES) => Pick::Switch,
        _ => return Err(Status::InvalidValue),
    };
    let bodies: Box<[CUgraph]> = (0..size).map(|_| driver.graphs.create_owned()).collect();
    // SAFETY: it was read, and the caller vouches that it may be written.
    unsafe { (&raw mut (*params).graphs).write_unaligned(bodies.as_ptr()) };
    Ok(Body::Branch(Branch { handle, pick, bodies }))
}

/// Makes a condition for a graph.
///
/// # Safety
/// `place` is null or points to a place for a handle.
pub unsafe extern "C" fn cuGraphConditionalHandleCreate(
    place: *mut c_ulonglong,
    graph: CUgraph,
    context: CUcontext,
    default: c_uint,
    flags: c_uint,
) -> Status {
    with_context("cuGraphConditionalHandleCreate", |driver, _| {
        not_null(place)?;
        driver.graphs.graphs.get(graph)?;
        if !context.is_null() {
            driver.context(context)?;
        }
        if flags & !ASSIGN_DEFAULT != 0 {
            return Err(Status::InvalidValue);
        }
        let word = driver.memory.alloc(4, 256, AllocationKind::Tool).map_err(|_| Status::OutOfMemory)?;
        let default = (flags & ASSIGN_DEFAULT != 0).then_some(default);
        driver.graphs.conditions.insert(word, Condition { default });
        // SAFETY: the caller's promise.
        unsafe { write(place, word) }
    })
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
        Work::act(move |driver| {
            for (word, value) in &values {
                driver.memory.write(*word, &value.to_le_bytes()).map_err(|_| Status::InvalidValue)?;
            }
            Ok(())
        })
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
