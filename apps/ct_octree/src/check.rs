//! The check: every particle is in exactly one leaf, every leaf holds what its cell holds and no more
//! than it may, and no cell was divided without need.
//!
//! The octree of given particles is unique, and so are the slots of its leaves; only the order of the
//! particles within a leaf differs from run to run. So the comparison with the host's own tree is exact.

use crate::particles::{Particle, code};

/// What a slot of the tree holds: a particle's number, and the code of the cell that it is in.
pub fn slot(code: u32, number: u32) -> u64 {
    u64::from(code) << 32 | u64::from(number)
}

/// When a cell is divided no more.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Particles that a leaf above the last level may have.
    pub leaf: u32,
    /// Depth of the last level; the root has depth 0.
    pub depth: u32,
}

/// A leaf, and where its particles' slots are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// The first slot.
    pub first: u32,
    /// Slots.
    pub count: u32,
    /// The cell's code ([`code`]).
    pub code: u32,
    /// The cell's depth.
    pub depth: u32,
}

/// The leaves of the octree of `particles`, by slot. The root is divided however few it has.
pub fn leaves(particles: &[Particle], limits: Limits) -> Vec<Leaf> {
    let mut codes: Vec<u32> = particles.iter().map(|&particle| code(particle, limits.depth)).collect();
    codes.sort_unstable();
    let mut leaves = Vec::new();
    divide(&codes, Leaf { first: 0, count: codes.len() as u32, code: 1, depth: 0 }, limits, &mut leaves);
    leaves
}

/// Adds the leaves under `cell` to the list. `codes` are those of all particles on the last level, sorted.
fn divide(codes: &[u32], cell: Leaf, limits: Limits, leaves: &mut Vec<Leaf>) {
    let depth = cell.depth + 1;
    let mut first = cell.first;
    for code in cell.code << 3..=cell.code << 3 | 7 {
        let shift = 3 * (limits.depth - depth);
        let rest = &codes[first as usize..(cell.first + cell.count) as usize];
        let count = rest.partition_point(|&last| last >> shift <= code) as u32;
        let child = Leaf { first, count, code, depth };
        if count > limits.leaf && depth < limits.depth {
            divide(codes, child, limits, leaves);
        } else if count != 0 {
            leaves.push(child);
        }
        first += count;
    }
}

/// Cells that are divided: the tasks of a run.
pub fn divided(leaves: &[Leaf]) -> usize {
    let mut inner: Vec<u32> =
        leaves.iter().flat_map(|leaf| (1..=leaf.depth).map(|up| leaf.code >> (3 * up))).collect();
    inner.sort_unstable();
    inner.dedup();
    inner.len()
}

/// Compares the device's octree with the host's own.
///
/// # Errors
/// One line on the first difference.
pub fn check(particles: &[Particle], expected: &[Leaf], slots: &[u64]) -> Result<(), String> {
    let mut seen = vec![false; particles.len()];
    for leaf in expected {
        for index in leaf.first..leaf.first + leaf.count {
            let held = slots[index as usize];
            let (cell, number) = ((held >> 32) as u32, held as u32);
            let Some(&particle) = particles.get(number as usize) else {
                return Err(format!("slot {index} in {leaf} holds no particle"));
            };
            if cell != leaf.code {
                return Err(format!("slot {index} belongs to cell {cell:o} instead of {leaf}"));
            }
            if code(particle, leaf.depth) != leaf.code {
                return Err(format!("particle {number} is in {leaf}, where it does not belong"));
            }
            if std::mem::replace(&mut seen[number as usize], true) {
                return Err(format!("particle {number} is in the tree twice"));
            }
        }
    }
    // The leaves' slots are all slots, each holds a particle, and none is there twice: all are there.
    Ok(())
}

impl std::fmt::Display for Leaf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "leaf {:o} (depth {}, slots {} + {})", self.code, self.depth, self.first, self.count)
    }
}

#[cfg(test)]
mod tests;
