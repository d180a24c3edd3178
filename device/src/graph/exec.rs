//! Executable graphs: steps made of a graph's nodes, changed and launched.

use std::ffi::c_ulonglong;
use std::rc::Rc;

use bugaroo_cuda_abi::{CUcontext, CUgraph, CUgraphExec, CUgraphNode};

use crate::error::{CallResult, Status};
use crate::lane::Ticket;
use crate::objects::graph::places;
use crate::objects::stream::Stream;
use crate::objects::work::{Branch, BranchChoice, Doing, GraphStep, NodeBody, Work};
use crate::state::Gpu;
use crate::submit::Submitted;

/// `CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH`
const AUTO_FREE: c_ulonglong = 1;

impl Gpu {
    /// The steps of a graph as it is now.
    ///
    /// # Errors
    /// `InvalidHandle`; `InvalidValue` when nodes wait for each other.
    pub fn steps(&self, graph: CUgraph) -> CallResult<Vec<GraphStep>> {
        let order = self.ordered.graphs.sorted(graph)?;
        let places = places(&order);
        let step = |handle: &CUgraphNode| {
            let node = self.ordered.graphs.nodes.get(*handle)?;
            let doing = match &node.body {
                NodeBody::Child(child) => Doing::All(self.steps(*child)?),
                NodeBody::Branch(Branch { handle, pick, bodies }) => {
                    let bodies = bodies.iter().map(|body| self.steps(*body)).collect::<CallResult<_>>()?;
                    Doing::Branch(Rc::new(BranchChoice { handle: *handle, pick: *pick, bodies }))
                }
                body => Doing::Body(body.clone()),
            };
            let before = node.before.iter().filter_map(|before| places.get(before)).copied().collect();
            Ok(GraphStep { node: *handle, doing, before, enabled: true })
        };
        order.iter().map(step).collect()
    }

    /// Gives a step of an executable graph something else to do, of the same kind.
    ///
    /// # Errors
    /// `InvalidHandle`; `InvalidValue` when the node is none of its graph or of another kind.
    pub fn replace_in_exec(&mut self, exec: CUgraphExec, node: CUgraphNode, body: NodeBody) -> CallResult {
        let doing = match body {
            NodeBody::Child(child) => {
                let steps = self.steps(child)?;
                let mut dying = std::mem::take(&mut self.ordered.graphs.dying);
                self.ordered.graphs.remove(child, &mut dying);
                self.ordered.graphs.dying = dying;
                Doing::All(steps)
            }
            // What a conditional node does is not to be changed, but for what is in its graphs.
            NodeBody::Branch(_) => return Err(Status::InvalidValue),
            body => Doing::Body(body),
        };
        let step = self.exec_step(exec, node)?;
        let new = GraphStep { doing, ..step.clone() };
        if step.differs(&new).is_some() {
            return Err(Status::InvalidValue);
        }
        *step = new;
        Ok(())
    }

    /// The step that was made of a node, in an executable graph or in a graph inside it.
    ///
    /// # Errors
    /// `InvalidValue` when there is none.
    pub fn exec_step(&mut self, exec: CUgraphExec, node: CUgraphNode) -> CallResult<&mut GraphStep> {
        fn find(steps: &mut [GraphStep], node: CUgraphNode) -> Option<&mut GraphStep> {
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
        find(&mut self.ordered.graphs.execs.get_mut(exec)?.steps, node).ok_or(Status::InvalidValue)
    }

    /// Hands steps to the queue; answers all their tickets, in order.
    pub fn enqueue(
        &mut self,
        context: CUcontext,
        steps: &[GraphStep],
        begin: &[Ticket],
    ) -> CallResult<Vec<Ticket>> {
        let mut tickets: Vec<Ticket> = Vec::with_capacity(steps.len());
        for step in steps {
            let mut before: Vec<Ticket> = step.before.iter().map(|at| tickets[*at]).collect();
            if before.is_empty() {
                before.extend(begin);
            }
            let ticket = match &step.doing {
                _ if !step.enabled => self.running.queue.insert(context, Work::Nothing, &before),
                Doing::All(steps) => {
                    let all = self.enqueue(context, steps, &before)?;
                    before.extend(all);
                    self.running.queue.insert(context, Work::Nothing, &before)
                }
                Doing::Body(NodeBody::Wait(event)) => {
                    before.extend(self.ordered.events.get(*event)?.ticket());
                    self.running.queue.insert(context, Work::Nothing, &before)
                }
                Doing::Body(NodeBody::Work(work)) => {
                    let work = self.numbered(work.clone());
                    let event = if let Work::Record(event) = work { Some(event) } else { None };
                    let ticket = self.running.queue.insert(context, work, &before);
                    if let Some(event) = event {
                        self.recorded(event, ticket)?;
                    }
                    ticket
                }
                Doing::Branch(choice) => {
                    self.running.queue.insert(context, Work::Branch(Rc::clone(choice)), &before)
                }
                Doing::Body(NodeBody::Allocate(memory)) => {
                    self.running.queue.insert(context, Gpu::graph_memory_work(memory, true), &before)
                }
                Doing::Body(NodeBody::Free(memory)) => {
                    self.running.queue.insert(context, Gpu::graph_memory_work(memory, false), &before)
                }
                Doing::Body(NodeBody::Child(_) | NodeBody::Branch(_)) => return Err(Status::Unknown),
            };
            tickets.push(ticket);
        }
        Ok(tickets)
    }

    /// A graph of steps, for a node to own.
    fn graph_of(&mut self, steps: &[GraphStep]) -> CallResult<CUgraph> {
        let graph = self.ordered.graphs.create_owned();
        let mut nodes = Vec::with_capacity(steps.len());
        for step in steps {
            let before: Vec<CUgraphNode> = step.before.iter().map(|at| nodes[*at]).collect();
            let body = match &step.doing {
                _ if !step.enabled => NodeBody::Work(Work::Nothing),
                Doing::All(steps) => NodeBody::Child(self.graph_of(steps)?),
                Doing::Branch(choice) => {
                    let BranchChoice { handle, pick, bodies } = &**choice;
                    let bodies =
                        bodies.iter().map(|steps| self.graph_of(steps)).collect::<CallResult<_>>()?;
                    NodeBody::Branch(Branch { handle: *handle, pick: *pick, bodies })
                }
                Doing::Body(body) => body.clone(),
            };
            nodes.push(self.ordered.graphs.add(graph, &before, body)?);
        }
        Ok(graph)
    }

    /// Launches an executable graph in a stream.
    pub fn launch_graph(&mut self, stream: &Stream, handle: CUgraphExec) -> CallResult<Option<Submitted>> {
        let exec = self.ordered.graphs.execs.get(handle)?;
        let (steps, last, free_first) = (exec.steps.clone(), exec.last, exec.flags & AUTO_FREE != 0);
        if self.is_capturing(stream) {
            let child = self.graph_of(&steps)?;
            self.capture_body(stream, NodeBody::Child(child))?;
            return Ok(None);
        }
        crate::capture::refuse(self, stream)?;
        if self.is_broken(stream.context) {
            return Ok(None);
        }
        self.open_graph_memory(&steps, free_first)?;
        let mut begin = self.running.queue.before(stream);
        begin.push(last);
        let defaults = self.defaults(&steps);
        if !defaults.is_empty() {
            begin =
                vec![self.running.queue.insert(stream.context, Gpu::setting_conditions(defaults), &begin)];
        }
        let mut all = self.enqueue(stream.context, &steps, &begin)?;
        all.extend(begin);
        let end = self.running.queue.insert(stream.context, Work::Nothing, &all);
        self.running.queue.append(stream, end);
        self.ordered.graphs.execs.get_mut(handle)?.last = end;
        let at_once = !self.overlaps(stream) || steps.iter().any(GraphStep::is_watched);
        Ok(Some(self.submitted(end, at_once, false)))
    }
}
