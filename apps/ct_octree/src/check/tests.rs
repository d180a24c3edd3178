use super::*;
use crate::particles;

const LIMITS: Limits = Limits { leaf: 8, depth: 5 };

/// Particles with their right tree: leaves, and slots sorted by code.
fn tree(count: u32) -> (Vec<Particle>, Vec<Leaf>, Vec<u64>) {
    let particles = particles::particles(count);
    let leaves = leaves(&particles, LIMITS);
    let mut numbers: Vec<u32> = (0..count).collect();
    numbers.sort_by_key(|&number| code(particles[number as usize], LIMITS.depth));
    let codes = leaves.iter().flat_map(|leaf| std::iter::repeat_n(leaf.code, leaf.count as usize));
    let slots = codes.zip(numbers).map(|(code, number)| slot(code, number)).collect();
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
    assert_eq!(check(&particles, &leaves, &slots), Ok(()));
}

#[test]
fn every_divided_cell_counts_once() {
    let leaf = |code, depth| Leaf { first: 0, count: 1, code, depth };
    assert_eq!(divided(&[leaf(0o10, 1), leaf(0o127, 2), leaf(0o126, 2), leaf(0o1301, 3)]), 4);
}

#[test]
fn a_right_tree_passes_in_any_order_within_its_leaves() {
    let (particles, leaves, mut slots) = tree(2000);
    let big = leaves.iter().find(|leaf| leaf.count > 1).expect("2000 particles crowd").first as usize;
    assert_eq!(check(&particles, &leaves, &slots), Ok(()));
    slots.swap(big, big + 1);
    assert_eq!(check(&particles, &leaves, &slots), Ok(()));
}

#[test]
fn what_is_wrong_is_found() {
    let (particles, leaves, slots) = tree(2000);
    let big = leaves.iter().find(|leaf| leaf.count > 1).expect("2000 particles crowd").first as usize;
    let line = |change: &dyn Fn(&mut Vec<u64>)| {
        let mut changed = slots.clone();
        change(&mut changed);
        check(&particles, &leaves, &changed).expect_err("wrong")
    };
    assert!(line(&|slots| slots.swap(0, 1999)).contains("belongs to cell"));
    assert!(line(&|slots| slots[5] = u64::MAX).contains("holds no particle"));
    assert!(line(&|slots| slots[big] = slots[big + 1]).contains("twice"));
    // A particle of another cell, under the right code.
    assert!(
        line(&|slots| slots[0] = slot((slots[0] >> 32) as u32, slots[1999] as u32))
            .contains("does not belong")
    );
}
