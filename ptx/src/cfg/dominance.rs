//! Immediate post-dominators.

use super::block::Block;

/// Fills in [`Block::post_dominator`].
pub(super) fn post_dominate(blocks: &mut [Block]) {
    let graph = Reversed::of(blocks);
    let dominators = graph.dominators();
    for (block, dominator) in blocks.iter_mut().zip(dominators) {
        block.post_dominator = dominator;
    }
}

/// The graph walked from the end: an imaginary last node, numbered like one more block, precedes all
/// blocks that leave.
struct Reversed<'a> {
    blocks: &'a [Block],
    /// Blocks that the end precedes: those that leave, and one of each loop without an exit.
    roots: Vec<usize>,
    is_root: Vec<bool>,
    /// Nodes in post-order of the walk; the end comes last.
    order: Vec<usize>,
}

impl<'a> Reversed<'a> {
    fn of(blocks: &'a [Block]) -> Self {
        let is_root = blocks.iter().map(|block| block.leaves).collect();
        let roots = (0..blocks.len()).filter(|index| blocks[*index].leaves).collect();
        let mut graph = Reversed { blocks, roots, is_root, order: Vec::new() };
        let mut seen = vec![false; blocks.len()];
        for root in graph.roots.clone() {
            graph.visit(root, &mut seen);
        }
        // What is left cannot reach the end. Its last block gets an imaginary way out.
        for index in (0..blocks.len()).rev() {
            if !seen[index] {
                graph.roots.push(index);
                graph.is_root[index] = true;
                graph.visit(index, &mut seen);
            }
        }
        graph.order.push(blocks.len());
        graph
    }

    /// Depth first, without recursion: a function may have many thousand blocks.
    fn visit(&mut self, root: usize, seen: &mut [bool]) {
        if std::mem::replace(&mut seen[root], true) {
            return;
        }
        let mut stack = vec![(root, 0)];
        while let Some((node, next)) = stack.last_mut() {
            match self.blocks[*node].predecessors.get(*next) {
                Some(predecessor) => {
                    *next += 1;
                    if !std::mem::replace(&mut seen[*predecessor], true) {
                        stack.push((*predecessor, 0));
                    }
                }
                None => {
                    self.order.push(*node);
                    stack.pop();
                }
            }
        }
    }

    /// The immediate dominator of each block in this graph; None for the end.
    fn dominators(&self) -> Vec<Option<usize>> {
        let end = self.blocks.len();
        let mut number = vec![0; end + 1];
        for (at, node) in self.order.iter().enumerate() {
            number[*node] = at;
        }
        let mut dominator: Vec<Option<usize>> = vec![None; end + 1];
        dominator[end] = Some(end);
        let mut changed = true;
        while changed {
            changed = false;
            for node in self.order.iter().rev().skip(1).copied() {
                let way_out = self.is_root[node].then_some(end);
                let before = self.blocks[node].successors.iter().copied().chain(way_out);
                let known = before.filter(|before| dominator[*before].is_some());
                let meet = known.reduce(|a, b| intersect(a, b, &dominator, &number));
                if dominator[node] != meet {
                    dominator[node] = meet;
                    changed = true;
                }
            }
        }
        dominator.truncate(end);
        dominator.into_iter().map(|found| found.filter(|node| *node != end)).collect()
    }
}

/// The closest common ancestor of two nodes in the tree so far.
fn intersect(mut a: usize, mut b: usize, dominator: &[Option<usize>], number: &[usize]) -> usize {
    while a != b {
        let lower = if number[a] < number[b] { &mut a } else { &mut b };
        *lower = dominator[*lower].expect("only nodes that have a dominator are compared");
    }
    a
}
