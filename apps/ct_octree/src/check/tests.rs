use super::*;
use crate::particles;

const LIMITS: Limits = Limits { leaf: 8, depth: 5 };

/// Particles with their right tree: leaves, and slots sorted by code.
fn tree(count: u32) -> (Vec<Particle>, Vec<Leaf>, Vec<u32>) {
    let particles = particles::particles(count);
    let leaves = leaves(&particles, LIMITS);
    let mut numbers: Vec<u32> = (0..count).collect();
    numbers.sort_by_key(|&number| code(particles[number as usize], LIMITS.depth));
    let depth_at =
        |slot: u32| leaves.iter().find(|leaf| slot < leaf.first + leaf.count).map_or(0, |leaf| leaf.depth);
    let slots = (0..).zip(&numbers).map(|(slot, number)| depth_at(slot) << NUMBER_BITS | number).collect();
    (particles, leaves, slots)
}

#[test]
fn the_leaves_tile_the_slots_and_obey_the_limits() {
    let (particles, leaves, _) = tree(2000);
    let mut next = 0;
    for leaf in &leaves {
        assert_eq!(leaf.first, next);
        assert!(leaf.count <= LIMITS.leaf || leaf.depth == LIMITS.depth, "{leaf}");
        let inside = particles.iter().filter(|&&particle| code(particle, leaf.depth) == leaf.code).count();
        assert_eq!(inside, leaf.count as usize, "{leaf}");
        let inside =
            particles.iter().filter(|&&particle| code(particle, leaf.depth - 1) == leaf.code >> 3).count();
        assert!(leaf.depth == 1 || inside > LIMITS.leaf as usize, "the parent of {leaf} has {inside}");
        next += leaf.count;
    }
    assert_eq!(next, 2000);
    assert!(leaves.iter().any(|leaf| leaf.depth == LIMITS.depth));
}

#[test]
fn few_particles_make_one_level() {
    let (particles, leaves, slots) = tree(1);
    assert_eq!(leaves.len(), 1);
    assert_eq!(leaves[0].depth, 1);
    assert_eq!(divided(&leaves), 1);
    assert_eq!(check(&particles, &leaves, &slots, leaves.clone()), Ok(()));
}

#[test]
fn every_divided_cell_counts_once() {
    let leaf = |code, depth| Leaf { first: 0, count: 1, code, depth };
    assert_eq!(divided(&[leaf(0o10, 1), leaf(0o127, 2), leaf(0o126, 2), leaf(0o1301, 3)]), 4);
}

#[test]
fn a_right_tree_passes_in_any_order_of_leaves_and_within_them() {
    let (particles, leaves, mut slots) = tree(2000);
    let shuffled: Vec<Leaf> = leaves.iter().rev().copied().collect();
    let big = leaves.iter().find(|leaf| leaf.count > 1).expect("2000 particles crowd");
    slots.swap(big.first as usize, big.first as usize + 1);
    assert_eq!(check(&particles, &leaves, &slots, shuffled), Ok(()));
}

#[test]
fn what_is_wrong_is_found() {
    let (particles, leaves, slots) = tree(2000);
    let line = |slots: &[u32], found: Vec<Leaf>| check(&particles, &leaves, slots, found).expect_err("wrong");

    assert!(line(&slots, leaves[1..].to_vec()).contains("should be"));
    assert!(line(&slots, leaves[..leaves.len() - 1].to_vec()).contains("leaves instead of"));
    let mut changed = leaves.clone();
    changed[7].code ^= 1;
    assert!(line(&slots, changed).contains("should be"));

    let mut changed = slots.clone();
    changed.swap(0, 1999);
    assert!(line(&changed, leaves.clone()).contains("does not belong"));
    changed = slots.clone();
    changed[5] = u32::MAX;
    assert!(line(&changed, leaves.clone()).contains("holds no particle"));
    let big = leaves.iter().find(|leaf| leaf.count > 1).expect("2000 particles crowd").first as usize;
    changed = slots.clone();
    changed[big] = changed[big + 1];
    assert!(line(&changed, leaves.clone()).contains("twice"));
    changed = slots.clone();
    changed[3] ^= 1 << NUMBER_BITS;
    assert!(line(&changed, leaves.clone()).contains("does not belong"));
}
