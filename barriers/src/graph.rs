//! The barrier dependence graph (PLDI 2015 section 5.2, Figures 6 and 7) as a picture: dynamic barriers, and an edge from each to those
//! that a thread registers at after it has waited there.

use std::collections::BTreeSet;
use std::fmt::Write;

use rustc_hash::FxHashMap;

use crate::chains::Layout;
use crate::explain::Recorder;
use crate::findings::barrier_name;
use crate::machine::Machine;
use crate::program::Program;
use crate::verdict::Resource;

/// A dynamic barrier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Of what.
    pub resource: Resource,
    /// Its use, from 1.
    pub generation: u32,
    /// Warps that arrive, and warps that wait.
    pub warps: [BTreeSet<u32>; 2],
}

/// The graph of what completes in one execution; of a well-synchronised program, in all.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// In the order of completion, which agrees with the edges.
    pub nodes: Vec<Node>,
    /// From the earlier to the later.
    pub edges: BTreeSet<(usize, usize)>,
}

impl Graph {
    /// The graph of a program.
    pub fn new(program: &Program) -> Graph {
        let layout = Layout::new(program);
        let mut recorder = Recorder::default();
        // What is misused ends the picture, not the picture's use.
        let _ = Machine::new(program, &layout).run(&mut recorder);
        let mut graph = Graph::default();
        // Registrations of each chain, in order.
        let mut by_chain: FxHashMap<u32, Vec<(u32, usize, bool)>> = FxHashMap::default();
        for (index, node) in recorder.nodes.iter().enumerate() {
            let mut warps = [BTreeSet::new(), BTreeSet::new()];
            for part in &node.parts {
                warps[usize::from(part.waits)].insert(layout.chains[part.chain as usize].warp);
                by_chain.entry(part.chain).or_default().push((part.command, index, part.waits));
            }
            graph.nodes.push(Node { resource: node.resource, generation: node.generation, warps });
        }
        for registrations in by_chain.values_mut() {
            registrations.sort_unstable();
            let mut waited = None;
            for (_, index, waits) in registrations {
                if let Some(before) = waited
                    && before != *index
                {
                    graph.edges.insert((before, *index));
                }
                if *waits {
                    waited = Some(*index);
                }
            }
        }
        graph
    }

    fn label(node: &Node) -> String {
        let list = |warps: &BTreeSet<u32>| warps.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
        let [arrive, wait] = &node.warps;
        let mut text = format!("{} · {}", barrier_name(&node.resource), node.generation);
        if !arrive.is_empty() {
            text += &format!("\narrive: warps {}", list(arrive));
        }
        if !wait.is_empty() {
            text += &format!("\nwait: warps {}", list(wait));
        }
        text
    }

    /// In Graphviz's language.
    pub fn dot(&self) -> String {
        let mut text = String::from("digraph barriers {\n  node [shape=box, fontname=\"monospace\"];\n");
        // Writing to a string cannot fail.
        for (index, node) in self.nodes.iter().enumerate() {
            let label = Graph::label(node).replace('\n', "\\n");
            let _ = writeln!(text, "  n{index} [label=\"{label}\"];");
        }
        for (from, to) in &self.edges {
            let _ = writeln!(text, "  n{from} -> n{to};");
        }
        text + "}\n"
    }

    /// As a picture: down the page by the longest path, across by barrier.
    pub fn svg(&self) -> String {
        const WIDTH: usize = 190;
        const HEIGHT: usize = 76;
        let mut depth = vec![0usize; self.nodes.len()];
        // Edges go from lower numbers to higher, and come in order of the lower.
        for (from, to) in self.edges.iter().filter(|(from, to)| from < to) {
            depth[*to] = depth[*to].max(depth[*from] + 1);
        }
        let mut columns: Vec<Resource> = self.nodes.iter().map(|node| node.resource).collect();
        columns.sort_unstable();
        columns.dedup();
        let column = |node: &Node| columns.binary_search(&node.resource).unwrap_or(0);
        // Two generations of a barrier at one depth would cover each other.
        let mut taken = FxHashMap::default();
        let mut at = Vec::new();
        for (index, node) in self.nodes.iter().enumerate() {
            let mut row = depth[index];
            while taken.insert((column(node), row), index).is_some_and(|other| other != index) {
                row += 1;
            }
            at.push((column(node) * WIDTH + 10, row * HEIGHT + 10));
        }
        let rows = at.iter().map(|(_, y)| y + HEIGHT).max().unwrap_or(HEIGHT);
        let mut text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" font-family=\"monospace\" \
             font-size=\"11\">\n<defs><marker id=\"a\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" \
             markerHeight=\"8\" orient=\"auto\"><path d=\"M0,0 L8,4 L0,8 z\"/></marker></defs>\n\
             <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
            columns.len().max(1) * WIDTH + 20,
            rows + 10
        );
        for (from, to) in &self.edges {
            let ((x1, y1), (x2, y2)) = (at[*from], at[*to]);
            let _ = writeln!(
                text,
                "<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"#777\" marker-end=\"url(#a)\"/>",
                x1 + WIDTH / 2 - 15,
                y1 + HEIGHT - 26,
                x2 + WIDTH / 2 - 15,
                y2
            );
        }
        for (node, (x, y)) in self.nodes.iter().zip(&at) {
            let _ = writeln!(
                text,
                "<rect x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"{}\" rx=\"6\" fill=\"#eef\" stroke=\"#336\"/>",
                WIDTH - 30,
                HEIGHT - 26
            );
            for (line, words) in Graph::label(node).lines().enumerate() {
                let shown: String = words.chars().take(25).collect();
                let _ = writeln!(text, "<text x=\"{}\" y=\"{}\">{shown}</text>", x + 6, y + 15 + 14 * line);
            }
        }
        text + "</svg>\n"
    }
}
