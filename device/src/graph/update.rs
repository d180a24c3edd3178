//! How two executable graphs differ, step by step, and the one given what the other does.

use std::ffi::c_uint;

use bugaroo_cuda_abi::CUgraphNode;

use crate::objects::work::{Doing, GraphStep, NodeBody};

/// `CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED`
const TOPOLOGY_CHANGED: c_uint = 2;
/// `CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED`
const KIND_CHANGED: c_uint = 3;
/// `CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED`
const PARAMETERS_CHANGED: c_uint = 5;

/// How two graphs differ in form.
pub struct Differs {
    /// `CUgraphExecUpdateResult`
    pub how: c_uint,
    /// A node of the one, where they do; null: there are more of them.
    pub node: CUgraphNode,
    /// What is in its place in the other graph.
    pub from: CUgraphNode,
}

impl GraphStep {
    /// How two steps differ other than in what they do.
    pub(crate) fn differs(&self, other: &GraphStep) -> Option<Differs> {
        let of_nodes = |how| Some(Differs { how, node: self.node, from: other.node });
        if self.before.len() != other.before.len() || !self.before.iter().all(|at| other.before.contains(at))
        {
            return of_nodes(TOPOLOGY_CHANGED);
        }
        match (&self.doing, &other.doing) {
            (Doing::Body(a), Doing::Body(b)) if a.kind() == b.kind() => match (a, b) {
                (NodeBody::Allocate(a), NodeBody::Allocate(b)) if a.bytes != b.bytes => {
                    of_nodes(PARAMETERS_CHANGED)
                }
                _ => None,
            },
            (Doing::All(a), Doing::All(b)) => differ(a, b),
            (Doing::Branch(a), Doing::Branch(b)) => {
                if a.handle != b.handle || a.pick != b.pick || a.bodies.len() != b.bodies.len() {
                    return of_nodes(PARAMETERS_CHANGED);
                }
                a.bodies.iter().zip(&b.bodies).find_map(|(a, b)| differ(a, b))
            }
            _ => of_nodes(KIND_CHANGED),
        }
    }
}

/// How two graphs differ in form, at the first step where they do.
pub fn differ(a: &[GraphStep], b: &[GraphStep]) -> Option<Differs> {
    if a.len() != b.len() {
        let null = std::ptr::null_mut();
        return Some(Differs { how: TOPOLOGY_CHANGED, node: null, from: null });
    }
    a.iter().zip(b).find_map(|(a, b)| a.differs(b))
}
