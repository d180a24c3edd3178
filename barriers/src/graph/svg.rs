//! The graph as SVG, laid out as the paper's Figure 2: warps as columns, every barrier a row that spans its participants. A filled
//! dot waits, a hollow one arrives and goes on; below a wait the warp's line is solid (what follows happens after the barrier),
//! below an arrival dashed (it need not).

use std::fmt::Write;

use super::nodes::{BarrierGraph, DynamicBarrier, Visit};

/// Barriers that are drawn; a page has an end.
const LIMIT: usize = 2000;

const COLUMN: usize = 56;
const ROW: usize = 34;
const LEFT: usize = 150;
const TOP: usize = 50;

fn x(warp: u32) -> usize {
    LEFT + warp as usize * COLUMN
}

fn y(row: usize) -> usize {
    TOP + row * ROW
}

fn span(node: &DynamicBarrier) -> (u32, u32) {
    // Visits are in order of the warps; a completed barrier has at least one.
    let warp = |v: Option<&Visit>| v.map_or(0, |v| v.warp);
    (warp(node.visits.first()), warp(node.visits.last()))
}

pub(super) fn draw(graph: &BarrierGraph, line: &dyn Fn(u32) -> String) -> String {
    let shown = &graph.nodes[..graph.nodes.len().min(LIMIT)];
    let rows = rows(shown, graph.warps);
    let depth = rows.iter().map(|r| r + 1).max().unwrap_or(0);
    let (width, height) = (x(graph.warps), y(depth) + 24);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\" \
         font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    // Writing to a string cannot fail.
    for warp in 0..graph.warps {
        let _ = writeln!(out, "<text x=\"{}\" y=\"24\" text-anchor=\"middle\">warp {warp}</text>", x(warp));
    }
    lifelines(&mut out, shown, &rows, graph.warps);
    for (node, &row) in shown.iter().zip(&rows) {
        let (first, last) = span(node);
        let at = y(row);
        let _ = writeln!(
            out,
            "<path d=\"M{} {at}H{}\" stroke=\"#06c\" stroke-width=\"2\"/><text x=\"{}\" y=\"{}\" text-anchor=\"end\" \
             fill=\"#06c\">{}</text>",
            x(first),
            x(last),
            x(first) - 8,
            at - 4,
            escape(&node.name())
        );
        for visit in &node.visits {
            let fill = if visit.waits { "#06c" } else { "white" };
            let _ = writeln!(
                out,
                "<circle cx=\"{}\" cy=\"{at}\" r=\"4\" fill=\"{fill}\" stroke=\"#06c\"><title>{}</title></circle>",
                x(visit.warp),
                escape(&line(visit.origin))
            );
        }
    }
    if graph.nodes.len() > LIMIT {
        let rest = graph.nodes.len() - LIMIT;
        let _ = writeln!(out, "<text x=\"{LEFT}\" y=\"{}\">and {rest} more</text>", y(depth) + 8);
    }
    out + "</svg>\n"
}

/// A row for each barrier, below all that share a column with it and came before.
fn rows(nodes: &[DynamicBarrier], warps: u32) -> Vec<usize> {
    let mut free = vec![0; warps as usize];
    let row = |node: &DynamicBarrier| {
        let (first, last) = span(node);
        let span = &mut free[first as usize..=last as usize];
        let row = span.iter().max().copied().unwrap_or(0);
        span.fill(row + 1);
        row
    };
    nodes.iter().map(row).collect()
}

/// Each warp's line between the barriers that it visits.
fn lifelines(out: &mut String, nodes: &[DynamicBarrier], rows: &[usize], warps: u32) {
    let mut last: Vec<Option<(usize, bool)>> = vec![None; warps as usize];
    for (node, &row) in nodes.iter().zip(rows) {
        for visit in &node.visits {
            let slot = &mut last[visit.warp as usize];
            match *slot {
                Some((from, _)) if from == row => {
                    // Several lanes' visits of one barrier: one that waits makes the line solid.
                    *slot = Some((row, visit.waits || slot.is_some_and(|s| s.1)));
                    continue;
                }
                Some((from, solid)) => {
                    let dash = if solid { "" } else { " stroke-dasharray=\"3 3\"" };
                    let (x, from, to) = (x(visit.warp), y(from), y(row));
                    let _ = writeln!(out, "<path d=\"M{x} {from}V{to}\" stroke=\"#999\"{dash}/>");
                }
                None => {}
            }
            *slot = Some((row, visit.waits));
        }
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
