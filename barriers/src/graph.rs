//! The barrier dependence graph (PLDI 2015 section 5.2, Figures 6 and 7) as a picture: dynamic barriers, and an edge from each to those
//! that a thread registers at after it has waited there.

use std::fmt::Write;

use crate::chains::Layout;
use crate::explain::Recorder;
use crate::machine::{Machine, place};
use crate::program::WarpPrograms;
use crate::verdict::Resource;

pub use nodes::{BarrierGraph, DynamicBarrier, Visit};

mod nodes;
mod svg;
#[cfg(test)]
mod tests;

impl BarrierGraph {
    /// The graph of a program. Barriers of single warps are left out.
    pub fn new(program: &WarpPrograms) -> BarrierGraph {
        let layout = Layout::new(program);
        let mut recorder = Recorder::default();
        // What is misused ends the picture, not the picture's use.
        let _ = Machine::new(program, &layout).run(&mut recorder);
        let mut graph = BarrierGraph { warps: program.warps().len() as u32, ..BarrierGraph::default() };
        // Registrations of each chain, in order.
        let mut by_chain: Vec<Vec<(u32, usize, bool)>> = vec![Vec::new(); layout.chains.len()];
        recorder.nodes.retain(|node| !matches!(node.resource, Resource::Warp { .. }));
        for (index, node) in recorder.nodes.iter().enumerate() {
            let mut visits = Vec::new();
            for part in node.parts.iter().chain(&node.waiters) {
                visits.push(Visit {
                    warp: layout.chains[part.chain as usize].warp,
                    waits: part.waits,
                    origin: place(program, &layout, part.chain, part.command).origin,
                });
                by_chain[part.chain as usize].push((part.command, index, part.waits));
            }
            visits.sort_unstable();
            visits.dedup();
            graph.nodes.push(DynamicBarrier { resource: node.resource, generation: node.generation, visits });
        }
        for registrations in &mut by_chain {
            registrations.sort_unstable();
            let mut waited = None;
            for &mut (_, index, waits) in registrations {
                if let Some(before) = waited
                    && before != index
                {
                    graph.edges.insert((before, index));
                }
                if waits {
                    waited = Some(index);
                }
            }
        }
        graph
    }

    /// In Graphviz's language.
    pub fn dot(&self) -> String {
        let mut text = String::from("digraph barriers {\n  node [shape=box, fontname=\"monospace\"];\n");
        // Writing to a string cannot fail.
        for (index, node) in self.nodes.iter().enumerate() {
            let mut label = node.name();
            for (waits, does) in [(false, "arrive"), (true, "wait")] {
                let who = node.visits.iter().filter(|v| v.waits == waits);
                let mut warps: Vec<String> = who.map(|v| v.warp.to_string()).collect();
                warps.dedup();
                if !warps.is_empty() {
                    let _ = write!(label, "\\n{does}: warps {}", warps.join(" "));
                }
            }
            let _ = writeln!(text, "  n{index} [label=\"{label}\"];");
        }
        for (from, to) in &self.edges {
            let _ = writeln!(text, "  n{from} -> n{to};");
        }
        text + "}\n"
    }

    /// As a picture with the warps as columns and time running down. `line` says what stands at an instruction (a source line, for
    /// instance); it is shown when the pointer rests on a dot.
    pub fn svg_with(&self, line: &dyn Fn(u32) -> String) -> String {
        svg::draw(self, line)
    }

    /// The same without lines.
    pub fn svg(&self) -> String {
        self.svg_with(&|_| String::new())
    }
}
