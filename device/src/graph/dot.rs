//! Graphs as text in the language of Graphviz.

use std::ffi::c_uint;
use std::fmt::Write as _;

use bugaroo_cuda_abi::{CUgraph, CUgraphNode};

use crate::error::CallResult;
use crate::objects::graph::places;
use crate::objects::work::{NodeBody, Work};
use crate::state::Gpu;

/// `CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE`
const VERBOSE: c_uint = 1;
/// `CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES`
const HANDLES: c_uint = 1 << 10;

impl Gpu {
    /// What a node is and does, a line each.
    fn described(&self, body: &NodeBody) -> Vec<String> {
        let triple = |at: [u32; 3]| format!("<{},{},{}>", at[0], at[1], at[2]);
        let one = |text: &str| vec![text.to_owned()];
        match body {
            NodeBody::Work(Work::Kernel(request, _)) => {
                let name =
                    self.code.functions.get(request.function).map(|function| function.name().to_owned());
                let shape = format!(
                    "grid {} block {} shared {}",
                    triple(request.grid),
                    triple(request.block),
                    request.dynamic_shared
                );
                vec!["KERNEL".to_owned(), name.unwrap_or_default(), shape]
            }
            NodeBody::Work(Work::Library(work)) => {
                vec!["KERNEL".to_owned(), work.name().to_string_lossy().into_owned()]
            }
            NodeBody::Work(Work::Copy(_)) => one("MEMCPY"),
            NodeBody::Work(Work::Fill(fill)) => {
                let rows = format!("{} x {} items of {} bytes", fill.width, fill.height, fill.item);
                vec!["MEMSET".to_owned(), format!("{:#x}", fill.to), rows]
            }
            NodeBody::Work(Work::Call(..) | Work::CallBack(..)) => one("HOST"),
            NodeBody::Work(Work::Nothing) => one("EMPTY"),
            NodeBody::Work(Work::Record(event)) => vec!["EVENT_RECORD".to_owned(), format!("{event:?}")],
            NodeBody::Work(Work::Act(_) | Work::WaitValue(_) | Work::WaitShared(..) | Work::Branch(_)) => {
                one("BATCH_MEM_OP")
            }
            NodeBody::Wait(event) => vec!["EVENT_WAIT".to_owned(), format!("{event:?}")],
            NodeBody::Child(_) => one("GRAPH"),
            NodeBody::Allocate(memory) => {
                vec!["MEM_ALLOC".to_owned(), format!("{:#x}, {} bytes", memory.address, memory.bytes)]
            }
            NodeBody::Free(memory) => vec!["MEM_FREE".to_owned(), format!("{:#x}", memory.address)],
            NodeBody::Branch(branch) => {
                vec!["CONDITIONAL".to_owned(), format!("{:?} by {:#x}", branch.pick, branch.handle)]
            }
        }
    }

    /// Draws a graph as the cluster of this number, and the graphs inside of it as further ones.
    pub fn draw_graph(
        &self,
        graph: CUgraph,
        flags: c_uint,
        next: &mut usize,
        out: &mut String,
    ) -> CallResult {
        let number = *next;
        *next += 1;
        let nodes = &self.ordered.graphs.graphs.get(graph)?.nodes;
        let places = places(nodes);
        let name = |node: &CUgraphNode| {
            let at = places.get(node).copied().unwrap_or_default();
            format!("\"graph_{number}_node_{at}\"")
        };
        let mut line = |text: String| {
            // Writing to a string cannot fail.
            let _ = writeln!(out, "{text}");
        };
        line(format!("subgraph cluster_{number} {{"));
        line(format!("label=\"graph_{number}\" graph[style=\"dashed\"];"));
        let mut inside = Vec::new();
        for handle in nodes {
            let node = self.ordered.graphs.nodes.get(*handle)?;
            let mut lines = vec![name(handle).trim_matches('"').to_owned()];
            if flags & (HANDLES | VERBOSE) != 0 {
                lines.push(format!("{handle:?}"));
            }
            lines.extend(self.described(&node.body));
            let label = lines.join("\\n").replace('"', "\\\"");
            let shape = if node.body.kind() == 0 { "octagon" } else { "rectangle" };
            line(format!("{} [shape=\"{shape}\" label=\"{label}\"];", name(handle)));
            for before in &node.before {
                line(format!("{} -> {};", name(before), name(handle)));
            }
            match &node.body {
                NodeBody::Child(child) => inside.push((*handle, *child)),
                NodeBody::Branch(branch) => inside.extend(branch.bodies.iter().map(|body| (*handle, *body))),
                _ => {}
            }
        }
        line("}".to_owned());
        for (handle, graph) in inside {
            let number = *next;
            self.draw_graph(graph, flags, next, out)?;
            if !self.ordered.graphs.graphs.get(graph)?.nodes.is_empty() {
                let _ = writeln!(out, "{} -> \"graph_{number}_node_0\" [style=\"dotted\"];", name(&handle));
            }
        }
        Ok(())
    }
}
