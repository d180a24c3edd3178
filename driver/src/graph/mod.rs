//! Graphs (CUDA Driver API, "Graph Management"): work with its order, kept to be done again and again.
//!
//! A graph owns its nodes; an executable graph ([`exec`]) is a copy of what they say. Nodes that are not
//! ordered may run in any order or overlap, as the queue picks. Not supported: conditional nodes, nodes for
//! memory, external semaphores, user objects.

pub mod edit;
pub mod exec;
pub mod inspect;
pub mod node_params;
pub mod params;

use std::ffi::{c_uint, c_void};

use crate::capture::Capture;
use crate::error::{Outcome, Status};
use crate::handles::{Handles, Kind};
use crate::types::{CUevent, CUgraph, CUgraphNode};
use crate::work::Work;

use exec::Exec;

/// A graph.
#[derive(Debug, Default)]
pub struct Graph {
    /// In order of creation.
    pub nodes: Vec<CUgraphNode>,
    /// It belongs to a node, with which it goes.
    owned: bool,
}

/// A node.
#[derive(Debug)]
pub struct Node {
    /// Whose it is.
    pub graph: CUgraph,
    /// What to do.
    pub body: Body,
    /// What comes before it.
    pub before: Vec<CUgraphNode>,
    /// The node that it was cloned from.
    origin: CUgraphNode,
    /// Where the values of a kernel's parameters lie, for those who asked.
    pointers: Vec<*mut c_void>,
}

/// What a node does.
#[derive(Clone, Debug)]
pub enum Body {
    /// A piece of work.
    Work(Work),
    /// Wait for an event, as it was recorded last when the graph is launched.
    Wait(CUevent),
    /// All of another graph, which the node owns.
    Child(CUgraph),
}

impl Body {
    /// `CUgraphNodeType`
    pub fn kind(&self) -> c_uint {
        match self {
            Body::Work(Work::Kernel(..)) => 0,
            Body::Work(Work::Copy(_)) => 1,
            Body::Work(Work::Fill(_)) => 2,
            Body::Work(Work::Call(..) | Work::CallBack(..)) => 3,
            Body::Child(_) => 4,
            Body::Work(Work::Nothing) => 5,
            Body::Wait(_) => 6,
            Body::Work(Work::Record(_)) => 7,
            // What else a capture can hold are operations on words of memory.
            Body::Work(Work::Act(_) | Work::WaitValue(_)) => 12,
        }
    }
}

/// All graphs, and what is made of and for them.
#[derive(Debug)]
pub struct Graphs {
    /// Graphs.
    pub graphs: Handles<Graph>,
    /// The nodes of all of them.
    pub nodes: Handles<Node>,
    /// Executable graphs.
    pub execs: Handles<Exec>,
    /// Captures that are not ended, by number.
    pub captures: std::collections::BTreeMap<u64, Capture>,
    /// The last capture's number.
    pub captured: u64,
}

impl Graphs {
    /// None.
    pub fn new() -> Self {
        Graphs {
            graphs: Handles::new(Kind::Graph),
            nodes: Handles::new(Kind::Node),
            execs: Handles::new(Kind::Exec),
            captures: std::collections::BTreeMap::new(),
            captured: 0,
        }
    }

    /// An empty graph.
    pub fn create(&mut self) -> CUgraph {
        self.graphs.insert(Graph::default())
    }

    /// An empty graph that a node will own.
    pub fn create_owned(&mut self) -> CUgraph {
        self.graphs.insert(Graph { nodes: Vec::new(), owned: true })
    }

    /// Adds a node. Each of `before` counts once.
    ///
    /// # Errors
    /// `InvalidHandle` for a graph that is none, `InvalidValue` for nodes of other graphs.
    pub fn add(&mut self, graph: CUgraph, before: &[CUgraphNode], body: Body) -> Outcome<CUgraphNode> {
        self.graphs.get(graph)?;
        let mut once = Vec::with_capacity(before.len());
        for node in before {
            if self.nodes.get(*node).map_err(|_| Status::InvalidValue)?.graph != graph {
                return Err(Status::InvalidValue);
            }
            if !once.contains(node) {
                once.push(*node);
            }
        }
        let origin = std::ptr::null_mut();
        let node = Node { graph, body, before: once, origin, pointers: Vec::new() };
        let node = self.nodes.insert(node);
        self.graphs.get_mut(graph)?.nodes.push(node);
        Ok(node)
    }

    /// A copy of a graph with all that it holds.
    ///
    /// # Errors
    /// `InvalidHandle` when it is none.
    pub fn copy(&mut self, graph: CUgraph, owned: bool) -> Outcome<CUgraph> {
        let nodes = self.graphs.get(graph)?.nodes.clone();
        let copy = self.graphs.insert(Graph { nodes: Vec::new(), owned });
        let mut copies = Vec::with_capacity(nodes.len());
        for node in &nodes {
            let body = match self.nodes.get(*node)?.body.clone() {
                Body::Child(child) => Body::Child(self.copy(child, true)?),
                body => body,
            };
            let made = self.add(copy, &[], body)?;
            self.nodes.get_mut(made)?.origin = *node;
            copies.push(made);
        }
        for (node, made) in nodes.iter().zip(&copies) {
            let before = self.nodes.get(*node)?.before.clone();
            let copied = |before: &CUgraphNode| nodes.iter().position(|node| node == before);
            let before = before.iter().filter_map(copied).map(|at| copies[at]).collect();
            self.nodes.get_mut(*made)?.before = before;
        }
        Ok(copy)
    }

    /// Takes a graph away, with its nodes and the graphs that these own.
    pub fn remove(&mut self, graph: CUgraph) {
        let Ok(removed) = self.graphs.remove(graph) else { return };
        for node in removed.nodes {
            if let Ok(Node { body: Body::Child(child), .. }) = self.nodes.remove(node) {
                self.remove(child);
            }
        }
    }

    /// Nodes of a graph such that each comes after those that it needs.
    ///
    /// # Errors
    /// `InvalidHandle`; `InvalidValue` when nodes wait for each other.
    pub fn sorted(&self, graph: CUgraph) -> Outcome<Vec<CUgraphNode>> {
        let mut left = self.graphs.get(graph)?.nodes.clone();
        let mut sorted = Vec::with_capacity(left.len());
        while !left.is_empty() {
            let free = |node: &CUgraphNode| {
                self.nodes
                    .get(*node)
                    .is_ok_and(|node| !node.before.iter().any(|before| left.contains(before)))
            };
            let found: Vec<CUgraphNode> = left.iter().copied().filter(free).collect();
            if found.is_empty() {
                return Err(Status::InvalidValue);
            }
            left.retain(|node| !found.contains(node));
            sorted.extend(found);
        }
        Ok(sorted)
    }
}

impl Default for Graphs {
    fn default() -> Self {
        Self::new()
    }
}
