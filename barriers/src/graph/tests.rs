use super::*;
use crate::program::{Command, CommandAction, Count, ProgramShape};

fn listing_2() -> WarpPrograms {
    let mut program = WarpPrograms::new(ProgramShape { ctas: 1, threads: 64 }).unwrap();
    let count = Count::Threads(64);
    let sync = |id| CommandAction::Sync { id, count };
    let arrive = |id| CommandAction::Arrive { id, count };
    let warps = [[sync(0), arrive(1), sync(0), sync(1)], [sync(0), sync(1), sync(0), arrive(1)]];
    for (warp, actions) in (0..).zip(warps) {
        for (origin, action) in (0..).zip(actions) {
            let command = Command { lanes: u32::MAX, origin, action };
            program.warp_mut(warp).push(&command).unwrap();
        }
    }
    program
}

#[test]
fn figure_7_as_graphviz() {
    let dot = BarrierGraph::new(&listing_2()).dot();
    let edges: Vec<&str> = dot.lines().filter(|l| l.contains("->")).map(str::trim).collect();
    assert_eq!(edges, ["n0 -> n1;", "n0 -> n2;", "n1 -> n2;", "n2 -> n3;"]);
    assert!(dot.contains("\\narrive: warps 0\\nwait: warps 1\"]"), "{dot}");
}

#[test]
fn the_picture_has_a_dot_for_each_visit() {
    let svg = BarrierGraph::new(&listing_2()).svg_with(&|origin| format!("a < {origin}"));
    assert_eq!(svg.matches("<circle").count(), 8);
    // Two arrivals; below the first of them, the line is dashed.
    assert_eq!(svg.matches("fill=\"white\" stroke").count(), 2);
    assert_eq!(svg.matches("dasharray").count(), 1);
    assert!(svg.contains("a &lt; 1"));
}
