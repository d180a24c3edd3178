//! Graphs (CUDA Driver API, "Graph Management"): work with its order, kept to be done again and again.
//!
//! A graph owns its nodes; an executable graph ([`exec`]) is a copy of what they say. Nodes that are not
//! ordered may run in any order or overlap, as the queue picks. Not supported: external semaphores, batches of
//! operations on memory but for captured ones, launches from the device.

pub mod condition;
pub mod exec;
pub mod memory;
pub mod user_object;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::c_void;

use bugaroo_cuda_abi::{CUgraph, CUgraphNode};

use crate::error::{CallResult, Status};
use crate::handles::{HandleKind, Handles};
use crate::objects::capture::StreamCapture;
use crate::objects::work::NodeBody;

use condition::GraphCondition;
use exec::Exec;
use memory::GraphMemories;
use user_object::{Dying, References, UserObject};

/// A graph.
#[derive(Debug, Default)]
pub struct Graph {
    /// In order of creation.
    pub nodes: Vec<CUgraphNode>,
    /// It belongs to a node, with which it goes.
    pub owned: bool,
    /// Objects of the program that it keeps alive.
    pub objects: References,
}

/// A node.
#[derive(Debug)]
pub struct Node {
    /// Whose it is.
    pub graph: CUgraph,
    /// What to do.
    pub body: NodeBody,
    /// What comes before it.
    pub before: Vec<CUgraphNode>,
    /// The node that it was cloned from.
    pub origin: CUgraphNode,
    /// Where the values of a kernel's parameters lie, for those who asked.
    pub pointers: Vec<*mut c_void>,
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
    pub captures: BTreeMap<u64, StreamCapture>,
    /// The last capture's number.
    pub captured: u64,
    /// Conditions, by handle.
    pub conditions: BTreeMap<u64, GraphCondition>,
    /// Memory of graphs' own.
    pub memory: GraphMemories,
    /// Objects of the program.
    pub objects: Handles<UserObject>,
    /// Those that died where the program's functions could not be called: they are destroyed with the next that do.
    pub dying: Dying,
}

impl Graphs {
    /// None.
    pub fn new() -> Self {
        Graphs {
            graphs: Handles::new(HandleKind::Graph),
            nodes: Handles::new(HandleKind::Node),
            execs: Handles::new(HandleKind::Exec),
            captures: BTreeMap::new(),
            captured: 0,
            conditions: BTreeMap::new(),
            memory: GraphMemories::default(),
            objects: Handles::new(HandleKind::UserObject),
            dying: Dying::default(),
        }
    }

    /// An empty graph.
    pub fn create(&mut self) -> CUgraph {
        self.graphs.insert(Graph::default())
    }

    /// An empty graph that a node will own.
    pub fn create_owned(&mut self) -> CUgraph {
        self.graphs.insert(Graph { owned: true, ..Graph::default() })
    }

    /// Adds a node. Each of `before` counts once.
    ///
    /// # Errors
    /// `InvalidHandle` for a graph that is none, `InvalidValue` for nodes of other graphs.
    pub fn add(&mut self, graph: CUgraph, before: &[CUgraphNode], body: NodeBody) -> CallResult<CUgraphNode> {
        self.graphs.get(graph)?;
        let (mut once, mut seen) = (Vec::with_capacity(before.len()), BTreeSet::new());
        for node in before {
            if self.nodes.get(*node).map_err(|_| Status::InvalidValue)?.graph != graph {
                return Err(Status::InvalidValue);
            }
            if seen.insert(*node) {
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
    pub fn copy(&mut self, graph: CUgraph, owned: bool) -> CallResult<CUgraph> {
        let nodes = self.graphs.get(graph)?.nodes.clone();
        let objects = self.graphs.get(graph)?.objects.clone();
        self.retain_all(&objects);
        let copy = self.graphs.insert(Graph { nodes: Vec::new(), owned, objects });
        let mut copies = Vec::with_capacity(nodes.len());
        for node in &nodes {
            let body = match self.nodes.get(*node)?.body.clone() {
                NodeBody::Child(child) => NodeBody::Child(self.copy(child, true)?),
                NodeBody::Branch(mut branch) => {
                    for body in &mut branch.bodies {
                        *body = self.copy(*body, true)?;
                    }
                    NodeBody::Branch(branch)
                }
                body => body,
            };
            let made = self.add(copy, &[], body)?;
            self.nodes.get_mut(made)?.origin = *node;
            copies.push(made);
        }
        let places = places(&nodes);
        for (node, made) in nodes.iter().zip(&copies) {
            let before = &self.nodes.get(*node)?.before;
            let before =
                before.iter().filter_map(|before| places.get(before)).map(|at| copies[*at]).collect();
            self.nodes.get_mut(*made)?.before = before;
        }
        Ok(copy)
    }

    /// Makes a graph one that a node owns, with the handles of its nodes as they are.
    ///
    /// # Errors
    /// `InvalidHandle` when it is none, `InvalidValue` when another node owns it.
    pub fn take_over(&mut self, graph: CUgraph) -> CallResult<CUgraph> {
        let taken = self.graphs.get_mut(graph)?;
        if std::mem::replace(&mut taken.owned, true) {
            return Err(Status::InvalidValue);
        }
        Ok(graph)
    }

    /// Takes a graph away, with its nodes and the graphs that these own. What objects of the program have to be
    /// destroyed then is added.
    pub fn remove(&mut self, graph: CUgraph, dying: &mut Dying) {
        let Ok(removed) = self.graphs.remove(graph) else { return };
        self.release_all(removed.objects, dying);
        for node in removed.nodes {
            if let Ok(node) = self.nodes.remove(node) {
                self.remove_owned(&node.body, dying);
            }
        }
    }

    /// Takes the graphs that a node owns away.
    pub fn remove_owned(&mut self, body: &NodeBody, dying: &mut Dying) {
        match body {
            NodeBody::Child(child) => self.remove(*child, dying),
            NodeBody::Branch(branch) => branch.bodies.iter().for_each(|body| self.remove(*body, dying)),
            _ => {}
        }
    }

    /// Nodes of a graph such that each comes after those that it needs: first those that need none, then those that need these
    /// alone, and so on; among them, as they were created.
    ///
    /// # Errors
    /// `InvalidHandle`; `InvalidValue` when nodes wait for each other.
    pub fn sorted(&self, graph: CUgraph) -> CallResult<Vec<CUgraphNode>> {
        let nodes = &self.graphs.get(graph)?.nodes;
        let places = places(nodes);
        let mut missing = vec![0_usize; nodes.len()];
        let mut after = vec![Vec::new(); nodes.len()];
        for (at, node) in nodes.iter().enumerate() {
            for before in &self.nodes.get(*node)?.before {
                if let Some(before) = places.get(before) {
                    after[*before].push(at);
                    missing[at] += 1;
                }
            }
        }
        let mut sorted = Vec::with_capacity(nodes.len());
        let mut free: Vec<usize> = (0..nodes.len()).filter(|at| missing[*at] == 0).collect();
        while !free.is_empty() {
            let mut next = Vec::new();
            for at in free {
                sorted.push(nodes[at]);
                for after in &after[at] {
                    missing[*after] -= 1;
                    if missing[*after] == 0 {
                        next.push(*after);
                    }
                }
            }
            next.sort_unstable();
            free = next;
        }
        if sorted.len() == nodes.len() { Ok(sorted) } else { Err(Status::InvalidValue) }
    }
}

/// Where each node stands in a list.
pub fn places(nodes: &[CUgraphNode]) -> BTreeMap<CUgraphNode, usize> {
    nodes.iter().enumerate().map(|(at, node)| (*node, at)).collect()
}

impl Default for Graphs {
    fn default() -> Self {
        Self::new()
    }
}
