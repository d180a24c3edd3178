//! An order of blocks in which threads that wait let the others catch up: a weak topological order, after Bourdoncle ("Efficient
//! Chaotic Iteration Strategies with Widenings", 1993, section 4).
//!
//! Wherever a block leads to another one and not back, it comes first; and the blocks of a loop stand together. So the place where
//! the arms of a branch meet comes behind both arms, and what follows a loop behind the whole loop, however the
//! text is laid out. Blocks that nothing else orders keep the order of the text.
//!
//! It departs from the paper in two things. The head of a loop comes last of it, not first: threads that are back there wait for those
//! that are still under way. And it is found without recursion: strongly connected components by Tarjan's algorithm, then those of each
//! component without its head.
//!
//! What this can miss: where a loop has two entries, threads that come in by the one meet those of the other at the head alone.

use super::Cfg;
use super::block::Block;

/// What is to be put in order next.
enum Task {
    /// A block.
    Place(usize),
    /// Blocks.
    Arrange(Vec<usize>),
}

impl Cfg {
    /// The place of each block in this order, from 0.
    pub fn order(&self) -> Vec<usize> {
        let mut places = vec![0; self.blocks.len()];
        let mut within = vec![false; self.blocks.len()];
        let mut placed = 0;
        let mut tasks = vec![Task::Arrange((0..self.blocks.len()).collect())];
        while let Some(task) = tasks.pop() {
            match task {
                Task::Place(block) => {
                    places[block] = placed;
                    placed += 1;
                }
                Task::Arrange(some) => {
                    some.iter().for_each(|block| within[*block] = true);
                    let mut components = components(&self.blocks, &some, &within);
                    // Each comes behind those that it leads to, and the last task is done first.
                    for component in &mut components {
                        if let [alone] = component[..] {
                            tasks.push(Task::Place(alone));
                            continue;
                        }
                        let head = head(&self.blocks, component);
                        component.retain(|block| *block != head);
                        tasks.push(Task::Place(head));
                        tasks.push(Task::Arrange(std::mem::take(component)));
                    }
                    some.iter().for_each(|block| within[*block] = false);
                }
            }
        }
        places
    }

    /// Whose turn it is: by instruction, the place of its block in [`Self::order`], and one more for the function's end, where all
    /// meet. Of two instructions of one block the first in the text goes first.
    pub fn turns(&self) -> Vec<u32> {
        let order = self.order();
        let places = self.block_of.iter().map(|block| order[*block] as u32);
        places.chain([u32::MAX]).collect()
    }
}

/// Where a loop is entered: its first block in the text that can follow one outside, or is the function's entry.
fn head(blocks: &[Block], component: &[usize]) -> usize {
    let mut sorted = component.to_vec();
    sorted.sort_unstable();
    let outside = |block: &usize| sorted.binary_search(block).is_err();
    let entered = |block: &&usize| **block == 0 || blocks[**block].predecessors.iter().any(outside);
    // One that nothing enters cannot be reached; any block of it will do.
    *sorted.iter().find(entered).unwrap_or(&sorted[0])
}

/// The strongly connected components of some blocks, ascending; each behind those that it leads to (Tarjan, "Depth-First Search and
/// Linear Graph Algorithms", 1972).
fn components(blocks: &[Block], some: &[usize], within: &[bool]) -> Vec<Vec<usize>> {
    const UNSEEN: usize = usize::MAX;
    // By block: when it was come to, the earliest one that it leads back to, and whether it still waits for its component.
    let mut came = vec![(UNSEEN, UNSEEN, false); blocks.len()];
    let (mut waiting, mut found, mut time) = (Vec::new(), Vec::new(), 0);
    let mut path: Vec<(usize, usize)> = Vec::new();
    // The last in the text first: what comes out is turned round.
    for start in some.iter().rev() {
        if came[*start].0 == UNSEEN {
            path.push((*start, 0));
        }
        while let Some((block, next)) = path.last_mut() {
            let block = *block;
            if *next == 0 {
                came[block] = (time, time, true);
                time += 1;
                waiting.push(block);
            }
            let successors = &blocks[block].successors;
            // Of several ways the last one in the text first, for the same reason.
            let way = successors.len().checked_sub(*next + 1).map(|at| successors[at]);
            *next += 1;
            match way {
                Some(to) if !within[to] => {}
                Some(to) if came[to].0 == UNSEEN => path.push((to, 0)),
                Some(to) => {
                    if came[to].2 {
                        came[block].1 = came[block].1.min(came[to].0);
                    }
                }
                None => {
                    path.pop();
                    let (at, earliest, _) = came[block];
                    if let Some((parent, _)) = path.last() {
                        came[*parent].1 = came[*parent].1.min(earliest);
                    }
                    if at == earliest {
                        let first = waiting.iter().rposition(|one| *one == block).unwrap_or(0);
                        let mut component = waiting.split_off(first);
                        component.iter().for_each(|one| came[*one].2 = false);
                        component.sort_unstable();
                        found.push(component);
                    }
                }
            }
        }
    }
    found
}
