//! Executable graphs: instantiated, changed, launched.

use std::ffi::{c_char, c_uint, c_ulonglong};
use std::rc::Rc;

use bugaroo_cuda_abi::{
    CUDA_GRAPH_INSTANTIATE_PARAMS, CUcontext, CUgraph, CUgraphExec, CUgraphNode, CUstream,
};

use crate::entry::{not_null, with_context, with_driver, write, write_if_wanted};
use crate::error::{Outcome, Status};
use crate::graph::condition::{Branch, Pick};
use crate::graph::user_object::{Dying, References};
use crate::graph::{Body, places};
use crate::pump;
use crate::queue::Ticket;
use crate::state::Driver;
use crate::stream::Stream;
use crate::submit::twin;
use crate::submit::{Submitted, on_stream};
use crate::work::Work;

/// Flags of an instantiation: free on launch, upload, device launch, priorities.
const FLAGS_MASK: c_ulonglong = 15;
/// `CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH`
const AUTO_FREE: c_ulonglong = 1;
/// `CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH`
const DEVICE_LAUNCH: c_ulonglong = 4;

/// An executable graph.
#[derive(Debug)]
pub struct Exec {
    pub(super) steps: Vec<Step>,
    flags: c_ulonglong,
    /// What its last launch ended with: it does not overlap with itself.
    last: Ticket,
    /// Objects of the program that it keeps alive.
    objects: References,
}

/// A node of it.
#[derive(Clone, Debug)]
pub struct Step {
    /// The node that it was made of.
    pub(super) node: CUgraphNode,
    pub(super) doing: Doing,
    /// The steps before it, by index; all smaller than its own.
    pub(super) before: Vec<usize>,
    enabled: bool,
}

/// What a step does.
#[derive(Clone, Debug)]
pub enum Doing {
    /// What a node without a graph of its own does.
    Body(Body),
    /// The steps of the graph in it.
    All(Vec<Step>),
    /// Those of one of the graphs in it, or none.
    Branch(Rc<Choice>),
}

/// A conditional node as it runs.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The condition's handle.
    pub handle: u64,
    /// How it picks.
    pub pick: Pick,
    /// Among these.
    pub bodies: Vec<Vec<Step>>,
}

impl Step {
    /// What it does.
    pub fn doing(&self) -> &Doing {
        &self.doing
    }

    /// Whether the host may watch what it does.
    fn is_watched(&self) -> bool {
        match &self.doing {
            Doing::Body(Body::Work(work)) => work.is_watched(),
            Doing::Body(_) => false,
            Doing::All(steps) => steps.iter().any(Step::is_watched),
            Doing::Branch(choice) => choice.bodies.iter().flatten().any(Step::is_watched),
        }
    }
}

impl Driver {
    /// The steps of a graph as it is now.
    ///
    /// # Errors
    /// `InvalidHandle`; `InvalidValue` when nodes wait for each other.
    pub(super) fn steps(&self, graph: CUgraph) -> Outcome<Vec<Step>> {
        let order = self.graphs.sorted(graph)?;
        let places = places(&order);
        let step = |handle: &CUgraphNode| {
            let node = self.graphs.nodes.get(*handle)?;
            let doing = match &node.body {
                Body::Child(child) => Doing::All(self.steps(*child)?),
                Body::Branch(Branch { handle, pick, bodies }) => {
                    let bodies = bodies.iter().map(|body| self.steps(*body)).collect::<Outcome<_>>()?;
                    Doing::Branch(Rc::new(Choice { handle: *handle, pick: *pick, bodies }))
                }
                body => Doing::Body(body.clone()),
            };
            let before = node.before.iter().filter_map(|before| places.get(before)).copied().collect();
            Ok(Step { node: *handle, doing, before, enabled: true })
        };
        order.iter().map(step).collect()
    }

    /// Gives a step of an executable graph something else to do, of the same kind.
    ///
    /// # Errors
    /// `InvalidHandle`; `InvalidValue` when the node is none of its graph or of another kind.
    pub fn replace_in_exec(&mut self, exec: CUgraphExec, node: CUgraphNode, body: Body) -> Outcome {
        let doing = match body {
            Body::Child(child) => {
                let steps = self.steps(child)?;
                let mut dying = std::mem::take(&mut self.graphs.dying);
                self.graphs.remove(child, &mut dying);
                self.graphs.dying = dying;
                Doing::All(steps)
            }
            // What a conditional node does is not to be changed, but for what is in its graphs.
            Body::Branch(_) => return Err(Status::InvalidValue),
            body => Doing::Body(body),
        };
        let step = self.exec_step(exec, node)?;
        let new = Step { doing, ..step.clone() };
        if step.differs(&new).is_some() {
            return Err(Status::InvalidValue);
        }
        *step = new;
        Ok(())
    }

    fn exec_step(&mut self, exec: CUgraphExec, node: CUgraphNode) -> Outcome<&mut Step> {
        fn find(steps: &mut [Step], node: CUgraphNode) -> Option<&mut Step> {
            let at = steps.iter().position(|step| step.node == node);
            if let Some(at) = at {
                return steps.get_mut(at);
            }
            steps.iter_mut().find_map(|step| match &mut step.doing {
                Doing::All(steps) => find(steps, node),
                Doing::Branch(choice) => {
                    Rc::make_mut(choice).bodies.iter_mut().find_map(|steps| find(steps, node))
                }
                Doing::Body(_) => None,
            })
        }
        find(&mut self.graphs.execs.get_mut(exec)?.steps, node).ok_or(Status::InvalidValue)
    }

    /// Hands steps to the queue; answers all their tickets, in order.
    pub fn enqueue(&mut self, context: CUcontext, steps: &[Step], begin: &[Ticket]) -> Outcome<Vec<Ticket>> {
        let mut tickets: Vec<Ticket> = Vec::with_capacity(steps.len());
        for step in steps {
            let mut before: Vec<Ticket> = step.before.iter().map(|at| tickets[*at]).collect();
            if before.is_empty() {
                before.extend(begin);
            }
            let ticket = match &step.doing {
                _ if !step.enabled => self.queue.insert(context, Work::Nothing, &before),
                Doing::All(steps) => {
                    let all = self.enqueue(context, steps, &before)?;
                    before.extend(all);
                    self.queue.insert(context, Work::Nothing, &before)
                }
                Doing::Body(Body::Wait(event)) => {
                    before.extend(self.events.get(*event)?.ticket());
                    self.queue.insert(context, Work::Nothing, &before)
                }
                Doing::Body(Body::Work(work)) => {
                    let work = self.numbered(work.clone());
                    let event = if let Work::Record(event) = work { Some(event) } else { None };
                    let ticket = self.queue.insert(context, work, &before);
                    if let Some(event) = event {
                        self.recorded(event, ticket)?;
                    }
                    ticket
                }
                Doing::Branch(choice) => self.queue.insert(context, Work::Branch(Rc::clone(choice)), &before),
                Doing::Body(Body::Allocate(memory)) => {
                    self.queue.insert(context, Driver::graph_memory_work(memory, true), &before)
                }
                Doing::Body(Body::Free(memory)) => {
                    self.queue.insert(context, Driver::graph_memory_work(memory, false), &before)
                }
                Doing::Body(Body::Child(_) | Body::Branch(_)) => return Err(Status::Unknown),
            };
            tickets.push(ticket);
        }
        Ok(tickets)
    }

    /// A graph of steps, for a node to own.
    fn graph_of(&mut self, steps: &[Step]) -> Outcome<CUgraph> {
        let graph = self.graphs.create_owned();
        let mut nodes = Vec::with_capacity(steps.len());
        for step in steps {
            let before: Vec<CUgraphNode> = step.before.iter().map(|at| nodes[*at]).collect();
            let body = match &step.doing {
                _ if !step.enabled => Body::Work(Work::Nothing),
                Doing::All(steps) => Body::Child(self.graph_of(steps)?),
                Doing::Branch(choice) => {
                    let Choice { handle, pick, bodies } = &**choice;
                    let bodies = bodies.iter().map(|steps| self.graph_of(steps)).collect::<Outcome<_>>()?;
                    Body::Branch(Branch { handle: *handle, pick: *pick, bodies })
                }
                Doing::Body(body) => body.clone(),
            };
            nodes.push(self.graphs.add(graph, &before, body)?);
        }
        Ok(graph)
    }

    /// Launches an executable graph in a stream.
    fn launch_graph(&mut self, stream: &Stream, handle: CUgraphExec) -> Outcome<Option<Submitted>> {
        let exec = self.graphs.execs.get(handle)?;
        let (steps, last, free_first) = (exec.steps.clone(), exec.last, exec.flags & AUTO_FREE != 0);
        if self.is_capturing(stream) {
            let child = self.graph_of(&steps)?;
            self.capture_body(stream, Body::Child(child))?;
            return Ok(None);
        }
        crate::capture::refuse(self, stream)?;
        if self.is_broken(stream.context) {
            return Ok(None);
        }
        self.open_graph_memory(&steps, free_first)?;
        let mut begin = self.queue.before(stream);
        begin.push(last);
        let defaults = self.defaults(&steps);
        if !defaults.is_empty() {
            begin = vec![self.queue.insert(stream.context, Driver::setting_conditions(defaults), &begin)];
        }
        let mut all = self.enqueue(stream.context, &steps, &begin)?;
        all.extend(begin);
        let end = self.queue.insert(stream.context, Work::Nothing, &all);
        self.queue.append(stream, end);
        self.graphs.execs.get_mut(handle)?.last = end;
        let at_once = !self.overlaps(stream) || steps.iter().any(Step::is_watched);
        Ok(Some(self.submitted(end, at_once, false)))
    }
}

/// Makes an executable graph.
fn instantiate(name: &str, place: *mut CUgraphExec, graph: CUgraph, flags: c_ulonglong) -> Status {
    with_context(name, |driver, _| {
        not_null(place)?;
        if flags & !FLAGS_MASK != 0 {
            return Err(Status::InvalidValue);
        }
        if flags & DEVICE_LAUNCH != 0 {
            return Err(driver
                .report
                .unsupported(&format!("{name}: graphs that kernels launch are not supported")));
        }
        let steps = driver.steps(graph)?;
        let objects = driver.graphs.graphs.get(graph)?.objects.clone();
        driver.graphs.retain_all(&objects);
        let exec = driver.graphs.execs.insert(Exec { steps, flags, last: 0, objects });
        // SAFETY: not null; the exported functions' callers vouch for the rest.
        unsafe { write(place, exec) }
    })
}

/// Makes an executable graph.
///
/// # Safety
/// `place` is null or points to a place for a handle.
pub unsafe extern "C" fn cuGraphInstantiateWithFlags(
    place: *mut CUgraphExec,
    graph: CUgraph,
    flags: c_ulonglong,
) -> Status {
    instantiate("cuGraphInstantiateWithFlags", place, graph, flags)
}

twin! { cuGraphInstantiateWithParams_ptsz =
    /// Makes an executable graph, and uploads it, which is nothing to do.
    ///
    /// # Safety
    /// `place` is null or points to a place for a handle, `params` to the parameters.
    pub unsafe extern "C" fn cuGraphInstantiateWithParams(
        place: *mut CUgraphExec,
        graph: CUgraph,
        params: *mut CUDA_GRAPH_INSTANTIATE_PARAMS,
    ) -> Status {
        let name = "cuGraphInstantiateWithParams";
        if params.is_null() {
            return with_context(name, |_, _| Err(Status::InvalidValue));
        }
        // SAFETY: not null, and the caller vouches for the rest.
        let flags = unsafe { (&raw const (*params).flags).read_unaligned() };
        let status = instantiate(name, place, graph, flags);
        // SAFETY: as above.
        unsafe {
            (&raw mut (*params).failed).write_unaligned(std::ptr::null_mut());
            (&raw mut (*params).result).write_unaligned(c_uint::from(status != Status::Success));
        }
        status
    }
}

/// Makes an executable graph. There is nothing to log.
///
/// # Safety
/// `place` is null or points to a place for a handle, `failed` likewise; `log` is null or has room for `bytes`
/// bytes.
pub unsafe extern "C" fn cuGraphInstantiate_v2(
    place: *mut CUgraphExec,
    graph: CUgraph,
    failed: *mut CUgraphNode,
    log: *mut c_char,
    bytes: usize,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe {
        write_if_wanted(failed, std::ptr::null_mut());
        if bytes > 0 {
            write_if_wanted(log, 0);
        }
    }
    instantiate("cuGraphInstantiate_v2", place, graph, 0)
}

/// Makes an executable graph.
///
/// # Safety
/// As [`cuGraphInstantiate_v2`].
pub unsafe extern "C" fn cuGraphInstantiate(
    place: *mut CUgraphExec,
    graph: CUgraph,
    failed: *mut CUgraphNode,
    log: *mut c_char,
    bytes: usize,
) -> Status {
    // SAFETY: the same contract.
    unsafe { cuGraphInstantiate_v2(place, graph, failed, log, bytes) }
}

/// The flags that an executable graph was made with.
///
/// # Safety
/// `place` is null or points to a place for them.
pub unsafe extern "C" fn cuGraphExecGetFlags(exec: CUgraphExec, place: *mut c_ulonglong) -> Status {
    with_driver("cuGraphExecGetFlags", |driver| {
        let flags = driver.graphs.execs.get(exec)?.flags;
        // SAFETY: the caller's promise.
        unsafe { write(place, flags) }
    })
}

/// Destroys an executable graph; launches of it go on, but where they need an object of the program that nobody else
/// keeps alive: then they are waited for.
pub extern "C" fn cuGraphExecDestroy(exec: CUgraphExec) -> Status {
    let name = "cuGraphExecDestroy";
    let (mut last, mut dying) = (0, Dying::default());
    let status = with_driver(name, |driver| {
        let Exec { last: end, objects, .. } = driver.graphs.execs.remove(exec)?;
        (last, dying) = (end, std::mem::take(&mut driver.graphs.dying));
        driver.graphs.release_all(objects, &mut dying);
        driver.sweep_graph_memory();
        Ok(())
    });
    if dying.is_empty() {
        return status;
    }
    let waited = pump::finish(name, &[last]);
    pump::waited(name, waited, |_| vec![last]);
    dying.destroy();
    if status == Status::Success { waited } else { status }
}

twin! { cuGraphUpload_ptsz =
    /// Prepares a launch: nothing to do.
    pub extern "C" fn cuGraphUpload(exec: CUgraphExec, stream: CUstream) -> Status {
        on_stream("cuGraphUpload", stream, |driver, _| driver.graphs.execs.get(exec).map(|_| ()))
    }
}

twin! { cuGraphLaunch_ptsz =
    /// Launches an executable graph in a stream. Two launches of one do not overlap.
    pub extern "C" fn cuGraphLaunch(exec: CUgraphExec, stream: CUstream) -> Status {
        let name = "cuGraphLaunch";
        let mut submitted = None;
        let status = on_stream(name, stream, |driver, stream| {
            submitted = driver.launch_graph(&stream, exec)?;
            Ok(())
        });
        match submitted {
            Some(submitted) if status == Status::Success => submitted.settle(name),
            _ => status,
        }
    }
}

/// Gives a node with a graph in it another graph of the same form.
pub extern "C" fn cuGraphExecChildGraphNodeSetParams(
    exec: CUgraphExec,
    node: CUgraphNode,
    child: CUgraph,
) -> Status {
    with_context("cuGraphExecChildGraphNodeSetParams", |driver, _| {
        let copy = driver.graphs.copy(child, true)?;
        driver.replace_in_exec(exec, node, Body::Child(copy))
    })
}

/// Switches a node of an executable graph on or off; off, it does nothing.
pub extern "C" fn cuGraphNodeSetEnabled(exec: CUgraphExec, node: CUgraphNode, enabled: c_uint) -> Status {
    with_driver("cuGraphNodeSetEnabled", |driver| {
        let step = driver.exec_step(exec, node)?;
        match &step.doing {
            Doing::Body(body) if matches!(body.kind(), 0..=2) => {
                step.enabled = enabled != 0;
                Ok(())
            }
            _ => Err(Status::InvalidValue),
        }
    })
}

/// Whether a node of an executable graph is switched on.
///
/// # Safety
/// `place` is null or points to a place for the answer.
pub unsafe extern "C" fn cuGraphNodeGetEnabled(
    exec: CUgraphExec,
    node: CUgraphNode,
    place: *mut c_uint,
) -> Status {
    with_driver("cuGraphNodeGetEnabled", |driver| {
        let enabled = driver.exec_step(exec, node)?.enabled;
        // SAFETY: the caller's promise.
        unsafe { write(place, c_uint::from(enabled)) }
    })
}
